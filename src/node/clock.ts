import type { ClockPort } from '../replica/ports.js';

/** The real clock. A failure in what it runs stops the process: nothing behind it can be trusted any more. */
export function realClock(onFatal: (error: Error) => void): ClockPort {
  const guarded = (run: () => void): (() => void) => {
    return () => {
      try {
        run();
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
