/** Reads that go on: blocking queries, one after the other. */
import type { Call } from './cli.js';
import { Fault } from './fault.js';

/** What is watched. */
export interface Watched {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
}

/** How long the server holds a read; then it answers what has not changed. */
const WAIT = '5m';
/** The same in milliseconds. */
const WAIT_MS = 300_000;
/** The server adds up to a sixteenth to the wait. */
const JITTER = 17 / 16;

/**
 * Prints what a read answers, and again after each change, until the user interrupts it. Faults
 * when the object is gone.
 */
export async function watch(
  { api, print }: Call<object>,
  { path, query }: Watched,
  show: (value: unknown) => Promise<void>,
): Promise<never> {
  print.startSeries();
  let index = 0;
  let shown: string | undefined;
  for (;;) {
    const held = index === 0 ? {} : { index: String(index), wait: WAIT };
    const heldMs = index === 0 ? 0 : WAIT_MS * JITTER;
    const answer = await api.get(path, { query: { ...query, ...held }, heldMs });
    if (answer.index === 0) throw new Fault('this read cannot be watched: its answer has no index');
    // Smaller than before: the server was restored. The next read does not block.
    index = answer.index < index ? 0 : answer.index;
    if (answer.text === shown) continue;
    if (shown !== undefined && print.format === 'table') print.text(['\n']);
    await show(answer.json());
    shown = answer.text;
  }
}
