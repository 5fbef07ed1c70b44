/** Log and state in memory, and how a server that has them starts. */

import type { TransferEvents } from '../../src/replica/state/incoming-snapshot.js';
import { reconcile } from '../../src/replica/state/reconcile.js';
import { DIVERGED_KEY, POSITION_KEY } from '../../src/state/keys.js';
import { Machine } from '../../src/state/machine.js';
import type { SimDisk } from './disk.js';
import { Violation } from './invariants.js';
import { registers } from './machine.js';
import type { Arrived, Booting, Storage } from './storage.js';
import type { MemoryState } from './store.js';

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
  const { handlers, attach } = registers(watcher, host.release);
  const machine = new Machine(store, handlers, host.release, world.machineLimits);
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
      ...{ log, store, machine: attach(machine, store) },
      identity: { get: () => host.identity, save: (change) => host.save(change) },
      lost: store.get(DIVERGED_KEY) ?? gap,
      silenceMs: { own, owed },
      isBehind: () => false,
      image: () => {
        const image = store.image();
        for (const own of [POSITION_KEY, DIVERGED_KEY]) image.delete(own);
        return image;
      },
      takeIn: (arrived, isDone) => takeIn(disk, store, booting, arrived, isDone),
    });
  });
}

/** Verified and synced aside, then the state is switched, then the log follows. */
function takeIn(
  disk: SimDisk,
  store: MemoryState,
  { world, host, loop }: Booting,
  { message, id, image, incoming, switching }: Arrived,
  done: (ok: boolean) => void,
): void {
  const { scheduler, random } = world;
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
  store.giveUp();
  const whenVerified = (run: () => void): void => {
    scheduler.after(random.delay(40, 1500, 0.3), () => disk.whenFree(() => loop.deliver(run)));
  };
  whenVerified(() => {
    loop.port();
    if (disk.isFull) {
      disk.fail();
      return;
    }
    switching(meta);
    store.replace(new Map(image).set(POSITION_KEY, JSON.stringify(meta)));
    if (host.halfInstall) loop.lightFuse(0);
    installed(() => {
      ended();
      done(true);
    });
  });
}
