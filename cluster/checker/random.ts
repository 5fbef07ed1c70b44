/**
 * All chance of a simulated world, from its seed: the small fast counter generator of Chris
 * Doty-Humphrey (sfc32).
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

  /** A number in [0, 1). */
  next = (): number => this.#word() / 0x1_0000_0000;

  /** A whole number in [0, n). */
  int(n: number): number {
    return Math.floor(this.next() * n);
  }

  /** A number in [low, high). */
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

  /** The list in another order. */
  shuffle<T>(list: readonly T[]): T[] {
    const out = [...list];
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.int(i + 1);
      [out[i], out[j]] = [out[j]!, out[i]!];
    }
    return out;
  }

  /** Mostly `usual` milliseconds, now and then much more: how disks and networks are late. */
  delay(usual: number, long: number, longProbability: number): number {
    return this.chance(longProbability)
      ? this.between(usual, long)
      : usual * (0.3 + 0.7 * this.next() + 0.7 * this.next());
  }

  /** An independent stream, so that one concern's draws do not shift another's. */
  fork(): Random {
    return new Random(this.#word() * 0x10_0000 + (this.#word() >>> 12));
  }
}
