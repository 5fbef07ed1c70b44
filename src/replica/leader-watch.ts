/** Reports that this server knows no leader: its log must say so while nothing can be written. */
import type { NodeId } from '../raft/types.js';
import type { RaftLoop } from './loop.js';
import type { WirePort } from './ports.js';

/** A time without a leader. */
export interface Leaderless {
  /** Milliseconds since a leader was known last, or since this server started. */
  readonly ms: number;
  /** Names of the members to which this server has no connection. */
  readonly unreachable: readonly string[];
  /** Whether a leader is known again. */
  readonly isOver: boolean;
}

export interface LeaderWatchParts {
  readonly id: NodeId;
  readonly loop: RaftLoop;
  readonly wire: Pick<WirePort, 'reachable'>;
  readonly limits: { readonly electionMs: number };
  readonly onLeaderless: (leaderless: Leaderless) => void;
}

/** Milliseconds without a leader after which it is reported, at least. */
const FIRST_MS = 5000;
/**
 * Election timeouts without a leader after which it is reported. A server waits up to two before it
 * campaigns, so one election with a long timeout is no trouble.
 */
const FIRST_TIMEOUTS = 3;
/** Milliseconds until it is reported again. */
const AGAIN_MS = 60_000;

/** Watches whether a leader is known. */
export class LeaderWatch {
  readonly #parts: LeaderWatchParts;
  #sinceMs: number | undefined;
  #reportedMs: number | undefined;

  constructor(parts: LeaderWatchParts) {
    this.#parts = parts;
  }

  tick(nowMs: number): void {
    const { id, loop, limits } = this.#parts;
    if (loop.role.leader !== null) {
      if (this.#reportedMs !== undefined) this.#report(nowMs, true);
      this.#sinceMs = undefined;
      this.#reportedMs = undefined;
      return;
    }
    // A server that waits to be admitted has no leader yet.
    if (!loop.status().configuration.members.some((member) => member.id === id)) return;
    this.#sinceMs ??= nowMs;
    const firstMs = Math.max(FIRST_MS, FIRST_TIMEOUTS * limits.electionMs);
    const dueMs = this.#reportedMs === undefined ? firstMs : AGAIN_MS;
    if (nowMs - (this.#reportedMs ?? this.#sinceMs) < dueMs) return;
    this.#reportedMs = nowMs;
    this.#report(nowMs, false);
  }

  #report(nowMs: number, isOver: boolean): void {
    const { id: self, loop, wire, onLeaderless } = this.#parts;
    const { members } = loop.status().configuration;
    const reachable = wire.reachable?.() ?? [];
    const unreachable = members
      .filter(({ id }) => id !== self && !reachable.includes(id))
      .map(({ name }) => name);
    onLeaderless({ ms: nowMs - (this.#sinceMs ?? nowMs), unreachable, isOver });
  }
}
