import type { Random } from '../../cluster/checker/random.js';
import type { Trace } from '../../src/raft/decisions.js';
import type { NodeId, RaftOptions } from '../../src/raft/types.js';
import type { ReplicaLimits } from '../../src/replica/options.js';
import type { MachineLimits } from '../../src/state/machine.js';
import type { Invariants } from './invariants.js';
import type { SimNetwork } from './network.js';
import type { Scheduler } from './scheduler.js';

/** See ServerParts. */
export type StorageKind = (typeof STORAGES)[number];
export const STORAGES = ['memory', 'real'] as const;

/** What a simulated server gets from its world. */
export interface ServerParts {
  readonly scheduler: Scheduler;
  readonly network: SimNetwork;
  readonly random: Random;
  readonly invariants: Invariants;
  readonly limits: () => ReplicaLimits;
  readonly machineLimits: MachineLimits;
  /** Log and state in memory, or the real ones on a disk in memory. */
  readonly storage: StorageKind;
  /** The keys on which readers are held, one each. */
  readonly readersOf: readonly string[];
  /** Whether the servers know the product's commands too, and answer blocking queries. */
  readonly hasProduct: boolean;
  /** Where a server that is in no cluster asks to join. */
  readonly joinAddresses: () => readonly string[];
  /** For so many milliseconds a lease may hold too long, for a cause that no server can see. */
  readonly doubtLeases: (ms: number) => void;
  readonly raft: Omit<RaftOptions, 'id' | 'random'>;
  /** Reports what must not happen; the world ends. */
  readonly violated: (violation: unknown) => void;
  readonly trace: (text: string) => void;
  /** Prints the decisions of a server's core; undefined unless the world is traced. */
  readonly decided: ((id: NodeId) => Trace) | undefined;
}
