/** Wires in one process that talk over loopback sockets, and what they received. */
import { once } from 'node:events';
import net from 'node:net';
import type { KeyPair, PeerRecord } from '../../src/base/peer-record.js';
import type { Message } from '../../src/raft/types.js';
import type { WirePort } from '../../src/replica/ports.js';
import type { WireLimits } from '../../src/transport/handshake.js';
import type { WireSecurity } from '../../src/transport/sockets.js';
import type { ChunkSink, ChunkSource, Joiner, WireHandlers } from '../../src/transport/types.js';
import { Wire } from '../../src/transport/wire.js';

type Reply = (payload: Uint8Array) => void;

/** Lets a test wait until an item was received. */
class Received<T> {
  readonly all: T[] = [];
  #waiting: (() => void)[] = [];
  push(item: T): void {
    this.all.push(item);
    for (const wake of this.#waiting.splice(0)) wake();
  }
  /** Resolves with the first item that matches, once there is one. */
  async one(fits: (item: T) => boolean = () => true): Promise<T> {
    for (;;) {
      const found = this.all.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
  async count(count: number): Promise<T[]> {
    while (this.all.length < count) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.all;
  }
}

export class TestNode {
  readonly messages = new Received<Message>();
  readonly reached = new Received<string>();
  readonly lost = new Received<string>();
  readonly log = new Received<string>();
  readonly records = new Map<string, PeerRecord>();
  readonly removed = new Set<string>();
  clusterId: string | null = 'cluster-1';
  incarnation: string;
  starts = 1;
  startId = 'first';
  earlier: readonly string[] = [];
  address = '';
  onRequest: (from: string, payload: Uint8Array, reply: Reply) => void = () => {};
  keyPair: KeyPair | undefined;
  /** Keys that all members know, as the configuration holds them. */
  readonly agreed = new Map<string, string>();
  /** Whether a node that is no member may speak. */
  isKnown: (id: string) => boolean = () => true;
  readonly strangers = new Received<string>();
  readonly joiners: Joiner[] = [];
  onJoin: (payload: Uint8Array, reply: Reply) => void = () => {};
  source: () => ChunkSource | undefined = () => undefined;
  sink: (id: string) => Promise<ChunkSink | undefined> = async () => undefined;
  readonly wire: Wire;
  readonly id: string;

  constructor(
    id: string,
    options: {
      security?: WireSecurity;
      limits?: Partial<WireLimits>;
      inflightBytes?: number;
    } = {},
  ) {
    this.id = id;
    this.incarnation = `${id}-first`;
    const handlers: WireHandlers = {
      onMessage: (message) => this.messages.push(message),
      onRequest: (from, payload, reply) => this.onRequest(from, payload, reply),
      onJoinRequest: (joiner, payload, reply) => {
        this.joiners.push(joiner);
        this.onJoin(payload, reply);
      },
      onStranger: (peer) => this.strangers.push(peer),
      onReachable: (peer) => this.reached.push(peer),
      onUnreachable: (peer) => this.lost.push(peer),
      snapshotSource: () => this.source(),
      snapshotSink: (_message, sinkId) => this.sink(sinkId),
    };
    this.wire = new Wire({
      identity: () => ({
        nodeId: this.id,
        incarnation: this.incarnation,
        starts: this.starts,
        startId: this.startId,
        earlier: this.earlier,
        clusterId: this.clusterId,
        address: this.address,
        ...(this.keyPair !== undefined && { keyPair: this.keyPair }),
      }),
      records: {
        get: (peer) => this.records.get(peer),
        set: (peer, record) => void this.records.set(peer, record),
        isRemoved: (peer) => this.removed.has(peer),
        isKnown: (peer) => this.isKnown(peer),
        keyOf: (peer) => this.agreed.get(peer) ?? this.records.get(peer)?.publicKey,
      },
      security: options.security ?? { mode: 'plain' },
      handlers,
      log: (_level, message) => this.log.push(message),
      limits: { reconnectMinMs: 5, reconnectMaxMs: 20, pingMs: 50, ...options.limits },
      inflightBytes: options.inflightBytes ?? 0,
    });
    // The wire must implement the port of the replica.
    this.wire satisfies WirePort;
  }

  async listen(): Promise<this> {
    this.address = `127.0.0.1:${await this.wire.listen('127.0.0.1', 0)}`;
    return this;
  }

  heartbeat(to: TestNode, round = 1): Message {
    const position = { prevIndex: 0, prevTerm: 0, entries: [], commit: 0 };
    return { type: 'append', from: this.id, to: to.id, term: 1, ...position, round };
  }
}

/** Makes all nodes members of each other. */
export function introduce(...nodes: TestNode[]): void {
  for (const node of nodes) {
    node.wire.setMembers(nodes.map(({ id, address }) => ({ id, address })));
  }
}

/** A TCP relay that can record, hold and cut. */
export class Relay {
  readonly toServer: Buffer[] = [];
  held = false;
  /** Called whenever bytes for the server arrive. */
  onToServer: () => void = () => {};
  readonly #sockets = new Set<net.Socket>();
  readonly #server: net.Server;
  constructor(target: () => string) {
    this.#server = net.createServer((inner) => {
      const [host, port] = target().split(':');
      const outer = net.connect(Number(port), host);
      for (const [from, to] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        this.#sockets.add(from);
        from.on('data', (bytes: Buffer) => {
          if (from === inner) {
            this.toServer.push(bytes);
            this.onToServer();
          }
          if (!this.held) to.write(bytes);
        });
        from.on('error', () => to.destroy());
        from.on('close', () => {
          this.#sockets.delete(from);
          to.destroy();
        });
      }
    });
  }
  static async start(target: () => string): Promise<Relay> {
    const relay = new Relay(target);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as net.AddressInfo).port}`;
  }
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
  close(): void {
    this.#server.close();
    this.cut();
  }
}
