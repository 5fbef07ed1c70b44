/** Use cases that tell when tokens were used last, and clean up (beyond.md 7.5, 7.6). */
import { ANONYMOUS_ACCESSOR, GLOBAL_MANAGEMENT_ID } from '../../acl/builtin.js';
import { least, type Steps } from '../../acl/steps.js';
import type {
  Cleaned,
  CleanUpBody,
  MethodUse,
  TokenUse,
  Unused,
} from '../../api/endpoints/usage.js';
import { reject } from '../../base/errors.js';
import { compare } from '../../base/text.js';
import { parseDuration } from '../../languages/duration.js';
import { timeOf } from '../../languages/times.js';
import { keys } from '../../state/keys.js';
import { keysBelow, stored } from '../../state/lists.js';
import type { AuthMethod } from '../../state/methods.js';
import type { Role } from '../../state/roles.js';
import type { TokenGc } from '../../state/token-gc.js';
import { isAlive, loggedIn, type Token, tokenByAccessor } from '../../state/tokens.js';
import type { PinnedView, View } from '../../state/types.js';
import { listedNamespaces, mustRead, stateIndex } from '../common/reading.js';
import type { ReadUseCase, Requester, StateRead } from '../common/types.js';
import { reasoned } from '../common/writing.js';
import { identityIn, ownToken } from '../explain/subject.js';
import { mustBeKept } from '../history/places.js';
import { type LongWorkParts, ownerOf } from '../reads/long-work.js';
import { HOUR_MS, isUnused, methodUse, type UsageBook } from './book.js';

/** What these use cases need of a node. */
export interface UsageParts extends LongWorkParts {
  readonly nowMs: () => number;
  readonly usage: { readonly book: UsageBook; readonly isComplete: boolean };
}

/** Tokens that one clean-up deletes at most: an entry must not delay heartbeats. */
const CLEANED_MAX = 1000;

const hourText = (hour: number): string => timeOf(hour * HOUR_MS);

/** Returns the time of a last use as answers show it; null if that is not since `Since`. */
const lastUsed = ({ book }: UsageParts['usage'], used: string): string | null => {
  const hour = book.lastOf(used);
  return hour === undefined ? null : hourText(hour);
};

const aboutNotes = ({ book, isComplete }: UsageParts['usage']) => ({
  Since: hourText(book.since),
  Complete: isComplete,
});

/** Tells when a token was used last; undefined if the caller sees none. Throws ApiError 403. */
export const readUsage =
  ({ usage, nowMs }: UsageParts, ns: string, accessor: string): ReadUseCase<string | undefined> =>
  ({ view, authorizer }) => {
    mustRead(authorizer, ns);
    const token = tokenByAccessor(view, accessor);
    const isSeen =
      token !== undefined &&
      isAlive(view, token, nowMs()) &&
      authorizer.allowed('acl', 'read', undefined, token.Namespace);
    const index = stateIndex(view);
    if (!isSeen) return { value: undefined, index, keys: [] };
    const { AccessorID } = token;
    const value: TokenUse = {
      AccessorID,
      ...identityIn(view, token),
      LastUsed: lastUsed(usage, AccessorID),
      ...aboutNotes(usage),
    };
    return { value: JSON.stringify(value), index, keys: [] };
  };

/** Tells when a login by an auth method was accepted last. Throws ApiError 403, 404. */
export const readMethodUsage =
  ({ usage }: Pick<UsageParts, 'usage'>, ns: string, name: string): ReadUseCase<string> =>
  ({ view, authorizer }) => {
    mustRead(authorizer, ns);
    const method = stored<AuthMethod>(view, keys.method(ns, name));
    if (method === undefined)
      return reject('not_found', `auth method ${shownName(name)} not found`);
    const { Name, Namespace } = method;
    const LastUsed = lastUsed(usage, methodUse(Namespace, Name));
    const value: MethodUse = { Name, Namespace, LastUsed, ...aboutNotes(usage) };
    return { value: JSON.stringify(value), index: stateIndex(view), keys: [] };
  };

/** Characters of an unknown name that an error shows. */
const NAME_SHOWN_MAX = 128;
const shownName = (name: string): string => JSON.stringify(name.slice(0, NAME_SHOWN_MAX));

