/** The text of a request's body: bounded, whole, and UTF-8. json.ts reads what it says. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import { ApiError, type Refusal, reject } from '../errors.js';

/**
 * Reads a body. `failure` begins the sentence of a refusal. Throws ApiError `too_large` or
 * `invalid`.
 */
export type BodyReader = (context: Context, failure: string) => Promise<string>;

/** How many bytes a reader accepts, and the setting that says so. */
export interface BodyLimit {
  readonly bytes: number;
  readonly setting: 'limits.bodyBytes' | 'limits.anonymousBodyBytes';
}

/**
 * Returns a reader for bodies of at most so many bytes, before and after `Content-Encoding` is
 * undone. Endpoints call it once they know that the caller may send a body, so Koa's body parser is
 * not in the chain of middlewares. A body that is sent as it is, with its length, needs no parser.
 */
export function bodyReader(limit: BodyLimit): BodyReader {
  let parser: Promise<Middleware> | undefined;
  return async (context, failure) => {
    let bytes: Buffer;
    try {
      if (isPlain(context.req, limit.bytes)) bytes = await wholeOf(context.req);
      else {
        // loaded with the first body that needs it: a node starts faster without it
        parser ??= parserOf(limit.bytes);
        bytes = await parsed(await parser, context);
      }
    } catch (error) {
      throw new ApiError(refusalOf(error as ReadError, limit, failure));
    }
    if (!isUtf8(bytes)) reject('invalid', `${failure}: the body is not UTF-8`, { pointer: '' });
    return bytes.toString('utf8');
  };
}

/** Whether a body is neither encoded nor longer than `maxBytes`, by its headers. */
function isPlain({ headers }: IncomingMessage, maxBytes: number): boolean {
  const coding = headers['content-encoding'] ?? headers['transfer-encoding'];
  return coding === undefined && Number(headers['content-length']) <= maxBytes;
}

/** Reads a body as it was sent. Rejects if the client leaves, or has left, before its end. */
function wholeOf(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, refuse) => {
    const chunks: Buffer[] = [];
    const cut = (): void => {
      if (!req.readableEnded) refuse(new Error('the client has left'));
    };
    if (req.destroyed) cut();
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    req.once('close', cut);
  });
}

async function parsed(parse: Middleware, context: Context): Promise<Buffer> {
  // every body of this API is JSON, whatever type it is sent as
  context.headers['content-type'] = 'text/plain';
  await parse(context, nothing);
  return Buffer.from(context.request.rawBody ?? '', 'latin1');
}

async function parserOf(maxBytes: number): Promise<Middleware> {
  const { bodyParser } = await import('@koa/bodyparser');
  // every byte becomes one character, so that bytes that are not UTF-8 are noticed
  return bodyParser({ enableTypes: ['text'], textLimit: `${maxBytes}b`, encoding: 'latin1' });
}

const nothing = (): Promise<void> => Promise.resolve();

/** What the parser throws. */
interface ReadError extends Error {
  readonly type?: string;
  readonly status?: number;
}

function refusalOf({ type, status }: ReadError, limit: BodyLimit, failure: string): Refusal {
  if (type === 'entity.too.large') {
    const whose = limit.setting === 'limits.bodyBytes' ? '' : ' without a valid token';
    return {
      code: 'too_large',
      message: `The body is larger than the ${limit.bytes} bytes this server takes${whose}`,
      hint: `the limit is ${limit.setting} in its configuration`,
    };
  }
  if (status === 415)
    return { code: 'invalid', message: `${failure}: the Content-Encoding is not known here` };
  return { code: 'invalid', message: `${failure}: the body was cut off or cannot be unpacked` };
}
