/**
 * Stores the output of each step, and holds back the messages that promise it (§3.8): a vote or an
 * acknowledgement is sent only once everything before it is durable.
 *
 *     step 1 stores entries 5 and 6, acknowledges 6   ->  batch 1 {5..6}, the message waits for it
 *     step 2 stores nothing, acknowledges 6 again     ->  the message waits for batch 1 too
 *     the disk reports batch 1                        ->  6 is durable, both messages are sent
 */
import { invariant } from '../../raft/assert.js';
import type { Index, Input, Message, Output, SnapshotMeta } from '../../raft/types.js';
import type { LogPort, WirePort } from '../ports.js';

export interface LogWriterParts {
  readonly log: LogPort;
  readonly wire: Pick<WirePort, 'send'>;
  /** The next batch overwrites the entries from `index` on. */
  readonly truncates: (index: Index) => void;
  /** A batch is durable, and its messages are sent. */
  readonly stored: () => void;
}

/** A batch that is being stored, and the messages that wait for it. */
interface Storing {
  /** First index of the batch; undefined if it holds no entries. */
  readonly first: Index | undefined;
  /** Last index of the log once the batch is stored. */
  readonly last: Index;
  readonly send: Message[];
}

/** Writes to the log what the core puts out. Only the Raft loop calls it. */
export class LogWriter {
  readonly #parts: LogWriterParts;
  #storing: Storing[] = [];
  #durable: Index;
  /** Whether the core has yet to hear of `#durable`. */
  #hasNews = false;
  #isReplacing = false;
  #stopped = false;

  constructor(parts: LogWriterParts) {
    this.#parts = parts;
    this.#durable = parts.log.lastIndex();
  }

  /** Last index that is durable and that no pending batch replaces. */
  get durable(): Index {
    return this.#durable;
  }

  /** Number of batches that are being stored. */
  get storing(): number {
    return this.#storing.length;
  }

  /** Whether the log is being replaced by a snapshot. No step may be made until that is durable. */
  get isReplacing(): boolean {
    return this.#isReplacing;
  }

  /** Sends nothing more. The log still stores what it was given. */
  stop(): void {
    this.#stopped = true;
  }

  /**
   * Gives the log what must be stored, and keeps the messages that may be sent only afterwards. A
   * message also waits for all earlier batches: a repeated vote must not be sent while the first
   * one is still being stored. Returns whether there was anything to store.
   */
  store({ hardState, entries, sendAfterStore }: Output): boolean {
    const { log, wire, truncates } = this.#parts;
    invariant(!this.#isReplacing, 'a step while the log is replaced', { durable: this.#durable });
    if (hardState === undefined && entries.length === 0) {
      const last = this.#storing.at(-1);
      if (last !== undefined) last.send.push(...sendAfterStore);
      else for (const message of sendAfterStore) wire.send(message);
      return false;
    }
    const first = entries[0]?.index;
    if (first !== undefined) {
      const last = log.lastIndex();
      invariant(first <= last + 1, 'entries leave a gap in the log', { first, last });
      if (first <= log.lastIndex()) truncates(first);
      this.#durable = Math.min(this.#durable, first - 1);
    }
    const last = entries.at(-1)?.index ?? log.lastIndex();
    const storing: Storing = { first, last, send: [...sendAfterStore] };
    this.#storing.push(storing);
    const batch = hardState === undefined ? { entries } : { hardState, entries };
    log.append(batch, () => this.#stored(storing));
    return true;
  }

  /** The input that tells the core what has become durable since the last call. */
  takeStored(): Input | undefined {
    if (!this.#hasNews) return undefined;
    this.#hasNews = false;
    const term = this.#parts.log.term(this.#durable);
    return term === undefined ? undefined : { type: 'stored', index: this.#durable, term };
  }

  /**
   * Replaces the whole log by the position of an installed snapshot. Messages that wait for the old
   * log are dropped. `done` is called when that is durable.
   */
  replace(meta: SnapshotMeta, done: () => void): void {
    const { log } = this.#parts;
    this.#isReplacing = true;
    const hard = log.hardState();
    // The stored term must not be below the log's, not even until the core stores its own.
    const hardState = hard.term >= meta.term ? hard : { term: meta.term, votedFor: null };
    log.reset(meta, hardState, () => {
      this.#isReplacing = false;
      done();
    });
    this.#storing = [];
    this.#durable = meta.index;
  }

  #stored(storing: Storing): void {
    const position = this.#storing.indexOf(storing);
    if (position < 0 || this.#stopped) return;
    invariant(position === 0, 'a batch is durable before an earlier one', { position });
    this.#storing.shift();
    let durable = storing.last;
    for (const { first } of this.#storing) {
      if (first !== undefined) durable = Math.min(durable, first - 1);
    }
    const last = this.#parts.log.lastIndex();
    invariant(this.#durable <= durable, 'what is durable falls', { from: this.#durable, durable });
    invariant(durable <= last, 'durable beyond the end of the log', { durable, last });
    this.#durable = durable;
    this.#hasNews = true;
    for (const message of storing.send) this.#parts.wire.send(message);
    this.#parts.stored();
  }
}
