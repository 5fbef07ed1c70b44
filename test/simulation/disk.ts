/**
 * The disk of one machine in virtual time: the Raft log and the state store. A write is visible at
 * once and durable later. A crash keeps a prefix of what was not synced: less than was written (a
 * torn tail), or more than was acknowledged. Writes to a full disk fail, and a wiped disk is empty.
 * Corrupt bytes are tested with real files (`test/storage`) and in worlds with real storage; this
 * disk has only their consequences: a truncated log that bars its server from voting, and a state
 * that must be fetched. A disk that reports a sync without doing it is not simulated: no protocol
 * survives that on a majority of its servers.
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

/** The durable content of a disk at some moment. */
interface DiskImage {
  readonly log: LogContent;
  readonly state: MemoryStateDisk;
}

/** The size of an entry when appends are cut into batches. The kept seeds depend on it. */
const smallBytes = (entry: Entry): number =>
  entry.kind === 'command' ? entry.data.length + 16 : 64;

/** A disk. It survives crashes; one process at a time has it open. */
export class SimDisk implements ServerDisk {
  readonly temper: DiskTemper = { syncMs: 1, longMs: 60, longProbability: 0.02 };
  /** Whether writes fail for lack of space, which ends the process. */
  isFull = false;
  /** Whether syncs do not return. */
  #hanging = false;
  /** What runs once the disk stops hanging. */
  #held: (() => void)[] = [];
  /** Whether the state is damaged. Every start finds that, until the state is replaced. */
  stateDamaged = false;
  /** The durable content of the log. */
  durable = new LogContent();
  /** The log before the disk was wiped: the server may have acknowledged it. */
  before: LogContent | undefined;
  /** Every vote that was ever durable, by term. */
  readonly votes = new Map<Term, NodeId>();
  state: MemoryStateDisk = newKeyIndex<string>();
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  #log: MemoryLog | undefined;
  #busy = false;
  #epoch = 0;
  #store: SimState | undefined;
  #onFatal: () => void = () => {};
  /** Whether a write has failed. Nothing is written after that until the next start. */
  #failed = false;

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  /** False: the log knows what the disk has lost, and a start finds a damaged state. */
  readonly isSpoiled = false;
  /** Only real storage rots or is locked: see `real-storage.ts`. */
  readonly isRotten = false;
  isLocked = false;
  rot(): void {}
  discardState(): void {}

  open(booting: Booting, done: (storage: Storage) => void): void {
    openMemory(this, booting, done);
  }

  /** Opens log and state for a process. Calls `onFatal` once if a write fails. */
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
   * Ends the process, whose writes all survive. With `withPower`, the machine loses its power, and
   * only a prefix of the unsynced writes survives.
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
   * Corrupts bytes in the middle of the log while the machine is off. At the next start the log drops
   * everything from there on, and bars the server from voting, because it may have acknowledged that.
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

  /** A damaged log in memory never holds older entries. */
  hasReplaced(): boolean {
    return false;
  }
  loseReplacement(): void {}

  damageState(): void {
    this.stateDamaged = true;
  }

  /** Erases the disk while the machine is off. */
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

  /** Ends the hang, and completes everything that waited. */
  unhang(): void {
    this.#hanging = false;
    for (const run of this.#held.splice(0)) run();
  }

  /** Runs `run` once the disk does not hang. */
  whenFree(run: () => void): void {
    if (this.#hanging) this.#held.push(run);
    else run();
  }

  /** Returns the durable content. A process must have the disk open. */
  image(): DiskImage {
    return { log: this.durable.copy(), state: this.#store!.disk() };
  }

  /** Restores an earlier content while the machine is off. */
  rollBack(image: unknown): void {
    // `image` made it.
    const { log, state } = image as DiskImage;
    this.before ??= this.durable.copy();
    this.durable = log.copy();
    this.state = state;
  }

  /** Fails a write for lack of space. */
  fail(): void {
    if (this.#failed) return;
    this.#failed = true;
    // Any part of what was pending may be on the disk.
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
    // An implementation may sync pending writes together or one by one.
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
