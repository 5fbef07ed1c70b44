/**
 * Facts about the applied part of the log: the configuration in force at each index, and the bytes
 * of entries up to it. They give the position of a snapshot and the index up to which the log is
 * compacted.
 */
import { invariant } from '../../raft/assert.js';
import type { Configuration, Entry, Index, LogView, SnapshotMeta } from '../../raft/types.js';

/** When the log is compacted, and how much of it stays for followers that were away briefly. */
export interface CompactionLimits {
  /** The log is compacted when more than this is applied beyond what `keep…` retains. */
  readonly cutEntries: number;
  readonly logBytes: number;
  /** Of a large state more are kept while they take at most `keepBytes`: see RECORDS_PER_ENTRY. */
  readonly keepEntries: number;
  readonly keepBytes: number;
  /** Distance, in entries, of the indexes at which the log may be compacted; 1024 unless given. */
  readonly markEntries?: number;
}

/** The last configuration in a log, committed or not. */
export function newestConfiguration(log: LogView): Configuration {
  const last = Math.max(log.lastIndex(), log.firstIndex() - 1);
  return new AppliedLog(log, last).configurationAt(last);
}

/** Distance of the marks at which the log may be compacted. */
const MARK_BYTES = 256 * 1024;
const MARK_ENTRIES = 1024;
/**
 * Records of a snapshot that take members as long as one entry of the log does: a follower that
 * missed fewer entries catches up sooner with them than with the whole state.
 */
const RECORDS_PER_ENTRY = 4;
/** Bytes of entries read at a time. */
const SCAN_BYTES = 1024 * 1024;

interface Mark {
  readonly index: Index;
  /** Bytes of all entries up to here, counted since the log was read. */
  readonly bytes: number;
}

/** Configurations and sizes of the applied part of the log. */
export class AppliedLog {
  readonly #log: LogView;
  readonly #markEntries: number;
  /** Ascending. The first one is in force at the start of the log. */
  #configurations: { readonly index: Index; readonly configuration: Configuration }[] = [];
  #marks: Mark[] = [];
  #applied: Index = 0;
  #bytes = 0;

  /** Reads the log up to the applied index. */
  constructor(log: LogView, applied: Index, markEntries = MARK_ENTRIES) {
    this.#log = log;
    this.#markEntries = markEntries;
    this.restart(applied);
  }

  /** The log was replaced: reads it up to the applied index. */
  restart(applied: Index): void {
    const meta = this.#log.snapshot();
    this.#configurations = [
      { index: meta?.index ?? 0, configuration: meta?.configuration ?? { members: [] } },
    ];
    this.#bytes = 0;
    this.#marks = [{ index: this.#log.firstIndex() - 1, bytes: 0 }];
    this.#applied = this.#log.firstIndex() - 1;
    while (this.#applied < applied) {
      const entries = this.#log.entries(this.#applied + 1, applied, SCAN_BYTES);
      if (entries.length === 0) break;
      this.advance(entries);
    }
    this.#applied = applied;
  }

  /** These entries were applied. */
  advance(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const { index } = entry;
      invariant(index === this.#applied + 1, 'applied out of order', { index, at: this.#applied });
      this.#applied = index;
      if (entry.kind === 'command') this.#bytes += entry.data.length;
      if (entry.kind === 'configuration') this.#configurations.push(entry);
      const last = this.#marks.at(-1)!;
      if (this.#bytes - last.bytes >= MARK_BYTES || entry.index - last.index >= this.#markEntries) {
        this.#marks.push({ index: entry.index, bytes: this.#bytes });
      }
    }
  }

  get first(): Index {
    return this.#marks[0]!.index + 1;
  }

  /** Bytes of the applied entries in the log. */
  get bytes(): number {
    return this.#bytes - this.#marks[0]!.bytes;
  }

  /** The configuration in force at an index. */
  configurationAt(index: Index): Configuration {
    const known = this.#configurations;
    return (known.findLast((each) => each.index <= index) ?? known[0]!).configuration;
  }

  /** Position of the applied state; undefined while nothing is applied. */
  meta(): SnapshotMeta | undefined {
    return this.metaAt(this.#applied);
  }

  /**
   * The position up to which the log should be compacted now, if it should. Below `needed`, the
   * first index that a follower needs after the snapshot it is being sent. `records` are those of
   * the state.
   */
  cut(limits: CompactionLimits, needed: Index, records: number): SnapshotMeta | undefined {
    const first = this.#marks[0]!;
    const entries = this.#applied - first.index;
    const inBytes = (limits.keepBytes * entries) / Math.max(1, this.bytes);
    const ofState = Math.min(inBytes, records / RECORDS_PER_ENTRY);
    const keepEntries = Math.max(limits.keepEntries, ofState);
    const spareEntries = entries - keepEntries;
    const spareBytes = this.#bytes - first.bytes - limits.keepBytes;
    const due = spareEntries > limits.cutEntries || spareBytes > limits.logBytes;
    if (!due) return undefined;
    const mark = this.#marks.findLast(
      ({ index, bytes }) =>
        index < needed &&
        (spareEntries > limits.cutEntries
          ? this.#applied - index >= keepEntries
          : this.#bytes - bytes >= limits.keepBytes),
    );
    return mark === undefined || mark.index <= first.index ? undefined : this.metaAt(mark.index);
  }

  /** The log was compacted up to `index`. */
  forget(index: Index): void {
    invariant(index <= this.#applied, 'compacted before applied', { index, at: this.#applied });
    const at = this.#marks.findLastIndex((mark) => mark.index <= index);
    if (at > 0) this.#marks = this.#marks.slice(at);
    const inForce = this.#configurations.findLastIndex((each) => each.index <= index);
    if (inForce > 0) this.#configurations = this.#configurations.slice(inForce);
  }

  /** Position at an applied index; undefined where the log does not hold its term. */
  metaAt(index: Index): SnapshotMeta | undefined {
    const term = this.#log.term(index);
    if (index === 0 || term === undefined) return undefined;
    return { index, term, configuration: this.configurationAt(index) };
  }
}
