/** Reads the event stream, and goes on where it ended, on another node if need be. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { CliError, interruption } from '../print/error.js';
import type { Api } from './http.js';

/** A frame of the stream: its event, and its data as JSON. */
interface Frame {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** The pause before the stream is opened again, in milliseconds. */
const AGAIN_MS = 1000;
/** A node that is alive sends something in this time, in milliseconds. */
const SILENCE_MS = 45_000;

interface Reading {
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** How long nodes may be away, in milliseconds. */
  readonly timeoutMs: number;
}

/** Yields frames until the user interrupts it. Throws when the server ends the stream for good. */
export async function* framesOf(
  api: Api,
  { query, signal, timeoutMs }: Reading,
): AsyncGenerator<Frame, never> {
  let last: string | undefined;
  let untilMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      const headers: Record<string, string> = last === undefined ? {} : { 'Last-Event-ID': last };
      const opened = await api.open('GET', '/v1/events', undefined, { query, headers });
      last ??= String(opened.headers['x-consul-index']);
      for await (const frame of framesIn(opened)) {
        untilMs = performance.now() + timeoutMs;
        if (frame.event === 'end') mayGoOn(frame.data);
        else {
          last = frame.id ?? last;
          yield frame;
        }
      }
    } catch (error) {
      if (signal.aborted) throw interruption();
      const isGone = error instanceof CliError && error.details.code === 'unreachable';
      const isCut = !(error instanceof CliError);
      if (!(isGone || isCut) || performance.now() > untilMs) throw error;
    }
    await pause(AGAIN_MS, undefined, { signal }).catch(() => {
      throw interruption();
    });
  }
}

/** Throws unless the stream ends because the node does. */
function mayGoOn(data: string): void {
  const { Reason } = JSON.parse(data) as { readonly Reason: string };
  if (Reason !== 'stopping')
    throw new CliError(`the stream has ended: ${Reason}`, { code: 'acl_not_found' });
}

/** Yields the frames of one answer. Throws if the node falls silent. */
async function* framesIn(answer: IncomingMessage): AsyncGenerator<Frame> {
  answer.setEncoding('utf8');
  answer.setTimeout(SILENCE_MS, () => answer.destroy(new Error('the node has fallen silent')));
  let text = '';
  for await (const chunk of answer) {
    text += chunk as string;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const frame = frameOf(text.slice(0, end));
      text = text.slice(end + 2);
      if (frame !== undefined) yield frame;
    }
  }
}

function frameOf(text: string): Frame | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const at = line.indexOf(': ');
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 2));
  }
  const event = fields.get('event');
  return event === undefined
    ? undefined
    : { id: fields.get('id'), event, data: fields.get('data') ?? '' };
}
