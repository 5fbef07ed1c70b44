/** Works that grow with the number of stored objects: only a few at a time in one process. */
import { reject } from '../errors.js';

/** Such works at a time. Each holds a view of the state and takes turns of the event loop. */
const WORKS_MAX = 2;

let running = 0;

/** Runs a heavy work. Throws ApiError `too_many` if too many run already. */
export async function heavyWork<T>(work: () => Promise<T>): Promise<T> {
  if (running >= WORKS_MAX) {
    const why = `this node runs ${WORKS_MAX} requests that go through all objects already`;
    reject('too_many', `Too many heavy requests: ${why}; try again in a second`);
  }
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
  }
}
