/**
 * Splits long work into slices, each in a turn of the event loop of its own. The queue of turns is
 * shared by the whole process, so messages of the cluster are handled between any two slices.
 * Otherwise many lists at a time would each run a slice in the same turn, and together delay
 * heartbeats.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { named, type Work } from '../../base/works.js';

/** Longest slice of work in one turn, in milliseconds. */
export const SLICE_MS = 5;

let last: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other long work gets. */
export function nextTurn(): Promise<void> {
  last = last.then(() => turn());
  return last;
}

/**
 * Runs a generator to its end and returns its result. Other work runs between slices of steps.
 * `name` is that of the work.
 */
export async function inSlices<T>(work: Iterator<void, T>, name?: Work): Promise<T> {
  const slice = new Slice();
  const steps = (): IteratorResult<void, T> => {
    for (;;) {
      const step = work.next();
      if (step.done || slice.isOver) return step;
    }
  };
  for (;;) {
    const step = name === undefined ? steps() : named(name, steps);
    if (step.done) return step.value;
    await slice.renew();
  }
}

/** The slice that the works of this turn share, which begin at once. */
let shared: Slice | undefined;

/**
 * Runs steps of a generator in the present turn of the event loop, at most one slice together with
 * all others that begin in this turn. Returns the last step.
 */
export function inThisTurn<T>(work: Iterator<void, T>, name: Work): IteratorResult<void, T> {
  if (shared === undefined) {
    shared = new Slice();
    setImmediate(() => {
      shared = undefined;
    });
  }
  const slice = shared;
  if (slice.isOver) return { done: false, value: undefined };
  return named(name, () => {
    for (;;) {
      const step = work.next();
      if (step.done || slice.isOver) return step;
    }
  });
}

/** Measures the time slice of one piece of long work. */
export class Slice {
  #until = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() > this.#until;
  }

  /** Starts another slice, in a turn of its own. */
  async renew(): Promise<void> {
    await nextTurn();
    this.#until = performance.now() + SLICE_MS;
  }
}
