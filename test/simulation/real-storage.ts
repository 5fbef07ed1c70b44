/**
 * The real log, state and identity of a server, opened by the product's own start, on a disk in
 * memory. What the log has reported as durable is noted beside it, for the invariants, and compared
 * with what a start finds.
 */
import type { Random } from '../../cluster/checker/random.js';
import { type Opened, openFolder } from '../../src/node/open.js';
import type { Index, NodeId, Term } from '../../src/raft/types.js';
import type { Identity } from '../../src/replica/members/identity.js';
import { DIVERGED_KEY } from '../../src/state/keys.js';
import { forgottenAt } from '../../src/state/request-forget.js';
import type { Disk } from '../../src/storage/disk.js';
import { StorageError } from '../../src/storage/errors.js';
import type { SegmentLog } from '../../src/storage/log.js';
import { type DiskImage, type DiskTemper, FakeDisk } from '../support/fake-disk.js';
import { LogContent, type LogWrite } from '../support/memory-log.js';
import { checkErased, secretsOf } from './erased.js';
import { contentOf, describe, explains, holds } from './found-log.js';
import { Violation } from './invariants.js';
import { keyPairOf } from './key-pairs.js';
import type { SimLoop } from './loop.js';
import { LostWrites } from './lost-writes.js';
import { registers } from './machine.js';
import { imageOf, install, takeIn } from './real-install.js';
import type { Scheduler } from './scheduler.js';
import type { Booting, ServerDisk, SimStore, Storage } from './storage.js';
import { sightOf, WatchedLog } from './watched-log.js';

/** The data folder of every server. */
export const DATA = 'data';
export const LOG = `${DATA}/log`;
export const STATE = `${DATA}/state`;
const SEGMENTS = `${LOG}/segments`;
/** Bytes of entries in memory: a few, so that most reads go to the disk. */
const WINDOW_BYTES = 1000;
/** Bytes of a segment of the log: so few that one is full after some entries. */
const SEGMENT_BYTES = 3000;
/** How often a write to a file is cut short. */
const SHORT_PROBABILITY = 0.005;
/** Bytes of the state that wait for the disk, beyond which applying rests. */
const BACKLOG_BYTES = 4000;

interface Image {
  readonly fake: DiskImage;
  readonly durable: LogContent;
}

/** Calls back once the state is durable. A failed flush is reported as fatal. */
const flushOf =
  (store: Opened['store'], loop: SimLoop) =>
  (done: () => void): void => {
    loop.port();
    store.flush().then(
      () => loop.deliver(done),
      () => {},
    );
  };

