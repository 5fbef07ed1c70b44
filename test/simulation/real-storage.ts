/**
 * The real log, state and identity of a server, opened by the product's own start, on a disk in
 * memory. What the log has reported as durable is noted beside it, for the invariants, and compared
 * with what a start finds.
 */
import type { Random } from '../../cluster/checker/random.js';
import { type Opened, openFolder } from '../../src/node/open.js';
import { StateSource, snapshotSink } from '../../src/node/snapshots.js';
import type { Entry, HardState, Index, NodeId, SnapshotMeta, Term } from '../../src/raft/types.js';
import { DIVERGED_KEY, isLocal, POSITION_KEY } from '../../src/state/keys.js';
import type { PinnedView } from '../../src/state/types.js';
import { StorageError } from '../../src/storage/errors.js';
import type { LevelLog } from '../../src/storage/log.js';
import type { LevelState } from '../../src/storage/state.js';
import type { Installation } from '../../src/storage/types.js';
import type { LogSight } from '../raft/invariants.js';
import { type DiskImage, type DiskTemper, FakeDisk } from '../support/fake-disk.js';
import { LogContent, type LogWatcher, type LogWrite, write } from './disk.js';
import { Violation } from './invariants.js';
import { Crash, type SimLoop } from './loop.js';
import { registers } from './machine.js';
import type { Scheduler } from './scheduler.js';
import type { Arrived, Booting, ServerDisk, SimLogPort, Storage } from './storage.js';
import type { StateImage } from './store.js';

const DATA = 'data';
const LOG = `${DATA}/log`;
const STATE = `${DATA}/state`;
/** Bytes of entries in memory: a few, so that most reads go to the database. */
const WINDOW_BYTES = 1000;
/** Bytes of the state that wait for the disk, beyond which applying rests. */
const BACKLOG_BYTES = 4000;

interface Image {
  readonly fake: DiskImage;
  readonly durable: LogContent;
}

/** See the head of this file. */
export class RealDisk implements ServerDisk {
  /** What the log has reported as durable; while it is open, all that is. */
  durable = new LogContent();
  before: LogContent | undefined;
  readonly votes = new Map<Term, NodeId>();
  stateDamaged = false;
  /** The log was damaged since it was last opened. */
  #logDamaged = false;
  /** A value of the state is not what was written, and nobody has read it yet. */
  isRotten = false;
  /** Handed to the log, in order, and not reported as durable. */
  #open: LogWrite[] = [];
  readonly #fake: FakeDisk;
  readonly #random: Random;

