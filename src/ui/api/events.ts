/** The event stream of the node that served this page. */

import { open } from './client.js';
import { asProblem, type Problem } from './problem.js';

/** A change, as the stream has it. Those of rights have neither a name nor an author. */
export interface Event {
  readonly Topic: string;
  readonly Type: string;
  readonly Key: string;
  readonly Name?: string;
  readonly Namespace?: string;
  readonly Index: number;
  readonly Time?: string | null;
  readonly Author?: {
    readonly AccessorID: string;
    readonly Description: string;
    readonly Identity?: { readonly AuthMethod: string; readonly Subject: string };
  } | null;
  readonly Reason?: string;
}

/** Changes that may be missing. */
export interface Gap {
  readonly From: number;
  readonly To: number;
  readonly Reason: string;
}

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
      for await (const { id, event, data } of framesIn(response)) {
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

interface Frame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

async function* framesIn({ body }: Response): AsyncGenerator<Frame> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      const field = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      yield { id: field('id'), event: field('event'), data: field('data') ?? '' };
    }
  }
}
