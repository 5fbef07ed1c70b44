/** Virtual time: a queue of what happens when. Nothing here depends on the machine it runs on. */

export interface Scheduled {
  readonly time: number;
  readonly order: number;
  readonly run: () => void;
  cancelled: boolean;
}

export class Scheduler {
  /** Virtual milliseconds since the world began. */
  now = 0;
  #order = 0;
  #isTouched = false;
  /** A binary heap by (time, order). */
  readonly #heap: Scheduled[] = [];

  /** Runs `run` at `time`, or now if that has passed, after what was scheduled earlier for then. */
  at(time: number, run: () => void): Scheduled {
    const event = { time: Math.max(time, this.now), order: this.#order++, run, cancelled: false };
    this.#push(event);
    return event;
  }

  after(ms: number, run: () => void): Scheduled {
    return this.at(this.now + ms, run);
  }

  /** What runs now has started promises, or resolved some: they run before the next event. */
  touch(): void {
    this.#isTouched = true;
  }

  /** Runs everything up to `time`, or until `done` says so (asked after each event). */
  async runUntil(time: number, done: () => boolean = () => false): Promise<void> {
    if (this.#isTouched) await this.#settle();
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.time > time) break;
      this.#pop();
      if (first.cancelled) continue;
      this.now = first.time;
      first.run();
      if (this.#isTouched) await this.#settle();
      if (done()) return;
    }
    this.now = time;
  }

  /**
   * Lets all promises run that can. None of them waits for anything real, so they are done before
   * the event loop comes to its next phase, in the same order everywhere.
   */
  async #settle(): Promise<void> {
    this.#isTouched = false;
    await new Promise(setImmediate);
  }

  #push(event: Scheduled): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!earlier(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && earlier(heap[child + 1]!, heap[child]!)) child++;
      if (!earlier(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function earlier(a: Scheduled, b: Scheduled): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order);
}
