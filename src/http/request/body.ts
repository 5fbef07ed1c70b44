/** Reads the body of a request: bounded, complete, UTF-8, and parsed as JSON. */

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate, type ZlibOptions } from 'node:zlib';
import type { Context, Middleware } from 'koa';
import { ApiError, refusal, reject } from '../../base/errors.js';
import { named } from '../../base/works.js';
import { parseStrictJson } from '../../languages/json.js';
import { unpacking } from '../limits/concurrency.js';
import type { EndBody, PendingBodies } from '../limits/pending-bodies.js';
import type { JsonObject } from '../routes/types.js';

/**
 * Reads a body, which is UTF-8. `failure` begins the sentence of a refusal. Throws ApiError
 * `too_large` or `invalid`.
 */
export type BodyReader = (context: Context, failure: string) => Promise<Buffer>;

/** How many bytes a reader accepts, and the setting that says so. */
export interface BodyLimit {
  readonly bytes: number;
  readonly setting: 'limits.bodyBytes' | 'limits.planBytes' | 'limits.anonymousBodyBytes';
  /** Counts the bytes of bodies that have not arrived whole: those of unknown callers. */
  readonly pending?: PendingBodies;
}

type Decoder = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

/**
 * The content codings that are decoded. Brotli is not: no client of this API sends it, and a few
 * bytes of it take up to 16 MB of memory.
 */
const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  deflate: promisify<Buffer, ZlibOptions, Buffer>(inflate),
};

/**
 * Returns a reader for bodies of at most so many bytes, before and after `Content-Encoding` is
 * undone. Endpoints call it once they know that the caller may send a body, so Koa's body parser is
 * not in the chain of middlewares: it reads what known callers send in chunks. Other bodies need no
 * parser. Only the bodies of known callers may be encoded.
 */
export function bodyReader(limit: BodyLimit): BodyReader {
  let parser: Promise<Middleware> | undefined;
  return async (context, failure) => {
    const { req } = context;
    const coding = req.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
    const decode = coding === 'identity' ? undefined : decoderOf(coding, limit, failure);
    let bytes: Buffer;
    const hasLength = req.headers['content-length'] !== undefined;
    if (decode === undefined && !hasLength && limit.pending === undefined) {
      // loaded with the first body that needs it: a node starts faster without it
      parser ??= parserOf(limit.bytes);
      bytes = await parsed(await parser, context, limit, failure);
    } else {
      const sent = await wholeOf(req, limit, failure);
      bytes = decode === undefined ? sent : await unpacked(sent, decode, limit, failure);
    }
    if (!isUtf8(bytes)) reject('invalid', `${failure}: the body is not UTF-8`, { pointer: '' });
    return bytes;
  };
}

function decoderOf(coding: string, { setting }: BodyLimit, failure: string): Decoder {
  if (setting === 'limits.anonymousBodyBytes') {
    const why = 'a body with Content-Encoding is accepted only with a valid token';
    reject('invalid', `${failure}: ${why}, and not for a login or a bootstrap`, {
      hint: 'send the body without Content-Encoding',
    });
  }
  const decode = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  if (decode !== undefined) return decode;
  const hint = `supported are ${Object.keys(DECODERS).join(' and ')}`;
  reject('invalid', `${failure}: the Content-Encoding is not supported`, { hint });
}

async function parserOf(maxBytes: number): Promise<Middleware> {
  const { bodyParser } = await import('@koa/bodyparser');
  // every byte becomes one character, so that bytes that are not UTF-8 are noticed
  return bodyParser({ enableTypes: ['text'], textLimit: `${maxBytes}b`, encoding: 'latin1' });
}

async function parsed(
  parse: Middleware,
  context: Context,
  limit: BodyLimit,
  failure: string,
): Promise<Buffer> {
  // every body of this API is JSON, whatever type it is sent as
  context.headers['content-type'] = 'text/plain';
  try {
    await parse(context, () => Promise.resolve());
  } catch (error) {
    const { type } = error as { type?: string };
    throw type === 'entity.too.large' ? tooLarge(limit) : unusable(failure);
  }
  return Buffer.from(context.request.rawBody ?? '', 'latin1');
}

