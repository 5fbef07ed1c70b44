/** The state store in memory: commits show at once, are atomic, and become durable in order when flushed. */

import type { Random } from '../../cluster/checker/random.js';
import type { Change, PinnedView, StateRecord, StateStore } from '../../src/state/types.js';
import type { SimLoop } from './loop.js';

export type StateImage = Map<string, string>;

export interface MemoryState extends StateStore {
  /** As `flush`, by a call: the simulation has no promises. */
  flushed(done: () => void): void;
  /** What a crash at this moment leaves: everything, or with chance only a part of what was not flushed. */
  survive(random: Random | undefined): StateImage;
  /** A copy of everything, for a snapshot. */
  image(): StateImage;
  /** Ends a rewrite that is under way: another state arrives. */
  giveUp(): void;
  /** Puts another state in the place of this one, durably. */
  replace(image: StateImage): void;
}

function commit(image: StateImage, changes: readonly Change[]): void {
  for (const [key, value] of changes) {
    if (value === undefined) image.delete(key);
    else image.set(key, value);
  }
}

function* keysOf(image: StateImage, prefix: string, after = ''): Iterable<string> {
  yield* [...image.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
}

/** Opens what survived. `sync` calls back when the disk has had the time it needs. */
export function memoryState(
  survived: StateImage,
  loop: SimLoop,
  sync: (done: () => void) => void,
): MemoryState {
  let durable = survived;
  const image = new Map(survived);
  let unflushed: (readonly Change[])[] = [];
  let dropped = 0;
  let rewriting: { readonly done: (replaced: boolean) => void } | undefined;
  const replace = (other: StateImage): void => {
    image.clear();
    for (const [key, value] of other) image.set(key, value);
    durable = new Map(other);
    dropped += unflushed.length;
    unflushed = [];
  };
  const draw = (slices: Iterator<readonly StateRecord[], boolean>, aside: StateImage): void => {
    const job = rewriting;
    sync(() => {
      if (job === undefined || rewriting !== job) return;
      const { done, value } = slices.next();
      if (done !== true) {
        for (const [key, record] of value) aside.set(key, record);
        draw(slices, aside);
        return;
      }
      loop.port();
      rewriting = undefined;
      if (value) replace(aside);
      job.done(value);
    });
  };
  return {
    get: (key) => image.get(key),
    keys: (prefix, after) => keysOf(image, prefix, after),
    commit(changes) {
      loop.port();
      commit(image, changes);
      unflushed.push(changes);
    },
    flushed(done) {
      loop.port();
      const upTo = dropped + unflushed.length;
      sync(() => {
        const count = Math.max(0, upTo - dropped);
        for (const changes of unflushed.splice(0, count)) commit(durable, changes);
        dropped += count;
        done();
      });
    },
    flush: () => Promise.reject(new Error('the simulation flushes by calls')),
    survive(random) {
      const count = random ? random.int(unflushed.length + 1) : unflushed.length;
      for (const changes of unflushed.splice(0, count)) commit(durable, changes);
      unflushed = [];
      return durable;
    },
    image: () => new Map(image),
    replace,
    rewrite(slices, done) {
      rewriting = { done };
      draw(slices, new Map());
    },
    giveUp() {
      const job = rewriting;
      rewriting = undefined;
      if (job !== undefined) loop.soon(() => job.done(false));
    },
    pin(): PinnedView {
      const frozen = new Map(image);
      return {
        get: (key) => frozen.get(key),
        keys: (prefix, after) => keysOf(frozen, prefix, after),
        close() {},
      };
    },
    close: () => Promise.resolve(),
  };
}