/** See the head of this file. */
export class RealDisk implements ServerDisk {
  /** What the log has reported as durable; while it is open, all that is. */
  durable = new LogContent();
  before: LogContent | undefined;
  readonly votes = new Map<Term, NodeId>();
  stateDamaged = false;
  /** The log was damaged since it was last opened. */
  #logDamaged = false;
  /** Writes that have failed. Each ends a process, which hears of it later if it stands still. */
  #failures = 0;
  /** A value of the state is not what was written, and nobody has read it yet. */
  isRotten = false;
  /** Handed to the log, in order, and not reported as durable. */
  #open: LogWrite[] = [];
  readonly #lost: LostWrites;
  readonly #fake: FakeDisk;
  readonly #scheduler: Scheduler;
  readonly #random: Random;

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler;
    this.#random = random;
    const after = (ms: number, run: () => void): unknown =>
      scheduler.after(ms, () => {
        scheduler.touch();
        run();
      });
    this.#fake = new FakeDisk({ after }, random);
    this.#fake.shortProbability = SHORT_PROBABILITY;
    this.#lost = new LostWrites(this.#fake.files, SEGMENTS, random);
  }

  get temper(): DiskTemper {
    return this.#fake.temper;
  }
  get isFull(): boolean {
    return this.#fake.isFull;
  }
  set isFull(isFull: boolean) {
    this.#fake.isFull = isFull;
  }
  get isLocked(): boolean {
    return this.#fake.isLocked;
  }
  set isLocked(isLocked: boolean) {
    this.#fake.isLocked = isLocked;
  }
  get isSpoiled(): boolean {
    return this.#logDamaged || this.isRotten;
  }

  open(booting: Booting, done: (storage: Storage) => void): void {
    const { loop, host, world, watcher, onFatal } = booting;
    const { handlers, attach } = registers(watcher, {
      release: host.release,
      hasProduct: world.hasProduct,
    });
    const timing = { ...world.raft, ...host.timing };
    const { tickMs } = timing;
    const { members = [] } = host.founding ?? {};
    let ids = 0;
    world.scheduler.touch();
    const opening = openFolder({
      name: host.id,
      address: host.address,
      dataDir: DATA,
      initial: members.map(({ name, address }) => ({ name, address })),
      join: members.length > 0 ? [] : world.joinAddresses(),
      handlers,
      machineLimits: world.machineLimits,
      windowBytes: WINDOW_BYTES,
      segmentBytes: SEGMENT_BYTES,
      levels: { supported: host.release, commands: {} },
      timing: {
        tickMs,
        heartbeatMs: timing.heartbeatTicks * tickMs,
        electionMs: timing.electionTicks * tickMs,
        leaseMs: timing.leaseMs,
      },
      log: (level, message) => world.trace(`${host.id} ${level} ${message}`),
      onFatal: (error) => {
        this.#failures += 1;
        if (loop.alive) onFatal(error);
      },
      disk: this.attach(loop),
      ids: {
        initial: (name) => name,
        joining: () => host.id,
        random: () => `${booting.life}.${++ids}`,
        keyPair: () => keyPairOf(booting.life),
      },
    });
    opening.then(
      (opened) => loop.guard(() => done(this.#opened(opened, booting, attach))),
      (error: Error) =>
        loop.guard(() => {
          // a full disk and a damaged record end the process; nothing else may
          if (!(error instanceof StorageError) && !/ENOSPC/.test(error.message)) throw error;
          onFatal(error);
        }),
    );
  }

  #opened(
    { identity, log, store, machine, needsState, silenceMs: owed }: Opened,
    booting: Booting,
    attach: ReturnType<typeof registers>['attach'],
  ): Storage {
    const { host, loop, watcher, world, silenceMs: own } = booting;
    this.check(log, host.id);
    this.#logDamaged = false;
    if (needsState !== undefined && store.get(DIVERGED_KEY) === undefined) {
      if (!this.stateDamaged && !host.stateLost)
        throw new Violation('log and state agree', `${host.id}: ${needsState}`);
      host.stateLost = true;
    } else host.stateLost = false;
    this.stateDamaged = false;
    const watched: SimStore & { flushed(done: () => void): void } = {
      get: (key) => store.get(key),
      keys: (prefix, after) => store.keys(prefix, after),
      get size() {
        return store.size;
      },
      flushed: flushOf(store, loop),
      pin: () => store.pin(),
      commit: (changes) => {
        loop.port();
        store.commit(changes);
      },
    };
    let storedSeen = identity.get().seen;
    const save = (change: Partial<Identity>): void => {
      const failures = this.#failures;
      const saved = identity.save(change);
      const { seen } = identity.get();
      void saved.then(() => {
        if (this.#failures === failures) storedSeen = seen;
      });
    };
    return {
      log: new WatchedLog(log, sightOf(log), { loop, watcher, notes: this }),
      store: watched,
      machine: attach(machine, watched),
      identity: { get: () => identity.get(), save },
      storedSeen: () => storedSeen,
      lost: needsState,
      silenceMs: { own, owed },
      isBehind: () => store.backlogBytes > BACKLOG_BYTES,
      ...(!world.legacy && { erase: this.#eraser(log, store, booting) }),
      install: (switching) => install(store, booting, switching),
      image: () => imageOf(store),
      takeIn: (arrived, done) => {
        takeIn(store, booting, arrived).then(done, (error: unknown) => {
          world.trace(`${host.id} takes no snapshot: ${error}`);
          done(false);
        });
      },
    };
  }

  /** Erases as the product does, and looks for what must be gone. */
  #eraser(log: SegmentLog, store: Opened['store'], { host, loop, world }: Booting) {
    return (done: () => void): void => {
      loop.port();
      const { invariants } = world;
      const through = forgottenAt(store);
      const had = secretsOf(store);
      const erased = (): void => {
        const bytes = this.#fake.bytes();
        checkErased({ id: host.id, through, invariants, log, view: store, had, bytes });
        done();
      };
      log.erase(() => store.erase(() => loop.deliver(erased)));
    };
  }

  /** The disk as a process has it, until the next `crash`. */
  attach(loop: SimLoop): Disk {
    const standstill = { begin: () => loop.block(), end: () => loop.unblock() };
    return this.#fake.attach(loop, (run) => loop.deliver(run), standstill);
  }

  /** Another disk that holds what this one keeps after a crash. */
  copy(): RealDisk {
    const copy = new RealDisk(this.#scheduler, this.#random.fork());
    copy.#fake.restore(this.#fake.image());
    copy.durable = this.durable.copy();
    copy.#open = [...this.#open];
    copy.#logDamaged = this.#logDamaged;
    return copy;
  }

  /** An offline command has written the log anew. */
  rewritten(durable: LogContent): void {
    this.#forget(durable);
  }

  /** Compares what a start finds with what was reported as durable and what may be. */
  check(log: SegmentLog, id: NodeId): void {
    const found = contentOf(log);
    const possible = this.durable.copy();
    const isPossible = (): boolean =>
      this.#logDamaged
        ? found.bar !== undefined || holds(found, possible)
        : explains(possible, found);
    let isExplained = isPossible();
    for (const what of this.#open.splice(0)) {
      if (isExplained) break;
      possible.apply(what);
      isExplained = isPossible();
    }
    if (!isExplained)
      throw new Violation(
        'what is reported is durable',
        `${id} finds ${describe(found)}, where ${describe(this.durable)} was reported`,
      );
    this.durable = found;
    this.#lost.forget();
    this.#note();
  }

  /** A write is handed to the log. */
  handedOver(what: LogWrite): void {
    this.#open.push(what);
  }

  /** The log reports the oldest of them as durable. */
  reported(): void {
    const write = this.#open.shift()!;
    this.#lost.reported(write, this.durable);
    this.durable.apply(write);
    this.#note();
  }

  #note(): void {
    const { term, votedFor } = this.durable.hard;
    if (votedFor !== null) this.votes.set(term, votedFor);
  }

  crash(withPower: boolean): void {
    this.#fake.crash(withPower);
  }
  hang(withReads: boolean): void {
    this.#fake.hang(withReads);
  }
  unhang(): void {
    this.#fake.unhang();
  }

  /** A write to the log gets lost, or a bit of it flips. */
  damageLog(): void {
    if (this.durable.entries.length === 0) return;
    this.#logDamaged = this.#lost.strike() || this.#logDamaged;
  }
  hasReplaced(applied: Index): boolean {
    return this.#lost.hasReplaced(applied);
  }
  loseReplacement(): void {
    this.#lost.loseReplacement();
    this.#logDamaged = true;
  }

  /** A batch of the state gets lost, or a bit flips in a record that tells whether it is whole. */
  damageState(): void {
    const isDropped = this.#random.chance(0.5) && this.#fake.dropBatch(STATE);
    const isSpoiled = isDropped || this.#fake.flip(STATE, (key) => /^[!#]/.test(key)) !== undefined;
    this.stateDamaged = isSpoiled || this.stateDamaged;
  }

  /** Some value of the state goes bad, which only a read finds out. */
  rot(): void {
    const isFlipped = this.#fake.flip(STATE, (key) => !/^[!#]/.test(key)) !== undefined;
    this.isRotten = isFlipped || this.isRotten;
  }

  /** An operator moves the state away: a record of it cannot be read. */
  discardState(): void {
    this.#fake.remove(STATE);
    this.isRotten = false;
    this.stateDamaged = true;
  }

  /** Another state has replaced this one. */
  replaced(): void {
    this.stateDamaged = false;
    this.isRotten = false;
  }

  wipe(): void {
    this.before ??= this.durable.copy();
    this.#fake.remove(DATA);
    this.#forget(new LogContent());
    this.votes.clear();
  }

  image(): Image {
    return { fake: this.#fake.image(), durable: this.durable.copy() };
  }

  rollBack(image: unknown): void {
    // what `image` gave
    const { fake, durable } = image as Image;
    this.before ??= this.durable.copy();
    this.#fake.restore(fake);
    this.#forget(durable.copy());
    // what was on its way then may be there
    this.#logDamaged = true;
  }

  #forget(durable: LogContent): void {
    this.durable = durable;
    this.#open = [];
    this.#lost.forget();
    this.#logDamaged = false;
    this.isRotten = false;
    this.stateDamaged = false;
  }
}
