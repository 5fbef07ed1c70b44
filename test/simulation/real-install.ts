/** How the real state of a simulated server is sent and taken in. */
import { StateSource, snapshotSink } from '../../src/node/snapshots.js';
import type { SnapshotMeta } from '../../src/raft/types.js';
import { isLocal, POSITION_KEY } from '../../src/state/keys.js';
import type { PinnedView } from '../../src/state/types.js';
import type { LevelState } from '../../src/storage/state.js';
import type { Installation } from '../../src/storage/types.js';
import { Crash } from './loop.js';
import type { Arrived, Booting } from './storage.js';
import type { StateImage } from './store.js';

/** A copy of the whole state, as others may have it. */
export function imageOf(store: LevelState): StateImage {
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
export async function takeIn(
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
export function install(
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
