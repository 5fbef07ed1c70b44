/**
 * What outlasts the process of a server: the disk, its identity, settings and program, and what is
 * wrong with its state.
 */

import type { Configuration, Entry, Index, NodeId } from '../../src/raft/types.js';
import { type Identity, type IdentityPort, nextStart } from '../../src/replica/members/identity.js';
import { LogContent } from '../support/memory-log.js';
import { SimDisk } from './disk.js';
import { keyPairOf } from './key-pairs.js';
import { LONG, type Timing } from './machine-faults.js';
import type { ServerParts } from './parts.js';
import { RealDisk } from './real-storage.js';
import type { Booting, ServerDisk, Storage } from './storage.js';

/** Milliseconds between two looks at the room on the disk. */
const LOOK_MS = 1000;
/** Milliseconds of a sync of a disk that is not slow. */
const SYNC_MS = 1;

const CLUSTER = 'simulated';

/** The disk as it was at some moment. */
interface Image {
  readonly disk: unknown;
  readonly identity: Identity;
}

export class Host {
  readonly id: NodeId;
  readonly machine: string;
  readonly disk: ServerDisk;
  /** The same if it holds the real log and state. */
  readonly #real: RealDisk | undefined;
  readonly #parts: ServerParts;
  /** What a founding member writes into an empty log. */
  founding: Configuration | undefined;
  /** The process dies between the two switches of the next snapshot, of the state and the log. */
  halfInstall = false;
  /** The process dies while it writes the next snapshot beside its state. */
  cutsInstall = false;
  /** Its Raft timing from the next start on. */
  timing: Timing | undefined;
  /** The release of its program. */
  release: number;
  /** The release that it starts with next. */
  nextRelease: number;
  /** What a fault does once the log may lose the write by which it replaced entries. */
  whenReplaced: (() => void) | undefined;
  /** It has seen that the disk is almost full, and takes no writes. */
  atReserve = false;
  /** Its disk was wiped or went back in time, and it must be replaced. */
  isWiped = false;
  /** The next put stores a wrong value. */
  goesWrong = false;
  /** Its state differs from the others'. */
  wrong = false;
  /**
   * It has stored a wrong value, and its state was not replaced since. A comparison may still find
   * it, even if another write has put the value right: checkpoints stay as they were.
   */
  isSuspect = false;
  /** It was told that its state differs. */
  told = false;
  /** Its state is lost, and neither rebuilt from the log nor fetched. */
  stateLost = false;
  #filling = 0;
  /** The index at which the wrong value is stored. */
  #wrongFrom: Index = 0;
  #wrongUntil = -1;
  #leaseDoubtUntil = Number.NEGATIVE_INFINITY;
  /** Counts the disks that it has had. */
  #incarnation = 0;
  #identity: Identity;
  /** The identity of the present process, if its disk is a real one. */
  #stored: Pick<IdentityPort, 'get'> | undefined;
  #image: Image | undefined;

  constructor(id: NodeId, parts: ServerParts) {
    this.id = id;
    this.#parts = parts;
    this.release = parts.releases.first;
    this.nextRelease = this.release;
    this.#identity = this.#newIdentity();
    const { scheduler, storage } = parts;
    const random = parts.random.fork();
    const { machine = id, disk } = parts.on ?? {};
    this.machine = machine;
    this.#real = storage === 'real' ? (disk ?? new RealDisk(scheduler, random)) : undefined;
    this.disk = this.#real ?? new SimDisk(scheduler, random);
    parts.invariants.addServer(id, this.disk);
  }