/** Which tokens are listed. */
export interface UnusedQuery {
  readonly unusedFor: string | undefined;
  readonly method: string | undefined;
  readonly limit: number;
}

/** Lists tokens by their last use, the longest unused first. Throws ApiError. */
export async function listUsage(
  parts: UsageParts,
  { caller, ns, options }: StateRead,
  { unusedFor, method, limit }: UnusedQuery,
): Promise<string> {
  const { service, longWork, usage, nowMs } = parts;
  const before = unusedFor === undefined ? undefined : usedBefore(parts, unusedFor, 'unused-for');
  const outcome = await service.read(caller, options, ({ view, authorizer }) => {
    const { shown } = listedNamespaces(view, authorizer, ns);
    return { value: shown, index: stateIndex(view), keys: [] };
  });
  const shown = new Set(outcome.value);
  const pinned = service.pin();
  const steps = function* (): Steps<Unused> {
    try {
      let Total = 0;
      const found: { readonly hour: number; readonly token: Token }[] = [];
      for (const token of tokensIn(pinned, shown, nowMs())) {
        yield;
        const hour = usage.book.lastOf(token.AccessorID) ?? -1;
        if (before !== undefined && !isUnused(usage.book, token, before)) continue;
        if (method !== undefined && token.AuthMethod?.toLowerCase() !== method.toLowerCase())
          continue;
        Total += 1;
        found.push({ hour, token });
      }
      const first = yield* least(
        found,
        limit,
        (a, b) => a.hour - b.hour || byAge(a.token, b.token),
      );
      const Tokens = first.map(({ token }) => rowOf(parts, pinned, token));
      return { ...aboutNotes(usage), Total, Tokens };
    } finally {
      pinned.close();
    }
  };
  return JSON.stringify(await longWork.runSoon(ownerOf(service, caller), 'list', steps()));
}

const byAge = (a: Token, b: Token): number =>
  compare(a.CreateTime, b.CreateTime) || compare(a.AccessorID, b.AccessorID);

function* tokensIn(view: View, namespaces: ReadonlySet<string>, nowMs: number): Iterable<Token> {
  for (const ns of namespaces) {
    for (const key of keysBelow(view, 'token', ns)) {
      const token = stored<Token>(view, key)!;
      if (isAlive(view, token, nowMs)) yield token;
    }
  }
}

function rowOf({ usage }: UsageParts, view: View, token: Token): Unused['Tokens'][number] {
  const { AccessorID, Description, AuthMethod = '', Namespace, CreateTime } = token;
  const LastUsed = lastUsed(usage, AccessorID);
  const who = { AccessorID, Description, AuthMethod, ...identityIn(view, token) };
  return { ...who, Namespace, CreateTime, LastUsed };
}

/** Returns the time in ms before which a token was used that is unused for so long. Throws 400. */
function usedBefore(parts: UsageParts, text: string, name: string): number {
  const { book } = parts.usage;
  const before = timeBefore(parts, text, name);
  const pointer = { pointer: `/${name}` };
  if (!book.knowsFrom(before)) {
    const Since = hourText(book.since);
    const why = `${name} ${text} reaches back to before ${Since}, from which on uses are known`;
    reject('invalid', why, { ...pointer, members: { Since } });
  }
  return before;
}

/** Returns the time in ms that is so long ago. Throws ApiError 400. */
function timeBefore({ nowMs }: UsageParts, text: string, name: string): number {
  const parsed = parseDuration(text);
  const pointer = { pointer: `/${name}` };
  if (!parsed.ok) reject('invalid', `${name}: ${parsed.message}`, pointer);
  if (parsed.nanoseconds <= 0) reject('invalid', `${name} must be longer than 0`, pointer);
  return nowMs() - parsed.nanoseconds / 1e6;
}

