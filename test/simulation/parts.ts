import type { Random } from '../../cluster/checker/random.js';
import type { Trace } from '../../src/raft/decisions.js';
import type { RaftOptions } from '../../src/raft/options.js';
import type { Index, NodeId } from '../../src/raft/types.js';
import type { ReplicaLimits } from '../../src/replica/options.js';
import type { MachineLimits } from '../../src/state/machine.js';
import type { Invariants } from './invariants.js';
import type { JudgedWrites } from './judged-writes.js';
import type { SimNetwork } from './network.js';
import type { RealDisk } from './real-storage.js';
import type { Releases } from './releases.js';
import type { Scheduler } from './scheduler.js';

/** See ServerParts. */
export type StorageKind = (typeof STORAGES)[number];
export const STORAGES = ['memory', 'real'] as const;

/** What reads by tokens are judged by. */
export interface RightsParts {
  readonly judged: JudgedWrites;
  /** The index of the newest command of the product that was acknowledged. */
  readonly acknowledged: () => Index;
  /** Whether a lease may have held too long at some time so far, and no server can know. */
  readonly leaseInDoubt: () => boolean;
}

/** What a simulated server needs of its world. */
export interface ServerParts {
  readonly scheduler: Scheduler;
  readonly network: SimNetwork;
  readonly random: Random;
  readonly invariants: Invariants;
  readonly limits: () => ReplicaLimits;
  readonly machineLimits: MachineLimits;
  /** `real`: the log and state of the product, on a disk in memory. */
  readonly storage: StorageKind;
  /** Its machine and disk, if not a machine of its own name with an empty disk. */
  readonly on?: { readonly machine: string; readonly disk: RealDisk } | undefined;
  /** See ClusterOptions. */
  readonly legacy: boolean;
  /** Whether reads of a disk that hangs do not return either. */
  readonly readsHang: boolean;
  /** The keys on which readers are held, one each. */
  readonly readersOf: readonly string[];
  /** Whether the servers know the product's commands too, and answer blocking queries. */
  readonly hasProduct: boolean;
  /** Undefined if the world has no commands about rights. */
  readonly rights: RightsParts | undefined;
  readonly releases: Releases;
  /** Where a server that is in no cluster asks to join. */
  readonly joinAddresses: () => readonly string[];
  /** Whether a server is in the newest configuration. */
  readonly isMember: (id: NodeId) => boolean;
  /** Reports that for so many milliseconds a lease may hold too long, and no server can know. */
  readonly doubtLeases: (ms: number) => void;
  readonly raft: Omit<RaftOptions, 'id' | 'random'>;
  /** Reports a violation, which ends the world. */
  readonly violated: (violation: unknown) => void;
  readonly trace: (text: string) => void;
  /** Prints the decisions of a server's core; undefined unless the world is traced. */
  readonly decided: ((id: NodeId) => Trace) | undefined;
}
