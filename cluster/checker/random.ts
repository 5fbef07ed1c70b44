/**
 * A seeded random number generator: the small fast counter generator (sfc32) of Chris
 * Doty-Humphrey. All random choices of a simulated world come from one seed.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  constructor(seed: number) {
    this.#a = seed | 0;
    this.#b = Math.floor(seed / 0x1_0000_0000) | 0;
    this.#c = 0x2545f491;
    for (let i = 0; i < 12; i++) this.#word();
  }

  #word(): number {
    const sum = (this.#a + this.#b + this.#count) | 0;
    this.#count = (this.#count + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** Returns a number in [0, 1). */
  next = (): number => this.#word() / 0x1_0000_0000;

  /** Returns a whole number in [0, n). */
  int(n: number): number {
    return Math.floor(this.next() * n);
  }

  /** Returns a number in [low, high). */
  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('nothing to pick from');
    return list[this.int(list.length)]!;
  }

  /** Returns a shuffled copy of the list. */
  shuffle<T>(list: readonly T[]): T[] {
    const out = [...list];
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.int(i + 1);
      [out[i], out[j]] = [out[j]!, out[i]!];
    }
    return out;
  }

  /** Returns about `usual` ms, and rarely up to `long` ms: the latency of disks and networks. */
  delay(usual: number, long: number, longProbability: number): number {
    return this.chance(longProbability)
      ? this.between(usual, long)
      : usual * (0.3 + 0.7 * this.next() + 0.7 * this.next());
  }

  /** Returns an independent generator, so that draws of one part do not shift those of another. */
  fork(): Random {
    return new Random(this.#word() * 0x10_0000 + (this.#word() >>> 12));
  }
}
