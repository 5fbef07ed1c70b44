/** Values that components watch. */
import { useLayoutEffect, useState } from 'preact/hooks';

/** A value with its watchers. */
export interface Store<T> {
  get(): T;
  set(value: T): void;
  /** Calls `watcher` after each change. Returns what ends that. */
  watch(watcher: () => void): () => void;
}

/** Makes a store. */
export function store<T>(initial: T): Store<T> {
  let value = initial;
  const watchers = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const watcher of watchers) watcher();
    },
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

/** Returns the value of a store. The component is drawn again when it changes. */
export function useStore<T>(of: Store<T>): T {
  const [, draw] = useState({});
  useLayoutEffect(() => of.watch(() => draw({})), [of]);
  return of.get();
}
