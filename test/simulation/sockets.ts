/**
 * Sockets in virtual time. A connection is a stream of bytes each way. Bytes arrive late, cut at
 * any place, but in order and once, until the connection breaks: then what was under way is lost,
 * and one side may learn of it long after the other. What is not taken fills a buffer, and then the
 * sender is told to wait.
 *
 *     write ─► buffer of the socket ─► under way, at most `windowBytes` ─► 'data'
 *              (writableLength)        (flow.ts)
 */
import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { NodeId } from '../../src/raft/types.js';
import type { WireServer, WireSocket, WireSockets } from '../../src/transport/sockets.js';
import { Flow, type FlowEnd, type FlowParts } from './flow.js';
import type { SimLoop } from './loop.js';

/** What sockets need of the network. */
export interface SocketParts extends FlowParts {
  readonly machine: (id: NodeId) => Machine;
  /** A port of a side that dials: no two connections have the same. */
  readonly newPort: () => number;
}

/** A machine, which has at most one process. */
export interface Machine {
  isOn: boolean;
  sockets: ProcessSockets | undefined;
}

/** The sockets of one process. */
export class ProcessSockets implements WireSockets {
  readonly id: NodeId;
  readonly loop: SimLoop;
  readonly parts: SocketParts;
  readonly open = new Set<SimSocket>();
  server: SimServerSocket | undefined;

  constructor(id: NodeId, loop: SimLoop, parts: SocketParts) {
    this.id = id;
    this.loop = loop;
    this.parts = parts;
  }

  listen(onSocket: (socket: WireSocket) => void): WireServer {
    return new SimServerSocket(this, onSocket);
  }

  dial({ host: to, port }: { host: string; port: number }, onReady: () => void): WireSocket {
    const socket = new SimSocket(this, { remoteAddress: to, remotePort: port, isConnected: false });
    this.#hop(this.id, to, () => {
      const { isOn, sockets } = this.parts.machine(to);
      if (!isOn) return;
      const server = sockets?.server;
      if (server === undefined) {
        this.#hop(to, this.id, () => socket.reset(new Error(`connect ECONNREFUSED ${to}:${port}`)));
        return;
      }
      const other = server.answer(this.id);
      socket.connection = other.connection;
      socket.connectTo(other);
      other.connectTo(socket);
      server.welcome(other);
      this.#hop(to, this.id, () => {
        if (socket.destroyed) other.reset(new Error('read ECONNRESET'));
        else socket.connected(onReady);
      });
    });
    return socket;
  }

  update(): void {}

  /** The process has ended: its machine closes what it left open, or went off with `power`. */
  end(power: boolean): void {
    this.server = undefined;
    for (const socket of this.open) socket.abandon(power);
    this.open.clear();
  }

  /** One packet of a handshake, which may be lost. */
  #hop(from: NodeId, to: NodeId, arrive: () => void): void {
    const { scheduler, random, link, hears } = this.parts;
    const { delayMs, longMs, longProbability } = link(from, to);
    scheduler.after(random.delay(delayMs, longMs, longProbability), () => {
      if (!link(from, to).cut && hears(to)) arrive();
    });
  }
}

/** A listening socket. */
class SimServerSocket extends EventEmitter implements WireServer {
  maxConnections = Number.POSITIVE_INFINITY;
  readonly #sockets: ProcessSockets;
  readonly #onSocket: (socket: WireSocket) => void;
  #count = 0;
  #port = 0;
  #whenClosed: (() => void) | undefined;

  constructor(sockets: ProcessSockets, onSocket: (socket: WireSocket) => void) {
    super();
    this.#sockets = sockets;
    this.#onSocket = onSocket;
  }

  listen({ port }: { readonly port: number }, done: () => void): void {
    this.#port = port;
    this.#sockets.server = this;
    this.#sockets.loop.soon(done);
  }

  address(): { port: number } {
    return { port: this.#port };
  }

  close(done: () => void): void {
    this.#sockets.server = undefined;
    this.#whenClosed = done;
    this.#look();
  }

  /** The side of this machine of a connection that `from` has dialled. */
  answer(from: NodeId): SimSocket {
    const remotePort = this.#sockets.parts.newPort();
    return new SimSocket(this.#sockets, { remoteAddress: from, remotePort, isConnected: true });
  }

  /** The process gets the connection when it comes to it. */
  welcome(socket: SimSocket): void {
    this.#sockets.loop.deliver(() => {
      if (this.#whenClosed !== undefined || this.#count >= this.maxConnections) {
        socket.destroy();
        return;
      }
      this.#count += 1;
      socket.once('close', () => {
        this.#count -= 1;
        this.#look();
      });
      this.emit('connection', socket);
      this.#onSocket(socket);
    });
  }

  #look(): void {
    if (this.#whenClosed !== undefined && this.#count === 0)
      this.#sockets.loop.soon(this.#whenClosed);
  }
}

/** One end of a connection. */
class SimSocket extends EventEmitter implements WireSocket, FlowEnd {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Closed by its process, or broken. */
  destroyed = false;
  writableLength = 0;
  writableNeedDrain = false;
  readonly sockets: ProcessSockets;
  /** The number of the connection, which both ends know. */
  connection: number;
  readonly #buffer: Buffer[] = [];
  #flow: Flow | undefined;
  #isConnected: boolean;
  #isCorked = false;
  /** `end` was called; the end was sent; the other side's end came. */
  #isEnding = false;
  #hasEnded = false;
  #otherEnded = false;

