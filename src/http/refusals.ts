/**
 * Answers refusals: at once, or late when an address is refused again and again, so that it waits
 * and the node does not.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientOf } from './addresses.js';
import { send, sendUnread } from './answers.js';
import { Buckets, type Refused } from './rates.js';

export interface RefusalLimits {
  /** Refusals per second that one address gets at once; 0: any number. */
  readonly refusalsPerAddress: number;
  /** How much later the others are answered, in milliseconds. */
  readonly refusalDelayMs: number;
  /**
   * The largest body that is read to its end although nobody wants it, so that the connection can
   * be kept.
   */
  readonly anonymousBodyBytes: number;
}

/** An answer that is ready. `headers` is a flat list of names and values. */
export interface Answer {
  readonly status: number;
  readonly headers: string[];
  readonly body: string;
}

/** Connections that wait for a late refusal, each with some 64 kB of an unread body at most. */
const WAITING_MAX = 1024;

export class Refusals {
  readonly #limits: RefusalLimits;
  readonly #refused: Refused;
  readonly #atOnce: Buckets;
  readonly #waiting = new Set<Socket>();

  constructor(limits: RefusalLimits, refused: Refused) {
    this.#limits = limits;
    this.#refused = refused;
    this.#atOnce = new Buckets(limits.refusalsPerAddress);
  }

  /**
   * Refuses a request whose client is a stranger, as far as can be told. Beyond the rate of its
   * address the refusal comes late and the rest of the body stays unread. Calls `given` when the
   * answer is handed over.
   */
  answerStranger(req: IncomingMessage, res: ServerResponse, answer: Answer, given = nothing): void {
    const { socket } = req;
    // what was sent behind a request that waits is answered after it anyway
    if (this.#waiting.has(socket) || this.#atOnce.take(clientOf(socket), performance.now())) {
      this.answer(req, res, answer);
      given();
      return;
    }
    this.#refused.add('refusalsPerAddress');
    if (this.#waiting.size >= WAITING_MAX) {
      sendUnread(res, answer, 0);
      given();
      return;
    }
    const { refusalDelayMs } = this.#limits;
    this.#waiting.add(socket);
    socket.pause();
    setTimeout(() => {
      this.#waiting.delete(socket);
      if (res.destroyed) return;
      if (this.#hasMuchUnread(req)) sendUnread(res, answer, refusalDelayMs);
      else {
        socket.resume();
        this.answer(req, res, answer);
      }
      given();
    }, refusalDelayMs);
  }

  /**
   * Refuses a request at once. An unread body is taken, or the connection closed when it is long.
   */
  answer(req: IncomingMessage, res: ServerResponse, { status, headers, body }: Answer): void {
    const isEnded = headers.includes('Connection');
    if ((status === 413 || this.#hasMuchUnread(req)) && !isEnded)
      headers.push('Connection', 'close');
    // what the endpoint left unread stands before the next request of the connection
    if (!req.complete) req.resume();
    send(req, res, status, headers, body);
  }

  /** Whether more of the body is still to come than it takes to keep the connection. */
  #hasMuchUnread({ complete, headers }: IncomingMessage): boolean {
    if (complete) return false;
    const length = headers['content-length'];
    if (length === undefined) return headers['transfer-encoding'] !== undefined;
    return Number(length) > this.#limits.anonymousBodyBytes;
  }
}

const nothing = (): void => {};
