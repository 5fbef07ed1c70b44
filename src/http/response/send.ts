/** Writes responses: the one place that sends status, headers and body. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createGzip } from 'node:zlib';
import { named } from '../../base/works.js';
import { Slice } from '../../service/common/event-loop.js';
import { packing } from '../limits/concurrency.js';
import type { Pieces } from '../routes/types.js';
import type { PreparedResponse } from './prepared-response.js';
import { isNever } from './response-headers.js';

/** Below this many bytes compression costs more than it saves. Consul has the same threshold. */
const GZIP_BYTES_MIN = 1400;

/** Whether the client accepts gzip (`gzip;q=0` refuses it). */
function acceptsGzip(req: IncomingMessage): boolean {
  const accepted = req.headers['accept-encoding'];
  if (typeof accepted !== 'string' || !accepted.includes('gzip')) return false;
  return accepted.split(',').some((part) => {
    const [coding, ...parameters] = part.trim().split(';');
    return coding!.trim() === 'gzip' && !parameters.some(isNever);
  });
}

/** Characters written at a time: what the client has not read yet is in memory twice. */
const PART_LENGTH = 256 * 1024;

/** Splits a piece into parts, none of which ends inside a surrogate pair. */
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

/**
 * Writes a whole response. A long body is compressed if the client accepts gzip and few others are
 * being compressed.
 */
export function send(req: IncomingMessage, res: ServerResponse, response: PreparedResponse): void {
  const { status, headers, body, length, closes } = response;
  const packed = length >= GZIP_BYTES_MIN && acceptsGzip(req) ? response.packed() : undefined;
  if (packed !== undefined) {
    packed.then(
      (bytes) => {
        res.writeHead(status, response.headersOfPacked(bytes.length));
        res.end(bytes);
      },
      (error: Error) => res.destroy(error),
    );
    return;
  }
  // Node does not change the list, but its types do not say so
  res.writeHead(status, headers as string[]);
  if ((closes || !res.shouldKeepAlive) && hasUnread(req)) {
    if (length === 0) res.flushHeaders();
    else res.write(afterHead(res, body));
    wholeSent(req).then(() => res.end());
  } else endSoon(res, response);
}

/** Responses whose heads are written and that end with this turn of the event loop. */
let ready: [res: ServerResponse, response: PreparedResponse][] = [];

/**
 * Writes a body, and the head before it, once all that is decided in this turn of the event loop is
 * decided. A client that waits for several responses is woken by the first of them, which takes
 * longer than to write it, and finds the others when it reads.
 */
function endSoon(res: ServerResponse, response: PreparedResponse): void {
  if (ready.push([res, response]) === 1) process.nextTick(endReady);
}

function endReady(): void {
  const ending = ready;
  ready = [];
  named('send', () => {
    for (const [res, { body, isAscii }] of ending) {
      // of the same bytes, and quicker
      if (isAscii) res.end(body, 'latin1');
      else res.end(afterHead(res, body));
    }
  });
}

const NOT_ASCII = /[^\x20-\x7e]/;

/**
 * Returns a body to write after a head. Node encodes a head together with a text that follows, and
 * so changes bytes of an X-Request-ID that is sent back.
 */
function afterHead(res: ServerResponse, body: string | Uint8Array): string | Uint8Array {
  const id = res.req.headers['x-request-id'];
  const isPlain = id === undefined || !NOT_ASCII.test(String(id));
  return isPlain || typeof body !== 'string' ? body : Buffer.from(body);
}

const hasUnread = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['content-length'] ?? headers['transfer-encoding']) !== undefined;

/** How long a client may continue to send a body that nobody reads. */
const UNWANTED_MS = 1000;

/**
 * Reads the rest of a body that nobody wants. Resolves when the client has sent all of it, or after
 * a second. A connection that is closed while the client still sends is reset, and the response is
 * lost.
 */
function wholeSent(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, UNWANTED_MS);
    req.once('end', end).once('close', end).resume();
  });
}

