/**
 * Blocking queries that wait for a change of state keys. Each costs one entry here, no timer and no
 * promise. They are woken a few at a time, so that ten thousand of them do not delay the messages
 * of the cluster.
 */
import type { ClockPort } from '../ports.js';

interface Waiter {
  readonly keys: readonly string[];
  readonly wake: () => void;
  /**
   * `waiting`: in the map. `woken`: one of its keys changed, and it will be called. `done`: called
   * or cancelled.
   */
  stage: 'waiting' | 'woken' | 'done';
}

/** Callers woken in one turn of the event loop. */
const WAKES_PER_TURN = 128;

/** Wakes blocking queries. */
export class Watches {
  readonly #clock: ClockPort;
  readonly #byKey = new Map<string, Set<Waiter>>();
  #woken: Waiter[] = [];
  #scheduled = false;
  #count = 0;

  constructor(clock: ClockPort) {
    this.#clock = clock;
  }

  /** Number of callers that wait. */
  get size(): number {
    return this.#count;
  }

  /**
   * Calls `wake` once, after the next change of any of the keys. Returns a cancel function, which
   * may be called at any time.
   */
  watch(keys: readonly string[], wake: () => void): () => void {
    const waiter: Waiter = { keys, wake, stage: 'waiting' };
    for (const key of keys) {
      const waiters = this.#byKey.get(key);
      if (waiters === undefined) this.#byKey.set(key, new Set([waiter]));
      else waiters.add(waiter);
    }
    this.#count += 1;
    return () => {
      if (waiter.stage === 'waiting') this.#remove(waiter);
      waiter.stage = 'done';
    };
  }

  /** Wakes the callers that wait for any of these keys. */
  changed(keys: readonly string[]): void {
    for (const key of keys) {
      const waiters = this.#byKey.get(key);
      for (const waiter of waiters === undefined ? [] : [...waiters]) this.#wake(waiter);
    }
  }

  /** Wakes all callers: the whole state was replaced, or this server stops serving. */
  wakeAll(): void {
    this.changed([...this.#byKey.keys()]);
  }

  #wake(waiter: Waiter): void {
    this.#remove(waiter);
    waiter.stage = 'woken';
    this.#woken.push(waiter);
    this.#schedule();
  }

  #remove(waiter: Waiter): void {
    for (const key of waiter.keys) {
      const waiters = this.#byKey.get(key);
      waiters?.delete(waiter);
      if (waiters?.size === 0) this.#byKey.delete(key);
    }
    this.#count -= 1;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#clock.soon(() => this.#run());
  }

  #run(): void {
    this.#scheduled = false;
    const batch = this.#woken.splice(0, WAKES_PER_TURN);
    if (this.#woken.length > 0) this.#schedule();
    for (const waiter of batch) {
      if (waiter.stage !== 'woken') continue;
      waiter.stage = 'done';
      waiter.wake();
    }
  }
}
