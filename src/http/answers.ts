/** How answers are put on the wire: one place writes status, headers and body. */

import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { createGzip, gzip } from 'node:zlib';
import { ERROR_STATUS, type Refusal } from '../errors.js';
import { Slice } from '../service/turns.js';
import type { ReadOutcome } from '../service/types.js';
import type { Pieces } from './types.js';

/** Characters of a refusal's message, and of its pointer, as JSON writes them. */
const MESSAGE_MAX = 1500;
const POINTER_MAX = 500;
/** Below this many bytes compression costs more than it saves (the reference's threshold). */
const GZIP_BYTES_MIN = 1400;
const JSON_TYPE = 'application/json';
const TEXT_TYPE = 'text/plain; charset=utf-8';

/** Names of the answer headers, each under every prefix, and the constant ones ready to be sent. */
export interface HeaderNames {
  /** On every answer; grows when the server stops. */
  readonly base: string[];
  /** Any answer may hold what is for its caller alone: no cache is to keep it. */
  readonly unkept: readonly string[];
  /** The same of answers with an index, on which clients of this API know no Cache-Control. */
  readonly expired: readonly string[];
  readonly index: readonly string[];
  readonly knownLeader: readonly string[];
  readonly lastContact: readonly string[];
  readonly filtered: readonly string[];
}

/** A header by its name in any letter case. */
export const headerOf = (
  headers: Readonly<Record<string, string>>,
  name: string,
): string | undefined =>
  Object.entries(headers).find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1];

/** Prepares header names; `base` is a flat list name, value, name, value. */
export function headerNames(options: {
  headerPrefix: string;
  defaultPolicy: string;
  responseHeaders: Readonly<Record<string, string>>;
}): HeaderNames {
  const prefixes = [...new Set([options.headerPrefix, 'X-Consul'])];
  const under = (name: string): string[] => prefixes.map((prefix) => `${prefix}-${name}`);
  const isSet = (name: string): boolean => headerOf(options.responseHeaders, name) !== undefined;
  const controlsCaches = isSet('Cache-Control');
  return {
    unkept: controlsCaches ? [] : ['Cache-Control', 'no-store'],
    expired: controlsCaches || isSet('Expires') ? [] : ['Expires', '0'],
    base: [
      'Vary',
      'Accept-Encoding',
      ...under('Default-ACL-Policy').flatMap((name) => [name, options.defaultPolicy]),
      ...(isSet('X-Content-Type-Options') ? [] : ['X-Content-Type-Options', 'nosniff']),
      ...Object.entries(options.responseHeaders).flat(),
    ],
    index: under('Index'),
    knownLeader: under('KnownLeader'),
    lastContact: under('LastContact'),
    filtered: under('Results-Filtered-By-ACLs'),
  };
}

/** Adds the headers of a query's answer to a flat list. */
export function addQueryHeaders(
  headers: string[],
  names: HeaderNames,
  outcome: Omit<ReadOutcome<unknown>, 'value'>,
): void {
  const index = String(Math.max(1, outcome.index));
  const contact = String(Math.max(0, Math.round(outcome.lastContactMs)));
  const known = outcome.knownLeader ? 'true' : 'false';
  headers.push(...names.expired);
  for (const name of names.index) headers.push(name, index);
  for (const name of names.knownLeader) headers.push(name, known);
  for (const name of names.lastContact) headers.push(name, contact);
  if (outcome.filtered) for (const name of names.filtered) headers.push(name, 'true');
}

/** Whether the client takes gzip (`gzip;q=0` says it does not). */
function acceptsGzip(req: IncomingMessage): boolean {
  const accepted = req.headers['accept-encoding'];
  if (typeof accepted !== 'string' || !accepted.includes('gzip')) return false;
  return accepted.split(',').some((part) => {
    const [coding, ...parameters] = part.trim().split(';');
    return coding!.trim() === 'gzip' && !parameters.some((p) => /^\s*q=0(?:\.0*)?\s*$/.test(p));
  });
}

/** Characters written at a time: what is written and not read is in memory once more. */
const PART_LENGTH = 64 * 1024;

/** A piece in parts, none of which ends between the halves of a character. */
function* partsOf(piece: string | Uint8Array): Iterable<string | Uint8Array> {
  if (typeof piece !== 'string' || piece.length <= PART_LENGTH) {
    yield piece;
    return;
  }
  for (let at = 0; at < piece.length; ) {
    let end = at + PART_LENGTH;
    const isHigh = (piece.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    if (isHigh) end -= 1;
    yield piece.slice(at, end);
    at = end;
  }
}

/** Writes a whole answer. `headers` is a flat list that this call takes over. */
export function send(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  headers: string[],
  body: string,
): void {
  const length = Buffer.byteLength(body);
  if (length >= GZIP_BYTES_MIN && acceptsGzip(req)) {
    gzip(body, { level: 1 }, (error, packed) => {
      if (error) return void res.destroy(error);
      headers.push('Content-Encoding', 'gzip', 'Content-Length', String(packed.length));
      res.writeHead(status, headers as never);
      res.end(packed);
    });
    return;
  }
  headers.push('Content-Length', String(length));
  // Node takes a flat list of names and values; its types know only pairs
  res.writeHead(status, headers as never);
  const closes = headers.includes('Connection') || !res.shouldKeepAlive;
  if (closes && hasUnread(req)) endOnceRead(req, res, body);
  else res.end(body);
}

const hasUnread = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['content-length'] ?? headers['transfer-encoding']) !== undefined;

