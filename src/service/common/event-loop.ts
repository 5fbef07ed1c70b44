/**
 * Splits long work into slices, each in a turn of the event loop of its own. The queue of turns is
 * shared by the whole process, so messages of the cluster are handled between any two slices.
 * Otherwise many lists at a time would each run a slice in the same turn, and together delay
 * heartbeats.
 */
import { lastAppliedMs, named, type Work } from '../../base/works.js';
import { LoopShare } from './loop-share.js';

/** Longest slice of work in one turn, in milliseconds. */
const SLICE_MS = 2;
/** How long after a write the next one is expected, in milliseconds. */
const WRITES_MS = 500;

const CLOCK = {
  now: () => performance.now(),
  soon: (run: () => void) => void setImmediate(run),
  after(ms: number, run: () => void) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
const isWrittenTo = (): boolean => performance.now() - lastAppliedMs() < WRITES_MS;

/** Returns a share of this process's event loop. */
export const loopShare = (): LoopShare => new LoopShare(CLOCK, isWrittenTo);

const longWork = loopShare();

/** Resolves in a turn of the event loop that no other long work gets. */
export const nextTurn = (): Promise<void> => new Promise((begin) => longWork.turn(begin));

/**
 * Runs a generator to its end and returns its result. Other work runs between slices of steps.
 * `name` is that of the work.
 */
export async function inSlices<T>(work: Iterator<void, T>, name?: Work): Promise<T> {
  const slice = new Slice();
  const steps = (): IteratorResult<void, T> => slice.stepsOf(work);
  for (;;) {
    const step = name === undefined ? steps() : named(name, steps);
    if (step.done) return step.value;
    await slice.renew();
  }
}

/** The slice that all work begun in this turn shares. */
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
  if (slice.isOver || longWork.restMs > 0) return { done: false, value: undefined };
  const beganMs = performance.now();
  const step = named(name, () => slice.stepsOf(work));
  longWork.spend(performance.now() - beganMs);
  return step;
}

/** Measures the time slice of one piece of long work. */
export class Slice {
  #until = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() > this.#until;
  }

  /** Runs steps of a generator until the slice is over. Returns the last step. */
  stepsOf<T>(work: Iterator<void, T>): IteratorResult<void, T> {
    for (;;) {
      const step = work.next();
      if (step.done || this.isOver) return step;
    }
  }

  /** Starts another slice, in a turn of its own. */
  async renew(): Promise<void> {
    await nextTurn();
    this.#until = performance.now() + SLICE_MS;
  }
}
