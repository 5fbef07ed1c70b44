/**
 * The clock and the timers of the network. They are a port, so that the simulation runs the network
 * in virtual time.
 */

/** A clock and its timers. */
export interface WireClock {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Calls `run` once after at least `ms` milliseconds. Returns a cancel function. */
  after(ms: number, run: () => void): () => void;
  /** Calls `run` after everything that has already arrived was delivered (setImmediate). */
  soon(run: () => void): void;
  /** Calls `run` when the present callback has ended, before the next one (queueMicrotask). */
  microtask(run: () => void): void;
}

/** The clock of the process. */
export const systemClock: WireClock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  soon: (run) => {
    setImmediate(run);
  },
  microtask: (run) => queueMicrotask(run),
};

/** Calls `run` every `ms` milliseconds. Returns a cancel function. */
export function every(clock: WireClock, ms: number, run: () => void): () => void {
  let cancel = (): void => {};
  const wait = (): void => {
    cancel = clock.after(ms, () => {
      wait();
      run();
    });
  };
  wait();
  return () => cancel();
}
