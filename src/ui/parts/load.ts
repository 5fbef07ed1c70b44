/** What a component reads from the server. */
import { type Inputs, useCallback, useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { asProblem, type Problem } from '../api/problem.js';

/** A value that comes later. While it is read again, the one before stays. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  /** Reads it again. */
  reload(): void;
}

/** Reads a value when the component appears and when `inputs` change. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, inputs: Inputs): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({
    value: undefined,
    problem: undefined,
    isLoading: true,
  });
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  // Before the page is drawn: other effects run after the next frame.
  useLayoutEffect(() => {
    const end = new AbortController();
    setState((before) => (before.isLoading ? before : { ...before, isLoading: true }));
    load(end.signal).then(
      (value) => {
        if (!end.signal.aborted) setState({ value, problem: undefined, isLoading: false });
      },
      (error: unknown) => {
        if (end.signal.aborted) return;
        setState({ value: undefined, problem: asProblem(error), isLoading: false });
      },
    );
    return () => end.abort();
  }, [...inputs, turn]);
  return { ...state, reload };
}

/** Calls a function again and again while the page is visible. */
export function useInterval(run: () => void, ms: number): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') run();
    }, ms);
    return () => clearInterval(timer);
  }, [run, ms]);
}

/** Returns a value once it has not changed for a while. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
