/** Forms that the page handles itself, and what their buttons do. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { asProblem, Problem } from '../api/problem.js';

/** A form. Nothing of it is sent by the browser. */
export const Form = ({
  onSubmit,
  ...rest
}: {
  onSubmit: () => void;
  class?: string;
  children: ComponentChildren;
}) => (
  <form
    {...rest}
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  />
);

/** A request that a button makes. */
export interface Attempt {
  readonly problem: Problem | undefined;
  readonly isBusy: boolean;
  /** The signal ends a wait before something is sent. */
  attempt(run: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Ends an attempt that waits to be sent. One that was sent is awaited. */
  stop(): void;
}

/**
 * Runs what a button does. Its problem stays until the next time. `onStopped` is called when an
 * attempt was ended before it was sent.
 */
export function useAttempt(onStopped = (): void => {}): Attempt {
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const waiting = useRef<AbortController>(undefined);
  const stop = (): void => waiting.current?.abort();
  // Who leaves the page does not want it any more.
  useEffect(() => stop, []);
  const attempt: Attempt['attempt'] = async (run) => {
    waiting.current = new AbortController();
    const { signal } = waiting.current;
    setBusy(true);
    setProblem(undefined);
    try {
      await run(signal);
    } catch (error) {
      if (signal.aborted && !(error instanceof Problem)) onStopped();
      else setProblem(asProblem(error));
    }
    setBusy(false);
  };
  return { problem, isBusy, attempt, stop };
}
