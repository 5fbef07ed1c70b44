/** What of a server outlasts its process: the disk, who it is, its configuration and program, and what is wrong with its state. */

import type { Configuration, Entry, Index, NodeId } from '../../src/raft/types.js';
import { type Identity, type IdentityPort, nextStart } from '../../src/replica/members/identity.js';
import { LogContent } from '../support/memory-log.js';
import { SimDisk } from './disk.js';
import { LONG, type Timing } from './machine-faults.js';
import type { ServerParts } from './parts.js';
import { RealDisk } from './real-storage.js';
import type { ServerDisk, Storage } from './storage.js';

/** Milliseconds between two looks at the room on the disk. */
const LOOK_MS = 1000;

const CLUSTER = 'simulated';

/** The disk as it was at some moment. */
interface Image {
  readonly disk: unknown;
  readonly identity: Identity;
}

export class Host {
  readonly id: NodeId;
  readonly disk: ServerDisk;
  /** The same if it holds the real log and state. */
  readonly #real: RealDisk | undefined;
  readonly #parts: ServerParts;
  /** What a founding member writes into an empty log. */
  founding: Configuration | undefined;
  /** The next snapshot that is switched in kills the process before the log follows. */
  halfInstall = false;
  /** The process dies while it writes the next one beside its state. */
  cutsInstall = false;
  /** As its configuration has it, from the next start on. */
  timing: Timing | undefined;
  /** Of its program, from the next start on. */
  release = 1;
  /** It takes no writes, having seen that the disk is almost full. */
  atReserve = false;
  /** Its disk was wiped or went back: it is to be replaced. */
  isWiped = false;
  /** The next put is stored wrongly. */
  goesWrong = false;
  /** Its state differs from the others'. */
  wrong = false;
  /** It was told so. */
  told = false;
  /** Its state was lost, and neither made again from the log nor fetched. */
  stateLost = false;
  #filling = 0;
  /** The index at which the wrong value is stored. */
  #wrongFrom: Index = 0;
  #wrongUntil = -1;
  #leaseDoubtUntil = Number.NEGATIVE_INFINITY;
  /** Changes when the disk is another one. */
  #incarnation = 0;
  #identity: Identity;
  /** The one of the process of the moment, if the disk is the real one. */
  #stored: Pick<IdentityPort, 'get'> | undefined;
  #image: Image | undefined;

  constructor(id: NodeId, parts: ServerParts) {
    this.id = id;
    this.#parts = parts;
    this.#identity = this.#newIdentity();
    const { scheduler, storage } = parts;
    const random = parts.random.fork();
    this.#real = storage === 'real' ? new RealDisk(scheduler, random) : undefined;
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

  /** Kept on the disk: in memory durable as soon as it is changed. */
  get identity(): Identity {
    return this.#stored?.get() ?? this.#identity;
  }
  save(change: Partial<Identity>): void {
    this.#identity = { ...this.#identity, ...change };
  }
  /** A process has opened its disk. */
  opened(storage: Storage): void {
    if (this.#real !== undefined) this.#stored = storage.identity;
    this.halfInstall = false;
  }
  /** The process is gone. */
  ended(): void {
    this.#identity = this.identity;
    this.#stored = undefined;
  }
  #newIdentity(): Identity {
    return {
      ...{ v: 2, nodeId: this.id, begun: true },
      clusterId: this.founding === undefined ? null : CLUSTER,
      ...{ starts: 0, startId: '', earlier: [], incarnation: String(this.#incarnation) },
      ...{ seen: {}, removed: [] },
    };
  }

  /** Counts a start; its process is called `startId`. */
  started(startId: string): void {
    this.#identity = nextStart(this.#identity, startId);
    this.halfInstall = false;
  }

  // --- the state ---

  /** What `put` is to store for `value`. */
  stored(value: string, index: Index): string {
    if (!this.goesWrong) return value;
    this.goesWrong = false;
    this.wrong = true;
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

  /** Its state was read from disk: a crash may have lost what was wrong, or what put it right. */
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
    // it looks now and then, and hears nothing in between
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
      temper.syncMs = 1;
    });
  }

  heal(): void {
    this.halfInstall = false;
    this.cutsInstall = false;
    this.disk.isLocked = false;
    this.disk.unhang();
    this.#filling++;
    this.disk.isFull = false;
    this.atReserve = false;
    this.goesWrong = false;
  }

  /** Its clocks stood still, and nothing tells it: it has no means to find its lease over. */
  doubtLease(ms: number): void {
    const forMs = ms + 2 * LONG.leaseMs;
    this.#leaseDoubtUntil = Math.max(this.#leaseDoubtUntil, this.#parts.scheduler.now + forMs);
    this.#parts.doubtLeases(forMs);
  }

  /** A record cannot be read: the state is moved away. */
  discardState(): void {
    this.disk.discardState();
    this.stateLost = true;
  }

  /** The machine being off, it gets an empty disk. */
  wipe(): void {
    this.disk.wipe();
    this.isWiped = true;
    this.#incarnation++;
    this.#identity = this.#newIdentity();
    if (this.founding) this.found(this.founding);
  }

  /** Keeps what the disk holds while a process runs. */
  keepImage(): void {
    const { disk, identity } = this;
    this.#image = { disk: disk.image(), identity };
  }

  get hasImage(): boolean {
    return this.#image !== undefined;
  }

  /** The machine being off, the disk goes back to that. */
  rollBack(): void {
    const image = this.#image!;
    this.disk.rollBack(image.disk);
    this.#identity = image.identity;
    // it is to be known as one that has lost something, and to be replaced like a wiped one
    this.isWiped = true;
  }
}