/** How long a client may go on sending a body that nobody wants. */
const UNWANTED_MS = 1000;

/**
 * Closed while the client still sends, the connection would be reset, and the answer with it. So the answer is given whole,
 * and the connection closed once the client has come to the end of its body or has had time to read.
 */
function endOnceRead(req: IncomingMessage, res: ServerResponse, body: string): void {
  res.flushHeaders();
  res.write(body);
  const end = (): void => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, UNWANTED_MS);
  req.once('end', end).once('close', end).resume();
}

/** Answers and reads no more of the body. The connection is closed after `lingerMs`, in which the client may read the answer. */
export function sendUnread(
  res: ServerResponse,
  { status, headers, body }: { status: number; headers: string[]; body: string },
  lingerMs: number,
): void {
  if (!headers.includes('Connection')) headers.push('Connection', 'close');
  headers.push('Content-Length', String(Buffer.byteLength(body)));
  // Node takes a flat list of names and values; its types know only pairs
  res.writeHead(status, headers as never);
  res.write(body);
  if (lingerMs === 0) res.end();
  else setTimeout(() => res.end(), lingerMs);
}

/** The longest that Node's timers can wait. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** How slowly an answer in pieces may be read. */
export interface Pace {
  /** Milliseconds before the rate counts. */
  readonly graceMs: number;
  readonly bytesPerSecond: number;
}

/**
 * Writes an answer in pieces; waits while the client reads slower than we produce, and cuts it off when it reads slower
 * than the pace. Resolves when all is handed over.
 */
export async function sendPieces(
  req: IncomingMessage,
  res: ServerResponse,
  headers: string[],
  pieces: Pieces,
  { compress, pace }: { readonly compress: boolean; readonly pace: Pace },
): Promise<void> {
  const packed = compress && acceptsGzip(req) ? createGzip({ level: 1 }) : undefined;
  if (packed) headers.push('Content-Encoding', 'gzip');
  res.writeHead(200, headers as never);
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  const out = packed ?? res;
  packed?.pipe(res);
  // a client on the same machine may read as fast as we write: nothing else would have its turn
  const slice = new Slice();
  let dueMs = performance.now() + pace.graceMs;
  for await (const piece of pieces) {
    for (const part of partsOf(piece)) {
      if (slice.isOver) await slice.renew();
      if (gone.signal.aborted) break;
      dueMs += (part.length / pace.bytesPerSecond) * 1000;
      if (out.write(part)) continue;
      // bytes taken one now and then would keep what the pieces are made from as well
      const leftMs = Math.min(Math.max(0, dueMs - performance.now()), TIMER_MAX_MS);
      const cut = setTimeout(() => res.destroy(), leftMs);
      await once(out, 'drain', { signal: gone.signal }).catch(() => undefined);
      clearTimeout(cut);
    }
    if (gone.signal.aborted) break;
  }
  out.end();
}

/** Whether errors go out as problem details (RFC 9457): where JSON is asked for or, `preferred`, where no text is. */
function wantsProblem(req: IncomingMessage, preferred: boolean): boolean {
  const accept = req.headers.accept ?? '';
  const takesJson =
    accept.includes('application/json') || accept.includes('application/problem+json');
  return takesJson || (preferred && !accept.includes('text/plain'));
}

/** The body and type of a refusal: one sentence of text, or problem details where the client asks for JSON. */
export function refusalBody(
  req: IncomingMessage,
  why: Refusal,
  preferProblem = false,
): { type: string; body: string } {
  const message = clipped(why.message);
  if (!wantsProblem(req, preferProblem)) {
    return { type: TEXT_TYPE, body: why.hint ? `${message} (${why.hint})` : message };
  }
  const status = ERROR_STATUS[why.code];
  const problem = {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail: message,
    code: why.code,
    ...(why.pointer !== undefined && { pointer: nearest(why.pointer) }),
    ...(why.hint !== undefined && { hint: why.hint }),
  };
  return { type: 'application/problem+json', body: JSON.stringify(problem) };
}

/** A refusal is a sentence, however much of the request it quotes. */
function clipped(message: string): string {
  if (isShort(message, MESSAGE_MAX)) return message;
  let part = message.slice(0, MESSAGE_MAX);
  // what JSON must escape grows up to six times
  while (!isShort(part, MESSAGE_MAX)) part = part.slice(0, part.length / 2);
  return `${part}…`;
}

/** A pointer through a name of any length ends at the last object around it that can be told briefly. */
function nearest(pointer: string): string {
  let part = pointer;
  while (!isShort(part, POINTER_MAX)) part = part.slice(0, part.lastIndexOf('/'));
  return part;
}

const isShort = (text: string, most: number): boolean =>
  text.length <= most && JSON.stringify(text).length <= most + 2;

export const contentTypes = { json: JSON_TYPE, text: TEXT_TYPE } as const;
