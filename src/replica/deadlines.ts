/**
 * Many deadlines on one timer, so that ten thousand waiting calls do not need a timer each. A
 * deadline passes at the end of the 50 ms slot it falls into, never early.
 */
import type { ClockPort } from './ports.js';

/** How exact deadlines are: those within this time end together, with one timer. */
const SLOT_MS = 50;

/** The deadlines of one clock. */
export class Deadlines {
  readonly #clock: ClockPort;
  readonly #slots = new Map<number, Set<() => void>>();
  /** The last slot that has passed. */
  #passed: number;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: ClockPort) {
    this.#clock = clock;
    this.#passed = this.#slotOf(clock.now());
  }

  /** Calls `run` once when the clock has reached `atMs`. Returns a cancel function. */
  at(atMs: number, run: () => void): () => void {
    const wanted = Math.ceil(atMs / SLOT_MS);
    if (this.#slots.size === 0) this.#passed = this.#slotOf(this.#clock.now());
    const slot = Math.max(wanted, this.#passed + 1);
    // A new function, so that the same `run` may wait twice.
    const entry = (): void => run();
    const entries = this.#slots.get(slot);
    if (entries === undefined) this.#slots.set(slot, new Set([entry]));
    else entries.add(entry);
    this.#arm();
    return () => this.#cancel(slot, entry);
  }

  #cancel(slot: number, entry: () => void): void {
    const entries = this.#slots.get(slot);
    entries?.delete(entry);
    if (entries?.size === 0) this.#slots.delete(slot);
  }

  #arm(): void {
    if (this.#cancelTimer !== undefined || this.#slots.size === 0) return;
    this.#cancelTimer = this.#clock.after(SLOT_MS, () => {
      this.#cancelTimer = undefined;
      this.#pass();
      this.#arm();
    });
  }

  #pass(): void {
    const present = this.#slotOf(this.#clock.now());
    while (this.#passed < present && this.#slots.size > 0) {
      this.#passed += 1;
      const entries = this.#slots.get(this.#passed);
      this.#slots.delete(this.#passed);
      for (const run of entries ?? []) run();
    }
  }

  #slotOf(ms: number): number {
    return Math.floor(ms / SLOT_MS);
  }
}
