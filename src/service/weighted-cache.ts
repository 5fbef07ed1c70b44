/** Values by key that may weigh so much in all; when another one is too much, the oldest go. */
export class WeightedCache<V> {
  readonly #max: number;
  readonly #gone: (key: string, value: V) => void;
  readonly #entries = new Map<string, { readonly value: V; readonly weight: number }>();
  #weight = 0;

  /** `gone` is told of each value that had to go for want of room. */
  constructor(max: number, gone: (key: string, value: V) => void = () => {}) {
    this.#max = max;
    this.#gone = gone;
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

  /** Keeps a value. The newest stays however much it weighs: it is in use. */
  set(key: string, value: V, weight: number): void {
    this.delete(key);
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#max || oldest === key) return;
      this.delete(oldest);
      this.#gone(oldest, entry.value);
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
