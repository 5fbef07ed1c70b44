/** The heap of a node that has little to do. */
import v8 from 'node:v8';

/** 24 days, the longest delay that V8 takes. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Stops V8's memory reducer, which collects the heap when the process is idle. Those collections
 * also free the hidden classes that only requests use, and so all optimized code that rests on
 * them: the next requests take two to three times the CPU time, until it is compiled again. V8
 * keeps the delay that it has at its first collection, so this is called before all else.
 */
export function stopMemoryReducer(): void {
  v8.setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${NEVER_MS}`);
}