/** Reads a body as it was sent. Rejects if the client leaves, or has left, before its end. */
function wholeOf(
  req: IncomingMessage,
  limit: BodyLimit,
  failure: string,
): Buffer | Promise<Buffer> {
  // Most bodies have come with the headers: this is faster than events.
  if (req.complete && !req.destroyed && req.readableLength <= limit.bytes)
    return req.read() ?? NOTHING;
  return new Promise((resolve, refuse) => {
    const most = Math.min(Number(req.headers['content-length'] ?? limit.bytes), limit.bytes);
    let buffer: Buffer = NOTHING;
    let length = 0;
    const add = (chunk: Buffer): void => {
      if (length + chunk.length > limit.bytes) {
        end(tooLarge(limit));
        return;
      }
      const size = buffer.length;
      buffer = appended(buffer, length, chunk, most);
      length += chunk.length;
      limit.pending?.add(end, buffer.length - size);
    };
    const end: EndBody = (error) => {
      req.off('data', add).pause();
      limit.pending?.end(end);
      buffer = NOTHING;
      refuse(error);
    };
    const cut = (): void => {
      if (!req.readableEnded) end(unusable(failure));
    };
    if (Number(req.headers['content-length']) > limit.bytes) refuse(tooLarge(limit));
    else if (req.destroyed) cut();
    else {
      req.on('data', add);
      req.once('end', () => {
        limit.pending?.end(end);
        resolve(buffer.subarray(0, length));
      });
      req.once('close', cut);
    }
  });
}

const NOTHING = Buffer.alloc(0);

/**
 * Returns a buffer with `chunk` behind the first `length` bytes of `buffer`: the same one if there
 * is room, otherwise a larger one of up to `most` bytes. A list of chunks would take some hundred
 * bytes for each, and a client may send one byte in each.
 */
function appended(buffer: Buffer, length: number, chunk: Buffer, most: number): Buffer {
  if (length === 0) return chunk;
  const needed = length + chunk.length;
  const whole =
    needed <= buffer.length ? buffer : Buffer.allocUnsafeSlow(Math.min(2 * needed, most));
  if (whole !== buffer) buffer.copy(whole, 0, 0, length);
  chunk.copy(whole, length);
  return whole;
}

/** Returns a body without its coding. The decoder ends when the limit is passed. */
async function unpacked(
  bytes: Buffer,
  decode: Decoder,
  limit: BodyLimit,
  failure: string,
): Promise<Buffer> {
  await unpacking.take();
  try {
    return await decode(bytes, { maxOutputLength: limit.bytes });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(limit) : unusable(failure);
  } finally {
    unpacking.leave();
  }
}

function tooLarge({ bytes, setting }: BodyLimit): ApiError {
  const whose = setting === 'limits.anonymousBodyBytes' ? ' without a valid token' : '';
  const message = `The body is larger than the ${bytes} bytes that this server accepts${whose}`;
  const hint = `the limit is ${setting} in its configuration`;
  return new ApiError({ code: 'too_large', message, hint });
}

const unusable = (failure: string): ApiError =>
  new ApiError(refusal('invalid', `${failure}: the body was cut off or cannot be unpacked`));

/** Reads a JSON text. Throws ApiError 400 `<failure>: <what> at line 1, column 2`. */
export function parseJson(text: string, failure: string, valuesMax?: number): unknown {
  if (text.trim() === '')
    reject('invalid', `${failure}: EOF: the body is empty, expected a JSON value`, { pointer: '' });
  const parsed = named('decode', () => parseStrictJson(text, valuesMax));
  if (parsed.ok) return parsed.value;
  const { message, line, column } = parsed.problem;
  reject('invalid', `${failure}: ${message} at line ${line}, column ${column}`, { pointer: '' });
}

/** Checks that a JSON value is an object; `null` counts as an empty one. Throws ApiError 400. */
export function mustBeObject(value: unknown, failure: string): JsonObject {
  if (value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as JsonObject;
  const got = Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  reject('invalid', `${failure}: expected a JSON object, got ${got}`, { pointer: '' });
}

/** Indents JSON text as `?pretty` asks: four spaces and a newline at the end. */
export function prettyJson(text: string): string {
  return `${JSON.stringify(JSON.parse(text), null, 4)}\n`;
}