  /** Writes the first configuration into an empty log, as every founding member does. */
  found(configuration: Configuration): void {
    this.founding = configuration;
    this.#identity = { ...this.#identity, clusterId: CLUSTER };
    const entry: Entry = { kind: 'configuration', index: 1, term: 1, configuration };
    this.#parts.invariants.appending(this.id, new LogContent(), [entry], 1);
    // the real log gets it by the product's own start
    if (this.#real !== undefined) return;
    this.disk.durable.hard = { term: 1, votedFor: null };
    this.disk.durable.entries.push(entry);
  }

  // --- who it is ---

  get address(): string {
    return `${this.machine}:1`;
  }

  /** Kept on the disk: in memory durable as soon as it is changed. */
  get identity(): Identity {
    return this.#stored?.get() ?? this.#identity;
  }
  save(change: Partial<Identity>): void {
    this.#identity = { ...this.#identity, ...change };
  }
  /** Notes that a process has opened the disk. */
  opened(storage: Storage): void {
    if (this.#real !== undefined) this.#stored = storage.identity;
    this.halfInstall = false;
  }
  /** Replaces the program: a process that runs stays what it is. */
  upgrade(runs: boolean): void {
    this.nextRelease = this.#parts.releases.next;
    if (!runs) this.release = this.nextRelease;
  }
  /** Notes that the process is gone. */
  ended(): void {
    this.release = this.nextRelease;
    this.#identity = this.identity;
    this.#stored = undefined;
    this.whenReplaced = undefined;
  }
  #newIdentity(): Identity {
    return {
      ...{ v: 2, nodeId: this.id, begun: true },
      clusterId: this.founding === undefined ? null : CLUSTER,
      ...{ starts: 0, startId: '', earlier: [], incarnation: String(this.#incarnation) },
      ...{ seen: {}, removed: [] },
      keyPair: keyPairOf(`${this.id} ${this.#incarnation}`),
    };
  }

  /** Counts a start; its process is called `startId`. */
  started(startId: string): void {
    this.#identity = nextStart(this.#identity, startId);
    this.halfInstall = false;
  }

  // --- the state ---

  /** Takes what log and machine report, in a life or while it begins. */
  watcher(changed: (key: string) => void): Booting['watcher'] {
    const { invariants } = this.#parts;
    const { id } = this;
    return {
      appending: (view, entries, term) => invariants.appending(id, view, entries, term),
      resetting: (view, meta) => invariants.resetting(id, view, meta),
      onEffect: (key, value, index) => {
        invariants.effect(key, value, index);
        changed(key);
      },
      stored: (value, index) => this.stored(value, index),
      applied: (entries, index, sum) => {
        invariants.applied(id, entries, index, sum, this.wrong);
        this.judge(index, sum);
      },
    };
  }

  /** What `put` is to store for `value`. */
  stored(value: string, index: Index): string {
    if (!this.goesWrong) return value;
    this.goesWrong = false;
    this.wrong = true;
    this.isSuspect = true;
    this.#wrongFrom = index;
    this.#parts.trace(`${this.id} stores ${value} wrongly`);
    return `${value}?`;
  }

  /**
   * A wrong state may come right: by a crash that loses what was wrong, by another write, or by the
   * leader's.
   */
  judge(index: Index, sum: string): void {
    // A state that is written anew shows the one of before until it is complete.
    if (
      !this.wrong ||
      index < this.#wrongFrom ||
      this.#parts.invariants.isRight(index, sum) !== true
    )
      return;
    this.wrong = false;
    this.#wrongUntil = this.#parts.scheduler.now;
  }

  /** Notes that its state was read from disk: a crash may have lost the fault, or its repair. */
  reopened(): void {
    this.#wrongFrom = 0;
    if (this.everWrong) this.wrong = true;
  }

  /** Its state was wrong at some time. */
  get everWrong(): boolean {
    return this.wrong || this.#wrongUntil >= 0;
  }

  /** It may have shown something wrong at `since` or after. */
  wasWrong(since: number): boolean {
    return this.wrong || this.#wrongUntil >= since;
  }

  /** Its state was replaced by the leader's. */
  replaced(): void {
    this.isSuspect = false;
    this.stateLost = false;
    this.disk.stateDamaged = false;
    this.#real?.replaced();
    this.told = false;
  }

  /** Until then its own lease may hold too long, for a cause that it cannot see. */
  get isLeaseInDoubt(): boolean {
    return this.#parts.scheduler.now <= this.#leaseDoubtUntil;
  }

  // --- what faults do ---

  fill(atReserve: boolean, forMs: number): void {
    const { scheduler } = this.#parts;
    const filling = ++this.#filling;
    this.disk.isFull = !atReserve;
    const later = (ms: number, run: () => void): unknown =>
      scheduler.after(ms, () => {
        if (filling === this.#filling) run();
      });
    // it looks at its disk once in a while
    later(LOOK_MS, () => {
      this.atReserve = true;
    });
    later(forMs, () => {
      this.disk.isFull = false;
    });
    later(forMs + LOOK_MS, () => {
      this.atReserve = false;
    });
  }

  slowDisk(syncMs: number, forMs: number): void {
    const { temper } = this.disk;
    temper.syncMs = syncMs;
    this.#parts.scheduler.after(forMs, () => {
      temper.syncMs = SYNC_MS;
    });
  }

  heal(): void {
    this.halfInstall = false;
    this.cutsInstall = false;
    this.disk.isLocked = false;
    this.disk.unhang();
    this.disk.temper.syncMs = SYNC_MS;
    this.#filling++;
    this.disk.isFull = false;
    this.atReserve = false;
    this.goesWrong = false;
  }

  /** Looks whether `whenReplaced` is due. `applied` is undefined once the process is gone. */
  checkReplaced(applied: () => Index | undefined): void {
    const isDue = (): boolean => this.disk.hasReplaced(applied() ?? 0);
    if (this.whenReplaced === undefined || !isDue()) return;
    this.#parts.scheduler.after(0, () => {
      if (isDue()) this.whenReplaced?.();
    });
  }

  /** Its clocks stood still without a trace, so it cannot know that its lease is over. */
  doubtLease(ms: number): void {
    const forMs = ms + 2 * LONG.leaseMs;
    this.#leaseDoubtUntil = Math.max(this.#leaseDoubtUntil, this.#parts.scheduler.now + forMs);
    this.#parts.doubtLeases(forMs);
  }

  /** Moves away a state of which a record cannot be read. */
  discardState(): void {
    this.disk.discardState();
    this.stateLost = true;
  }

  /** Replaces the disk by an empty one. The machine is off. */
  wipe(): void {
    this.disk.wipe();
    this.isWiped = true;
    this.#incarnation++;
    this.#identity = this.#newIdentity();
    if (this.founding) this.found(this.founding);
  }

  /** Keeps a copy of the disk while a process runs. */
  keepImage(): void {
    const { disk, identity } = this;
    this.#image = { disk: disk.image(), identity };
  }

  /** Its real disk as it is now, the process being gone. */
  copyDisk(): RealDisk {
    return this.#real!.copy();
  }

  get hasImage(): boolean {
    return this.#image !== undefined;
  }

  /** Puts that copy back. The machine is off. */
  rollBack(): void {
    const image = this.#image!;
    this.disk.rollBack(image.disk);
    this.#identity = image.identity;
    // it has lost something, and must be replaced like a wiped server
    this.isWiped = true;
  }
}