/**
 * Writes a response and reads no more of the request. Closes the connection after `lingerMs`, in
 * which the client can read the response.
 */
export function sendUnread(
  res: ServerResponse,
  { status, headers, body }: { status: number; headers: string[]; body: string },
  lingerMs: number,
): void {
  if (!headers.includes('Connection')) headers.push('Connection', 'close');
  headers.push('Content-Length', String(Buffer.byteLength(body)));
  res.writeHead(status, headers);
  res.write(afterHead(res, body));
  if (lingerMs === 0) res.end();
  else setTimeout(() => res.end(), lingerMs);
}

/** The longest delay of a timer in Node. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** How slowly a client may read a response in pieces. */
export interface Pace {
  /** Milliseconds before the rate counts. */
  readonly graceMs: number;
  readonly bytesPerSecond: number;
}

/**
 * Writes a response in pieces, with backpressure. Closes the connection of a client that reads
 * slower than the pace. Resolves when the last piece is written or the connection is closed, to
 * whether all was written.
 */
export async function sendPieces(
  req: IncomingMessage,
  res: ServerResponse,
  headers: string[],
  pieces: Pieces,
  { compress, pace }: { readonly compress: boolean; readonly pace: Pace },
): Promise<boolean> {
  // a client may have left while its request was held: a response to it never drains
  if (isGone(req, res)) return false;
  const isPacked = compress && acceptsGzip(req) && packing.tryTake();
  const packed = isPacked ? createGzip({ level: 1 }) : undefined;
  packed?.once('close', () => packing.leave());
  if (packed) headers.push('Content-Encoding', 'gzip');
  res.writeHead(200, headers);
  const gone = new AbortController();
  onceGone(req, res, () => {
    gone.abort();
    packed?.destroy();
  });
  const out = packed ?? res;
  packed?.pipe(res);
  // a client on the same machine may read as fast as this writes: other work needs its turn
  const slice = new Slice();
  let dueMs = performance.now() + pace.graceMs;
  for await (const piece of pieces) {
    for (const part of partsOf(piece)) {
      if (slice.isOver) await slice.renew();
      if (gone.signal.aborted) break;
      dueMs += (part.length / pace.bytesPerSecond) * 1000;
      if (out.write(part)) continue;
      // a client that reads a byte now and then would keep the source of the pieces open as well
      const leftMs = Math.min(Math.max(0, dueMs - performance.now()), TIMER_MAX_MS);
      const cut = setTimeout(() => {
        gone.abort();
        res.destroy();
      }, leftMs);
      await once(out, 'drain', { signal: gone.signal }).catch(() => undefined);
      clearTimeout(cut);
    }
    if (gone.signal.aborted) break;
  }
  if (!gone.signal.aborted && !res.shouldKeepAlive && hasUnread(req)) await wholeSent(req);
  out.end();
  return !gone.signal.aborted;
}

/** What to call when a connection closes. Each has one listener, however many requests it has. */
const calls = new WeakMap<Socket, Set<() => void>>();

/** Whether the client of a request has left. */
export const isGone = ({ socket }: IncomingMessage, res: ServerResponse): boolean =>
  res.destroyed || socket.destroyed;

/**
 * Calls `run` once when the response is closed; at once if it is. A response that waits for an
 * earlier one of its connection (pipelining) has no `close` event of its own if that closes.
 */
export function onceGone(req: IncomingMessage, res: ServerResponse, run: () => void): void {
  if (isGone(req, res)) {
    run();
    return;
  }
  const ofSocket = callsOf(req.socket);
  const call = (): void => {
    if (ofSocket.delete(call)) run();
  };
  ofSocket.add(call);
  res.once('close', call);
}

function callsOf(socket: Socket): Set<() => void> {
  const known = calls.get(socket);
  if (known !== undefined) return known;
  const made = new Set<() => void>();
  calls.set(socket, made);
  socket.once('close', () => {
    for (const call of [...made]) call();
  });
  return made;
}
