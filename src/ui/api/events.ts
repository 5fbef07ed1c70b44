/** The event stream of the node that served this page. */

import { type Event, framesIn, type Gap } from '../../api/events.js';
import { open } from './client.js';
import { asProblem, type Problem } from './problem.js';

/** What a page learns from the stream. */
export interface EventListener {
  onEvents(events: readonly Event[]): void;
  onGap(gap: Gap): void;
  /** Whether the stream is open. */
  onState(isOpen: boolean, problem?: Problem): void;
}

/** Milliseconds before the stream is opened again. */
const AGAIN_MS = 1000;
/** The longest silence of a live connection, in milliseconds. */
const SILENCE_MS = 45_000;

/** Reads the stream until the signal ends it, and goes on where it broke off. */
export async function readEvents(
  query: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  to: EventListener,
): Promise<void> {
  let last: string | undefined;
  while (!signal.aborted) {
    const dead = new AbortController();
    let timer: number | undefined;
    const listen = (): void => {
      clearTimeout(timer);
      timer = window.setTimeout(() => dead.abort(), SILENCE_MS);
    };
    listen();
    try {
      const index = last === undefined ? {} : { index: last };
      const ask = { query: { ...query, ...index }, signal: AbortSignal.any([signal, dead.signal]) };
      const response = await open('/v1/events', ask);
      last ??= response.headers.get('X-Consul-Index') ?? undefined;
      to.onState(true);
      for await (const { id, event, data } of framesIn(piecesOf(response, listen))) {
        if (id !== undefined) last = id;
        if (event === 'change') to.onEvents(JSON.parse(data).Events);
        if (event === 'gap') to.onGap(JSON.parse(data));
      }
      to.onState(false);
    } catch (error) {
      if (signal.aborted) return;
      const problem = dead.signal.aborted ? undefined : asProblem(error);
      to.onState(false, problem);
      if (problem !== undefined && isFinal(problem)) return;
    } finally {
      clearTimeout(timer);
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** Whether the same request would be refused again. */
const isFinal = ({ status, code }: Problem): boolean =>
  status >= 400 && status < 500 && code !== 'too_many';

/** Yields the pieces of an answer. Calls `listen` before it waits for each. */
async function* piecesOf({ body }: Response, listen: () => void): AsyncGenerator<string> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    listen();
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
