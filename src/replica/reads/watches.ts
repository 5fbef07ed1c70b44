/**
 * Blocking queries that wait for a change of state keys. Each costs one entry here and one among
 * the deadlines, no timer and no promise: those that wait for the same keys, one after the other,
 * form a group, and only groups are indexed by key. They are woken in slices of time, so that ten
 * thousand of them do not delay the messages of the cluster.
 */
import type { Deadlines } from '../deadlines.js';
import type { ClockPort } from '../ports.js';

interface Waiter {
  readonly wake: () => void;
  cancelDeadline: (() => void) | undefined;
  /** Undefined once one of its keys has changed. */
  group: Group | undefined;
  /** Called or cancelled. */
  isDone: boolean;
}

/** Callers that wait for the same keys. */
interface Group {
  readonly keys: readonly string[];
  readonly waiters: Set<Waiter>;
}

/** The groups that wait for a key. */
interface KeyWaiters {
  readonly groups: Set<Group>;
  /** The last group that was made with this key as its first. */
  latest: Group | undefined;
}

/** Longest time for which callers are woken in one turn of the event loop, in milliseconds. */
const WAKE_MS = 5;

/** Wakes blocking queries. */
export class Watches {
  readonly #clock: Pick<ClockPort, 'now' | 'soon'>;
  readonly #deadlines: Pick<Deadlines, 'at'>;
  readonly #places = new Map<string, KeyWaiters>();
  #woken: Waiter[] = [];
  #scheduled = false;
  #count = 0;

  constructor(clock: Pick<ClockPort, 'now' | 'soon'>, deadlines: Pick<Deadlines, 'at'>) {
    this.#clock = clock;
    this.#deadlines = deadlines;
  }

  /** Number of callers that wait. */
  get size(): number {
    return this.#count;
  }

  /**
   * Calls `wake` once, after the next change of any of the keys, or when the clock has reached
   * `untilMs`. Returns a cancel function, which may be called at any time.
   */
  watch(keys: readonly string[], wake: () => void, untilMs?: number): () => void {
    const group = this.#groupOf(keys);
    const waiter: Waiter = { wake, group, cancelDeadline: undefined, isDone: false };
    group.waiters.add(waiter);
    this.#count += 1;
    const cancel = (): void => {
      waiter.isDone = true;
      waiter.cancelDeadline?.();
      this.#leave(waiter);
    };
    if (untilMs !== undefined) {
      waiter.cancelDeadline = this.#deadlines.at(untilMs, () => {
        cancel();
        wake();
      });
    }
    return cancel;
  }

  /** Wakes the callers that wait for any of these keys. */
  changed(keys: readonly string[]): void {
    for (const key of keys) {
      const groups = this.#places.get(key)?.groups ?? [];
      for (const group of [...groups]) this.#wake(group);
    }
  }

  /** Wakes all callers: the whole state was replaced, or this server stops serving. */
  wakeAll(): void {
    this.changed([...this.#places.keys()]);
  }

  /** Returns the group of the last caller with these keys, or a new one. */
  #groupOf(keys: readonly string[]): Group {
    const first = keys[0] === undefined ? undefined : this.#placeOf(keys[0]);
    if (first?.latest !== undefined && isEqual(first.latest.keys, keys)) return first.latest;
    const group: Group = { keys, waiters: new Set() };
    for (const key of keys) this.#placeOf(key).groups.add(group);
    if (first !== undefined) first.latest = group;
    return group;
  }

  #placeOf(key: string): KeyWaiters {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = { groups: new Set(), latest: undefined };
      this.#places.set(key, place);
    }
    return place;
  }

  #wake(group: Group): void {
    this.#remove(group);
    this.#count -= group.waiters.size;
    for (const waiter of group.waiters) {
      waiter.group = undefined;
      this.#woken.push(waiter);
    }
    this.#schedule();
  }

  #leave(waiter: Waiter): void {
    const { group } = waiter;
    if (group === undefined) return;
    waiter.group = undefined;
    group.waiters.delete(waiter);
    this.#count -= 1;
    if (group.waiters.size === 0) this.#remove(group);
  }

  #remove(group: Group): void {
    for (const key of group.keys) {
      const place = this.#places.get(key);
      place?.groups.delete(group);
      if (place?.latest === group) place.latest = undefined;
      if (place?.groups.size === 0) this.#places.delete(key);
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#clock.soon(() => this.#run());
  }

  #run(): void {
    this.#scheduled = false;
    const woken = this.#woken;
    this.#woken = [];
    const until = this.#clock.now() + WAKE_MS;
    let at = 0;
    while (at < woken.length && this.#clock.now() <= until) {
      const waiter = woken[at]!;
      at += 1;
      if (waiter.isDone) continue;
      waiter.isDone = true;
      waiter.cancelDeadline?.();
      waiter.wake();
    }
    if (at === woken.length) return;
    // those that were woken meanwhile come after the rest
    this.#woken = [...woken.slice(at), ...this.#woken];
    this.#schedule();
  }
}

const isEqual = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((key, at) => key === others[at]);
