/** Searches for subjects, resources and actions (decisions.md 4). */
import { rightsBehind } from '../../acl/authorizer.js';
import { CLUSTER_WIDE, type Rights } from '../../acl/layer.js';
import type { Steps } from '../../acl/steps.js';
import type { Named } from '../../acl/types.js';
import { reject } from '../../base/errors.js';
import { keysBelow, lastPart, stored } from '../../state/lists.js';
import { subjectTypes } from '../../state/login-limits.js';
import type { Role } from '../../state/roles.js';
import { identityOf, isAlive, type Token } from '../../state/tokens.js';
import type { PinnedView, View } from '../../state/types.js';
import { OWN_TYPES } from '../acl/acl-configuration.js';
import { listedNamespaces, readState } from '../common/reading.js';
import type { ReadOutcome } from '../common/types.js';
import { draftToken } from '../explain/questions.js';
import { ownerOf } from '../reads/long-work.js';
import { Authorizers, authorizerFor, rightsIdOf } from '../rights/authorizers.js';
import { type EvaluateParts, type EvaluateRequest, isAllowed, resolved } from './evaluate.js';
import { type Found, inBytes, type Page, pageOf } from './pages.js';
import { Prefixes, type RuleNames, unescaped } from './prefixes.js';
import { escaped, questionOf, resourceType } from './questions.js';
import type { Entity, Search } from './requests.js';
import type { Holder } from './subjects.js';

/** What a search answers. */
export type Searched = Page & { readonly context?: object };

/** Tokens that are looked at, and milliseconds of a search: as many as who-can takes. */
const LIMITS = { tokens: 200_000, ms: 5_000 } as const;
/** Bytes of the policies and rights that one search caches. */
const RIGHTS_BYTES = 16 * 2 ** 20;
/** Ids, denied ids and prefixes that one search finds. */
const FOUND_MAX = 10_000;

const nothing = (why: string): Searched => ({
  page: { next_token: '', count: 0, total: 0 },
  results: [],
  context: { unsupported: why },
});

/** Finds the subjects of a type that may do something. Throws ApiError. */
export async function searchSubjects(
  parts: EvaluateParts & { readonly defaultPolicy: 'deny' | 'allow' },
  request: EvaluateRequest,
  search: Search,
): Promise<ReadOutcome<Searched>> {
  const { service } = parts;
  const { caller, options } = request;
  const outcome = await readState(service, { caller, options }, ({ view, authorizer }) => {
    const of = sought(view, search.subject.type);
    return typeof of === 'string'
      ? of
      : { of, shown: listedNamespaces(view, authorizer, '*').shown };
  });
  const { value } = outcome;
  if (typeof value === 'string') return { ...outcome, value: nothing(value) };
  let pinned: PinnedView | undefined;
  try {
    const work = (): Steps<Searched> => {
      pinned = service.pin();
      return new SubjectSearch(parts, pinned, search, value.of).run(value.shown);
    };
    const found = await parts.longWork.run(ownerOf(service, caller), 'explain', work);
    return { ...outcome, value: found };
  } finally {
    pinned?.close();
  }
}

/** What is looked for: tokens, roles, or the identities of all methods or of one. */
interface Sought {
  readonly is: 'token' | 'role' | 'identity';
  readonly method?: { readonly ns: string; readonly name: string };
}

/** Returns what a type looks for, or why its subjects cannot be listed. */
function sought(view: View, type: string): Sought | string {
  if (type === 'token' || type === 'role' || type === 'identity') return { is: type };
  const types = subjectTypes(view);
  const mapped = Object.hasOwn(types, type) ? types[type] : undefined;
  if (mapped === undefined && !OWN_TYPES.includes(type)) return 'unknown type';
  if (mapped?.From !== 'tokens') return 'subjects of this type cannot be listed';
  return { is: 'identity', method: { ns: mapped.Namespace, name: mapped.AuthMethod } };
}

