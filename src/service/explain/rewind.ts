/**
 * What explanations say about a moment of the past (beyond.md 1.7): the same questions, over the
 * objects as they were.
 */
import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import { reject } from '../../base/errors.js';
import { normalTime } from '../../languages/times.js';
import { indexOfTime, timeOfIndex } from '../../state/history/lines.js';
import { holderOf, NotKnown, PastView } from '../../state/history/past.js';
import { keys } from '../../state/keys.js';
import { restoredAt } from '../../state/restore.js';
import { isAlive, tokenByAccessor } from '../../state/tokens.js';
import type { PinnedView, View } from '../../state/types.js';
import { mustRead, readState, stateIndex } from '../common/reading.js';
import type { ReadBy, ReadContext, ReadOutcome } from '../common/types.js';
import { mustBeKept, refuseUnknown, shownTime } from '../history/places.js';
import { ownerOf } from '../reads/long-work.js';
import { Authorizers, RIGHTS_BYTES } from '../rights/authorizers.js';
import { type Collected, stepOf } from '../rights/origins.js';
import { type ExplainedParts, type ExplainParts, ownToken, type Whose } from './subject.js';

/** An index, and its time in milliseconds. */
export interface Moment {
  readonly index: number;
  readonly ms: number;
}

/** What explains rights now, and at a moment. */
export type RewindParts = ExplainParts & { readonly datacenter: string };
/** What explains rights at a moment. */
export interface PastParts extends ExplainedParts {
  readonly view: PastView;
  readonly moment: Moment;
}

/** How often a question is asked again to find the oldest moment that it can be answered for. */
const TRIES_MAX = 100;

/** Returns the moment of a parameter. Throws ApiError 400, and 404 for one that is not kept. */
export function momentOf(view: View, at: string): Moment {
  mustBeKept(view);
  const newest = stateIndex(view);
  const refuse = (why: string): never =>
    reject('invalid', `Invalid parameter "at": ${JSON.stringify(at.slice(0, 60))} ${why}`);
  let index = Number(at);
  if (/^\d{1,15}$/.test(at)) {
    if (index > newest) refuse(`is beyond the state, whose index is ${newest}`);
  } else {
    const time = normalTime(at);
    index =
      time === undefined
        ? refuse('is neither an index nor a time such as 2030-01-02T15:04:05Z')
        : indexOfTime(view, Date.parse(time));
  }
  const ms = index === 0 ? 0 : timeOfIndex(view, index);
  if (ms > 0) return { index, ms };
  return refuseUnknown(view, index === Number(at) ? index : at, oldestMoment(view, newest));
}

/**
 * Returns the oldest index that is a moment: the server wrote the first ones without a time, and
 * those before a restore are of another log. Returns undefined if there is none.
 */
function oldestMoment(view: View, newest: number): number | undefined {
  if (timeOfIndex(view, newest) === 0) return undefined;
  let [low, high] = [restoredAt(view), newest];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (timeOfIndex(view, middle) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A question about the past. */
export interface PastQuestion {
  readonly at: string;
  /** Throws ApiError if the caller may not ask. */
  readonly check?: (context: ReadContext) => void;
  /** Answers it as JSON; undefined if what it is about was not there. Throws NotKnown. */
  readonly answer: (parts: PastParts, context: ReadContext) => Steps<string | undefined>;
  /** Whether the work grows with the number of objects. */
  readonly isLong?: true;
}

/** Answers a question about the past. Throws ApiError 400, 403, 404, and 503 below the level. */
export async function answerPast(
  parts: RewindParts,
  { caller, options }: ReadBy,
  { at, check, answer, isLong }: PastQuestion,
): Promise<ReadOutcome<string | undefined>> {
  const { service, longWork } = parts;
  const outcome = await readState(service, { caller, options }, (context) => {
    check?.(context);
    return { authorizer: context.authorizer, moment: momentOf(context.view, at) };
  });
  const owner = ownerOf(service, caller);
  const work = (): Steps<string | undefined> => asked(parts, outcome.value, answer);
  const value = await (isLong === true
    ? longWork.run(owner, 'explain', work)
    : longWork.runSoon(owner, 'explain', work()));
  return { ...outcome, value };
}

/**
 * Answers a question. If that is no longer known, asks it again about later moments, to tell the
 * oldest one that it can be answered for.
 */
function* asked(
  parts: RewindParts,
  { authorizer, moment }: { readonly authorizer: Authorizer; readonly moment: Moment },
  answer: PastQuestion['answer'],
): Steps<string | undefined> {
  let pinned: PinnedView | undefined;
  try {
    pinned = parts.service.pin();
    const context = { view: pinned, authorizer };
    let { index, ms } = moment;
    for (let left = TRIES_MAX; left > 0; left--) {
      try {
        const past = partsAt(parts, pinned, { index, ms });
        const text = yield* answer(past, context);
        if (index !== moment.index) break;
        return text && withMoment(text, past);
      } catch (error) {
        if (!(error instanceof NotKnown)) throw error;
        index = Math.max(index + 1, error.oldest);
        ms = timeOfIndex(pinned, index);
      }
    }
    return refuseUnknown(pinned, moment.index, index);
  } finally {
    pinned?.close();
  }
}

function partsAt(
  { datacenter, defaultPolicy }: RewindParts,
  pinned: View,
  moment: Moment,
): PastParts {
  const view = new PastView(pinned, moment.index);
  const nowMs = (): number => moment.ms;
  const rightsBytes = RIGHTS_BYTES;
  const authorizers = new Authorizers({ view, datacenter, defaultPolicy, nowMs, rightsBytes });
  return { service: { view }, view, moment, nowMs, authorizers, defaultPolicy };
}

/** Adds the moment to an answer, and the versions that it was read from to the steps of sources. */
function withMoment(text: string, { view, moment }: PastParts): string {
  const answer: object = JSON.parse(text, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    const { Type, ID } = value as { readonly Type?: unknown; readonly ID?: unknown };
    const version = ID === undefined ? undefined : view.versions.get(`${Type}/${ID}`);
    return version === undefined ? value : { ...value, Version: version };
  });
  const At = { Index: moment.index, Time: shownTime(moment.ms) };
  return JSON.stringify({ At, ...answer });
}

/**
 * Finds the token whose rights at a moment a caller may have explained: its own, or one in a
 * namespace whose ACL objects it may read now. Returns undefined if there was none. Throws ApiError
 * 403, and NotKnown.
 */
export function* findThen(
  { view, moment }: PastParts,
  { view: present, authorizer }: ReadContext,
  { caller, ns, accessor: sent }: Whose,
): Steps<(() => Collected) | undefined> {
  const own = ownToken(present, caller)?.AccessorID;
  const accessor = sent ?? own;
  if (accessor === undefined) return undefined;
  let home = present.get(keys.tokenAccessor(accessor)) ?? holderOf(present, 'token', accessor);
  if (home === undefined) {
    yield* view.findEnded(accessor);
    home = view.endedIn(accessor);
  }
  const mayRead = home !== undefined && authorizer.allowed('acl', 'read', undefined, home);
  if (accessor !== own && !mayRead) {
    mustRead(authorizer, ns);
    if (home !== undefined) return undefined;
  }
  const token = tokenByAccessor(view, accessor);
  if (token === undefined || !isAlive(view, token, moment.ms)) return undefined;
  return () => ({ token, first: stepOf(token) });
}
