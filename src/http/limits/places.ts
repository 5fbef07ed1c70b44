/** Places for work that only a few may do at one time. */
class Places {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a place; false if there is none. Whoever has one calls `leave` once. */
  tryTake(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Resolves when there is a place, and takes it. */
  async take(): Promise<void> {
    if (!this.tryTake()) await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  /** Gives a place to the first that waits, or back. */
  leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

/**
 * Places of this process for compressing responses. That uses the four threads of libuv, in which
 * the syncs of the log wait their turn as well.
 */
export const packing = new Places(2);
/** The same for unpacking bodies. */
export const unpacking = new Places(2);
