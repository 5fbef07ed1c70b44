/** The databases of a disk in memory, as batches. See `fake-disk.ts`. */
import type { Random } from '../../cluster/checker/random.js';
import type { Operation } from '../../src/storage/disk.js';
import { type KeyIndex, newKeyIndex } from '../../src/storage/key-index.js';

/** A stored value: the type of its database decides which. */
export type Value = string | Buffer;

/** Written batches that a database keeps apart: about what LevelDB's own log holds. */
const JOURNAL_BATCHES = 256;
/** Operations that are written together. */
export interface Batch {
  readonly operations: readonly Operation<Value>[];
  /**
   * Whether it is durable. A later synced batch does not make it so: LevelDB closes a full log file
   * without syncing it.
   */
  isSynced: boolean;
  /** Whether it follows a write that failed, in the same log of LevelDB: then no start reads it. */
  isLost?: boolean;
}

/** A database on the platter. Its keys are the bytes of the real keys, as text. */
export class Platter {
  /** What later batches follow. */
  base: KeyIndex<Value>;
  /** Batches after `base`, as far as the process was told. */
  journal: Batch[] = [];
  /** Batches on their way. */
  waiting: Batch[] = [];
  /** What a read shows: `base` and `journal`. */
  shown: KeyIndex<Value>;
  isOpen = false;
  /** Whether a write has failed since the last `fold`. */
  hasFailed = false;

  constructor(base: KeyIndex<Value> = newKeyIndex<Value>()) {
    this.base = base;
    this.shown = base.clone();
  }

  written(batch: Batch): void {
    this.waiting = this.waiting.filter((each) => each !== batch);
    batch.isLost = this.hasFailed;
    this.journal.push(batch);
    apply(this.shown, batch);
    if (batch.isSynced && this.journal.length > JOURNAL_BATCHES) this.foldSynced();
  }

  /** All that is written is in files that no crash reaches. */
  fold(): void {
    this.base = this.shown.clone();
    this.journal = [];
    this.hasFailed = false;
  }

  /** The same for those that are synced. Others may follow them. */
  foldSynced(): void {
    this.base = this.durable();
    this.journal = this.journal.filter((batch) => !batch.isSynced);
  }

  /** All values that were written and are not merged away. */
  *values(): Iterable<string> {
    for (const [, value] of this.base.entries()) yield value.toString();
    for (const { operations } of [...this.journal, ...this.waiting])
      for (const each of operations) if (each.type === 'put') yield each.value.toString();
  }

  /** Keeps these batches alone, and what they follow. */
  keep(batches: readonly Batch[]): void {
    for (const batch of batches) batch.isSynced = true;
    this.journal = [...batches];
    this.waiting = [];
    this.shown = this.durable();
  }

  /** What a power cut leaves at least. */
  durable(): KeyIndex<Value> {
    const durable = this.base.clone();
    for (const batch of this.journal)
      if (batch.isSynced && batch.isLost !== true) apply(durable, batch);
    return durable;
  }
}

/** Does to an index what a batch does to a database. */
function apply(index: KeyIndex<Value>, { operations }: Batch): void {
  for (const operation of operations) {
    const key = bytesOf(operation.key);
    if (operation.type === 'put') index.set(key, operation.value);
    else index.delete(key);
  }
}

/** The bytes of a key, as text that sorts like them. */
export function bytesOf(key: Value): string {
  if (typeof key !== 'string') return key.toString('latin1');
  return Buffer.byteLength(key) === key.length ? key : Buffer.from(key).toString('latin1');
}

/** A value with one bit changed. Text stays text. */
export function flipped(value: Value, random: Random): Value {
  const bytes = Buffer.from(value);
  const bit = random.int(bytes.length * (typeof value === 'string' ? 7 : 8));
  const width = typeof value === 'string' ? 7 : 8;
  bytes[Math.floor(bit / width)]! ^= 1 << (bit % width);
  return typeof value === 'string' ? bytes.toString() : bytes;
}
