/** The text of a request's body: bounded, whole, and UTF-8. What it says is read by json.ts. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import { ApiError, type Refusal, reject } from '../errors.js';

/**
 * Reads a body. `failure` begins the sentence of a refusal. Throws ApiError `too_large` or
 * `invalid`.
 */
export type BodyReader = (request: IncomingMessage, failure: string) => Promise<string>;

/** How much a reader takes, and the setting that says so. */
export interface BodyLimit {
  readonly bytes: number;
  readonly setting: 'limits.bodyBytes' | 'limits.anonymousBodyBytes';
}

/**
 * A reader for bodies of at most so many bytes, also after they were unpacked (`Content-Encoding`).
 */
export function bodyReader(limit: BodyLimit): BodyReader {
  let parser: Promise<Middleware> | undefined;
  return async (request, failure) => {
    // loaded with the first body: a node starts faster without it
    parser ??= parserOf(limit.bytes);
    const parse = await parser;
    const wanted = new Wanted(request);
    try {
      await parse(wanted as unknown as Context, nothing);
    } catch (error) {
      throw new ApiError(refusalOf(error as ReadError, limit, failure));
    }
    const bytes = Buffer.from(wanted.request.rawBody ?? '', 'latin1');
    if (!isUtf8(bytes)) reject('invalid', `${failure}: the body is not UTF-8`, { pointer: '' });
    return bytes.toString('utf8');
  };
}

async function parserOf(maxBytes: number): Promise<Middleware> {
  const { bodyParser } = await import('@koa/bodyparser');
  // every byte becomes one character, so that bytes which are no UTF-8 can still be told
  return bodyParser({ enableTypes: ['text'], textLimit: `${maxBytes}b`, encoding: 'latin1' });
}

const nothing = (): Promise<void> => Promise.resolve();

/**
 * What the parser looks at. Content types are not looked at in this API: every body is text to it.
 */
class Wanted {
  readonly method = 'PUT';
  readonly req: IncomingMessage;
  readonly request: { get(): string; body: unknown; rawBody?: string } = {
    get: () => 'text/plain',
    body: undefined,
  };
  constructor(req: IncomingMessage) {
    this.req = req;
  }
}

interface ReadError extends Error {
  readonly type?: string;
  readonly status?: number;
}

function refusalOf({ type, status }: ReadError, limit: BodyLimit, failure: string): Refusal {
  if (type === 'entity.too.large')
    return {
      code: 'too_large',
      message: `The body is larger than the ${limit.bytes} bytes this server takes${limit.setting === 'limits.bodyBytes' ? '' : ' without a valid token'}`,
      hint: `the limit is ${limit.setting} in its configuration`,
    };
  if (status === 415)
    return { code: 'invalid', message: `${failure}: the Content-Encoding is not known here` };
  return { code: 'invalid', message: `${failure}: the body was cut off or cannot be unpacked` };
}
