/**
 * One machine's disk in virtual time: the Raft log and the state store. What is written shows at once and is durable later;
 * a crash keeps some prefix of what was not yet synced, so also less than what was written (a torn tail) and more than was
 * promised. A full disk fails what is written, and a wiped one has nothing. Bytes that go bad are left to the suites of the
 * real files (`test/storage`): here stands what the stores make of them, a log cut short behind a bar and a state to be
 * fetched. Not here at all: a disk that says it has synced and has not. No protocol that trusts a majority's disks
 * survives a majority of such.
 */

import type { Random } from '../../cluster/checker/random.js';
import type { Entry, HardState, Index, NodeId, SnapshotMeta, Term } from '../../src/raft/types.js';
import type { LogPort } from '../../src/replica/ports.js';
import type { LogSight } from '../raft/invariants.js';
import type { DiskTemper } from '../support/fake-disk.js';
import type { SimLoop } from './loop.js';
import { openMemory } from './memory-storage.js';
import type { Scheduler } from './scheduler.js';
import type { Booting, ServerDisk, Storage } from './storage.js';
import { type MemoryState, memoryState, type StateImage } from './store.js';

/** Content of a log: of what the process sees, or of what would survive a power cut. */
export class LogContent {
  hard: HardState = { term: 0, votedFor: null };
  meta: SnapshotMeta | undefined;
  entries: Entry[] = [];
  bar: Bar | undefined;

  first(): Index {
    return (this.meta?.index ?? 0) + 1;
  }
  last(): Index {
    return this.first() + this.entries.length - 1;
  }
  at(index: Index): Entry | undefined {
    return this.entries[index - this.first()];
  }
  term(index: Index): Term | undefined {
    if (index === this.first() - 1) return this.meta?.term ?? 0;
    return this.at(index)?.term;
  }
  copy(): LogContent {
    const copy = new LogContent();
    copy.hard = this.hard;
    copy.meta = this.meta;
    copy.entries = [...this.entries];
    copy.bar = this.bar;
    return copy;
  }
}

/** See `LogPort.bar`: what a damaged log may have acknowledged. */
export interface Bar {
  readonly index: Index;
  readonly term: Term;
}

/** A write to a log. */
export type LogWrite =
  | { readonly type: 'bar'; readonly bar: undefined }
  | {
      readonly type: 'append';
      readonly hardState: HardState | undefined;
      readonly entries: readonly Entry[];
    }
  | { readonly type: 'compact'; readonly meta: SnapshotMeta }
  | { readonly type: 'reset'; readonly meta: SnapshotMeta; readonly hardState: HardState };

/** What a write makes of a log. */
export function write(content: LogContent, what: LogWrite): void {
  if (what.type === 'append') {
    if (what.hardState) content.hard = what.hardState;
    const from = what.entries[0]?.index;
    if (from === undefined) return;
    if (from < content.first() || from > content.last() + 1)
      throw new Error(
        `append from ${from} to a log that holds ${content.first()}..${content.last()}`,
      );
    content.entries.length = from - content.first();
    for (const entry of what.entries) content.entries.push(entry);
  } else if (what.type === 'compact') {
    if (what.meta.index < content.first()) return;
    content.entries.splice(0, what.meta.index - content.first() + 1);
    content.meta = what.meta;
  } else if (what.type === 'bar') content.bar = undefined;
  else {
    content.meta = what.meta;
    content.hard = what.hardState;
    content.entries = [];
    if (content.bar && what.meta.index >= content.bar.index) content.bar = undefined;
  }
}

/** What the invariants want to know about a log. */
export interface LogWatcher {
  /** Before entries are handed over; `view` is the log as it was. */
  appending(view: LogSight, entries: readonly Entry[], term: Term): void;
  /** Before the log is replaced by a snapshot's position. */
  resetting(view: LogSight, meta: SnapshotMeta): void;
}

/** What the platter held at some moment. */
interface DiskImage {
  readonly log: LogContent;
  readonly state: StateImage;
}

