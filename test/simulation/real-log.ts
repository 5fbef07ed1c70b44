/** The real log in a simulated server, watched, and what a start may find of it. */
import type { Entry, HardState, Index, SnapshotMeta, Term } from '../../src/raft/types.js';
import type { LevelLog } from '../../src/storage/log.js';
import type { LogSight } from '../raft/invariants.js';
import { LogContent, type LogWatcher, type LogWrite } from './disk.js';
import type { SimLoop } from './loop.js';
import type { SimLogPort } from './storage.js';

/** Notes what is handed to the log, and what it reports as durable, in the same order. */
export interface LogNotes {
  handedOver(what: LogWrite): void;
  reported(): void;
}

/** The real log, with every call counted and every write noted. */
export class RealLog implements SimLogPort {
  readonly content: LogSight;
  readonly #log: LevelLog;
  readonly #notes: LogNotes;
  readonly #loop: SimLoop;
  readonly #watcher: LogWatcher;

  constructor(log: LevelLog, notes: LogNotes, loop: SimLoop, watcher: LogWatcher) {
    this.#log = log;
    this.#notes = notes;
    this.#loop = loop;
    this.#watcher = watcher;
    this.content = {
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
    };
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
  bar(): { readonly index: Index; readonly term: Term } | undefined {
    return this.#log.bar();
  }

  append(batch: { hardState?: HardState; entries: readonly Entry[] }, done: () => void): void {
    this.#loop.port();
    const { hardState, entries } = batch;
    this.#watcher.appending(this.content, entries, (hardState ?? this.hardState()).term);
    this.#notes.handedOver({ type: 'append', hardState, entries });
    this.#log.append(batch, this.#reported(done));
  }
  compact(meta: SnapshotMeta, done: () => void): void {
    this.#loop.port();
    this.#notes.handedOver({ type: 'compact', meta });
    this.#log.compact(meta, this.#reported(done));
  }
  reset(meta: SnapshotMeta, hardState: HardState, done: () => void): void {
    this.#loop.port();
    this.#watcher.resetting(this.content, meta);
    this.#notes.handedOver({ type: 'reset', meta, hardState });
    this.#log.reset(meta, hardState, this.#reported(done));
  }
  liftBar(done: () => void): void {
    this.#loop.port();
    this.#notes.handedOver({ type: 'bar', bar: undefined });
    this.#log.liftBar(this.#reported(done));
  }

  #reported(done: () => void): () => void {
    return () => {
      this.#notes.reported();
      this.#loop.deliver(done);
    };
  }
}

/** All that a log holds. */
export function contentOf(log: LevelLog): LogContent {
  const content = new LogContent();
  content.hard = log.hardState();
  content.meta = log.snapshot();
  content.bar = log.bar();
  content.entries = log.entries(log.firstIndex(), log.lastIndex(), Infinity);
  return content;
}

/**
 * Whether a start may find this where that is durable. The start itself writes the first entry of
 * an empty log, and completes a snapshot whose state was switched in without the log.
 */
export function explains(durable: LogContent, found: LogContent): boolean {
  const isNew = durable.last() === 0 && durable.hard.term === 0;
  if (isNew) return found.last() <= 1;
  if ((found.meta?.index ?? 0) > (durable.meta?.index ?? 0) && found.entries.length === 0)
    return found.hard.term >= durable.hard.term;
  const isSame = (index: Index): boolean => found.term(index) === durable.term(index);
  const { first, last } = { first: durable.first(), last: durable.last() };
  if (found.first() !== first || found.last() !== last) return false;
  for (let index = first - 1; index <= last; index++) if (!isSame(index)) return false;
  const factsOf = ({ hard, bar }: LogContent) => [hard.term, hard.votedFor, bar?.index];
  return JSON.stringify(factsOf(found)) === JSON.stringify(factsOf(durable));
}

/** Whether this log has all that one has, so that none of it is lost. */
export function holds(found: LogContent, durable: LogContent): boolean {
  if (found.hard.term < durable.hard.term) return false;
  for (let index = found.first(); index <= durable.last(); index++) {
    const term = found.term(index);
    if (term === undefined || term < (durable.term(index) ?? 0)) return false;
  }
  return true;
}

/** A log in a few words. */
export const describe = (log: LogContent): string =>
  `${log.first()}..${log.last()} ${JSON.stringify(log.hard)} bar ${log.bar?.index}`;
