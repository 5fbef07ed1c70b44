/** The state in memory on the disk of a simulated server. Commits are durable once it has synced. */
import type { Random } from '../../cluster/checker/random.js';
import type {
  Change,
  NextChanges,
  PinnedView,
  StateRecord,
  StateStore,
} from '../../src/state/types.js';
import { MemoryState, type MemoryStateDisk } from '../../src/storage/memory-state.js';
import type { SimLoop } from './loop.js';

/** All records of a state. */
export type StateImage = Map<string, string>;

/** See the head of this file. */
export class SimState implements StateStore {
  readonly #state: MemoryState;
  readonly #loop: SimLoop;
  readonly #sync: (done: () => void) => void;
  /** Commits so far. */
  #commits = 0;

  /** `sync` calls back when the disk has had the time it needs. */
  constructor(survived: MemoryStateDisk, loop: SimLoop, sync: (done: () => void) => void) {
    this.#state = new MemoryState(survived, sync);
    this.#loop = loop;
    this.#sync = sync;
  }

  get size(): number {
    return this.#state.size;
  }

  get(key: string): string | undefined {
    return this.#state.get(key);
  }
  keys(prefix: string, after?: string): Iterable<string> {
    return this.#state.keys(prefix, after);
  }
  pin(): PinnedView {
    return this.#state.pin();
  }

  commit(changes: readonly Change[], next?: NextChanges): void {
    this.#loop.port();
    this.#state.commit(changes, next);
    this.#commits++;
  }

  /** As `flush`, by a call: storage in memory has no promises. */
  flushed(done: () => void): void {
    this.#loop.port();
    const upTo = this.#commits;
    this.#sync(() => {
      const { pending } = this.#state;
      this.#state.sync(Math.max(0, upTo - (this.#commits - pending)));
      done();
    });
  }
  flush(): Promise<void> {
    return Promise.reject(new Error('the simulation flushes by calls'));
  }

  /** What a crash at this moment leaves: everything, or with chance only a part of what waits. */
  survive(random: Random | undefined): MemoryStateDisk {
    const { pending } = this.#state;
    this.#state.sync(random ? random.int(pending + 1) : pending);
    return this.#state.durable();
  }
  /** A copy of what is durable. */
  disk(): MemoryStateDisk {
    return this.#state.durable();
  }

  /** A copy of everything, for a snapshot. */
  image(): StateImage {
    const image: StateImage = new Map();
    for (const key of this.#state.keys('')) image.set(key, this.#state.get(key)!);
    return image;
  }
  /** Ends a rewrite that is under way: another state arrives. */
  giveUp(): void {
    this.#state.install().abort();
  }
  /** Puts another state in the place of this one, durably. The state in memory does so at once. */
  replace(image: StateImage): void {
    const installation = this.#state.install();
    void installation.add([...image]);
    void installation.finish();
  }
  rewrite(
    slices: Iterator<readonly StateRecord[], boolean>,
    done: (replaced: boolean) => void,
    isNext?: boolean,
  ): void {
    const next = (): IteratorResult<readonly StateRecord[], boolean> => {
      const slice = slices.next();
      if (slice.done === true) this.#loop.port();
      return slice;
    };
    this.#state.rewrite({ next }, done, isNext);
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}
