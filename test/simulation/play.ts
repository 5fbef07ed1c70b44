/**
 * From a seed to its world: every fifth is one in which no election may happen, and some with real
 * storage are ones in which a cluster is recovered.
 */
import { Random } from '../../cluster/checker/random.js';
import { runCalm } from './calm.js';
import { storageOf } from './cluster.js';
import { type Fault, LEADER_FAULTS, RECOVER, SOCKET_FAULTS } from './fault-kinds.js';
import type { NetworkKind } from './network.js';
import type { StorageKind } from './parts.js';
import { runRecovery } from './recovery.js';
import { type Report, runWorld } from './world.js';

export interface PlayOptions {
  readonly trace?: ((line: string) => void) | undefined;
  /** A kind that the world has in any case. */
  readonly fault?: Fault | undefined;
  /** See WorldOptions. */
  readonly plain?: boolean | undefined;
  /** See ClusterOptions. */
  readonly legacy?: boolean | undefined;
  readonly storage?: StorageKind | undefined;
  /** What lies between the servers. Absent: drawn from the seed. */
  readonly network?: NetworkKind | undefined;
  /** Whether they know the product's commands too. Absent: drawn from the seed. */
  readonly product?: boolean | undefined;
  /** See ClusterOptions. */
  readonly levels?: boolean | undefined;
  /** See ClusterOptions. */
  readonly rights?: boolean | undefined;
}

/** Which worlds are those of a recovery, and which part of the ones with real storage. */
const RECOVERY_STREAM = 23;
const RECOVERY_SHARE = 0.05;

/** Plays the world of a seed. */
export function playSeed(seed: number, { trace, ...rest }: PlayOptions = {}): Promise<Report> {
  const { fault } = rest;
  const needsSockets = Object.values<Fault | undefined>(SOCKET_FAULTS).includes(fault);
  const network = rest.network ?? (needsSockets ? 'sockets' : undefined);
  const options = { seed, ...rest, network, ...(trace && { trace }) };
  const isCalm =
    fault === undefined ? seed % 5 === 0 : LEADER_FAULTS.some((kind) => kind === fault);
  if (isCalm) return runCalm(options);
  return isRecovery(options) ? runRecovery(options) : runWorld(options);
}

function isRecovery(options: PlayOptions & { readonly seed: number }): boolean {
  const { seed, fault, plain } = options;
  if (fault !== undefined || plain) return fault === RECOVER;
  const isDrawn = new Random(seed * 1000 + RECOVERY_STREAM).chance(RECOVERY_SHARE);
  return isDrawn && storageOf(options) === 'real';
}
