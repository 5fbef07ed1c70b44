/** Cutting the log where nobody needs it, and sending the state to followers that the cut has left behind. */
import type { Index, Message, NodeId, SnapshotMeta } from '../../raft/types.js';
import type { RaftLoop } from '../loop.js';
import type { LogPort, MachinePort, WirePort } from '../ports.js';
import type { AppliedLog, CompactionLimits } from './applied-log.js';

export interface CompactionParts {
  readonly loop: RaftLoop;
  readonly log: LogPort;
  readonly machine: MachinePort;
  readonly wire: WirePort;
  readonly appliedLog: AppliedLog;
  readonly limits: CompactionLimits;
  /** Whether the state of this node, which leads, may be given to others. */
  readonly mayCopy: () => boolean;
}

export class Compaction {
  readonly #parts: CompactionParts;
  /** AppliedLog of snapshots on their way to followers: the log is not cut beyond them. */
  readonly #out = new Set<SnapshotMeta>();
  #cutting = false;
  #through: Index = 0;

  constructor(parts: CompactionParts) {
    this.#parts = parts;
  }

  /**
   * Cuts if it is time to, after the state is durable beyond the cut. Not while entries are lost: a configuration may be
   * among them, and the cut would go on with the one before it.
   */
  tick(): void {
    const { loop, machine, appliedLog, limits } = this.#parts;
    if (this.#cutting || loop.votingSuspended) return;
    const needed = Math.min(...[...this.#out].map(({ index }) => index), Infinity);
    const meta = appliedLog.cut(limits, needed) ?? this.#ordered(needed);
    if (meta === undefined) return;
    this.#cutting = true;
    machine.flush((durable) => this.#cut(meta, durable));
  }

  /** Orders a cut up to `index`, which is applied, whoever still needs those entries: they get the state instead. */
  cutThrough(index: Index): void {
    this.#through = Math.max(this.#through, index);
  }

  #ordered(needed: Index): SnapshotMeta | undefined {
    const { log, appliedLog } = this.#parts;
    const isDue = this.#through >= log.firstIndex() && this.#through < needed;
    return isDue ? appliedLog.metaAt(this.#through) : undefined;
  }

  #cut(meta: SnapshotMeta, durable: Index): void {
    const { log, appliedLog } = this.#parts;
    // Between the decision and now a snapshot may have taken the log's place.
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

  /** The core wants a follower to get a snapshot. What is sent is the state as it is now, under its own position. */
  sendSnapshot(to: NodeId, message: Message): void {
    const { loop, appliedLog, wire, mayCopy } = this.#parts;
    const meta = appliedLog.meta();
    if (message.type !== 'snapshot' || meta === undefined || !mayCopy()) {
      loop.snapshotSent(to, false);
      return;
    }
    this.#out.add(meta);
    wire.sendSnapshot(to, { ...message, meta }, (ok) => {
      this.#out.delete(meta);
      loop.snapshotSent(to, ok);
    });
  }

  /** A member has lost its state, but not its log: the core knows nothing of this. False when there is nothing to send. */
  sendState(from: NodeId, to: NodeId): boolean {
    const { loop, appliedLog, wire, mayCopy } = this.#parts;
    const { role, term } = loop.role;
    const meta = appliedLog.meta();
    if (role !== 'leader' || meta === undefined || !mayCopy()) return false;
    wire.sendSnapshot(to, { type: 'snapshot', from, to, term, meta, round: 0 }, () => {});
    return true;
  }
}
