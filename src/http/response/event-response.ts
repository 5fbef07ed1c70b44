/** Answers with a stream of events: its place among those of a node, its headers and its end. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { QueryMeta } from '../../service/common/types.js';
import type { OpenedEvents } from '../../service/events/open.js';
import type { Front } from '../front.js';
import type { Client } from '../limits/concurrency.js';
import { isGone, onceGone } from './send.js';

/** Milliseconds after which a client connects again. */
const RETRY = 'retry: 1000\n\n';

interface Exchange {
  readonly front: Front;
  readonly incoming: IncomingMessage;
  readonly res: ServerResponse;
  readonly client: Client;
}

interface EventAnswer {
  /** Checks the request. Throws ApiError. */
  readonly open: () => Promise<OpenedEvents>;
  readonly headersOf: (meta: QueryMeta) => string[];
  /** Called at the end. `isCut`: the connection was closed in mid-stream. */
  readonly onEnd: (isCut: boolean) => void;
}

/** Begins a stream. HEAD gets its headers, and takes no place. Throws ApiError. */
export async function answerEvents(
  { front, incoming, res, client }: Exchange,
  { open, headersOf, onEnd }: EventAnswer,
): Promise<void> {
  const isHead = incoming.method === 'HEAD';
  if (!isHead) front.events.enter(client);
  const leave = (): void => {
    if (!isHead) front.events.leave(client);
  };
  let opened: OpenedEvents;
  try {
    opened = await open();
  } catch (error) {
    leave();
    throw error;
  }
  if (isGone(incoming, res)) {
    leave();
    return;
  }
  const { meta } = opened;
  const headers = headersOf({ ...meta, index: meta.value });
  headers.push(...front.names.unkept, 'X-Accel-Buffering', 'no');
  incoming.resume();
  res.writeHead(200, headers);
  if (isHead) {
    res.end();
    onEnd(false);
    return;
  }
  res.write(RETRY);
  const stream = opened.begin({
    write: (part) => res.write(part),
    end: () => void res.end(),
    cut: () => void res.destroy(),
  });
  res.on('drain', () => stream.drained());
  onceGone(incoming, res, () => {
    leave();
    stream.closed();
    onEnd(!res.writableEnded);
  });
}
