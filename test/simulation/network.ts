/** The network between the machines in virtual time: its links, and the processes on it. */

import type { PeerRecord } from '../../src/base/peer-record.js';
import type { Message, NodeId } from '../../src/raft/types.js';
import type { WirePort } from '../../src/replica/ports.js';
import type { PeerRecords, WireHandlers, WireIdentity } from '../../src/transport/types.js';
import type { SimLoop } from './loop.js';
import type { StateImage } from './store.js';

/**
 * What lies between the processes. `messages`: each message travels by itself, and may be lost,
 * repeated or overtaken. `sockets`: the product's own wire over streams of bytes.
 */
export const NETWORKS = ['messages', 'sockets'] as const;
export type NetworkKind = (typeof NETWORKS)[number];

/** A process on the network. */
export interface Process {
  readonly id: NodeId;
  /** The machine that it runs on: the host of its address. Usually both have one name. */
  readonly machine: string;
  readonly loop: SimLoop;
  /** What it says when a connection is made. */
  readonly identity: () => WireIdentity;
  /** The peers it has met in all lives of its disk. */
  readonly records: PeerRecords;
  /** The same of one server, as far as the disk holds it: what a crash leaves. */
  readonly stored: (id: NodeId) => PeerRecord | undefined;
  readonly handlers: Required<WireHandlers>;
  /** A message is handed to the network. */
  sent(message: Message): void;
  /**
   * The state for a snapshot message, and the message to send with it; undefined if there is none.
   * Where no connection carries chunks, the state travels whole.
   */
  snapshotFor(message: Message): { message: Message; image: StateImage } | undefined;
  installSnapshot(message: Message, image: StateImage, done: (ok: boolean) => void): void;
}

/** The network as one process has it. */
export interface ProcessWire extends WirePort {
  /** Starts to listen and to send. */
  start(): void;
  /** Closes the connections. */
  stop(done: () => void): void;
  /** Bytes that wait for a peer to read them, of the peer with the most. */
  waitingBytes(): number;
}

/**
 * What a process knows of others. Here a server that is added again keeps its id; in the product it
 * gets another one. So one that is a member again does not count as removed where its removal is
 * learnt late.
 */
export const recordsOf = (
  records: Required<PeerRecords>,
  isMember: (id: NodeId) => boolean,
): PeerRecords => ({
  ...records,
  isRemoved: (id) => records.isRemoved(id) && !isMember(id),
});

/** One direction between two machines. */
export interface Link {
  cut: boolean;
  delayMs: number;
  longMs: number;
  longProbability: number;
  /** Of messages. */
  dropProbability: number;
  repeatProbability: number;
  /** Of connections, at each arrival of bytes. */
  resetProbability: number;
  /** Bytes of a connection that may be under way. */
  windowBytes: number;
}

/** A link with nothing wrong but that it may be cut. */
export const QUIET: Omit<Link, 'cut'> = {
  delayMs: 1,
  longMs: 20,
  longProbability: 0.01,
  dropProbability: 0,
  repeatProbability: 0,
  resetProbability: 0,
  windowBytes: Number.POSITIVE_INFINITY,
};

export abstract class SimNetwork {
  abstract readonly kind: NetworkKind;
  /** Whether there are connections, to which proofs of keys can be bound. */
  get bindsProofs(): boolean {
    return this.kind === 'sockets';
  }
  /** Bytes that a process may have waiting for one peer, at most. */
  abstract readonly queueBytesMax: number;
  readonly #links = new Map<string, Map<string, Link>>();
  readonly #unanswered = new Set<Uint8Array>();
  /** Machines of servers that have another name than theirs. */
  readonly #machines = new Map<NodeId, string>();

  /** The wire of a process, which is not heard before `start`. */
  connect(process: Process): ProcessWire {
    const wire = this.open(process);
    const request: WirePort['request'] = (to, payload, timeoutMs, done) => {
      this.#unanswered.add(payload);
      wire.request(to, payload, timeoutMs, (answer, fate) => {
        if (answer !== undefined || fate === 'unsent') this.#unanswered.delete(payload);
        done(answer, fate);
      });
    };
    return { ...wire, request };
  }

  /** Whether a request with this value in it was sent, and has no answer or lost it. */
  isUnanswered(value: string): boolean {
    const text = JSON.stringify(value);
    return [...this.#unanswered].some((payload) => Buffer.from(payload).includes(text));
  }

  /** See `connect`. */
  protected abstract open(process: Process): ProcessWire;
  /** A process has ended; with `power` its machine went off. */
  abstract detach(process: Pick<Process, 'id' | 'machine'>, power: boolean): void;
  /** The process of a server; undefined while there is none. */
  protected abstract processOn(id: NodeId): Process | undefined;

  /** Puts a server on a machine of another name. */
  place(id: NodeId, machine: string): void {
    this.#machines.set(id, machine);
  }

  /** The link between two machines, or between those of two servers. */
  link(from: NodeId, to: NodeId): Link {
    const [sender, receiver] = [this.#machineOf(from), this.#machineOf(to)];
    let links = this.#links.get(sender);
    if (!links) {
      links = new Map();
      this.#links.set(sender, links);
    }
    let link = links.get(receiver);
    if (!link) {
      link = { cut: false, ...QUIET };
      links.set(receiver, link);
    }
    return link;
  }

  #machineOf(id: NodeId): string {
    return this.#machines.get(id) ?? id;
  }

  /** Restores every link, in both directions. */
  heal(): void {
    for (const links of this.#links.values())
      for (const link of links.values()) Object.assign(link, { cut: false }, QUIET);
  }

  /**
   * Whether all of these servers have met a server, in this start of its disk or a later one, and
   * have stored that. From then on they refuse another server under its id, and an older copy of
   * its disk.
   */
  haveMet(servers: readonly NodeId[], id: NodeId, start = 0): boolean {
    return servers.every((each) => {
      const record = this.processOn(each)?.stored(id);
      return record !== undefined && record.starts >= start;
    });
  }
}
