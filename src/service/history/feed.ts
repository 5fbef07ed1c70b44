/** The use case that reads the feed of changes (beyond.md 3.3). */
import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import { linesAfter, linesUpTo, merged, oldestLine } from '../../state/history/lines.js';
import { type Line, RINGS, type Ring, refOfLine } from '../../state/history/records.js';
import { FLOOR_FACT, floorsOf, resumedAt } from '../../state/history/settings.js';
import type { PinnedView, View } from '../../state/types.js';
import { isHidden } from '../common/reading.js';
import type { ReadOutcome, StateRead } from '../common/types.js';
import { type LongWorkParts, ownerOf } from '../reads/long-work.js';
import { mustBeKept, readDenial, shownAuthor, shownTime } from './places.js';

/** Which changes are asked for. */
export interface FeedQuery {
  /** Oldest first from this index on; absent: newest first. */
  readonly after?: number | undefined;
  /** The most changes. With `after`, those of the last entry are all shown, beyond it too. */
  readonly limit: number;
  readonly types?: ReadonlySet<string> | undefined;
  readonly author?: string | undefined;
  /** Whom a method of the namespace of the request knows the author by. */
  readonly subject?: { readonly method: string; readonly subject: string } | undefined;
  readonly logins: boolean;
}

interface Seen {
  readonly text: string;
  /** The part of it that tells what has changed. */
  readonly changes: string;
  readonly filtered: boolean;
}

/** Lines between two turns of the event loop. */
const SLICE_LINES = 64;

/** Reads the feed. Waits for a change that the reader may see. */
export async function readFeed(
  { service, longWork }: LongWorkParts,
  request: StateRead,
  query: FeedQuery,
): Promise<ReadOutcome<string>> {
  const { caller, ns, options } = request;
  const rings = query.logins ? RINGS : (['change'] as const);
  const seen = (authorizer: Authorizer): Promise<Seen> => {
    let pinned: PinnedView | undefined;
    const steps = function* (): Steps<Seen> {
      try {
        pinned = service.pin();
        return yield* new Feed(pinned, authorizer, { ...query, ns, rings }).read();
      } finally {
        pinned?.close();
      }
    };
    return longWork.runSoon(ownerOf(service, caller), 'read', steps());
  };
  const outcome = await service.read(caller, options, ({ view, authorizer }) => {
    mustBeKept(view);
    const digest = async (): Promise<string> => (await seen(authorizer)).changes;
    return { value: authorizer, index: newestIndex(view, rings), keys: [FLOOR_FACT], digest };
  });
  const { text, filtered } = await seen(outcome.value);
  return { ...outcome, value: text, filtered };
}

/** Returns the index of the newest line, or that after which one would be kept. */
function newestIndex(view: View, rings: readonly Ring[]): number {
  for (const line of merged(
    rings.map((ring) => linesUpTo(view, ring, Number.MAX_SAFE_INTEGER)),
    true,
  ))
    return line.index;
  return Math.max(floorsOf(view)?.Index ?? 1, ...rings.map((ring) => resumedAt(view, ring)));
}

class Feed {
  readonly #view: View;
  readonly #authorizer: Authorizer;
  readonly #query: FeedQuery & { readonly ns: string; readonly rings: readonly Ring[] };
  #filtered = false;

  constructor(
    view: View,
    authorizer: Authorizer,
    query: FeedQuery & { readonly ns: string; readonly rings: readonly Ring[] },
  ) {
    this.#view = view;
    this.#authorizer = authorizer;
    this.#query = query;
  }

  *read(): Steps<Seen> {
    const { after, limit, rings } = this.#query;
    const view = this.#view;
    const newest = newestIndex(view, rings);
    const lines = merged(
      rings.map((ring) =>
        after === undefined ? linesUpTo(view, ring, newest) : linesAfter(view, ring, after),
      ),
      after === undefined,
    );
    const changes: object[] = [];
    let last = 0;
    let more = false;
    let read = 0;
    for (const line of lines) {
      read += 1;
      if (read % SLICE_LINES === 0) yield;
      if (!this.#isMeant(line) || !this.#mayRead(line)) continue;
      // The next page begins after an index: a page that ended inside an entry would lose the rest.
      more = changes.length >= limit && (after === undefined || line.index > last);
      if (more) break;
      changes.push(this.#row(line));
      last = line.index;
    }
    const Changes = JSON.stringify(changes);
    const [oldest] = rings
      .flatMap((ring) => oldestLine(view, ring) ?? [])
      .sort((a, b) => a.index - b.index);
    const head = {
      Index: newest,
      Oldest: oldest?.index ?? floorsOf(view)?.Index ?? 0,
      OldestTime: shownTime(oldest?.timeMs ?? null),
    };
    const text = `${JSON.stringify(head).slice(0, -1)},"Changes":${Changes},"More":${more}}`;
    return { text, changes: Changes, filtered: this.#filtered };
  }

  #isMeant({ type, author }: Line): boolean {
    const { types, author: accessor, subject, ns } = this.#query;
    if (type === '') return types === undefined && accessor === undefined && subject === undefined;
    if (types !== undefined && !types.has(type)) return false;
    if (accessor !== undefined && author?.AccessorID !== accessor) return false;
    if (subject === undefined) return true;
    const of = author?.Identity;
    const isMethod = of?.AuthMethod.toLowerCase() === subject.method.toLowerCase();
    return isMethod && of?.Namespace === ns && of.Subject === subject.subject;
  }

  #mayRead({ type, ns, id, author }: Line): boolean {
    const authorizer = this.#authorizer;
    const isRestore = type === '';
    const denied =
      isRestore || type === 'login-tokens'
        ? authorizer.denial('acl', 'read', undefined, isRestore ? 'default' : ns)
        : readDenial(authorizer, { type, ns, id });
    const { author: accessor, subject } = this.#query;
    // Who may not see authors must not find changes by them.
    const asksAuthor = accessor !== undefined || subject !== undefined;
    const isKnown = !asksAuthor || shownAuthor(authorizer, ns, author) !== null;
    if (denied === undefined) return isKnown;
    const home = type === 'namespace' ? id : ns;
    if (!isRestore && !isHidden(authorizer, home)) this.#filtered = true;
    return false;
  }

  #row(line: Line): object {
    const { index, type, id, name, ns, operation, timeMs, author, reason, more } = line;
    return {
      Index: index,
      Type: type,
      ID: id,
      Name: name,
      Namespace: ns,
      Ref: refOfLine(line),
      Operation: operation,
      Time: shownTime(timeMs),
      Author: shownAuthor(this.#authorizer, ns || 'default', author),
      Reason: reason,
      ...(typeof more === 'number' && { Count: more }),
    };
  }
}
