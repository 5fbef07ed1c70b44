/** Forms that the page handles itself, and what their buttons do. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { asProblem, type Problem } from '../api/problem.js';

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
  attempt(run: () => Promise<void>): Promise<void>;
}

/** Runs what a button does. Its problem stays until the next time. */
export function useAttempt(): Attempt {
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const attempt = async (run: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await run();
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  return { problem, isBusy, attempt };
}
