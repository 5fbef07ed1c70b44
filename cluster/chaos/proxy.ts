/**
 * The network between real nodes. Every node advertises the address of a proxy, and the bytes
 * between two nodes pass one link per direction:
 *
 *     n1 --connect--> proxy of n2 --link n1>n2--> n2
 *     n1 <------------------------link n2>n1----- n2
 *
 * A link can be cut (bytes wait, as when packets are lost) or slow. The proxy learns who opened a
 * connection from its first frame, the hello, which contains the address that the sender
 * advertises.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { HOST } from '../../src/dev/ports.js';
import { FrameReader } from '../../src/transport/frame-reader.js';
import { decodeFrame } from '../../src/transport/frames.js';

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

  /** Forwards the bytes of `source` to `target`, in order. */
  forward(source: Socket, target: Socket): void {
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

/** The proxies and links of a cluster. */
export class ProxyNetwork {
  readonly #names: readonly string[];
  /** The names of the nodes by their advertised address. */
  readonly #nameOf = new Map<string, string>();
  readonly #links = new Map<string, Link>();
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** Starts the proxy of a node. Resolves with the address to advertise. */
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

  /** Returns the link from one node to another. */
  link(from: string, to: string): Link {
    const key = `${from}>${to}`;
    let link = this.#links.get(key);
    if (!link) {
      link = new Link();
      this.#links.set(key, link);
    }
    return link;
  }

  /** Cuts every link for which `cut` returns true, and opens all others. */
  cutWhere(cut: (from: string, to: string) => boolean): void {
    for (const from of this.#names)
      for (const to of this.#names) if (from !== to) this.link(from, to).cut = cut(from, to);
  }

  /** Delays the bytes on every link. */
  delayAll(delayMs: number): void {
    for (const from of this.#names)
      for (const to of this.#names) if (from !== to) this.link(from, to).delayMs = delayMs;
  }

  /** Opens all links and removes all delays. */
  heal(): void {
    this.cutWhere(() => false);
    this.delayAll(0);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((done) => server.close(done))));
  }

  /** Reads the hello to identify the sender, then forwards it and everything after it. */
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
        const from = this.#senderOf(hello);
        incoming.off('data', onData);
        incoming.pause();
        incoming.unshift(Buffer.concat(parts));
        this.#forward(incoming, from, to, targetPort);
      } catch {
        incoming.destroy(); // The sender is not a member.
      }
    };
    incoming.on('data', onData);
  }

  #forward(incoming: Socket, from: string, to: string, targetPort: number): void {
    const outgoing = connect(targetPort, HOST);
    this.#keep(outgoing);
    this.link(from, to).forward(incoming, outgoing);
    this.link(to, from).forward(outgoing, incoming);
  }

  #keep(socket: Socket): void {
    socket.setNoDelay(true);
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #senderOf(bytes: Buffer): string {
    const frame = decodeFrame(bytes);
    return (frame.type === 'hello' && this.#nameOf.get(frame.hello.address)) || 'unknown';
  }
}
