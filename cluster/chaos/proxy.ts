/**
 * The network between real nodes, under control: every node advertises a proxy, and all bytes
 * between two nodes go through the link of their direction, which can be cut (bytes wait, as when
 * packets are lost) or made slow. Who opened a connection is in its first frame, the hello, which
 * tells the address that its sender advertises.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { FrameReader } from '../../src/transport/frame-reader.js';
import { decodeFrame } from '../../src/transport/frames.js';
import { HOST } from '../ports.js';

const HELLO_BYTES_MAX = 65_536;

/** One direction between two nodes. */
class Link {
  delayMs = 0;
  #cut = false;
  readonly #sources = new Set<Socket>();

  get cut(): boolean {
    return this.#cut;
  }
  set cut(cut: boolean) {
    this.#cut = cut;
    for (const source of this.#sources) {
      if (cut) source.pause();
      else source.resume();
    }
  }

  /** Carries what comes out of `source` into `target`, in order. */
  carry(source: Socket, target: Socket): void {
    this.#sources.add(source);
    source.on('data', (chunk: Buffer) => {
      const write = (): void => {
        if (!target.destroyed) target.write(chunk);
      };
      if (this.delayMs === 0) write();
      else setTimeout(write, this.delayMs);
    });
    source.once('close', () => {
      this.#sources.delete(source);
      target.destroy();
    });
    source.on('error', () => {});
    if (this.#cut) source.pause();
    else source.resume();
  }
}

export class ProxyNetwork {
  readonly #names: readonly string[];
  /** Names by the address that they advertise. */
  readonly #nameOf = new Map<string, string>();
  readonly #links = new Map<string, Link>();
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** Listens for connections to a node; gives the address to advertise. */
  listen(name: string, targetPort: number): Promise<string> {
    const server = createServer((incoming) => this.#accept(incoming, name, targetPort));
    this.#servers.push(server);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, HOST, () => {
        const address = `${HOST}:${(server.address() as { port: number }).port}`;
        this.#nameOf.set(address, name);
        resolve(address);
      });
    });
  }

  link(from: string, to: string): Link {
    const key = `${from}>${to}`;
    let link = this.#links.get(key);
    if (!link) {
      link = new Link();
      this.#links.set(key, link);
    }
    return link;
  }

  /** Cuts every direction for which `cut` says so, and opens all others. */
  cutWhere(cut: (from: string, to: string) => boolean): void {
    for (const from of this.#names)
      for (const to of this.#names) if (from !== to) this.link(from, to).cut = cut(from, to);
  }

  delayAll(delayMs: number): void {
    for (const from of this.#names)
      for (const to of this.#names) if (from !== to) this.link(from, to).delayMs = delayMs;
  }

  heal(): void {
    this.cutWhere(() => false);
    this.delayAll(0);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((done) => server.close(done))));
  }

  /** Reads the hello to know whose connection it is, and carries it and everything after it. */
  #accept(incoming: Socket, to: string, targetPort: number): void {
    this.#keep(incoming);
    const reader = new FrameReader(HELLO_BYTES_MAX);
    const parts: Buffer[] = [];
    incoming.on('error', () => {});
    const onData = (part: Buffer): void => {
      parts.push(part);
      try {
        const [hello] = reader.push(part);
        if (hello === undefined) return;
        const from = this.#whoSays(hello);
        incoming.off('data', onData);
        incoming.pause();
        incoming.unshift(Buffer.concat(parts));
        this.#carry(incoming, from, to, targetPort);
      } catch {
        incoming.destroy(); // no member
      }
    };
    incoming.on('data', onData);
  }

  #carry(incoming: Socket, from: string, to: string, targetPort: number): void {
    const outgoing = connect(targetPort, HOST);
    this.#keep(outgoing);
    this.link(from, to).carry(incoming, outgoing);
    this.link(to, from).carry(outgoing, incoming);
  }

  #keep(socket: Socket): void {
    socket.setNoDelay(true);
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #whoSays(bytes: Buffer): string {
    const frame = decodeFrame(bytes);
    return (frame.type === 'hello' && this.#nameOf.get(frame.hello.address)) || 'unknown';
  }
}
