/**
 * What must hold at every moment of a simulated world, whatever fails: the invariants of Raft, of
 * the state machine, and of what clients are told.
 */
import type { Entry, Index, NodeId, SnapshotMeta } from '../../src/raft/types.js';
import { RaftInvariants, sameEntry } from '../raft/invariants.js';
import { Violation } from '../raft/violation.js';
import { SECRETS } from '../support/random-commands.js';

export { Violation };

export class Invariants extends RaftInvariants {
  readonly #sums = new Map<Index, string>();
  /** Where each client's value took effect; values are unique. */
  readonly #effects = new Map<string, { key: string; index: Index }>();
  readonly #byKey = new Map<string, { index: Index; value: string }[]>();
  readonly #failed = new Set<string>();
  /** Where a command with a secret was first committed, of all up to an index. */
  readonly #secrets = new Map<string, Index>();
  #secretsUpTo: Index = 0;
  readonly #installs = new Map<NodeId, number>();
  #lastApplied: Index = 0;
  /** The highest place in the order of operations that a client knows to be done. */
  #acknowledged: Index = 0;

  get acknowledged(): Index {
    return this.#acknowledged;
  }

  /** The last entry that any server applied; effects of later ones are not known. */
  get lastApplied(): Index {
    return this.#lastApplied;
  }

  /** The cluster begins with what another one left: all up to `meta.index` counts as committed. */
  beginsWith(meta: SnapshotMeta, registers: ReadonlyMap<string, string>): void {
    this.adopt(meta);
    for (const [key, value] of registers) this.effect(key, value, meta.index);
  }

  /** Snapshots that a server has installed so far. */
  installsOf(id: NodeId): number {
    return this.#installs.get(id) ?? 0;
  }

  override installed(id: NodeId, meta: SnapshotMeta): void {
    super.installed(id, meta);
    this.#installs.set(id, this.installsOf(id) + 1);
  }

  // --- state machine ---

  /** The state of a server that was made wrong on purpose is not compared. */
  applied(
    id: NodeId,
    entries: readonly Entry[],
    index: Index,
    checksum: string,
    isWrong = false,
  ): void {
    for (const entry of entries) {
      const committed = this.committedAt(entry.index);
      if (!committed)
        throw new Violation('applied is committed', `${id} applies uncommitted ${entry.index}`);
      if (!sameEntry(committed, entry))
        throw new Violation(
          'state machine safety',
          `${id} applies another entry at index ${entry.index} than was committed`,
        );
    }
    this.#lastApplied = Math.max(this.#lastApplied, index);
    if (isWrong) return;
    const known = this.#sums.get(index);
    if (known === undefined) this.#sums.set(index, checksum);
    else if (known !== checksum)
      throw new Violation('equal states', `${id} differs at index ${index}`);
  }

  /** Whether right servers have this state at `index`; undefined if none was seen there. */
  isRight(index: Index, checksum: string): boolean | undefined {
    const known = this.#sums.get(index);
    return known === undefined ? undefined : known === checksum;
  }

  /** A command changed a register, on whichever server. */
  effect(key: string, value: string, index: Index): void {
    const known = this.#effects.get(value);
    if (known && known.index !== index)
      throw new Violation(
        'once only',
        `the write of ${value} takes effect at ${known.index} and again at ${index}`,
      );
    if (this.#failed.has(value))
      throw new Violation(
        'failed is failed',
        `the write of ${value} takes effect at ${index}, but its client was told that it did not happen`,
      );
    if (known) return;
    this.#effects.set(value, { key, index });
    const list = this.#byKey.get(key);
    if (list) list.push({ index, value });
    else this.#byKey.set(key, [{ index, value }]);
  }

  /** Where a value took effect. */
  indexOf(value: string): Index | undefined {
    return this.#effects.get(value)?.index;
  }

  /** The index of the last committed command with a secret; undefined if there is none. */
  secretAt(secret: string): Index | undefined {
    while (this.#secretsUpTo < this.committedIndex) {
      const entry = this.committedAt(++this.#secretsUpTo);
      if (entry?.kind !== 'command') continue;
      const text = Buffer.from(entry.data).toString('latin1');
      for (const [found] of text.matchAll(SECRETS)) this.#secrets.set(found, entry.index);
    }
    return this.#secrets.get(secret);
  }

  // --- clients ---

  /** A client was told that its write certainly did not happen. */
  writeFailed(value: string): void {
    const known = this.#effects.get(value);
    if (known)
      throw new Violation(
        'failed is failed',
        `a client is told that the write of ${value} did not happen, but it did at ${known.index}`,
      );
    this.#failed.add(value);
  }

  /** A write was acknowledged; `floor` is what was acknowledged to anyone when it began. */
  writeDone(value: string, index: Index, floor: Index): void {
    const known = this.#effects.get(value);
    if (known?.index !== index)
      throw new Violation(
        'acknowledged is applied',
        `the write of ${value} is acknowledged at ${index}, it took effect at ${known?.index}`,
      );
    if (index <= floor)
      throw new Violation(
        'linearizable',
        `the write of ${value} is placed at ${index}, but ${floor} was acknowledged before it began`,
      );
    this.#acknowledged = Math.max(this.#acknowledged, index);
  }

  /** A refused compare-and-set: it saw the state just before `index`. */
  refusedAt(index: Index, floor: Index): void {
    if (index <= floor)
      throw new Violation('linearizable', `a refusal at ${index} is older than ${floor}`);
    this.#acknowledged = Math.max(this.#acknowledged, index);
  }

  /** A read answered `value` from the state at `index`. Stale reads may show an older one. */
  readDone(key: string, value: string | null, index: Index, floor: Index, stale: boolean): void {
    if (index > this.committedIndex)
      throw new Violation('applied is committed', `a read shows index ${index}, not committed`);
    const expected = this.valueAt(key, index);
    if (expected !== value)
      throw new Violation(
        'reads show the state',
        `${key} is ${expected} at index ${index}, a read shows ${value}`,
      );
    if (stale) return;
    if (index < floor)
      throw new Violation(
        'linearizable',
        `a read shows index ${index}, but ${floor} was acknowledged before it began`,
      );
    this.#acknowledged = Math.max(this.#acknowledged, index);
  }

  /** What a register holds once all up to `index` is applied; not beyond `lastApplied`. */
  valueAt(key: string, index: Index): string | null {
    const list = this.#byKey.get(key) ?? [];
    for (let at = list.length - 1; at >= 0; at--)
      if (list[at]!.index <= index) return list[at]!.value;
    return null;
  }
}
