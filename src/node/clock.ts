/** The clock and timers of the process. */

import { named } from '../base/works.js';
import type { ClockPort } from '../replica/ports.js';

/**
 * Returns the clock of the process. It passes an error of a callback to `onFatal`, because the
 * replica may then be inconsistent.
 */
export function realClock(onFatal: (error: Error) => void): ClockPort {
  const guarded = (run: () => void): (() => void) => {
    return () => {
      try {
        named('replica', run);
      } catch (error) {
        onFatal(error instanceof Error ? error : new Error(String(error)));
      }
    };
  };
  return {
    now: () => performance.now(),
    wall: () => Date.now(),
    after: (ms, run) => {
      const timer = setTimeout(guarded(run), ms);
      return () => clearTimeout(timer);
    },
    soon: (run) => {
      setImmediate(guarded(run));
    },
  };
}
