/** What a node is made from, and the limits it keeps. */
import { silenceMsOf, ticksOfSilence } from '../raft/options.js';
import type { NodeId, RaftOptions } from '../raft/types.js';
import type { ReplicaLimits } from '../replica/options.js';
import type { LevelTable } from '../state/levels.js';
import type { Handlers } from '../state/machine.js';
import type { Command } from '../state/types.js';
import type { WireSecurity } from '../transport/security.js';
import { FRAME_BYTES_MAX } from '../wire-limits.js';
import type { InitialMember } from './identity.js';
import type { Gate } from './types.js';

type RaftTiming = Pick<RaftOptions, 'tickMs' | 'heartbeatTicks' | 'electionTicks' | 'leaseMs'>;

/** The times of a node as its Raft core counts them: whole ticks, at least one. */
export function inTicks(timing: NodeTiming): RaftTiming {
  const { tickMs, heartbeatMs, electionMs, leaseMs } = timing;
  const ticks = (ms: number): number => Math.max(1, Math.round(ms / tickMs));
  return { tickMs, heartbeatTicks: ticks(heartbeatMs), electionTicks: ticks(electionMs), leaseMs };
}

/**
 * The options of the Raft core of a node. `promisedMs`: the longest silence that an earlier run may
 * have promised.
 */
export function raftOptions(
  id: NodeId,
  timing: NodeTiming,
  limits: NodeLimits,
  promisedMs: number,
): RaftOptions {
  return {
    id,
    ...inTicks(timing),
    promisedTicks: ticksOfSilence(promisedMs, timing.tickMs),
    maxAppendBytes: limits.appendBytes,
    maxInflightBytes: limits.inflightBytes,
    maxUncommittedBytes: limits.uncommittedBytes,
    random: Math.random,
  };
}

/**
 * Returns the largest number of bytes that appends in flight to one follower take as frames. Raft
 * counts 48 bytes per entry besides its content, and a frame of one small entry takes up to twice
 * what is counted. The last append may begin just below the limit, with one entry of any size.
 */
export const inflightFrameBytes = ({ appendBytes, inflightBytes }: NodeLimits): number =>
  2 * inflightBytes + Math.max(2 * appendBytes, FRAME_BYTES_MAX);

/** The silence that a node with this timing promises to a leader, in milliseconds. */
export const silenceMsIn = (timing: Partial<NodeTiming> = {}): number =>
  silenceMsOf(inTicks({ ...DEFAULT_TIMING, ...timing }));

/** Milliseconds. See `RaftOptions` for how they must fit together; checked on start. */
export interface NodeTiming {
  readonly tickMs: number;
  readonly heartbeatMs: number;
  /** The shortest election timeout; the longest is twice as long. */
  readonly electionMs: number;
  readonly leaseMs: number;
}

export interface NodeLimits extends Omit<ReplicaLimits, 'tickMs' | 'electionMs'> {
  /** Bytes of entries in one append message, in flight to one follower, appended but not committed. */
  readonly appendBytes: number;
  readonly inflightBytes: number;
  readonly uncommittedBytes: number;
  /** Bytes that must stay free on the disk, and how often that is looked at. */
  readonly diskReserveBytes: number;
  readonly diskCheckMs: number;
  /** Bytes of applied state that wait for the disk, beyond which applying rests. */
  readonly stateBacklogBytes: number;
}

export interface NodeOptions {
  readonly name: string;
  readonly dataDir: string;
  readonly listen: { readonly host: string; readonly port: number };
  /** `host:port` where the other members reach this node; by default what it listens on. */
  readonly advertise?: string;
  readonly security: WireSecurity;
  /** The members of a new cluster, this one among them; empty: a cluster of one, unless `join` is given. */
  readonly initial?: readonly InitialMember[];
  /** Addresses of members of a cluster that this node shall join, if its data folder is new. */
  readonly join?: readonly string[];
  /** The join token that this node shows, asked for at each attempt. Without one it waits for an operator. */
  readonly joinToken?: () => string | undefined;
  readonly gate: Gate;
  readonly handlers: Handlers;
  /** What the release supports; given by tests alone. */
  readonly levels?: LevelTable;
  readonly timing?: Partial<NodeTiming>;
  readonly limits?: Partial<NodeLimits>;
  /** Commands that free space, which are taken although the disk is almost full. */
  readonly frees?: (command: Command) => boolean;
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void;
  /** Gets a line about each decision of Raft. Absent: they are not traced and cost nothing. */
  readonly trace?: (message: string) => void;
  /** Called once when the process must stop: a failed disk, a broken invariant. Nothing is answered any more. */
  readonly onFatal: (error: Error) => void;
}

/**
 * Failover in less than half a second on a LAN, for a process that may stall: nobody asks for votes before the leader was
 * silent for electionMs, so a stall of electionMs - heartbeatMs costs it nothing. The lease stays well below what
 * `leaseMsMax` allows for these ticks (180 ms).
 */
export const DEFAULT_TIMING: NodeTiming = {
  tickMs: 25,
  heartbeatMs: 50,
  electionMs: 250,
  leaseMs: 150,
};

export const DEFAULT_LIMITS: NodeLimits = {
  // Half an election timeout: what is longer may have cost a leader its office.
  stallMs: DEFAULT_TIMING.electionMs / 2,
  // A slice of applying takes a few milliseconds at most.
  applyEntriesMax: 256,
  applyBytesMax: 2 ** 20,
  // Writes in memory: at some kilobytes each these are some tens of megabytes.
  pendingWrites: 10_000,
  waitingWrites: 20_000,
  retryMs: 100,
  askMs: 1000,
  compareTicks: 500,
  promoteLagMax: 100,
  // A node that was away for ten seconds of brisk writing still finds what it missed; a longer log would keep a new one
  // busy longer than the state does, which it gets instead.
  cutEntries: 10_000,
  logBytes: 64 * 2 ** 20,
  keepEntries: 10_000,
  keepBytes: 16 * 2 ** 20,
  appendBytes: 512 * 2 ** 10,
  inflightBytes: 4 * 2 ** 20,
  uncommittedBytes: 64 * 2 ** 20,
  // Room for LevelDB to compact while nothing but deletes comes in.
  diskReserveBytes: 128 * 2 ** 20,
  diskCheckMs: 1000,
  stateBacklogBytes: 32 * 2 ** 20,
};

/** Deletes, log-outs, and the removal of what has expired or was given up. */
export const freesSpace = ({ type }: Command): boolean =>
  /\.(?:delete|logout|reap|abort|forget)$/.test(type);
