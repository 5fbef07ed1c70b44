/** Limits of connections: how many are accepted, in all and from one address. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpApp } from '../app.js';
import { Tally } from '../limits/concurrency.js';
import { PROBES } from '../limits/strangers.js';
import { clientAt } from './addresses.js';

/** How many connections are accepted. */
export interface ConnectionLimits {
  /**
   * Connections at one time, in all and from one address; others are answered with 429 and closed.
   */
  readonly connections: number;
  readonly connectionsPerAddress: number;
  /** Connections beyond these, each for one probe of the node's health. */
  readonly probeConnections: number;
}

/** How long a connection beyond the limit may take to read that it is refused. */
const REFUSED_MS = 1000;
/**
 * Connections for probes that one address may have: a node is probed from few places.
 */
const PROBES_PER_ADDRESS = 4;

const TOO_MANY = plainResponse(
  '429 Too Many Requests',
  'Too many connections; try again in a second',
  'Retry-After: 1\r\n',
);

/** Connections beyond the limit that may still ask for the node's health. */
class Reserve {
  readonly #places = new Set<string>();
  readonly #addresses = new Tally();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Admits a connection. Returns false if there is no place for it. */
  enter(socket: Socket, address: string): boolean {
    if (this.#places.size >= this.#max) return false;
    if (this.#addresses.of(address) >= PROBES_PER_ADDRESS) return false;
    const place = placeOf(socket);
    this.#places.add(place);
    this.#addresses.change(address, 1);
    socket.once('close', () => {
      this.#places.delete(place);
      this.#addresses.change(address, -1);
    });
    return true;
  }

  holds(socket: Socket): boolean {
    return this.#places.size > 0 && this.#places.has(placeOf(socket));
  }
}

/** Returns the origin of a connection: the same for a TLS socket and for the one below it. */
export const placeOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`;

/** The connections of one listener. */
export class Connections {
  /** Those within the limits. */
  readonly open = new Set<Socket>();
  /** Number of all connections so far, refused ones included. */
  accepted = 0;
  readonly #app: HttpApp;
  readonly #limits: ConnectionLimits;
  readonly #addresses = new Tally();
  readonly #reserve: Reserve;
  readonly #refused = new WeakSet<Socket>();

  constructor(app: HttpApp, limits: ConnectionLimits) {
    this.#app = app;
    this.#limits = limits;
    this.#reserve = new Reserve(limits.probeConnections);
  }

  /** Number of connections on which something was read: the others have nothing in memory. */
  begun(): number {
    let count = 0;
    for (const { bytesRead } of this.open) if (bytesRead > 0) count += 1;
    return count;
  }

  accept(socket: Socket): void {
    this.accepted += 1;
    const address = clientAt(socket.remoteAddress ?? '');
    const hasPlace = this.open.size < this.#limits.connections;
    if (hasPlace && this.#hasShare(address)) {
      this.open.add(socket);
      this.#addresses.change(address, 1);
      socket.once('close', () => {
        this.open.delete(socket);
        this.#addresses.change(address, -1);
      });
      return;
    }
    this.#app.refused.add(hasPlace ? 'connectionsPerAddress' : 'connections');
    if (this.#reserve.enter(socket, address)) {
      cutLater(socket, () => {
        this.#refuse(socket);
        cutLater(socket, () => socket.destroy());
      });
      return;
    }
    this.#refuse(socket);
    cutLater(socket, () => socket.destroy());
  }

  /**
   * Whether an address may have another connection: up to `connectionsPerAddress` if it is alone,
   * and fewer as fewer places are free. However many each address takes, some are left for the
   * next.
   */
  #hasShare(address: string): boolean {
    const { connections, connectionsPerAddress } = this.#limits;
    const free = connections - this.open.size;
    const kept = connections - connectionsPerAddress;
    return this.#addresses.of(address) * kept < connectionsPerAddress * free;
  }

  /** Passes a request to the application if its connection may send it. */
  handle(req: IncomingMessage, res: ServerResponse): void {
    // Node still reads from a refused connection: what it asks for must not happen
    if (this.#refused.has(req.socket)) req.socket.destroy();
    else if (!this.#reserve.holds(req.socket)) this.#app.handler(req, res);
    else if (req.url?.startsWith(PROBES)) {
      // one probe, then the place is for the next
      res.shouldKeepAlive = false;
      this.#app.handler(req, res);
    } else this.#refuse(req.socket);
  }

  #refuse(socket: Socket): void {
    this.#refused.add(socket);
    socket.end(TOO_MANY);
  }
}

function cutLater(socket: Socket, cut: () => void): void {
  const timer = setTimeout(cut, REFUSED_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Responses for connections on which no request was read. */

/**
 * Returns a whole response that closes its connection. `message` is ASCII, without a newline at its
 * end. `headers` end with a line break each.
 */
export function plainResponse(status: string, message: string, headers = ''): string {
  return (
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
    `Content-Length: ${message.length + 1}\r\n${headers}Connection: close\r\n\r\n${message}\n`
  );
}