  constructor(
    sockets: ProcessSockets,
    other: { remoteAddress: string; remotePort: number; isConnected: boolean },
  ) {
    super();
    this.sockets = sockets;
    this.remoteAddress = other.remoteAddress;
    this.remotePort = other.remotePort;
    this.connection = other.remotePort;
    this.#isConnected = other.isConnected;
    sockets.open.add(this);
  }

  get id(): NodeId {
    return this.sockets.id;
  }

  // --- what the process does ---

  exportKeyingMaterial(bytes: number, label: string): Buffer {
    const material = createHash('sha256').update(`${label} ${this.connection}`).digest();
    return material.subarray(0, bytes);
  }

  setNoDelay(): void {}

  write(bytes: Uint8Array): boolean {
    if (this.destroyed || !this.sockets.loop.alive) return false;
    if (this.#isEnding) {
      this.abandon(false);
      this.#close(new Error('write after end'));
      return false;
    }
    this.#buffer.push(Buffer.from(bytes));
    this.writableLength += bytes.length;
    const hasRoom = this.writableLength < this.sockets.parts.temper.highWaterMark;
    if (!hasRoom) this.writableNeedDrain = true;
    if (!this.#isCorked) this.pump();
    return hasRoom;
  }

  cork(): void {
    this.#isCorked = true;
  }

  uncork(): void {
    this.#isCorked = false;
    this.pump();
  }

  end(): void {
    if (this.#isEnding || this.destroyed || !this.sockets.loop.alive) return;
    this.#isEnding = true;
    this.pump();
  }

  destroy(): void {
    if (this.destroyed || !this.sockets.loop.alive) return;
    this.abandon(false);
    this.#close(undefined);
  }

  // --- what the network does ---

  connectTo(other: SimSocket): void {
    this.#flow = new Flow(this.sockets.parts, this, other);
  }

  /** Bytes may be sent from now on. */
  connected(onReady: () => void): void {
    this.#isConnected = true;
    this.#deliver(() => {
      this.pump();
      onReady();
    });
  }

  /** Bytes arrive: `taken` once the process has them, `refused` if it has closed the socket. */
  receive(bytes: Buffer, taken: () => void, refused: () => void): void {
    this.sockets.loop.deliver(() => {
      if (this.destroyed) {
        refused();
        return;
      }
      this.emit('data', bytes);
      taken();
    });
  }

  /** The other side sends no more: this one ends too, as sockets do by default. */
  receiveEnd(): void {
    this.#deliver(() => {
      this.#otherEnded = true;
      this.end();
      this.#closeIfEnded();
    });
  }

  /** The connection is broken, or was not made. */
  reset(error: Error): void {
    if (this.destroyed) return;
    this.#flow?.stop();
    this.#deliver(() => {
      this.destroyed = true;
      this.#close(error);
    });
  }

  /**
   * Its process closes it, or has ended. The machine still sends what is under way and the end, or
   * a reset; with `power` it sends nothing any more.
   */
  abandon(power: boolean): void {
    this.destroyed = true;
    this.#buffer.length = 0;
    this.writableLength = 0;
    if (power) this.#flow?.stop();
    else if (this.sockets.parts.random.chance(0.5)) this.#flow?.reset();
    else if (!this.#hasEnded) this.#flow?.end();
  }

  /** More bytes may be under way now. */
  hasRoom(): void {
    if (this.#buffer.length > 0) this.#deliver(() => this.pump());
  }

  /** Sends as much as may be under way. */
  pump(): void {
    const flow = this.#flow;
    if (flow === undefined || !this.#isConnected || this.destroyed) return;
    while (this.#buffer.length > 0 && flow.room > 0) {
      const first = this.#buffer[0]!;
      const bytes = first.subarray(0, flow.room);
      if (bytes.length === first.length) this.#buffer.shift();
      else this.#buffer[0] = first.subarray(bytes.length);
      this.writableLength -= bytes.length;
      flow.send(bytes);
    }
    if (this.#buffer.length > 0) return;
    if (this.writableNeedDrain) this.#deliver(() => this.#drained());
    if (this.#isEnding && !this.#hasEnded) {
      this.#hasEnded = true;
      flow.end();
      this.#closeIfEnded();
    }
  }

  #drained(): void {
    if (!this.writableNeedDrain || this.#buffer.length > 0) return;
    this.writableNeedDrain = false;
    this.emit('drain');
  }

  #closeIfEnded(): void {
    if (!this.#hasEnded || !this.#otherEnded || this.destroyed) return;
    this.destroyed = true;
    this.#close(undefined);
  }

  #close(error: Error | undefined): void {
    this.sockets.open.delete(this);
    this.sockets.loop.deliver(() => {
      if (error !== undefined) this.emit('error', error);
      this.emit('close');
    });
  }

  /** The process gets it when it comes to it, unless it has closed the socket by then. */
  #deliver(run: () => void): void {
    this.sockets.loop.deliver(() => {
      if (!this.destroyed) run();
    });
  }
}
