/**
 * Accepted connections whose peer is not authenticated yet, or asks to join. Their number is
 * limited: when there are too many, the oldest is closed. So a client that opens many connections
 * cannot lock out a member, which authenticates within moments.
 */
import { remoteOf } from './connection.js';
import type { WireSocket } from './sockets.js';

/** The connections of one listener that are not authenticated yet. */
export class UnauthenticatedConnections {
  readonly #waiting = new Map<string, WireSocket>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Adds a new connection, and closes the oldest if there are too many. */
  add(socket: WireSocket): void {
    const name = remoteOf(socket);
    this.#waiting.set(name, socket);
    socket.once('close', () => {
      if (this.#waiting.get(name) === socket) this.#waiting.delete(name);
    });
    if (this.#waiting.size <= this.#max) return;
    const [oldest] = this.#waiting.values();
    oldest?.destroy();
  }

  close(): void {
    for (const socket of this.#waiting.values()) socket.destroy();
  }

  /** Removes a connection whose peer is authenticated. `name` is the peer's address and port. */
  proved(name: string): void {
    this.#waiting.delete(name);
  }
}
