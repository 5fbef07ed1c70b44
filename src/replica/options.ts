/** What a replica is made from, and the limits it keeps. */

import type { Refusal } from '../base/errors.js';
import type { LogEvent } from '../log/log-events.js';
import type { Trace } from '../raft/decisions.js';
import type { NodeId, RaftCore, RoleChange } from '../raft/types.js';
import type { LevelTable } from '../state/levels.js';
import type { Command, View } from '../state/types.js';
import type { Leaderless } from './leader-watch.js';
import type { CompactionLimits } from './log/applied-log.js';
import type { Problems } from './members/health.js';
import type { IdentityPort } from './members/identity.js';
import type { Joiner } from './members/join.js';
import type { ClockPort, LogPort, MachinePort, WirePort } from './ports.js';
import type { ApplyLimits } from './state/applier.js';
import type { ChecksumPort } from './state/comparison.js';
import type { TickerEvents, TickerLimits } from './ticker.js';
import type { Gate, PrepareGate } from './types.js';

/** The limits of a replica. */
export interface ReplicaLimits extends TickerLimits, ApplyLimits, CompactionLimits {
  /**
   * Open proposals of a leader, and writes that wait on one server. Above either, writes are
   * refused as too_many.
   */
  readonly pendingWrites: number;
  readonly waitingWrites: number;
  /** Bytes of the commands of writes that wait on one server; more writes are too_many as well. */
  readonly waitingBytes: number;
  /** Milliseconds until a request that failed without a change of leader is retried. */
  readonly retryMs: number;
  /** Milliseconds without responses from a majority after which a leader steps down. */
  readonly electionMs: number;
  /** Milliseconds that a peer has to respond to a request without a deadline of its own. */
  readonly askMs: number;
  /** Ticks between comparisons of the members' checksums; 0: never. */
  readonly compareTicks: number;
  /** A learner is promoted when it is at most this many entries behind. */
  readonly promoteLagMax: number;
  /** Milliseconds within which the members begin to erase deleted secrets. See Erasure. */
  readonly eraseSpreadMs: number;
}

/** What a replica works on, and where it gets ids and chance from. */
export interface ReplicaPorts {
  readonly log: LogPort;
  readonly wire: WirePort;
  readonly machine: MachinePort & ChecksumPort;
  readonly clock: ClockPort;
  readonly identity: IdentityPort;
  /** The applied state of this server. */
  readonly view: View;
  /** Returns a new request id, unique in the cluster and for ever. */
  readonly newId: () => string;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
}

/** Whom a replica tells of what. */
export interface ReplicaReports {
  /** The state differs from the other members', and will after a restart. */
  readonly onDiffers?: (why: string) => void;
  /** The members' states differ and no majority tells which one is right. */
  readonly onUndecided?: (why: string) => void;
  readonly onRole?: (change: RoleChange) => void;
  /** See PeersParts.changed. */
  readonly onMembers?: (what: string) => void;
  /** Log lines about servers that join, and about joining a cluster. */
  readonly onJoining?: (level: 'info' | 'warn', what: string, event: LogEvent) => void;
  /** This server stopped serving, and why; undefined: it serves again. */
  readonly onFault?: (why: string | undefined) => void;
  /**
   * A disk hangs (see DiskWatch) and another member should lead; undefined: the disks make progress
   * again.
   */
  readonly onHang?: (why: string | undefined) => void;
  /** See LeaderWatch. */
  readonly onLeaderless?: (leaderless: Leaderless) => void;
  /** The entries that the disk had lost are back. */
  readonly onWhole?: () => void;
}

export interface ReplicaParts {
  readonly id: NodeId;
  /** Of this server, for people. */
  readonly name: string;
  /** `host:port` where the other members reach this server. */
  readonly address: string;
  readonly core: RaftCore;
  readonly ports: ReplicaPorts;
  readonly reports: ReplicaReports;
  readonly limits: ReplicaLimits;
  /** The levels that this release supports; by default those of the product. */
  readonly levels?: LevelTable;
  /**
   * The join token that this server shows, read at each attempt. Absent or undefined: it waits for
   * an operator.
   */
  readonly joinToken?: () => string | undefined;
  /** See JoinParts. Absent: every joiner is believed. */
  readonly isBelieved?: (joiner: Joiner) => boolean;
  /** Authorises commands on the leader. */
  readonly gate: Gate;
  readonly prepareGate?: PrepareGate | undefined;
  /**
   * Why this leader refuses a command at present, apart from its own faults: its disk is at its
   * reserve.
   */
  readonly closedFor?: (command: Command) => Refusal | undefined;
  /** False while the disk of this server is at its reserve. */
  readonly hasRoom?: () => boolean;
  /** See LoopParts. */
  readonly isBehind?: () => boolean;
  /** See CompactionParts. */
  readonly records: () => number;
  readonly trace?: Trace | undefined;
  /** See ApplierParts. Absent: nothing is measured. */
  readonly measure?: ((ms: number) => void) | undefined;
  /** See LoopParts. */
  readonly measureTick?: TickerEvents['fired'] | undefined;
  /** See ErasureParts. Absent: nothing is erased. */
  readonly erase?: ((done: () => void) => void) | undefined;
  /** NodeStatus of this leader as JSON, with what is wrong with other members. */
  readonly statusText?: (problems: Problems) => string;
  /** A decision of this server as JSON, for members that are asked for it. */
  readonly decisionText?: ((id: string) => string | undefined) | undefined;
  /** Returns the uses of tokens that this node has noted from a place on, as JSON. */
  readonly usageText?: ((from: string) => string | undefined) | undefined;
}

export interface StartOptions {
  /** Why the state must come from the leader before anything is applied or served. */
  readonly needsState?: string | undefined;
  /** Addresses of members of a cluster that this server joins if it is in none. */
  readonly join?: readonly string[];
  /**
   * Milliseconds of silence that the present timing promises to a leader, and that an earlier run
   * may still owe (§6.4.1).
   */
  readonly silenceMs?: { readonly own: number; readonly owed: number };
}
