/** What a component reads from the server. */
import { type Inputs, useCallback, useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Answer } from '../api/client.js';
import { asProblem, type Problem } from '../api/problem.js';
import { session } from '../session.js';
import { useStore } from '../store.js';

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

/** A value that is read again and again. The last one stays when a read fails. */
export interface Live<T> {
  readonly value: T | undefined;
  /** Unix milliseconds at which the value was read; before the first, at which the page began. */
  readonly atMs: number;
  /** Why the last read failed. */
  readonly problem: Problem | undefined;
  /** Whether the value is too old to be believed or missing, or the last read failed. */
  readonly isLate: boolean;
}

/** Milliseconds between two reads, and after which a value is late. */
export interface LiveTimes {
  readonly everyMs: number;
  readonly lateMs: number;
}

/**
 * Reads a value while the page is visible: again `everyMs` after each read has ended, unless the
 * token lacks the right. `load` must bound its own time.
 */
export function useLive<T>(
  load: (signal: AbortSignal) => Promise<T>,
  { everyMs, lateMs }: LiveTimes,
): Live<T> {
  const [state, setState] = useState<Omit<Live<T>, 'isLate'>>(() => ({
    value: undefined,
    atMs: Date.now(),
    problem: undefined,
  }));
  const [nowMs, setNow] = useState(Date.now);
  const { token } = useStore(session);
  useLayoutEffect(() => {
    const end = new AbortController();
    const readAgain = async (): Promise<void> => {
      while (!end.signal.aborted) {
        if (document.visibilityState === 'visible') {
          const change = await load(end.signal).then(
            (value) => ({ value, atMs: Date.now(), problem: undefined }),
            (error: unknown) => ({ problem: asProblem(error) }),
          );
          if (end.signal.aborted) return;
          setState((before) => ({ ...before, ...change }));
          if (change.problem?.status === 403) return;
        }
        await new Promise((resolve) => setTimeout(resolve, everyMs));
      }
    };
    void readAgain();
    const clock = setInterval(() => setNow(Date.now()), 1000);
    return () => {
      end.abort();
      clearInterval(clock);
    };
  }, [token]);
  const isLate = state.problem !== undefined || nowMs - state.atMs > lateMs;
  return { ...state, isLate };
}

/** How long the server may hold a read that waits for a change. */
const HELD = '55s';
/** Milliseconds before a read is repeated that has failed. */
const AGAIN_MS = 5000;
/** Milliseconds between two reads that the server does not hold. */
const POLL_MS = 2000;

/** A value with the index of its last change; 0 for none. */
export type Indexed<T> = Pick<Answer<T>, 'value' | 'index'>;

/** A value that is read again when it changes. The last one stays when a later read fails. */
export interface Watched<T> extends Omit<Loaded<T>, 'reload'> {
  /** Unix milliseconds at which the value was read. */
  readonly atMs: number;
}

/**
 * Reads a value, and again whenever it changes, which the server says by holding the next read.
 * `load` gets the parameters for that. What the server does not hold is read every two seconds
 * while the page is visible. A read that the server refuses as wrong is not repeated.
 */
export function useWatch<T>(
  load: (signal: AbortSignal, watched: Readonly<Record<string, string>>) => Promise<Indexed<T>>,
  inputs: Inputs,
  { isHeld = true }: { readonly isHeld?: boolean } = {},
): Watched<T> {
  const [state, setState] = useState<Watched<T>>({
    value: undefined,
    problem: undefined,
    isLoading: true,
    atMs: 0,
  });
  useLayoutEffect(() => {
    const end = new AbortController();
    const watch = async (): Promise<void> => {
      let watched = {};
      let hasValue = false;
      while (!end.signal.aborted)
        try {
          const { value, index } = await load(end.signal, watched);
          if (isHeld) watched = { index: String(index), wait: HELD };
          hasValue = true;
          const read = { problem: undefined, isLoading: false, atMs: Date.now() };
          if (!end.signal.aborted) setState({ value, ...read });
          // Without an index there is nothing to wait for.
          if (index === 0) return;
          if (!isHeld) await pause(POLL_MS);
        } catch (error) {
          if (end.signal.aborted) return;
          const problem = asProblem(error);
          // What is shown was the answer to another question.
          const others = hasValue ? {} : { value: undefined };
          setState((before) => ({ ...before, ...others, problem, isLoading: false }));
          if (problem.status === 400) return;
          watched = {};
          await pause(AGAIN_MS);
        }
    };
    setState((before) => (before.isLoading ? before : { ...before, isLoading: true }));
    void watch();
    return () => end.abort();
  }, inputs);
  return state;
}

/** Waits for some milliseconds, and until the page is visible. */
async function pause(ms: number): Promise<void> {
  do await new Promise((resolve) => setTimeout(resolve, ms));
  while (document.visibilityState !== 'visible');
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
