/** Reads that go on: blocking queries, one after the other. */
import type { Call } from '../cli.js';
import { CliError } from '../print/error.js';
import type { Api } from './http.js';

/** What is watched. */
export interface Watched {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Whether it may be missing: then it is waited for. A error otherwise. */
  readonly mayBeMissing?: boolean;
}

/** What a read answered, if it differs from the answer before. */
export interface Seen {
  readonly index: number;
  /** Undefined if there is none. */
  readonly value: unknown;
}

/** How long the server holds a read; then it answers what has not changed. */
const WAIT = '5m';
/** The same in milliseconds. */
const WAIT_MS = 300_000;
/** The server adds up to a sixteenth to the wait. */
const JITTER = 17 / 16;

/** Yields what a read answers, and again after each change, until the user interrupts it. */
export async function* readsOf(
  api: Api,
  { path, query, mayBeMissing = false }: Watched,
): AsyncGenerator<Seen, never> {
  let index = 0;
  let shown: string | undefined;
  for (;;) {
    const held = index === 0 ? {} : { index: String(index), wait: WAIT };
    const heldMs = index === 0 ? 0 : WAIT_MS * JITTER;
    const answer = await api.get(path, { query: { ...query, ...held }, heldMs, mayBeMissing });
    if (answer.index === 0)
      throw new CliError('this read cannot be watched: its answer has no index');
    // Smaller than before: the server was restored. The next read does not block.
    index = answer.index < index ? 0 : answer.index;
    const isMissing = answer.status === 404;
    const text = isMissing ? '' : answer.text;
    if (text === shown) continue;
    shown = text;
    yield { index: answer.index, value: isMissing ? undefined : answer.json() };
  }
}

/**
 * Prints what a read answers, and again after each change, until the user interrupts it. Throws
 * when the object is gone.
 */
export async function watch(
  { api, print, io }: Call<object>,
  watched: Watched,
  show: (value: unknown) => Promise<void>,
): Promise<void> {
  print.startSeries();
  io.endWithReader();
  let isFirst = true;
  for await (const { value } of readsOf(api, watched)) {
    if (!isFirst && print.format === 'table') print.text(['\n']);
    isFirst = false;
    await show(value);
  }
}