/** Deletes tokens that are not used, or shows which they are. Throws ApiError. */
export async function cleanUp(
  parts: UsageParts,
  requester: Requester,
  ns: string,
  body: CleanUpBody,
): Promise<Cleaned> {
  const { service, usage } = parts;
  const { DryRun = true, UnusedFor, KeepPerIdentity, Reason } = body;
  const access = DryRun ? 'read' : 'write';
  const home = ns === '*' ? undefined : ns;
  // Before the check: no leader authorises a dry run again.
  await service.catchUp(requester.timeoutMs);
  const authorizer = await service.permit(requester, (of) =>
    home === undefined && of.anywhere('acl', access)
      ? undefined
      : of.denial('acl', access, undefined, home),
  );
  const limits = limitsOf(parts, body);
  const writer = reasoned(requester, Reason);
  if (UnusedFor === undefined && KeepPerIdentity === undefined)
    reject('invalid', 'At least one of UnusedFor and KeepPerIdentity is required');
  if (UnusedFor !== undefined && !DryRun && !usage.isComplete)
    reject('conflict', 'Not every member has reported which tokens it has seen lately', {
      hint: 'try again in a few minutes',
    });
  const { view } = service;
  mustBeKept(view);
  const places = listedNamespaces(view, authorizer, ns);
  const shown = places.shown.filter((each) => authorizer.allowed('acl', access, undefined, each));
  const caller = ownToken(view, requester.caller)?.AccessorID ?? '';
  const work = new CleanUp(parts, service.pin(), { ...limits, caller, shown: new Set(shown) });
  const owner = ownerOf(service, requester.caller);
  const { found, Skipped, index } = await parts.longWork.runSoon(owner, 'list', work.find());
  const some = found.slice(0, limits.limit);
  const answer: Cleaned = {
    DryRun,
    ...(DryRun && UnusedFor !== undefined && !usage.isComplete && { Complete: false }),
    Total: found.length,
    Tokens: some.map(({ shown: row }) => row),
    Skipped,
    Index: DryRun ? index : 0,
  };
  if (DryRun || some.length === 0) return answer;
  const command: TokenGc = {
    type: 'token.gc',
    v: 1,
    tokens: some.map(({ token: { Namespace, AccessorID, ModifyIndex } }) => ({
      ns: Namespace,
      accessor: AccessorID,
      index: ModifyIndex,
    })),
  };
  const written = await service.write(writer, command);
  const { Deleted, Index } = JSON.parse(written) as { Deleted: string[]; Index: number };
  const deleted = new Set(Deleted);
  const Tokens = answer.Tokens.filter(({ AccessorID }) => deleted.has(AccessorID));
  return { ...answer, Tokens, Index };
}

interface CleanUpLimits {
  readonly unusedBefore: number | undefined;
  readonly olderThan: number | undefined;
  readonly keep: number | undefined;
  readonly method: string | undefined;
  readonly limit: number;
}

function limitsOf(parts: UsageParts, body: CleanUpBody): CleanUpLimits {
  const { UnusedFor, OlderThan, KeepPerIdentity, AuthMethod, Limit = CLEANED_MAX } = body;
  if (KeepPerIdentity !== undefined && KeepPerIdentity < 1)
    reject('invalid', 'KeepPerIdentity must be at least 1', { pointer: '/KeepPerIdentity' });
  if (Limit < 1 || Limit > CLEANED_MAX)
    reject('invalid', `Limit must be from 1 to ${CLEANED_MAX}`, { pointer: '/Limit' });
  const before = (text: string | undefined, name: string): number | undefined =>
    text === undefined ? undefined : timeBefore(parts, text, name);
  return {
    unusedBefore: before(UnusedFor, 'UnusedFor'),
    olderThan: before(OlderThan, 'OlderThan'),
    keep: KeepPerIdentity,
    method: AuthMethod?.toLowerCase(),
    limit: Limit,
  };
}

type Row = Cleaned['Tokens'][number];

