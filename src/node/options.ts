/** The options of a node, with its times and limits. */

import { FRAME_BYTES_MAX } from '../base/wire-limits.js';
import type { LogEvent } from '../log/log-events.js';
import { type RaftOptions, silenceMsOf, ticksOfSilence } from '../raft/options.js';
import type { NodeId } from '../raft/types.js';
import type { ReplicaLimits } from '../replica/options.js';
import type { LevelTable } from '../state/levels.js';
import type { Command, Handlers } from '../state/types.js';
import type { WireSecurity } from '../transport/sockets.js';
import type { InitialMember } from './identity.js';
import type { NodeMeasures } from './measures.js';
import type { Loading } from './read-state.js';
import type { Gate, PrepareGate } from './types.js';

type RaftTiming = Pick<RaftOptions, 'tickMs' | 'heartbeatTicks' | 'electionTicks' | 'leaseMs'>;

/** Returns the times of a node in whole ticks, at least one each, as its Raft core counts them. */
export function inTicks(timing: NodeTiming): RaftTiming {
  const { tickMs, heartbeatMs, electionMs, leaseMs } = timing;
  const ticks = (ms: number): number => Math.max(1, Math.round(ms / tickMs));
  return { tickMs, heartbeatTicks: ticks(heartbeatMs), electionTicks: ticks(electionMs), leaseMs };
}

/**
 * Returns the options of a node's Raft core. `promisedMs` is the longest silence that an earlier
 * run may have promised a leader.
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
 * Only simulations set `frameBytes`.
 */
export const inflightFrameBytes = (
  { appendBytes, inflightBytes }: Pick<NodeLimits, 'appendBytes' | 'inflightBytes'>,
  frameBytes = FRAME_BYTES_MAX,
): number => 2 * inflightBytes + Math.max(2 * appendBytes, frameBytes);

/** Returns the silence that a node with this timing promises a leader, in milliseconds. */
export const silenceMsIn = (timing: Partial<NodeTiming> = {}): number =>
  silenceMsOf(inTicks({ ...DEFAULT_TIMING, ...timing }));

/** The times of a node in milliseconds. `RaftOptions` says how they must relate. */
export interface NodeTiming {
  readonly tickMs: number;
  readonly heartbeatMs: number;
  /** The shortest election timeout; the longest is twice as long. */
  readonly electionMs: number;
  readonly leaseMs: number;
}

/** The limits of a node. */
export interface NodeLimits extends Omit<ReplicaLimits, 'tickMs' | 'electionMs'> {
  /** Bytes of entries in one append message. */
  readonly appendBytes: number;
  /** Bytes of entries in flight to one follower. */
  readonly inflightBytes: number;
  /** Bytes of entries that are appended but not committed. */
  readonly uncommittedBytes: number;
  /** Bytes that must stay free on the disk. */
  readonly diskReserveBytes: number;
  /** Milliseconds between two checks of the free space. */
  readonly diskCheckMs: number;
  /** Bytes of applied state waiting for the disk, above which apply pauses. */
  readonly stateBacklogBytes: number;
}

export interface NodeOptions {
  readonly name: string;
  readonly dataDir: string;
  /** Set if the state in `dataDir` is being read already. */
  readonly loading?: Loading | undefined;
  readonly listen: { readonly host: string; readonly port: number };
  /** `host:port` at which other members reach this node. Absent: where it listens. */
  readonly advertise?: string;
  readonly security: WireSecurity;
  /**
   * The members of a new cluster, including this one. Absent or empty: the node forms a cluster of
   * its own, unless `join` is set.
   */
  readonly initial?: readonly InitialMember[];
  /** Addresses of members whose cluster this node joins if its data folder is new. */
  readonly join?: readonly string[];
  /**
   * Returns the join token that this node presents, at each attempt. Without one the node waits
   * until an operator admits it.
   */
  readonly joinToken?: () => string | undefined;
  readonly gate: Gate;
  readonly prepareGate?: PrepareGate;
  readonly handlers: Handlers;
  /** What the release supports. Only tests set it. */
  readonly levels?: LevelTable;
  readonly timing?: Partial<NodeTiming>;
  readonly limits?: Partial<NodeLimits>;
  /** Whether a command frees space and is accepted even if the disk is almost full. */
  readonly frees?: (command: Command) => boolean;
  /** Returns a decision that this node made, as JSON, for other members. */
  readonly decisionText?: (id: string) => string | undefined;
  /** Returns the uses of tokens that this node has noted from a place on, for other members. */
  readonly usageText?: (from: string) => string | undefined;
  /** `peer`: the node that the message calls `node ID`. */
  readonly log: (
    level: 'info' | 'warn' | 'error',
    message: string,
    event: LogEvent,
    peer?: NodeId,
  ) => void;
  /** Gets what the node measures. Absent: nothing is measured, at no cost. */
  readonly measures?: NodeMeasures | undefined;
  /** Called when a stopping node answers no request any more, and before its databases close. */
  readonly onAnswered?: () => Promise<void>;
  /** Receives a line about each decision of Raft. Absent: decisions are not traced, at no cost. */
  readonly trace?: (message: string) => void;
  /**
   * Called once with an error that must stop the process, such as a failed disk or a broken
   * invariant. The node answers nothing after it.
   */
  readonly onFatal: (error: Error) => void;
}

/**
 * The default times. Failover takes less than half a second on a LAN. No follower campaigns before
 * the leader has been silent for electionMs, so a leader keeps its role through a stall of
 * electionMs - heartbeatMs. The lease is well below what `leaseMsMax` permits for these ticks
 * (180 ms).
 */
export const DEFAULT_TIMING: NodeTiming = {
  tickMs: 25,
  heartbeatMs: 50,
  electionMs: 250,
  leaseMs: 150,
};

/** The default limits. */
export const DEFAULT_LIMITS: NodeLimits = {
  // Half an election timeout: a longer stall may have made a leader step down.
  stallMs: DEFAULT_TIMING.electionMs / 2,
  // A slice of apply takes a few milliseconds at most.
  applyEntriesMax: 256,
  applyBytesMax: 2 ** 20,
  // Writes are in memory: at a few kilobytes each, these take tens of megabytes.
  pendingWrites: 10_000,
  waitingWrites: 20_000,
  // What a leader takes before it is committed; see uncommittedBytes.
  waitingBytes: 64 * 2 ** 20,
  retryMs: 100,
  askMs: 1000,
  compareTicks: 500,
  promoteLagMax: 100,
  // A quarter of limits.secretsGoneMs.
  eraseSpreadMs: 150_000,
  // A cut costs little. What is not cut is read at each start.
  cutEntries: 5000,
  logBytes: 64 * 2 ** 20,
  // Entries of a few seconds of heavy writes, which take a node that was down half a second.
  keepEntries: 10_000,
  keepBytes: 16 * 2 ** 20,
  appendBytes: 512 * 2 ** 10,
  inflightBytes: 4 * 2 ** 20,
  uncommittedBytes: 64 * 2 ** 20,
  // Space in which LevelDB compacts while only deletes are accepted.
  diskReserveBytes: 128 * 2 ** 20,
  diskCheckMs: 1000,
  stateBacklogBytes: 32 * 2 ** 20,
};

/**
 * Whether a command frees space: a delete, a logout, or a removal of what has expired or ended. To
 * revoke an identity deletes its tokens: that cannot wait for space.
 */
export const freesSpace = ({ type }: Command): boolean =>
  /\.(?:delete|logout|revoke|unblock|reap|gc|abort|forget|trim)$/.test(type);
