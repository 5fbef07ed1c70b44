/** The network between the machines in virtual time: its links, and the processes on it. */

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
  readonly loop: SimLoop;
  /** What it says when a connection is made. */
  readonly identity: () => WireIdentity;
  /** Whom it has met, over all lives of its disk. */
  readonly records: PeerRecords;
  readonly handlers: Required<WireHandlers>;
  /** A message is handed to the network. */
  sent(message: Message): void;
  /**
   * The state to send for a snapshot message, and the message as it must be sent; undefined: cannot. Where no connection
   * carries chunks, the state travels whole.
   */
  snapshotFor(message: Message): { message: Message; image: StateImage } | undefined;
  installSnapshot(message: Message, image: StateImage, done: (ok: boolean) => void): void;
}

/** The network as one process has it. */
export interface ProcessWire extends WirePort {
  /** From here on it hears and is heard. */
  start(): void;
  /** It closes its connections. */
  stop(done: () => void): void;
  /** Bytes that wait for one peer to read them, at most over all peers. */
  waitingBytes(): number;
}

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
  /** Bytes that a process may have waiting for one peer, at most. */
  abstract readonly queueBytesMax: number;
  readonly #links = new Map<NodeId, Map<NodeId, Link>>();

  /** The wire of a process, which is not heard before `start`. */
  abstract connect(process: Process): ProcessWire;
  /** A process has ended; with `power` its machine went off. */
  abstract detach(id: NodeId, power: boolean): void;
  /** Whom the process on a machine has met; undefined while there is none. */
  protected abstract recordsOf(id: NodeId): PeerRecords | undefined;

  link(from: NodeId, to: NodeId): Link {
    let links = this.#links.get(from);
    if (!links) {
      links = new Map();
      this.#links.set(from, links);
    }
    let link = links.get(to);
    if (!link) {
      link = { cut: false, ...QUIET };
      links.set(to, link);
    }
    return link;
  }

  /** Every direction of every link as it was at the beginning. */
  heal(): void {
    for (const links of this.#links.values())
      for (const link of links.values()) Object.assign(link, { cut: false }, QUIET);
  }

  /**
   * Whether all of these servers have met a server, so that they would not believe another one under its id; and in this
   * start of its disk or a later one.
   */
  haveMet(servers: readonly NodeId[], id: NodeId, start = 0): boolean {
    return servers.every((each) => {
      const record = this.recordsOf(each)?.get(id);
      return record !== undefined && record.starts >= start;
    });
  }
}
