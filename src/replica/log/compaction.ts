/** Compacts the log, and sends the state to followers that need entries which were dropped. */
import type { Index, Message, NodeId, SnapshotMessage, SnapshotMeta } from '../../raft/types.js';
import type { RaftLoop } from '../loop.js';
import type { ClockPort, LogPort, MachinePort, WirePort } from '../ports.js';
import type { AppliedLog, CompactionLimits } from './applied-log.js';

export interface CompactionParts {
  readonly loop: RaftLoop;
  readonly log: LogPort;
  readonly machine: MachinePort;
  readonly wire: WirePort;
  readonly clock: Pick<ClockPort, 'now'>;
  readonly appliedLog: AppliedLog;
  readonly limits: CompactionLimits;
  /** Returns the number of records of the state. */
  readonly records: () => number;
  /** Whether this leader may send its state to others. See StateComparison. */
  readonly mayCopy: () => boolean;
}

/** Compacts the log and sends snapshots; one for each replica. */
export class Compaction {
  readonly #parts: CompactionParts;
  /**
   * The snapshot that is being sent to each peer: the wire stops one when a newer one begins. The
   * log is not compacted beyond them.
   */
  readonly #sending = new Map<NodeId, SnapshotMessage>();
  /**
   * The members that were sent the state, and until when the log keeps what they lack after it: for
   * as long as sending took. Otherwise, while much is written, each of them would need the next
   * state once it has one.
   */
  readonly #following = new Map<NodeId, number>();
  #cutting = false;
  #through: Index = 0;

  constructor(parts: CompactionParts) {
    this.#parts = parts;
  }

  /**
   * Compacts the log when it is time to, once the state is durable beyond that index. Not while
   * voting is suspended: a configuration may be among the lost entries, and the log would begin
   * with the one before it.
   */
  tick(): void {
    const { loop, machine, appliedLog, limits, records } = this.#parts;
    if (this.#cutting || loop.elections.votingSuspended) return;
    const positions = [...this.#sending.values()].map(({ meta }) => meta.index);
    const needed = Math.min(...positions, ...this.#lacking(), Infinity);
    const meta = appliedLog.cut(limits, needed, records()) ?? this.#ordered(needed);
    if (meta === undefined) return;
    this.#cutting = true;
    machine.flush((durable) => this.#cut(meta, durable));
  }

  /**
   * Compacts up to `index`, which is applied, on a later tick. Followers that still need those
   * entries get a snapshot.
   */
  cutThrough(index: Index): void {
    this.#through = Math.max(this.#through, index);
  }

  /** The first entries that the members lack which were sent the state and have not caught up. */
  #lacking(): Index[] {
    if (this.#following.size === 0) return [];
    const { clock, limits, loop } = this.#parts;
    const { progress, commit } = loop.status();
    const nowMs = clock.now();
    const lacking: Index[] = [];
    for (const [id, untilMs] of this.#following) {
      const match = progress.find((each) => each.id === id)?.match;
      const isOver = match === undefined || commit - match < limits.keepEntries || nowMs > untilMs;
      if (isOver) this.#following.delete(id);
      else lacking.push(match + 1);
    }
    return lacking;
  }

  #ordered(needed: Index): SnapshotMeta | undefined {
    const { log, appliedLog } = this.#parts;
    const isDue = this.#through >= log.firstIndex() && this.#through < needed;
    return isDue ? appliedLog.metaAt(this.#through) : undefined;
  }

  #cut(meta: SnapshotMeta, durable: Index): void {
    const { log, appliedLog } = this.#parts;
    // A snapshot may have replaced the log since the decision.
    const isThere = meta.index >= log.firstIndex() && log.term(meta.index) === meta.term;
    if (durable < meta.index || !isThere) {
      this.#cutting = false;
      return;
    }
    log.compact(meta, () => {
      this.#cutting = false;
    });
    appliedLog.forget(meta.index);
  }

  /** A follower needs a snapshot. It is sent the present state with its position. */
  sendSnapshot(to: NodeId, message: Message): void {
    const { loop, appliedLog, mayCopy } = this.#parts;
    const meta = appliedLog.meta();
    if (message.type !== 'snapshot' || meta === undefined || !mayCopy()) {
      loop.snapshotSent(to, false);
      return;
    }
    this.#send(to, { ...message, meta });
  }

  /**
   * A member that has lost its state, but not its log, asks for one. Returns false when this server
   * cannot send it.
   */
  sendState(from: NodeId, to: NodeId): boolean {
    const { loop, appliedLog, mayCopy } = this.#parts;
    const { role, term } = loop.role;
    const meta = appliedLog.meta();
    if (role !== 'leader' || meta === undefined || !mayCopy()) return false;
    this.#send(to, { type: 'snapshot', from, to, term, meta, round: 0 });
    return true;
  }

  /**
   * Reports the outcome to Raft, but not that of a transfer that a newer one has stopped: Raft
   * would take it for the newer one's and begin another, which stops that one, and so on.
   */
  #send(to: NodeId, message: SnapshotMessage): void {
    const { clock, loop, wire } = this.#parts;
    const sinceMs = clock.now();
    this.#sending.set(to, message);
    wire.sendSnapshot(to, message, (ok) => {
      if (this.#sending.get(to) !== message) return;
      this.#sending.delete(to);
      if (ok) this.#following.set(to, 2 * clock.now() - sinceMs);
      loop.snapshotSent(to, ok);
    });
  }
}
