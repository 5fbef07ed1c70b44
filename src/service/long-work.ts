/** Limits the work of one node that grows with the number of objects. */
import { reject } from '../errors.js';
import { inSlices } from './event-loop.js';

/** Works at one time: each holds a frozen view, and all share the turns of the event loop. */
const WORKS_MAX = 2;

/** Runs long work in slices between turns of the event loop. */
export class LongWork {
  #running = 0;

  /**
   * Runs a generator to its end and returns its result; each step is bounded work. Rejects with
   * ApiError `too_many` if too much such work runs already.
   */
  async run<T>(work: () => Iterator<void, T>): Promise<T> {
    if (this.#running >= WORKS_MAX) {
      const why = 'This node does other long work: try again in a moment';
      reject('too_many', why, { hint: `a node does ${WORKS_MAX} such works at one time` });
    }
    this.#running += 1;
    try {
      return await inSlices(work());
    } finally {
      this.#running -= 1;
    }
  }
}