/** Survives crashes; the process of the moment is attached to it. */
export class SimDisk implements ServerDisk {
  readonly temper: DiskTemper = { syncMs: 1, longMs: 60, longProbability: 0.02 };
  /** No room: what is written fails, and the process that wrote it must end. */
  isFull = false;
  /** No sync returns before it is healed. */
  #hanging = false;
  /** What waits for that. */
  #held: (() => void)[] = [];
  /** The state cannot be trusted any more, which shows at every start until it is replaced. */
  stateDamaged = false;
  /** What is on the platter. */
  durable = new LogContent();
  /** What was on it before it was wiped: it was acknowledged in good faith. */
  before: LogContent | undefined;
  /** Every vote that was ever on the platter, by term. */
  readonly votes = new Map<Term, NodeId>();
  state: StateImage = new Map();
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  #unsynced: { what: LogWrite; done: () => void }[] = [];
  #busy = false;
  #epoch = 0;
  #store: MemoryState | undefined;
  #onFatal: () => void = () => {};
  /** A write has failed: nothing is tried again before the next start. */
  #failed = false;

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  /** What it has lost its log knows, and its state at the next start. */
  readonly isSpoiled = false;
  /** Storage in memory does not rot, and is not locked: see `real-storage.ts`. */
  readonly isRotten = false;
  isLocked = false;
  rot(): void {}
  discardState(): void {}

  open(booting: Booting, done: (storage: Storage) => void): void {
    openMemory(this, booting, done);
  }

