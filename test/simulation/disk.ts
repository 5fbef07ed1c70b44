/**
 * One machine's disk in virtual time: the Raft log and the state store. What is written shows at once and is durable later;
 * a crash keeps some prefix of what was not yet synced, so also less than what was written (a torn tail) and more than was
 * promised. A full disk fails what is written, and a wiped one has nothing. Bytes that go bad are left to the suites of the
 * real files (`test/storage`): here stands what the stores make of them, a log cut short behind a bar and a state to be
 * fetched. Not here at all: a disk that says it has synced and has not. No protocol that trusts a majority's disks
 * survives a majority of such.
 */

import type { Random } from '../../cluster/checker/random.js';
import type { Entry, NodeId, Term } from '../../src/raft/types.js';
import { newKeyIndex } from '../../src/storage/key-index.js';
import type { MemoryStateDisk } from '../../src/storage/memory-state.js';
import type { DiskTemper } from '../support/fake-disk.js';
import { LogContent, MemoryLog } from '../support/memory-log.js';
import type { SimLoop } from './loop.js';
import { openMemory } from './memory-storage.js';
import type { Scheduler } from './scheduler.js';
import type { Booting, ServerDisk, Storage } from './storage.js';
import { SimState } from './store.js';
import { type LogWatcher, WatchedLog } from './watched-log.js';

/** What the platter held at some moment. */
interface DiskImage {
  readonly log: LogContent;
  readonly state: MemoryStateDisk;
}

/** Sizes by which appends are cut: the kept seeds depend on them. */
const smallBytes = (entry: Entry): number =>
  entry.kind === 'command' ? entry.data.length + 16 : 64;

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
  state: MemoryStateDisk = newKeyIndex<string>();
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  #log: MemoryLog | undefined;
  #busy = false;
  #epoch = 0;
  #store: SimState | undefined;
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
  ): { log: WatchedLog; store: SimState } {
    this.#epoch++;
    this.#failed = false;
    this.#onFatal = onFatal;
    this.#busy = false;
    const store = new SimState(this.state, loop, (done) => this.#flush(loop, done));
    this.#store = store;
    const options = {
      onPending: () => this.#sync(),
      onDurable: () => this.#noteVote(),
      bytesOf: smallBytes,
    };
    const log = new MemoryLog(options, this.durable);
    this.#log = log;
    return { log: new WatchedLog(log, log.content, { loop, watcher }), store };
  }

  /**
   * The process is killed, and with `power` the machine too: then unsynced writes survive up to some point only, else all
   * that were handed over.
   */
  crash(withPower: boolean): void {
    const power = withPower || this.#failed;
    const pending = this.#log?.pending ?? 0;
    this.#log?.crash(power ? this.#random.int(pending + 1) : pending);
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
    this.state = newKeyIndex<string>();
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
    return { log: this.durable.copy(), state: this.#store!.disk() };
  }

  /** What it held at an earlier moment is on it again, the machine being off. */
  rollBack(image: unknown): void {
    // what `image` gave
    const { log, state } = image as DiskImage;
    this.before ??= this.durable.copy();
    this.durable = log.copy();
    this.state = state;
  }

  /** A write fails for want of room. */
  fail(): void {
    if (this.#failed) return;
    this.#failed = true;
    // who knows how much of what was on its way got there
    const pending = this.#log?.pending ?? 0;
    this.#log?.crash(this.#random.int(pending + 1));
    this.#epoch++;
    this.#onFatal();
  }

  #noteVote(): void {
    const { term, votedFor } = this.durable.hard;
    if (votedFor !== null) this.votes.set(term, votedFor);
  }

  #syncMs(): number {
    const { syncMs, longMs, longProbability } = this.temper;
    return this.#random.delay(syncMs, longMs, longProbability);
  }

  #sync(): void {
    const log = this.#log!;
    if (this.#busy || log.pending === 0) return;
    this.#busy = true;
    const epoch = this.#epoch;
    // an implementation may sync together what waits, or one by one
    const count = this.#random.chance(0.7) ? log.pending : 1 + this.#random.int(log.pending);
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
    this.#log!.sync(count);
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
