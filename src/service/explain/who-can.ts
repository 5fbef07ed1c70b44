/** Finds who may do something: the tokens that are allowed it, by what they grant. */

import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import { type Explanation, SHOWN_CHARS_MAX } from '../../acl/explain.js';
import type { Asked } from '../../acl/reasons.js';
import { least, type Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import type { QUESTION_FIELDS } from '../../api/endpoints/explain.js';
import type { Sent } from '../../languages/fields.js';
import { cut } from '../../languages/shown-values.js';
import { NotKnown, removedAt } from '../../state/history/past.js';
import { floorsOf } from '../../state/history/settings.js';
import { keysBelow, stored } from '../../state/lists.js';
import { identityOf, isAlive, type Token } from '../../state/tokens.js';
import type { PinnedView, View } from '../../state/types.js';
import { Links, listedNamespaces, readState, stateIndex } from '../common/reading.js';
import type { ReadBy, ReadContext, ReadOutcome, StateRead } from '../common/types.js';
import { ownerOf } from '../reads/long-work.js';
import { Authorizers, authorizerFor, RIGHTS_BYTES, rightsIdOf } from '../rights/authorizers.js';
import { stepOf } from '../rights/origins.js';
import { askedOf } from './questions.js';
import { answerPast, type PastQuestion } from './rewind.js';
import { withoutSecrets } from './secrets.js';
import { type ExplainParts, explained, identityIn, subjectOf } from './subject.js';

export interface WhoCanParts extends ExplainParts {
  readonly datacenter: string;
}

/** When a search stops. */
interface Limits {
  readonly tokens: number;
  readonly ms: number;
}
/** Some seconds of a node's time, between its other work. */
const LIMITS: Limits = { tokens: 200_000, ms: 5_000 };
/** Groups and tokens of a group that one answer shows. */
const GROUPS_MAX = 200;
const SAMPLE_MAX = 10;

/** Who asks, and how current the answer must be. */
export interface WhoCanRequest extends StateRead {
  /** Whether the client has disconnected: nobody waits for the answer. */
  readonly isGone: () => boolean;
}

/** Tokens that grant alike. */
interface Group {
  count: number;
  readonly subjects: Set<string>;
  /** Keys of the first ones. */
  readonly sample: string[];
}

/** Finds the tokens that are allowed something. Throws ApiError 403, and 429 beyond `LongWork`. */
export async function whoCan(
  parts: WhoCanParts,
  { caller, ns, options, isGone }: WhoCanRequest,
  body: Sent<typeof QUESTION_FIELDS>,
  { limits = LIMITS, at }: { readonly limits?: Limits; readonly at?: string | undefined } = {},
): Promise<ReadOutcome<string>> {
  const asked = askedOf(body, ns, '');
  const { service } = parts;
  const search = { asked, limits, isGone };
  if (at !== undefined) return whoCould(parts, { caller, options }, { at, search });
  const outcome = await readState(service, { caller, options }, (context) => {
    listedNamespaces(context.view, context.authorizer, '*');
    return context.authorizer;
  });
  let pinned: PinnedView | undefined;
  try {
    const value = await parts.longWork.run(ownerOf(service, caller), 'explain', () => {
      pinned = service.pin();
      return new Search(parts, pinned, outcome.value, search).run();
    });
    return { ...outcome, value };
  } finally {
    pinned?.close();
  }
}

interface SearchOptions {
  readonly asked: Asked;
  readonly limits: Limits;
  readonly isGone: () => boolean;
}

/** Finds the tokens that were allowed something. May take twice the time. */
async function whoCould(
  parts: WhoCanParts,
  read: ReadBy,
  { at, search }: { readonly at: string; readonly search: SearchOptions },
): Promise<ReadOutcome<string>> {
  const limits = { ...search.limits, ms: 2 * search.limits.ms };
  const answer: PastQuestion['answer'] = function* (
    { view, moment },
    { view: present, authorizer },
  ) {
    const { Index, Logins } = floorsOf(present)!;
    if (moment.index <= Index) throw new NotKnown(Index + 1);
    yield* view.findEnded();
    const nowMs = (): number => moment.ms;
    const isForgotten = (ns: string): boolean => removedAt(present, ns, moment.index) !== undefined;
    const past = { ...search, limits, isForgotten };
    const text = yield* new Search({ ...parts, nowMs }, view, authorizer, past).run();
    return moment.index > Logins ? text : `{"LoginsSince":${Logins + 1},${text.slice(1)}`;
  };
  const check = ({ view, authorizer }: ReadContext): void =>
    void listedNamespaces(view, authorizer, '*');
  const outcome = await answerPast(parts, read, { at, check, answer, isLong: true });
  // A search always has an answer.
  return { ...outcome, value: outcome.value! };
}

class Search {
  readonly #parts: WhoCanParts;
  readonly #view: View;
  readonly #caller: Authorizer;
  readonly #asked: Asked;
  readonly #limits: Limits;
  readonly #isGone: () => boolean;
  /** Whether what was in a namespace is forgotten. */
  readonly #isForgotten: (ns: string) => boolean;
  /** Enforcement over the frozen view. */
  readonly #authorizers: Authorizers;
  readonly #groups = new Map<string, Group>();
  /** Whether tokens of an id are allowed: equal grants are decided once. */
  readonly #decided = new Map<string, boolean>();
  #scanned = 0;
  readonly #sinceMs = performance.now();

  constructor(
    parts: WhoCanParts,
    view: View,
    caller: Authorizer,
    search: SearchOptions & { readonly isForgotten?: (ns: string) => boolean },
  ) {
    const { datacenter, defaultPolicy, nowMs } = parts;
    this.#parts = parts;
    this.#view = view;
    this.#caller = caller;
    this.#asked = search.asked;
    this.#limits = search.limits;
    this.#isGone = search.isGone;
    this.#isForgotten = search.isForgotten ?? (() => false);
    const rightsBytes = RIGHTS_BYTES;
    this.#authorizers = new Authorizers({ view, datacenter, defaultPolicy, nowMs, rightsBytes });
  }

  /** Searches. Returns the answer as JSON. */
  *run(): Steps<string> {
    const view = this.#view;
    const places = listedNamespaces(view, this.#caller, '*');
    const shown = places.shown.filter((ns) => !this.#isForgotten(ns));
    const filtered = places.filtered || shown.length < places.shown.length;
    const Truncated = yield* this.#scan(shown);
    const { largest, Allowed } = yield* this.#largest();
    const groups: string[] = [];
    let left = SHOWN_CHARS_MAX;
    for (const group of largest) {
      if (left < 0 || this.#isOver(2)) break;
      const text = withoutSecrets(view, JSON.stringify(yield* this.#shown(group)));
      left -= text.length;
      groups.push(text);
      yield;
    }
    const Index = stateIndex(view);
    const head = { Index, Scanned: this.#scanned, Allowed, Truncated, Filtered: filtered };
    const more = this.#groups.size - groups.length;
    const text = JSON.stringify(head).slice(0, -1);
    return `${text},"Groups":[${groups.join(',')}],"MoreGroups":${more}}`;
  }

  /** Returns the groups with most tokens, and how many tokens all groups have. */
  *#largest(): Steps<{ readonly largest: readonly Group[]; readonly Allowed: number }> {
    const groups = this.#groups.values();
    const largest = yield* least(groups, GROUPS_MAX, (a, b) => b.count - a.count);
    let Allowed = 0;
    for (const { count } of this.#groups.values()) Allowed += count;
    return { largest, Allowed };
  }

  /** Looks at the tokens of some namespaces. Returns whether it stopped before the last one. */
  *#scan(namespaces: readonly string[]): Steps<boolean> {
    const view = this.#view;
    const nowMs = this.#parts.nowMs();
    for (const ns of namespaces) {
      for (const key of keysBelow(view, 'token', ns)) {
        if (this.#scanned >= this.#limits.tokens || this.#isOver()) return true;
        this.#scanned += 1;
        const token = stored<Token>(view, key)!;
        if (!isAlive(view, token, nowMs)) continue;
        for (const _ of this.#count(key, token)) {
          if (this.#isOver()) return true;
          yield;
        }
        yield;
      }
    }
    return false;
  }

  /** Whether nobody waits, or this work has taken its time so many times over. */
  #isOver(times = 1): boolean {
    return this.#isGone() || performance.now() - this.#sinceMs >= times * this.#limits.ms;
  }

  /** Counts a token in its group if it is allowed. */
  *#count(key: string, token: Token): Steps<void> {
    // The anonymous token never gets some rights that an equal token has.
    const isAnonymous = token.AccessorID === ANONYMOUS_ACCESSOR;
    const id = `${isAnonymous ? 'anonymous ' : ''}${rightsIdOf(token)}`;
    let isAllowed = this.#decided.get(id);
    if (isAllowed === undefined) {
      const { resource, access, segment, namespace } = this.#asked;
      const { rights } = yield* this.#authorizers.compiled(token);
      const authorizer = authorizerFor(token, rights);
      isAllowed = authorizer.allowed(resource, access, segment, namespace);
      this.#decided.set(id, isAllowed);
    }
    if (!isAllowed) return;
    const groupId = `${id} ${token.AuthMethodNamespace ?? ''} ${token.AuthMethod ?? ''}`;
    const group = this.#groups.get(groupId) ?? { count: 0, subjects: new Set(), sample: [] };
    this.#groups.set(groupId, group);
    group.count += 1;
    const subject = identityOf(this.#view, token)?.Subject ?? '';
    if (subject !== '') group.subjects.add(subject);
    if (group.sample.length < SAMPLE_MAX) group.sample.push(key);
  }

  *#shown({ count, subjects, sample }: Group): Steps<object> {
    const view = this.#view;
    const tokens = sample.map((key) => stored<Token>(view, key)!);
    const token = tokens[0]!;
    const links = new Links(view);
    return {
      Tokens: count,
      Subjects: subjects.size,
      AuthMethod: token.AuthMethod ?? '',
      Namespace: token.Namespace,
      Policies: links.named('policy', token.Policies),
      Roles: links.named('role', token.Roles),
      ServiceIdentities: token.ServiceIdentities ?? [],
      NodeIdentities: token.NodeIdentities ?? [],
      TemplatedPolicies: token.TemplatedPolicies ?? [],
      Sample: tokens.map((one) => ({
        AccessorID: one.AccessorID,
        Description: cut(one.Description),
        ...identityIn(view, one),
      })),
      Result: yield* this.#result(token),
    };
  }

  *#result(token: Token): Steps<Explanation> {
    const { defaultPolicy } = this.#parts;
    const parts = { authorizers: this.#authorizers, defaultPolicy };
    const subject = yield* subjectOf(parts, () => ({ token, first: stepOf(token) }));
    return yield* explained(subject!, this.#asked);
  }
}
