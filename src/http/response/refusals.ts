/**
 * Sends errors: at once, or late to an address that is refused again and again, so that it waits
 * and the node does not.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Buckets, type RefusalCounts } from '../limits/rates.js';
import { clientOf } from '../listener/addresses.js';
import { PreparedResponse } from './prepared-response.js';
import { send, sendUnread } from './send.js';

/** How errors are sent. */
export interface RefusalLimits {
  /** Refusals per second that one address receives at once; 0: any number. */
  readonly refusalsPerAddress: number;
  /** Delay of the others, in milliseconds. */
  readonly refusalDelayMs: number;
  /** Bytes of the largest unwanted body that is read to its end to keep the connection. */
  readonly anonymousBodyBytes: number;
}

/** An error as it is sent. `headers` is a flat list of names and values. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: string[];
  readonly body: string;
}

/** Connections that wait for a late refusal. Each holds at most some 64 kB of an unread body. */
const WAITING_MAX = 1024;

/** Sends the errors of one front end. */
export class RefusalSender {
  readonly #limits: RefusalLimits;
  readonly #refused: RefusalCounts;
  readonly #atOnce: Buckets;
  readonly #waiting = new Set<Socket>();

  constructor(limits: RefusalLimits, refused: RefusalCounts) {
    this.#limits = limits;
    this.#refused = refused;
    this.#atOnce = new Buckets(limits.refusalsPerAddress);
  }

  /**
   * Refuses a request whose client is unknown or asks for too much. Beyond the rate of its address
   * the error is sent late and the rest of the body stays unread. Calls `onSent` when the response
   * is written.
   */
  refuseStranger(
    req: IncomingMessage,
    res: ServerResponse,
    response: ErrorResponse,
    onSent = nothing,
  ): void {
    const { socket } = req;
    // requests pipelined behind one that waits are answered after it anyway
    if (this.#waiting.has(socket) || this.#atOnce.take(clientOf(socket), performance.now())) {
      this.refuse(req, res, response);
      onSent();
      return;
    }
    this.#refused.add('refusalsPerAddress');
    if (this.#waiting.size >= WAITING_MAX) {
      sendUnread(res, response, 0);
      onSent();
      return;
    }
    const { refusalDelayMs } = this.#limits;
    this.#waiting.add(socket);
    setTimeout(() => {
      this.#waiting.delete(socket);
      if (res.destroyed) return;
      if (this.#hasMuchUnread(req)) sendUnread(res, response, refusalDelayMs);
      else this.refuse(req, res, response);
      onSent();
    }, refusalDelayMs);
  }

  /**
   * Refuses a request at once. Reads the rest of its body, or closes the connection if it is long.
   */
  refuse(
    req: IncomingMessage,
    res: ServerResponse,
    { status, headers, body }: ErrorResponse,
  ): void {
    const isEnded = headers.includes('Connection');
    if ((status === 413 || this.#hasMuchUnread(req)) && !isEnded)
      headers.push('Connection', 'close');
    // the unread body precedes the next request of the connection
    if (!req.complete) req.resume();
    send(req, res, new PreparedResponse(status, headers, body));
  }

  /** Whether the rest of the body is too long to be read only to keep the connection. */
  #hasMuchUnread({ complete, headers }: IncomingMessage): boolean {
    if (complete) return false;
    const length = headers['content-length'];
    if (length === undefined) return headers['transfer-encoding'] !== undefined;
    return Number(length) > this.#limits.anonymousBodyBytes;
  }
}

const nothing = (): void => {};