class CleanUp {
  readonly #parts: UsageParts;
  readonly #view: PinnedView;
  readonly #asked: CleanUpLimits & {
    readonly caller: string;
    readonly shown: ReadonlySet<string>;
  };
  readonly #skipped: Record<string, number> = {};

  constructor(
    parts: UsageParts,
    view: PinnedView,
    asked: CleanUpLimits & { readonly caller: string; readonly shown: ReadonlySet<string> },
  ) {
    this.#parts = parts;
    this.#view = view;
    this.#asked = asked;
  }

  *find(): Steps<{
    readonly found: readonly { readonly token: Token; readonly shown: Row }[];
    readonly Skipped: Readonly<Record<string, number>>;
    readonly index: number;
  }> {
    try {
      const candidates: Token[] = [];
      for (const token of tokensIn(this.#view, this.#asked.shown, this.#parts.nowMs())) {
        yield;
        if (this.#isOfMethod(token)) candidates.push(token);
      }
      // young tokens count among those that an identity keeps
      const surplus = yield* this.#surplus(candidates);
      const found: { token: Token; shown: Row }[] = [];
      for (const token of candidates.sort(byAge)) {
        yield;
        if (!this.#isOld(token)) continue;
        const why = this.#whyOf(token, surplus);
        if (why === undefined || this.#isSpared(token)) continue;
        const { CreateTime: _time, ...row } = rowOf(this.#parts, this.#view, token);
        found.push({ token, shown: { ...row, Why: why } });
      }
      return { found, Skipped: this.#skipped, index: stateIndex(this.#view) };
    } finally {
      this.#view.close();
    }
  }

  #isOfMethod({ AuthMethod }: Token): boolean {
    const { method } = this.#asked;
    return method === undefined || AuthMethod?.toLowerCase() === method;
  }

  #isOld({ CreateTime }: Token): boolean {
    const { olderThan } = this.#asked;
    return olderThan === undefined || Date.parse(CreateTime) < olderThan;
  }

  #whyOf(token: Token, surplus: ReadonlySet<string>): Row['Why'] | undefined {
    const { unusedBefore } = this.#asked;
    if (surplus.has(token.AccessorID)) return 'surplus';
    const { book } = this.#parts.usage;
    if (unusedBefore === undefined || !isUnused(book, token, unusedBefore)) return undefined;
    const isKnown = book.lastOf(token.AccessorID) !== undefined;
    if (isKnown || book.knowsFrom(unusedBefore)) return 'unused';
    this.#skip('unknown_use');
    return undefined;
  }

  #skip(why: string): void {
    this.#skipped[why] = (this.#skipped[why] ?? 0) + 1;
  }

  /** Whether a token is never deleted like this. Counts why. */
  #isSpared({ AccessorID, Namespace, Policies, Roles = [] }: Token): boolean {
    const ofRoles = Roles.map(({ ID }) => stored<Role>(this.#view, keys.role(Namespace, ID)));
    const links = [Policies, ...ofRoles.map((role) => role?.Policies)].flat();
    const why = links.some((link) => link?.ID === GLOBAL_MANAGEMENT_ID)
      ? 'management'
      : AccessorID === this.#asked.caller
        ? 'caller'
        : AccessorID === ANONYMOUS_ACCESSOR
          ? 'anonymous'
          : undefined;
    if (why === undefined) return false;
    this.#skip(why);
    return true;
  }

  /** Returns the accessors of all but the newest tokens of each identity. */
  *#surplus(tokens: readonly Token[]): Steps<ReadonlySet<string>> {
    const { keep } = this.#asked;
    const surplus = new Set<string>();
    if (keep === undefined) return surplus;
    const byIdentity = new Map<string, Token[]>();
    for (const token of tokens) {
      yield;
      const who = this.#whoOf(token);
      if (who === undefined) continue;
      const same = byIdentity.get(who);
      if (same === undefined) byIdentity.set(who, [token]);
      else same.push(token);
    }
    for (const same of byIdentity.values()) {
      yield;
      const newest = same.sort((a, b) => byAge(b, a));
      for (const { AccessorID } of newest.slice(keep)) surplus.add(AccessorID);
    }
    return surplus;
  }

  /** Returns a text for who is behind a token; undefined if that is not known. */
  #whoOf({ AuthMethod, AuthMethodNamespace, Namespace, AccessorID }: Token): string | undefined {
    if (AuthMethod === undefined) return undefined;
    const ns = AuthMethodNamespace ?? Namespace;
    const text = this.#view.get(keys.tokenByMethod(ns, AuthMethod, Namespace, AccessorID)) ?? '';
    const { identity, subject = '' } = loggedIn(text);
    if (subject === '' && identity === '') return undefined;
    return JSON.stringify([ns, AuthMethod.toLowerCase(), subject || { identity }]);
  }
}
