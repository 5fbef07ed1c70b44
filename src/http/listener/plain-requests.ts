/**
 * Requests without TLS to a port that speaks TLS. Their connection fails in the handshake. The
 * answer is written to the socket below TLS, before Node closes it:
 *
 *     client ── GET / HTTP/1.1 ──► socket ──► TLS: not a handshake
 *     client ◄──── 400 ─────────── socket
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { placeOf } from './connections.js';
import { plainResponse } from './plain-response.js';

/** Tells that requests came without TLS: the address of one, and how many since the last report. */
export type PlainReport = (address: string, count: number) => void;

/** Milliseconds from one report to the next: anyone can send such requests. */
const REPORTED_EVERY_MS = 60_000;

/** What OpenSSL says of the usual methods, and of other bytes that are no TLS. */
const NO_TLS: ReadonlySet<string> = new Set([
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);

const ANSWER = plainResponse(
  '400 Bad Request',
  'The request came without TLS, and this port speaks https: write https:// before the address',
);

/** Connections in their handshake. */
export class PlainRequests {
  readonly #report: PlainReport | undefined;
  /** Raw sockets by the origin of their connection. */
  readonly #handshakes = new Map<string, Socket>();
  #count = 0;
  #dueMs = 0;

  constructor(report: PlainReport | undefined) {
    this.#report = report;
  }

  /** Notes a new connection. */
  begin(socket: Socket): void {
    const place = placeOf(socket);
    this.#handshakes.set(place, socket);
    socket.once('close', () => {
      if (this.#handshakes.get(place) === socket) this.#handshakes.delete(place);
    });
  }

  /** Notes that a handshake has succeeded. */
  done(socket: TLSSocket): void {
    this.#handshakes.delete(placeOf(socket));
  }

  /** Answers a connection whose handshake failed for want of TLS. Node closes it after that. */
  failed({ code = '' }: NodeJS.ErrnoException, socket: TLSSocket): void {
    const raw = this.#handshakes.get(placeOf(socket));
    if (raw?.writable !== true || !NO_TLS.has(code)) return;
    raw.end(ANSWER);
    this.#count += 1;
    const nowMs = performance.now();
    if (nowMs < this.#dueMs) return;
    this.#report?.((socket.remoteAddress ?? '').replace(/^::ffff:/, ''), this.#count);
    this.#count = 0;
    this.#dueMs = nowMs + REPORTED_EVERY_MS;
  }
}
