/** The ids that depend on each state key. */
export class Dependants {
  readonly #byKey = new Map<string, Set<string>>();

  add(id: string, dependsOn: readonly string[]): void {
    for (const key of dependsOn) {
      const ids = this.#byKey.get(key);
      if (ids === undefined) this.#byKey.set(key, new Set([id]));
      else ids.add(id);
    }
  }

  remove(id: string, dependsOn: readonly string[]): void {
    for (const key of dependsOn) {
      const ids = this.#byKey.get(key);
      ids?.delete(id);
      if (ids?.size === 0) this.#byKey.delete(key);
    }
  }

  /** Returns a copy, because the caller may remove ids while it iterates. */
  of(key: string): readonly string[] {
    const ids = this.#byKey.get(key);
    return ids === undefined ? NO_IDS : [...ids];
  }

  clear(): void {
    this.#byKey.clear();
  }
}

const NO_IDS: readonly string[] = [];
