/** What of the sets that this node compared last was not applied, for its metrics. */

/** Owners that are remembered, the newest first: each is a label of a metric. */
const OWNERS_MAX = 100;

/** What the newest plan or apply of an owner found. */
interface Drift {
  readonly owner: string;
  /** Changes that it found, and did not make. */
  readonly unapplied: number;
  /** Seconds since then. */
  readonly seconds: number;
}

/** Remembers the newest plan or apply of each owner. `nowMs`: a monotonic clock. */
export class SetDrift {
  readonly #byOwner = new Map<string, { readonly unapplied: number; readonly atMs: number }>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  note(owner: string, unapplied: number): void {
    if (owner === '') return;
    this.#byOwner.delete(owner);
    this.#byOwner.set(owner, { unapplied, atMs: this.#nowMs() });
    const [oldest] = this.#byOwner.keys();
    if (this.#byOwner.size > OWNERS_MAX) this.#byOwner.delete(oldest!);
  }

  list(): readonly Drift[] {
    const now = this.#nowMs();
    return [...this.#byOwner].map(([owner, { unapplied, atMs }]) => ({
      owner,
      unapplied,
      seconds: Math.max(0, now - atMs) / 1000,
    }));
  }
}
