/** From a seed to its world: every fifth is one in which no election may happen. */
import { runCalm } from './calm.js';
import { type Fault, LEADER_FAULTS, SOCKET_FAULTS } from './fault-kinds.js';
import type { NetworkKind } from './network.js';
import type { StorageKind } from './parts.js';
import { type Report, runWorld } from './world.js';

export interface PlayOptions {
  readonly trace?: ((line: string) => void) | undefined;
  /** A kind that the world has in any case. */
  readonly fault?: Fault | undefined;
  /** See WorldOptions. */
  readonly plain?: boolean | undefined;
  readonly storage?: StorageKind | undefined;
  /** What lies between the servers. Absent: drawn from the seed. */
  readonly network?: NetworkKind | undefined;
  /** Whether they know the product's commands too. Absent: drawn from the seed. */
  readonly product?: boolean | undefined;
}

export function playSeed(seed: number, { trace, ...rest }: PlayOptions = {}): Promise<Report> {
  const { fault } = rest;
  const needsSockets = Object.values<Fault | undefined>(SOCKET_FAULTS).includes(fault);
  const network = rest.network ?? (needsSockets ? 'sockets' : undefined);
  const options = { seed, ...rest, network, ...(trace && { trace }) };
  const isCalm =
    fault === undefined ? seed % 5 === 0 : LEADER_FAULTS.some((kind) => kind === fault);
  return isCalm ? runCalm(options) : runWorld(options);
}
