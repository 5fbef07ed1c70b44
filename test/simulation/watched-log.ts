/** The log of one process, in memory or the real one: each call is counted and looked at. */
import type { Entry, HardState, Index, SnapshotMeta, Term } from '../../src/raft/types.js';
import type { LogPort } from '../../src/replica/ports.js';
import type { LogSight } from '../raft/invariants.js';
import type { LogWrite } from '../support/memory-log.js';
import type { SimLoop } from './loop.js';

/** What the invariants want to know about a log. */
export interface LogWatcher {
  /** Before entries are handed over; `view` is the log as it was. */
  appending(view: LogSight, entries: readonly Entry[], term: Term): void;
  /** Before the log is replaced by a snapshot's position. */
  resetting(view: LogSight, meta: SnapshotMeta): void;
}

/** Notes what is handed to the log, and what it reports as durable, in the same order. */
export interface LogNotes {
  handedOver(write: LogWrite): void;
  reported(): void;
}

/** What a watched log needs. */
export interface WatchedLogParts {
  readonly loop: SimLoop;
  readonly watcher: LogWatcher;
  readonly notes?: LogNotes;
}

/** See the head of this file. */
export class WatchedLog implements LogPort {
  /** What the process sees of it. */
  readonly content: LogSight;
  readonly #log: Required<LogPort>;
  readonly #parts: WatchedLogParts;

  constructor(log: Required<LogPort>, content: LogSight, parts: WatchedLogParts) {
    this.#log = log;
    this.content = content;
    this.#parts = parts;
  }

  firstIndex(): Index {
    return this.#log.firstIndex();
  }
  lastIndex(): Index {
    return this.#log.lastIndex();
  }
  term(index: Index): Term | undefined {
    return this.#log.term(index);
  }
  entries(lo: Index, hi: Index, maxBytes: number): Entry[] {
    return this.#log.entries(lo, hi, maxBytes);
  }
  snapshot(): SnapshotMeta | undefined {
    return this.#log.snapshot();
  }
  hardState(): HardState {
    return this.#log.hardState();
  }
  bar(): ReturnType<Required<LogPort>['bar']> {
    return this.#log.bar();
  }

  append(batch: { hardState?: HardState; entries: readonly Entry[] }, done: () => void): void {
    this.#parts.loop.port();
    const { hardState = this.hardState(), entries } = batch;
    this.#parts.watcher.appending(this.content, entries, hardState.term);
    this.#log.append(batch, this.#write({ type: 'append', ...batch }, done));
  }
  compact(meta: SnapshotMeta, done: () => void): void {
    this.#parts.loop.port();
    this.#log.compact(meta, this.#write({ type: 'compact', meta }, done));
  }
  reset(meta: SnapshotMeta, hardState: HardState, done: () => void): void {
    this.#parts.loop.port();
    this.#parts.watcher.resetting(this.content, meta);
    this.#log.reset(meta, hardState, this.#write({ type: 'reset', meta, hardState }, done));
  }
  liftBar(done: () => void): void {
    this.#parts.loop.port();
    this.#log.liftBar(this.#write({ type: 'bar', bar: undefined }, done));
  }

  /** Notes a write. Returns what the log calls when it is durable. */
  #write(write: LogWrite, done: () => void): () => void {
    const { loop, notes } = this.#parts;
    notes?.handedOver(write);
    return () => {
      notes?.reported();
      loop.deliver(done);
    };
  }
}

/** What a process sees of a log. */
export const sightOf = (log: Required<LogPort>): LogSight => ({
  get hard() {
    return log.hardState();
  },
  get bar() {
    return log.bar();
  },
  first: () => log.firstIndex(),
  last: () => log.lastIndex(),
  at: (index) => log.entries(index, index, Infinity)[0],
  term: (index) => log.term(index),
});
