/**
 * Connections on which nobody has proved anything yet. There are few of them at a time: when
 * another one comes, the one that has waited longest goes. Who holds many open can so keep no
 * member out, who needs a moment only.
 */
import type { Socket } from 'node:net';
import { remoteOf } from './connection.js';

export class Strangers {
  private readonly waiting = new Map<string, Socket>();
  private readonly max: number;

  constructor(max: number) {
    this.max = max;
  }

  /** Takes a connection that was made. */
  add(socket: Socket): void {
    const name = remoteOf(socket);
    this.waiting.set(name, socket);
    socket.once('close', () => {
      if (this.waiting.get(name) === socket) this.waiting.delete(name);
    });
    if (this.waiting.size <= this.max) return;
    const [oldest] = this.waiting.values();
    oldest?.destroy();
  }

  /** Closes them all. */
  close(): void {
    for (const socket of this.waiting.values()) socket.destroy();
  }

  /** Who is at the other end has proved it. `name`: address and port there. */
  proved(name: string): void {
    this.waiting.delete(name);
  }
}
