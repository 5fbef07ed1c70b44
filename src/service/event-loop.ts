/**
 * Turns of the event loop for long work. All of a process shares them: between two slices of long
 * work, whoever they belong to, messages of the cluster are handled. Without that, many lists at a
 * time would each take a slice of the same turn and hold up the heartbeats together.
 */
import { setImmediate as turn } from 'node:timers/promises';

/** Longest piece of work between two turns, in milliseconds. */
const SLICE_MS = 5;

let last: Promise<void> = Promise.resolve();

/** Resolves in a turn of the loop that no other long work is given. */
export function nextTurn(): Promise<void> {
  last = last.then(() => turn());
  return last;
}

/** Runs work that pauses between its steps; gives its result. Other work has its turn between slices. */
export async function inSlices<T>(work: Iterator<void, T>): Promise<T> {
  const slice = new Slice();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (slice.isOver) await slice.renew();
  }
}

/** Counts the time of one piece of long work. */
export class Slice {
  #until = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() > this.#until;
  }

  /** Goes on in a turn of its own. */
  async renew(): Promise<void> {
    await nextTurn();
    this.#until = performance.now() + SLICE_MS;
  }
}
