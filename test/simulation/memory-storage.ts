/** Log and state in memory, and how a server that has them starts. */
import type { SnapshotMeta } from '../../src/raft/types.js';
import type { TransferEvents } from '../../src/replica/state/incoming-snapshot.js';
import { reconcile } from '../../src/replica/state/reconcile.js';
import { DIVERGED_KEY, POSITION_KEY } from '../../src/state/keys.js';
import { Machine } from '../../src/state/machine.js';
import { recordSum, Tally } from '../../src/storage/key-index.js';
import type { Installation } from '../../src/storage/types.js';
import type { SimDisk } from './disk.js';
import { Violation } from './invariants.js';
import { registers } from './machine.js';
import type { Arrived, Booting, Storage } from './storage.js';
import type { SimState, StateImage } from './store.js';

/** Opens log and state, and lets the product's own start reconcile them. */
export function openMemory(
  disk: SimDisk,
  booting: Booting,
  done: (storage: Storage) => void,
): void {
  const { world, host, loop, watcher, silenceMs: own } = booting;
  host.started(booting.life);
  const { log, store } = disk.load(loop, watcher, () => booting.onFatal());
  if (disk.stateDamaged) {
    // nothing of it is shown; it stays damaged until the log or the leader has given another one
    store.replace(new Map());
    host.stateLost = true;
    if (log.firstIndex() === 1) disk.stateDamaged = false;
  }
  const { handlers, attach } = registers(watcher, {
    release: host.release,
    hasProduct: world.hasProduct,
  });
  const machine = new Machine(store, handlers, host.release, world.machineLimits);
  const incoming = new Incoming(disk, store, booting);
  reconcile(log, store, machine, (gap) => {
    if (gap !== undefined && !host.stateLost) {
      world.violated(new Violation('log and state agree', `${host.id}: ${gap}`));
      return;
    }
    // what is not lacking is all in the log
    if (gap === undefined) host.stateLost = false;
    const owed = Math.max(host.identity.silenceMs ?? 0, own);
    host.save({ silenceMs: owed });
    done({
      log,
      store,
      machine: attach(machine, store),
      identity: { get: () => host.identity, save: (change) => host.save(change) },
      storedSeen: () => host.identity.seen,
      lost: store.get(DIVERGED_KEY) ?? gap,
      silenceMs: { own, owed },
      isBehind: () => false,
      image: () => {
        const image = store.image();
        for (const local of [POSITION_KEY, DIVERGED_KEY]) image.delete(local);
        return image;
      },
      takeIn: (arrived, isDone) => incoming.takeIn(arrived, isDone),
      install: (switching) => incoming.install(switching),
    });
  });
}

/** States that arrive: verified and synced aside, switched in, and then the log follows. */
class Incoming {
  readonly #disk: SimDisk;
  readonly #store: SimState;
  readonly #booting: Booting;
  #installing: Installation | undefined;

  constructor(disk: SimDisk, store: SimState, booting: Booting) {
    this.#disk = disk;
    this.#store = store;
    this.#booting = booting;
  }

  /** A whole state. */
  takeIn({ message, id, image, incoming, switching }: Arrived, done: (ok: boolean) => void): void {
    const { meta } = message;
    let events: TransferEvents | undefined;
    // the chunks are all here, and are verified
    const transfer = { id, next: 0, isWriting: true, isFinishing: true, abort: () => {} };
    incoming.accept(message, id, (its) => {
      events = its;
      return transfer;
    });
    // one at a time; what is not wanted is taken and thrown away
    if (events?.begin() !== true) {
      done(!incoming.isArriving);
      return;
    }
    const { installed, ended } = events;
    this.#store.giveUp();
    this.#whenVerified(() => {
      switching(meta);
      this.#switch(new Map(image).set(POSITION_KEY, JSON.stringify(meta)));
      installed(() => {
        ended();
        done(true);
      });
    });
  }

  /** A state chunk by chunk. A store has one installation at a time. */
  install(switching: (meta: SnapshotMeta) => void): Installation {
    this.#installing?.abort();
    const { host, loop } = this.#booting;
    const aside: StateImage = new Map();
    let isAborted = false;
    const mustBePresent = (): void => {
      if (isAborted) throw new Error('the installation was given up');
    };
    const installation: Installation = {
      add: async (records) => {
        mustBePresent();
        await this.#stored();
        mustBePresent();
        for (const [key, value] of records) aside.set(key, value);
      },
      finish: async (tally) => {
        mustBePresent();
        this.#store.giveUp();
        await new Promise<void>((resolve) => this.#whenVerified(resolve));
        mustBePresent();
        const own = new Tally();
        for (const [key, value] of aside) own.add(recordSum(key, value));
        if (own.count !== tally?.count || own.sum !== tally.sum)
          loop.guard(() => {
            const what = `${own.count} records arrive at ${host.id}, ${tally?.count} were sent`;
            throw new Violation('a snapshot arrives as it was sent', what);
          });
        switching(JSON.parse(aside.get(POSITION_KEY)!) as SnapshotMeta);
        this.#switch(aside);
      },
      abort: () => {
        isAborted = true;
      },
    };
    this.#installing = installation;
    return installation;
  }

  #stored(): Promise<void> {
    const { loop, world } = this.#booting;
    const { scheduler, random } = world;
    return new Promise((resolve) => {
      scheduler.after(random.delay(1, 60, 0.05), () =>
        this.#disk.whenFree(() =>
          loop.deliver(() => {
            if (this.#disk.isFull) this.#disk.fail();
            else resolve();
          }),
        ),
      );
    });
  }

  #whenVerified(run: () => void): void {
    const { loop, world } = this.#booting;
    const { scheduler, random } = world;
    scheduler.after(random.delay(40, 1500, 0.3), () =>
      this.#disk.whenFree(() =>
        loop.deliver(() => {
          loop.port();
          if (this.#disk.isFull) this.#disk.fail();
          else run();
        }),
      ),
    );
  }

  #switch(image: StateImage): void {
    const { host, loop } = this.#booting;
    this.#store.replace(image);
    if (host.halfInstall) loop.lightFuse(0);
  }
}
