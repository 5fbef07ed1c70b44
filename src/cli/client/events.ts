/** Reads the event stream, and resumes where it was cut off, on another node if need be. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Frame, framesIn } from '../../api/events.js';
import { CliError, interruption } from '../print/error.js';
import type { Api } from './http.js';

/** The pause before the stream is opened again, in milliseconds. */
const AGAIN_MS = 1000;
/** The longest silence of a live node, in milliseconds. */
const SILENCE_MS = 45_000;
/** Milliseconds after which the token is looked at again, while changes leave no progress. */
const LOOK_MS = 10_000;

interface Reading {
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** How long nodes may be unreachable, in milliseconds. */
  readonly timeoutMs: number;
  /** The longest silence of a live node, in milliseconds. */
  readonly silenceMs?: number;
}

/** Yields frames until the user interrupts it. Throws when the server ends the stream for good. */
export async function* framesOf(
  api: Api,
  { query, signal, timeoutMs, silenceMs = SILENCE_MS }: Reading,
): AsyncGenerator<Frame, never> {
  let last: string | undefined;
  // Nothing is retried before the first stream is open.
  let untilMs: number | undefined = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      const headers: Record<string, string> = last === undefined ? {} : { 'Last-Event-ID': last };
      const sentToken = await api.token();
      let lookedMs = performance.now();
      const ask = { query, headers, isEndless: true };
      const opened = await api.open('GET', '/v1/events', undefined, ask);
      untilMs = undefined;
      last ??= String(opened.headers['x-consul-index']);
      for await (const frame of framesIn(piecesOf(opened, silenceMs))) {
        if (frame.event === 'end') {
          await mayGoOn(api, frame.data, sentToken);
          continue;
        }
        last = frame.id ?? last;
        yield frame;
        if (frame.event !== 'progress' && performance.now() - lookedMs < LOOK_MS) continue;
        // This renews it in time: the stream ends with the old one, and is opened again.
        await api.token();
        lookedMs = performance.now();
      }
    } catch (error) {
      if (signal.aborted) throw interruption();
      if (!(error instanceof CliError) || error.details.code !== 'unreachable') throw error;
      untilMs ??= performance.now() + timeoutMs;
      if (performance.now() > untilMs) throw error;
      api.avoidNode();
    }
    await pause(AGAIN_MS, undefined, { signal }).catch(() => {
      throw interruption();
    });
  }
}

/**
 * Throws if the stream cannot be opened again: it ends with the node, or with its token, which
 * another command may have renewed.
 */
async function mayGoOn(api: Api, data: string, sentToken: string | undefined): Promise<void> {
  const { Reason } = JSON.parse(data) as { readonly Reason: string };
  if (Reason === 'stopping' || (await api.token()) !== sentToken) return;
  throw new CliError(`the stream has ended: ${Reason}`, { code: 'acl_not_found' });
}

/** Yields the pieces of an answer. Throws if it is cut off, or the node falls silent. */
async function* piecesOf(answer: IncomingMessage, silenceMs: number): AsyncGenerator<string> {
  answer.setTimeout(silenceMs, () => answer.destroy(new Error('the node has fallen silent')));
  try {
    yield* answer.setEncoding('utf8');
  } catch (error) {
    const why = `the stream was cut off: ${(error as Error).message}`;
    throw new CliError(why, { code: 'unreachable' });
  }
}