  constructor(scheduler: Scheduler, random: Random) {
    this.#random = random;
    const after = (ms: number, run: () => void): unknown =>
      scheduler.after(ms, () => {
        scheduler.touch();
        run();
      });
    this.#fake = new FakeDisk({ after }, random);
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
    const { handlers, attach } = registers(watcher, host.release);
    const timing = { ...world.raft, ...host.timing };
    const { tickMs } = timing;
    const { members = [] } = host.founding ?? {};
    let ids = 0;
    world.scheduler.touch();
    const opening = openFolder({
      ...{ name: host.id, address: `${host.id}:1`, dataDir: DATA },
      initial: members.map(({ name, address }) => ({ name, address })),
      join: members.length > 0 ? [] : world.joinAddresses(),
      ...{ handlers, machineLimits: world.machineLimits, windowBytes: WINDOW_BYTES },
      levels: { supported: host.release, commands: {} },
      timing: {
        tickMs,
        heartbeatMs: timing.heartbeatTicks * tickMs,
        electionMs: timing.electionTicks * tickMs,
        leaseMs: timing.leaseMs,
      },
      log: (level, message) => world.trace(`${host.id} ${level} ${message}`),
      onFatal: (error) => {
        if (loop.alive) onFatal(error);
      },
      disk: this.#fake.attach(loop, (run) => loop.deliver(run)),
      ids: {
        initial: (name) => name,
        joining: () => host.id,
        random: () => `${booting.life}.${++ids}`,
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
    this.#check(log, host.id);
    this.#logDamaged = false;
    if (needsState !== undefined && store.get(DIVERGED_KEY) === undefined) {
      if (!this.stateDamaged && !host.stateLost)
        throw new Violation('log and state agree', `${host.id}: ${needsState}`);
      host.stateLost = true;
    } else host.stateLost = false;
    this.stateDamaged = false;
    const flushed = (done: () => void): void => {
      loop.port();
      // a failed flush is reported as fatal
      store.flush().then(
        () => loop.deliver(done),
        () => {},
      );
    };
    const watched = {
      ...{ get: (key: string) => store.get(key), flushed },
      keys: (prefix: string, after?: string) => store.keys(prefix, after),
      commit: (changes: Parameters<LevelState['commit']>[0]) => {
        loop.port();
        store.commit(changes);
      },
    };
    return {
      ...{ log: new RealLog(log, this, loop, watcher), store: watched },
      ...{ machine: attach(machine, watched), identity, lost: needsState },
      silenceMs: { own, owed },
      isBehind: () => store.backlogBytes > BACKLOG_BYTES,
      pin: () => store.pin(),
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

  /** Compares what a start finds with what was reported as durable and what may be. */
  #check(log: LevelLog, id: NodeId): void {
    const found = contentOf(log);
    const possible = this.durable.copy();
    const isPossible = (): boolean =>
      this.#logDamaged
        ? found.bar !== undefined || holds(found, possible)
        : explains(possible, found);
    let isExplained = isPossible();
    for (const what of this.#open.splice(0)) {
      if (isExplained) break;
      write(possible, what);
      isExplained = isPossible();
    }
    if (!isExplained)
      throw new Violation(
        'what is reported is durable',
        `${id} finds ${describe(found)}, where ${describe(this.durable)} was reported`,
      );
    this.durable = found;
    this.#note();
  }

  /** A write is handed to the log. */
  handedOver(what: LogWrite): void {
    this.#open.push(what);
  }

  /** The log reports the oldest of them as durable. */
  reported(): void {
    write(this.durable, this.#open.shift()!);
    this.#note();
  }

  #note(): void {
    const { term, votedFor } = this.durable.hard;
    if (votedFor !== null) this.votes.set(term, votedFor);
  }

  crash(withPower: boolean): void {
    this.#fake.crash(withPower);
  }
  hang(): void {
    this.#fake.hang();
  }
  unhang(): void {
    this.#fake.unhang();
  }

  damageLog(): void {
    if (this.durable.entries.length === 0) return;
    // the loss of a batch that the witness does not know of goes unnoticed: that is its limit
    const isLost = this.#spoil(LOG, () => true, `${LOG}/witness`);
    this.#logDamaged = isLost || this.#logDamaged;
  }

  damageState(): void {
    this.stateDamaged = this.#spoil(STATE, (key) => /^[!#]/.test(key)) || this.stateDamaged;
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
    this.#logDamaged = false;
    this.isRotten = false;
    this.stateDamaged = false;
  }

  /** Loses a batch, or flips a bit of some record. */
  #spoil(dir: string, matches: (key: string) => boolean, before?: string): boolean {
    const isDropped = this.#random.chance(0.5) && this.#fake.dropBatch(dir, before);
    return isDropped || this.#fake.flip(dir, matches) !== undefined;
  }
}

/** The real log, with every call counted and every write noted. */
class RealLog implements SimLogPort {
  readonly content: LogSight;
  readonly #log: LevelLog;
  readonly #disk: RealDisk;
  readonly #loop: SimLoop;
  readonly #watcher: LogWatcher;

  constructor(log: LevelLog, disk: RealDisk, loop: SimLoop, watcher: LogWatcher) {
    this.#log = log;
    this.#disk = disk;
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
    this.#disk.handedOver({ type: 'append', hardState, entries });
    this.#log.append(batch, this.#reported(done));
  }
  compact(meta: SnapshotMeta, done: () => void): void {
    this.#loop.port();
    this.#disk.handedOver({ type: 'compact', meta });
    this.#log.compact(meta, this.#reported(done));
  }
  reset(meta: SnapshotMeta, hardState: HardState, done: () => void): void {
    this.#loop.port();
    this.#watcher.resetting(this.content, meta);
    this.#disk.handedOver({ type: 'reset', meta, hardState });
    this.#log.reset(meta, hardState, this.#reported(done));
  }
  liftBar(done: () => void): void {
    this.#loop.port();
    this.#disk.handedOver({ type: 'bar', bar: undefined });
    this.#log.liftBar(this.#reported(done));
  }

  #reported(done: () => void): () => void {
    return () => {
      this.#disk.reported();
      this.#loop.deliver(done);
    };
  }
}

function contentOf(log: LevelLog): LogContent {
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
function explains(durable: LogContent, found: LogContent): boolean {
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
function holds(found: LogContent, durable: LogContent): boolean {
  if (found.hard.term < durable.hard.term) return false;
  for (let index = found.first(); index <= durable.last(); index++) {
    const term = found.term(index);
    if (term === undefined || term < (durable.term(index) ?? 0)) return false;
  }
  return true;
}

const describe = (log: LogContent): string =>
  `${log.first()}..${log.last()} ${JSON.stringify(log.hard)} bar ${log.bar?.index}`;

function imageOf(store: LevelState): StateImage {
  const view = store.pin();
  try {
    const image: StateImage = new Map();
    for (const key of view.keys('')) if (!isLocal(key)) image.set(key, view.get(key)!);
    return image;
  } finally {
    view.close();
  }
}

/** Through the product's own stream: chunks, written beside the present state and verified. */
async function takeIn(
  store: LevelState,
  booting: Booting,
  { message, id, image, incoming, switching }: Arrived,
): Promise<boolean> {
  const sink = await snapshotSink(message, id, {
    incoming,
    store: { install: () => install(store, booting, switching) },
    guard: (run) => booting.loop.guard(run),
  });
  if (sink === undefined) return !incoming.isArriving;
  const source = new StateSource({ id, view: viewOf(image), meta: message.meta });
  for (let number = 0; ; number++) {
    const { data, last } = await source.chunk(number);
    await sink.write(number, data, last);
    if (last) return true;
  }
}

/** The real installation, which faults cut short. */
function install(
  store: LevelState,
  { world, host, loop }: Booting,
  switching: Arrived['switching'],
): Installation {
  const installation = store.install();
  let meta: SnapshotMeta | undefined;
  if (host.cutsInstall) {
    host.cutsInstall = false;
    // within the time that a few syncs take
    world.scheduler.after(world.random.between(0, 8), () =>
      loop.guard(() => {
        throw new Crash('killed while it writes a snapshot');
      }),
    );
  }
  return {
    add: (records) => {
      const position = records.find(([key]) => key === POSITION_KEY)?.[1];
      if (position !== undefined) meta = JSON.parse(position) as SnapshotMeta;
      return installation.add(records);
    },
    finish: async (tally) => {
      await installation.finish(tally);
      loop.guard(() => {
        if (meta !== undefined) switching(meta);
        if (host.halfInstall) loop.lightFuse(0);
      });
    },
    abort: () => installation.abort(),
  };
}

function viewOf(image: StateImage): PinnedView {
  const all = [...image.keys()].sort();
  return {
    get: (key) => image.get(key),
    keys: (prefix, after = '') => all.filter((key) => key > after && key.startsWith(prefix)),
    close() {},
  };
}
