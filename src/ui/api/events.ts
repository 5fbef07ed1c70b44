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

/** Reads the stream until the signal ends it, and goes on where it broke off. */
export async function readEvents(
  query: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  to: EventListener,
): Promise<void> {
  let last: string | undefined;
  while (!signal.aborted) {
    try {
      const index = last === undefined ? {} : { index: last };
      const response = await open('/v1/events', { query: { ...query, ...index }, signal });
      last ??= response.headers.get('X-Consul-Index') ?? undefined;
      to.onState(true);
      for await (const { id, event, data } of framesIn(piecesOf(response))) {
        if (id !== undefined) last = id;
        if (event === 'change') to.onEvents(JSON.parse(data).Events);
        if (event === 'gap') to.onGap(JSON.parse(data));
      }
      to.onState(false);
    } catch (error) {
      if (signal.aborted) return;
      const problem = asProblem(error);
      to.onState(false, problem);
      if (problem.status >= 400 && problem.status < 500) return;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function* piecesOf({ body }: Response): AsyncGenerator<string> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