  /** Opens log and state for a process; `onFatal` is called once, when a write fails. */
  load(
    loop: SimLoop,
    watcher: LogWatcher,
    onFatal: () => void,
  ): { log: SimLog; store: MemoryState } {
    this.#epoch++;
    this.#failed = false;
    this.#onFatal = onFatal;
    this.#busy = false;
    this.#unsynced = [];
    const store = memoryState(this.state, loop, (done) => this.#flush(loop, done));
    this.#store = store;
    return { log: new SimLog(this, this.durable.copy(), loop, watcher), store };
  }

  /**
   * The process is killed, and with `power` the machine too: then unsynced writes survive up to some point only, else all
   * that were handed over.
   */
  crash(withPower: boolean): void {
    const power = withPower || this.#failed;
    const survivors = power ? this.#random.int(this.#unsynced.length + 1) : this.#unsynced.length;
    for (const { what } of this.#unsynced.slice(0, survivors)) this.#persist(what);
    this.#unsynced = [];
    this.#epoch++;
    if (this.#store) this.state = this.#store.survive(power ? this.#random : undefined);
    this.#store = undefined;
  }

  /**
   * Bytes in the middle of the log go bad while the machine is off. The store finds that at the next start: it drops
   * everything from there on, and bars the server from voting, since it may have acknowledged what it dropped.
   */
  damageLog(): void {
    const { durable } = this;
    if (durable.entries.length === 0) return;
    durable.bar = {
      index: Math.max(durable.last(), durable.bar?.index ?? 0),
      term: Math.max(durable.hard.term, durable.bar?.term ?? 0),
    };
    durable.entries.length = this.#random.int(durable.entries.length);
  }

  damageState(): void {
    this.stateDamaged = true;
  }

  /** Everything is lost, the machine being off. */
  wipe(): void {
    this.before ??= this.durable.copy();
    this.durable = new LogContent();
    this.votes.clear();
    this.state = new Map();
    this.stateDamaged = false;
  }

  hang(): void {
    this.#hanging = true;
  }

  /** It does not hang any more: everything that waited is done now. */
  unhang(): void {
    this.#hanging = false;
    for (const run of this.#held.splice(0)) run();
  }

  /** Runs `run` once the disk does not hang. */
  whenFree(run: () => void): void {
    if (this.#hanging) this.#held.push(run);
    else run();
  }

  /** What is durable now; only while a process has it open. */
  image(): DiskImage {
    return { log: this.durable.copy(), state: this.#store!.platter() };
  }

  /** What it held at an earlier moment is on it again, the machine being off. */
  rollBack(image: unknown): void {
    // what `image` gave
    const { log, state } = image as DiskImage;
    this.before ??= this.durable.copy();
    this.durable = log.copy();
    this.state = new Map(state);
  }

  /** A write fails for want of room. */
  fail(): void {
    if (this.#failed) return;
    this.#failed = true;
    // who knows how much of what was on its way got there
    for (const { what } of this.#unsynced.slice(0, this.#random.int(this.#unsynced.length + 1)))
      this.#persist(what);
    this.#unsynced = [];
    this.#epoch++;
    this.#onFatal();
  }

  /** Queues a write; the sync of what is queued begins when the one before has ended. */
  write(what: LogWrite, done: () => void): void {
    if (this.#failed) return;
    this.#unsynced.push({ what, done });
    this.#sync();
  }

  #persist(what: LogWrite): void {
    write(this.durable, what);
    const { term, votedFor } = this.durable.hard;
    if (votedFor !== null) this.votes.set(term, votedFor);
  }

  #syncMs(): number {
    const { syncMs, longMs, longProbability } = this.temper;
    return this.#random.delay(syncMs, longMs, longProbability);
  }

  #sync(): void {
    if (this.#busy || this.#unsynced.length === 0) return;
    this.#busy = true;
    const epoch = this.#epoch;
    // an implementation may sync together what waits, or one by one
    const count = this.#random.chance(0.7)
      ? this.#unsynced.length
      : 1 + this.#random.int(this.#unsynced.length);
    this.#scheduler.after(this.#syncMs(), () =>
      this.whenFree(() => {
        if (epoch === this.#epoch) this.#synced(count);
      }),
    );
  }

  #synced(count: number): void {
    this.#busy = false;
    if (this.isFull) {
      this.fail();
      return;
    }
    for (const { what, done } of this.#unsynced.splice(0, count)) {
      this.#persist(what);
      done();
    }
    this.#sync();
  }

  #flush(loop: SimLoop, done: () => void): void {
    const epoch = this.#epoch;
    this.#scheduler.after(this.#syncMs(), () =>
      this.whenFree(() => {
        if (epoch !== this.#epoch) return;
        if (this.isFull) this.fail();
        else loop.deliver(done);
      }),
    );
  }
}

/** The log as one process sees it. */
class SimLog implements LogPort {
  readonly content: LogContent;
  readonly #disk: SimDisk;
  readonly #loop: SimLoop;
  readonly #watcher: LogWatcher;

  constructor(disk: SimDisk, content: LogContent, loop: SimLoop, watcher: LogWatcher) {
    this.#disk = disk;
    this.content = content;
    this.#loop = loop;
    this.#watcher = watcher;
  }

  firstIndex(): Index {
    return this.content.first();
  }
  lastIndex(): Index {
    return this.content.last();
  }
  term(index: Index): Term | undefined {
    return this.content.term(index);
  }
  snapshot(): SnapshotMeta | undefined {
    return this.content.meta;
  }
  hardState(): HardState {
    return this.content.hard;
  }
  entries(lo: Index, hi: Index, maxBytes: number): Entry[] {
    const out: Entry[] = [];
    let bytes = 0;
    for (let index = lo; index <= hi; index++) {
      const entry = this.content.at(index);
      if (!entry) break;
      bytes += entry.kind === 'command' ? entry.data.length + 16 : 64;
      if (out.length > 0 && bytes > maxBytes) break;
      out.push(entry);
    }
    return out;
  }

  append(batch: { hardState?: HardState; entries: readonly Entry[] }, done: () => void): void {
    this.#loop.port();
    const { term } = batch.hardState ?? this.content.hard;
    this.#watcher.appending(this.content, batch.entries, term);
    this.#write({ type: 'append', hardState: batch.hardState, entries: batch.entries }, done);
  }
  compact(meta: SnapshotMeta, done: () => void): void {
    this.#loop.port();
    this.#write({ type: 'compact', meta }, done);
  }
  reset(meta: SnapshotMeta, hardState: HardState, done: () => void): void {
    this.#loop.port();
    this.#watcher.resetting(this.content, meta);
    this.#write({ type: 'reset', meta, hardState }, done);
  }

  bar(): Bar | undefined {
    return this.content.bar;
  }
  liftBar(done: () => void): void {
    this.#loop.port();
    this.#write({ type: 'bar', bar: undefined }, done);
  }

  #write(what: LogWrite, done: () => void): void {
    write(this.content, what);
    this.#disk.write(what, () => this.#loop.deliver(done));
  }
}
