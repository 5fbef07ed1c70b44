/**
 * The network between real nodes, under control: every node advertises a proxy, and all bytes between two nodes go through
 * the link of their direction, which can be cut (bytes wait, as when packets are lost) or made slow. Which node opened a
 * connection is found by its socket among the files of the known processes (Linux).
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';

const HOST = '127.0.0.1';

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
  }
}

export class ProxyNetwork {
  readonly #names: readonly string[];
  readonly #pidOf: (name: string) => number | undefined;
  readonly #links = new Map<string, Link>();
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  /** `pidOf`: the process that a node runs as at present. */
  constructor(names: readonly string[], pidOf: (name: string) => number | undefined) {
    this.#names = names;
    this.#pidOf = pidOf;
  }

  /** Listens for connections to a node; gives the port to advertise. */
  listen(name: string, targetPort: number): Promise<number> {
    const server = createServer((incoming) => this.#accept(incoming, name, targetPort));
    this.#servers.push(server);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, HOST, () => resolve((server.address() as { port: number }).port));
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

  #accept(incoming: Socket, to: string, targetPort: number): void {
    const from = this.#whoOpened(incoming.remotePort ?? 0) ?? 'unknown';
    const outgoing = connect(targetPort, HOST);
    for (const socket of [incoming, outgoing]) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    }
    this.link(from, to).carry(incoming, outgoing);
    this.link(to, from).carry(outgoing, incoming);
  }

  /** The node whose process holds the socket with this local port. */
  #whoOpened(port: number): string | undefined {
    const inode = inodeOf(port);
    if (inode === undefined) return undefined;
    return this.#names.find((name) => {
      const pid = this.#pidOf(name);
      return pid !== undefined && holdsSocket(pid, inode);
    });
  }
}

function inodeOf(localPort: number): string | undefined {
  const suffix = `:${localPort.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)) {
    const fields = line.trim().split(/\s+/);
    if (fields[1]?.endsWith(suffix)) return fields[9];
  }
  return undefined;
}

function holdsSocket(pid: number, inode: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`;
      } catch {
        return false;
      }
    });
  } catch {
    return false;
  }
}
