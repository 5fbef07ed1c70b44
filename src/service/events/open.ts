/** The use case that begins a stream of events (beyond.md 6.1). */
import { reject } from '../../base/errors.js';
import { restoredAt } from '../../state/restore.js';
import { isAlive, type Token, tokenByAccessor } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { stateIndex } from '../common/reading.js';
import type { Caller, ReadContext, ReadOptions, ReadOutcome, Service } from '../common/types.js';
import { ownToken } from '../explain/subject.js';
import { mustBeKept } from '../history/places.js';
import { forgottenTo, isKeptFor } from './entries.js';
import type { EventHub } from './hub.js';
import { RightsWatch } from './rights-watch.js';
import { type EventQuery, type EventSink, EventStream } from './stream.js';

/** What a request for events asks for. */
export interface EventRequest extends Omit<EventQuery, 'tokenKey' | 'after'> {
  readonly caller: Caller;
  readonly options: ReadOptions;
  /** The index after which it begins. Absent: now. */
  readonly after: number | undefined;
}

/** A stream that can begin. */
export interface OpenedEvents {
  /** The index after which it begins, and what the headers show. */
  readonly meta: ReadOutcome<number>;
  /** Begins to write to a sink. */
  begin(sink: EventSink): EventStream;
}

/** Checks a request for events. Throws ApiError. */
export async function openEvents(
  service: Service,
  hub: EventHub,
  { caller, options, after, ...query }: EventRequest,
): Promise<OpenedEvents> {
  const { tokenKey } = caller;
  const outcome = await service.read(caller, { ...options, index: 0 }, (context) => {
    const { view } = context;
    mustBeKept(view);
    mustBeKeptFor(view, query.logins);
    const watches = query.filter.rights.map((accessor) =>
      watchOf(context, hub, tokenKey, accessor),
    );
    const from = after === 0 ? oldestStart(view, query.logins) : (after ?? stateIndex(view));
    return { value: { from, watches }, index: stateIndex(view), keys: [] };
  });
  const { from, watches } = outcome.value;
  return {
    meta: { ...outcome, value: from },
    begin(sink) {
      const stream = new EventStream(hub, { ...query, tokenKey, after: from }, watches, sink);
      hub.add(stream);
      return stream;
    },
  };
}

/** Throws ApiError 409 unless the history keeps what a reader asks for. */
function mustBeKeptFor(view: View, logins: boolean): void {
  if (isKeptFor(view, { logins })) return;
  const [field, why] = isKeptFor(view, { logins: false })
    ? ['LoginBytes', 'This cluster keeps no history of the tokens of logins']
    : ['Bytes', 'This cluster keeps no history, which events are read from'];
  reject('conflict', why, { hint: `set ${field} of /v1/operator/history/configuration` });
}

/** Returns the index after which everything is kept. */
const oldestStart = (view: View, logins: boolean): number =>
  Math.max(restoredAt(view), forgottenTo(view, 0, logins));

/** Returns the watch of the rights of a token; '' is the caller's own. Throws ApiError 404. */
function watchOf(
  { view, authorizer }: ReadContext,
  { parts }: EventHub,
  tokenKey: string | null,
  accessor: string,
): RightsWatch {
  const own = ownToken(view, { tokenKey });
  const token: Token | undefined = accessor === '' ? own : tokenByAccessor(view, accessor);
  const isOwn = own !== undefined && token?.AccessorID === own.AccessorID;
  const isSeen =
    token !== undefined &&
    (isOwn || authorizer.allowed('acl', 'read', undefined, token.Namespace)) &&
    isAlive(view, token, parts.nowMs());
  if (!isSeen) reject('not_found', 'The token of the topic Rights does not exist');
  const watch = new RightsWatch(token, isOwn);
  watch.begin(parts);
  return watch;
}