class SubjectSearch {
  readonly #view: View;
  readonly #search: Search;
  readonly #sought: Sought;
  readonly #nowMs: number;
  readonly #authorizers: Authorizers;
  /** Whether tokens of one kind are allowed: equal grants are decided once. */
  readonly #decided = new Map<string, boolean>();
  readonly #found = new Map<string, object>();
  readonly #untilMs = performance.now() + LIMITS.ms;
  #looked = 0;

  constructor(
    {
      datacenter,
      defaultPolicy,
      nowMs,
    }: EvaluateParts & { readonly defaultPolicy: 'deny' | 'allow' },
    view: View,
    search: Search,
    of: Sought,
  ) {
    this.#view = view;
    this.#search = search;
    this.#sought = of;
    this.#nowMs = nowMs();
    const options = { view, datacenter, defaultPolicy, nowMs, rightsBytes: RIGHTS_BYTES };
    this.#authorizers = new Authorizers(options);
  }

  *run(namespaces: readonly string[]): Steps<Searched> {
    let isTruncated = false;
    for (const ns of namespaces) {
      isTruncated = this.#sought.is === 'role' ? yield* this.#roles(ns) : yield* this.#tokens(ns);
      if (isTruncated) break;
    }
    const found = [...this.#found]
      .map(([key, result]): Found => ({ key, result }))
      .sort((a, b) => inBytes(a.key, b.key));
    yield;
    const page = pageOf(found, this.#search, { nowMs: this.#nowMs, isTruncated });
    return isTruncated ? { ...page, context: { truncated: true } } : page;
  }

  get #isOver(): boolean {
    this.#looked += 1;
    return this.#looked > LIMITS.tokens || performance.now() > this.#untilMs;
  }

  /** Looks at the tokens of a namespace. Returns whether it stopped before the last one. */
  *#tokens(ns: string): Steps<boolean> {
    for (const key of keysBelow(this.#view, 'token', ns)) {
      if (this.#isOver) return true;
      const token = stored<Token>(this.#view, key)!;
      const result = isAlive(this.#view, token, this.#nowMs) ? this.#resultOf(token) : undefined;
      if (result !== undefined && (yield* this.#isAllowed(token))) this.#add(result);
      yield;
    }
    return false;
  }

  *#roles(ns: string): Steps<boolean> {
    for (const key of keysBelow(this.#view, 'role', ns)) {
      if (this.#isOver) return true;
      const { ID, Name } = stored<Role>(this.#view, key)!;
      const isAllowed = yield* this.#isAllowed(draftToken(ns, { Roles: [{ ID }] }));
      if (isAllowed) this.#add({ id: Name, properties: { namespace: ns } });
      yield;
    }
    return false;
  }

  #resultOf(token: Token): Result | undefined {
    const { AccessorID: id, Description: description, Namespace: namespace } = token;
    if (this.#sought.is === 'token') return { id, properties: { description, namespace } };
    const identity = identityOf(this.#view, token);
    if (identity === undefined || identity.Subject === '') return undefined;
    const { AuthMethod, Namespace, Subject } = identity;
    const { method } = this.#sought;
    if (method === undefined)
      return { id: `${AuthMethod}/${Subject}`, properties: { namespace: Namespace } };
    const isOf = method.ns === Namespace && method.name.toLowerCase() === AuthMethod.toLowerCase();
    return isOf ? { id: Subject, properties: { namespace: Namespace } } : undefined;
  }

  #add({ id, properties }: Result): void {
    const { type } = this.#search.subject;
    this.#found.set(`${id}\u0000${properties.namespace}`, { type, id, properties });
  }

  *#isAllowed(token: Token): Steps<boolean> {
    const { resource: of, action } = this.#search;
    const asked = questionOf(of, action, token.Namespace);
    if (asked === undefined) return false;
    // The anonymous token never gets some rights that an equal token has.
    const { rights } = yield* this.#authorizers.compiled(token);
    const authorizer = authorizerFor(token, rights);
    const id = `${authorizer.anonymous} ${rightsIdOf(token)}`;
    let isAllowed = this.#decided.get(id);
    if (isAllowed === undefined) {
      const { resource, access, segment, namespace } = asked;
      isAllowed = authorizer.allowed(resource, access, segment, namespace);
      this.#decided.set(id, isAllowed);
    }
    return isAllowed;
  }
}

interface Result {
  readonly id: string;
  readonly properties: { readonly namespace: string; readonly description?: string };
}

/** What a subject may ask about, once it is resolved. */
interface Asker {
  readonly holders: readonly Holder[];
  readonly truncated: boolean;
}

/** Finds what a subject may do something to, as far as its rules name it. Throws ApiError. */
export const searchResources = (
  parts: EvaluateParts,
  request: EvaluateRequest,
  search: Search,
): Promise<ReadOutcome<Searched>> =>
  about(parts, request, search, (asker, view) => resourceSteps(parts, search, asker, view));

function* resourceSteps(
  { nowMs }: EvaluateParts,
  search: Search,
  asker: Asker,
  view: View,
): Steps<Searched> {
  const { action, resource } = search;
  const of = resourceType(resource.type);
  const isOwn = 'resource' in of;
  if (isOwn && !of.actions.includes(action))
    return nothing('the resource type does not have this action');
  if (isOwn && action === 'write-prefix') return nothing('what is below a prefix cannot be listed');
  const may = (id: string): boolean => mayDo(asker, { ...resource, id }, action);
  const page = (ids: readonly string[], context: object, isCut = asker.truncated): Searched => {
    const found = ids.map((id) => ({ key: id, result: { type: resource.type, id } }));
    return {
      ...pageOf(found, search, { nowMs: nowMs(), isTruncated: isCut }),
      context: { ...context, ...(isCut && { truncated: true }) },
    };
  };
  if (isOwn && of.isScalar) return page(may('') ? [''] : [], { complete: true });
  if (isOwn && of.resource === 'namespace') {
    const all = [...keysBelow(view, 'namespace')].map(lastPart);
    return page(all.filter(may).sort(inBytes), { complete: true });
  }
  const base = isOwn ? '' : `${escaped(of.application)}/${escaped(action)}/`;
  const kind = (isOwn ? of.resource : 'key') as Named | 'intention';
  const named = yield* namesOf(asker, resource, kind, base);
  if (kind === 'intention') named.exact.delete('*');
  const prefixes = yield* Prefixes.of(named, may);
  const results: string[] = [];
  const denied: string[] = [];
  for (const id of [...named.exact].sort(inBytes)) {
    if (may(id)) results.push(id);
    else if (prefixes.isAllowed(id)) denied.push(id);
    yield;
  }
  const shown = yield* prefixes.shown();
  const isCut = [results, denied, shown].some((list) => list.length > FOUND_MAX);
  const context = {
    prefixes: shown.slice(0, FOUND_MAX),
    denied: denied.slice(0, FOUND_MAX),
    complete: !shown.some(({ allow }) => allow),
  };
  return page(results.slice(0, FOUND_MAX), context, asker.truncated || isCut);
}

/** Finds what a subject may do to a resource. Throws ApiError. */
export const searchActions = (
  parts: EvaluateParts,
  request: EvaluateRequest,
  search: Search,
): Promise<ReadOutcome<Searched>> =>
  about(parts, request, search, (asker) => actionSteps(parts, search, asker));

function* actionSteps({ nowMs }: EvaluateParts, search: Search, asker: Asker): Steps<Searched> {
  const { resource } = search;
  const of = resourceType(resource.type);
  const may = (action: string): boolean => mayDo(asker, resource, action);
  const page = (found: readonly Found[]): Page =>
    pageOf(found, search, { nowMs: nowMs(), isTruncated: asker.truncated });
  // Those of this server are in an order of their own.
  if ('resource' in of)
    return page(of.actions.filter(may).map((name, at) => ({ key: String(at), result: { name } })));
  const named = yield* namesOf(asker, resource, 'key', `${escaped(of.application)}/`);
  const exact = new Set<string>();
  const prefix = new Set<string>();
  for (const name of named.exact) {
    const at = name.indexOf('/');
    if (at >= 0 && name.slice(at + 1) === resource.id) add(exact, name.slice(0, at));
    yield;
  }
  for (const name of named.prefix) {
    const at = name.indexOf('/');
    if (at < 0) add(prefix, name);
    else add(exact, name.slice(0, at));
    yield;
  }
  const prefixes = yield* Prefixes.of({ exact, prefix }, may);
  const shown = yield* prefixes.shown();
  const names = [...exact].filter(may).sort(inBytes);
  return {
    ...page(names.map((name) => ({ key: name, result: { name } }))),
    context: {
      any_action: shown.some((one) => one.prefix === '' && one.allow),
      action_prefixes: shown.filter((one) => one.prefix !== ''),
    },
  };
}

/** Adds a part of a segment as it was before it was escaped, if it can be one. */
function add(to: Set<string>, part: string): void {
  const text = unescaped(part);
  if (text !== undefined) to.add(text);
}

/** Answers a search about one subject, which must be one that the caller may ask about. */
async function about(
  parts: EvaluateParts,
  request: EvaluateRequest,
  search: Search,
  steps: (asker: Asker, view: View) => Steps<Searched>,
): Promise<ReadOutcome<Searched>> {
  const outcome = await resolved(parts, request, [search.subject]);
  const found = outcome.value.get(search.subject)!;
  if ('code' in found && found.code === 'invalid') return reject('invalid', found.reason);
  if ('code' in found && found.code === 'forbidden')
    return reject('permission_denied', `Permission denied: ${found.reason}`);
  const asker = 'code' in found ? NOBODY : { ...found, holders: distinct(found.holders) };
  const owner = ownerOf(parts.service, request.caller);
  const work = steps(asker, parts.service.view);
  return { ...outcome, value: await parts.longWork.runSoon(owner, 'explain', work) };
}

const NOBODY: Asker = { holders: [], truncated: false };

/** Returns one holder for all that have the same rights in the same namespace. */
function distinct(holders: readonly Holder[]): readonly Holder[] {
  const kept: Holder[] = [];
  const seen = new Map<Rights, Set<string>>();
  for (const holder of holders) {
    const { authorizer, namespace } = holder;
    const rights = rightsBehind(authorizer);
    const kinds = seen.get(rights) ?? new Set();
    seen.set(rights, kinds);
    const kind = `${authorizer.anonymous} ${namespace}`;
    if (!kinds.has(kind)) kept.push(holder);
    kinds.add(kind);
  }
  return kept;
}

const mayDo = ({ holders }: Asker, resource: Entity, action: string): boolean =>
  holders.some((holder) => {
    const asked = questionOf(resource, action, holder.namespace);
    return asked !== undefined && isAllowed(holder, asked, resource);
  });

/** Returns the names that the rules of a subject have below a base, without the base. */
function* namesOf(
  { holders }: Asker,
  { properties }: Entity,
  resource: Named | 'intention',
  base: string,
): Steps<RuleNames> {
  const exact = new Set<string>();
  const prefix = new Set<string>();
  for (const { namespace, authorizer } of holders) {
    const sent = properties['namespace'];
    const asked = typeof sent === 'string' ? sent.toLowerCase() : namespace;
    const ns = CLUSTER_WIDE.has(resource) ? 'default' : asked;
    for (const layer of rightsBehind(authorizer).layers) {
      for (const set of layer.setsFor(ns)) {
        const named = set.named.get(resource);
        for (const [from, to] of [
          [named?.exact, exact],
          [named?.prefix, prefix],
        ] as const) {
          for (const name of from?.keys() ?? []) {
            if (name.startsWith(base)) to.add(name.slice(base.length));
            yield;
          }
        }
      }
    }
  }
  return { exact, prefix };
}
