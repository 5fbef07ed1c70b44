/** Searches for subjects, resources and actions (decisions.md 4). */
import { escaped, unescaped } from '../../acl/application.js';
import { type Steps, sorted } from '../../acl/steps.js';
import type { Named } from '../../acl/types.js';
import { reject } from '../../base/errors.js';
import { compareCodePoints } from '../../base/text.js';
import { keysBelow, lastPart, namespaceProblem, stored } from '../../state/lists.js';
import { subjectTypes } from '../../state/login-limits.js';
import type { Role } from '../../state/roles.js';
import { identityOf, isAlive, type Token } from '../../state/tokens.js';
import type { PinnedView, View } from '../../state/types.js';
import { OWN_TYPES } from '../acl/acl-configuration.js';
import { listedNamespaces, readState } from '../common/reading.js';
import type { ReadOutcome } from '../common/types.js';
import { draftToken } from '../explain/questions.js';
import { ownerOf } from '../reads/long-work.js';
import { Authorizers, authorizerFor, RIGHTS_BYTES, rightsIdOf } from '../rights/authorizers.js';
import { type Asker, distinct, mayDo, NOBODY, namesOf } from './askers.js';
import type { EvaluateParts, EvaluateRequest } from './evaluate.js';
import { type Found, type Page, pageOf } from './pages.js';
import { Prefixes, type RuleNames } from './prefixes.js';
import { questionOf, resourceType } from './questions.js';
import type { Search } from './requests.js';
import { resolved } from './resolving.js';
import { deniedText } from './subjects.js';

/** What a search answers. */
export type Searched = Page & {
  readonly context?: { readonly complete?: boolean; readonly [member: string]: unknown };
};

/** The most tokens and milliseconds that a search takes: the same as for who-can. */
const LIMITS = { tokens: 200_000, ms: 5_000 } as const;
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
      return new SubjectSearch(parts, pinned, search, value).run();
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
  readonly #shown: ReadonlySet<string>;
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
    { of, shown }: { readonly of: Sought; readonly shown: readonly string[] },
  ) {
    this.#view = view;
    this.#search = search;
    this.#sought = of;
    this.#shown = new Set(shown);
    this.#nowMs = nowMs();
    const options = { view, datacenter, defaultPolicy, nowMs, rightsBytes: RIGHTS_BYTES };
    this.#authorizers = new Authorizers(options);
  }

  *run(): Steps<Searched> {
    let isTruncated = false;
    for (const ns of this.#shown) {
      isTruncated = this.#sought.is === 'role' ? yield* this.#roles(ns) : yield* this.#tokens(ns);
      if (isTruncated) break;
    }
    const all = [...this.#found].map(([key, result]): Found => ({ key, result }));
    const found = yield* sorted(all, (a, b) => compareCodePoints(a.key, b.key));
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
    // Its roles await their removal: a decision about one does not know it.
    if (namespaceProblem(this.#view, ns) !== undefined) return false;
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
    // A decision about it would be refused.
    if (!this.#shown.has(Namespace)) return undefined;
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
  const page = (
    ids: readonly string[],
    context: { complete: boolean },
    isCut = asker.truncated,
  ): Searched => {
    const found = ids.map((id) => ({ key: id, result: { type: resource.type, id } }));
    return {
      ...pageOf(found, search, { nowMs: nowMs(), isTruncated: isCut }),
      context: { ...context, ...(isCut && { truncated: true }) },
    };
  };
  if (isOwn && of.isScalar) return page(may('') ? [''] : [], { complete: true });
  if (isOwn && of.resource === 'namespace') {
    const names: string[] = [];
    for (const key of keysBelow(view, 'namespace')) {
      const name = lastPart(key);
      if (may(name)) names.push(name);
      yield;
    }
    return page(names.sort(), { complete: true });
  }
  const base = isOwn ? '' : `${escaped(of.application)}/${escaped(action)}/`;
  const kind = (isOwn ? of.resource : 'key') as Named | 'intention';
  const named = yield* namesOf(asker, resource, kind, base);
  if (kind === 'intention') named.exact.delete('*');
  const prefixes = yield* Prefixes.of(named, may);
  const results: string[] = [];
  const denied: string[] = [];
  for (const id of yield* sorted([...named.exact], compareCodePoints)) {
    if (may(id)) results.push(id);
    else if (prefixes.isAllowed(id)) denied.push(id);
    yield;
  }
  const shown = yield* prefixes.shown();
  const isCut = asker.truncated || [results, denied, shown].some((list) => list.length > FOUND_MAX);
  const context = {
    prefixes: shown.slice(0, FOUND_MAX),
    denied: denied.slice(0, FOUND_MAX),
    complete: !isCut && !shown.some(({ allow }) => allow),
  };
  return page(results.slice(0, FOUND_MAX), context, isCut);
}

/** Finds what a subject may do to a resource. Throws ApiError. */
export const searchActions = (
  parts: EvaluateParts,
  request: EvaluateRequest,
  search: Search,
): Promise<ReadOutcome<Searched>> =>
  about(parts, request, search, (asker, view) => actionSteps(parts, search, asker, view));

function* actionSteps(
  parts: EvaluateParts,
  search: Search,
  asker: Asker,
  view: View,
): Steps<Searched> {
  const { resource } = search;
  const of = resourceType(resource.type);
  const isAnyId = resource.properties['any_id'] === true;
  const may = (action: string): boolean => mayDo(asker, resource, action);
  const page = (found: readonly Found[]): Page =>
    pageOf(found, search, { nowMs: parts.nowMs(), isTruncated: asker.truncated });
  // Those of this server are in an order of their own.
  if ('resource' in of) {
    const shown: Found[] = [];
    for (const [at, name] of of.actions.entries()) {
      const first = { ...search, action: name, limit: 1, token: '' };
      const isAllowed = isAnyId
        ? isSomething(yield* resourceSteps(parts, first, asker, view))
        : may(name);
      if (isAllowed) shown.push({ key: String(at), result: { name } });
    }
    return page(shown);
  }
  const named = yield* namesOf(asker, resource, 'key', `${escaped(of.application)}/`);
  const { byAction, prefix } = yield* byActions(named);
  const exact = new Set<string>();
  const allowed = new Set<string>();
  for (const [action, names] of byAction) {
    if (!isAnyId && names.prefix.size === 0 && !names.exact.has(resource.id)) continue;
    exact.add(action);
    const mayOn = (id: string): boolean => mayDo(asker, { ...resource, id }, action);
    const isAllowed = isAnyId ? yield* Prefixes.allowAny(names, mayOn) : may(action);
    if (isAllowed) allowed.add(action);
    yield;
  }
  const prefixes = yield* Prefixes.of({ exact, prefix }, may);
  const shown = yield* prefixes.shown();
  const denied = [...exact].filter((name) => !allowed.has(name) && prefixes.isAllowed(name));
  return {
    ...page([...allowed].sort(compareCodePoints).map((name) => ({ key: name, result: { name } }))),
    context: {
      any_action: shown.some((one) => one.prefix === '' && one.allow),
      action_prefixes: shown.filter((one) => one.prefix !== ''),
      ...(isAnyId && { denied: denied.sort(compareCodePoints).slice(0, FOUND_MAX) }),
    },
  };
}

/** Whether a search found resources, by name or by prefix. */
const isSomething = ({ page, context }: Searched): boolean =>
  page.count > 0 || context?.complete === false;

/** Returns the names of ids by action, and the prefixes that end within an action. */
function* byActions(named: RuleNames) {
  const byAction = new Map<string, RuleNames>();
  const prefix = new Set<string>();
  for (const kind of ['exact', 'prefix'] as const)
    for (const name of named[kind]) {
      const at = name.indexOf('/');
      const action = unescaped(at < 0 ? name : name.slice(0, at));
      if (action !== undefined && at >= 0) {
        const names = byAction.get(action) ?? { exact: new Set(), prefix: new Set() };
        byAction.set(action, names);
        names[kind].add(name.slice(at + 1));
      } else if (action !== undefined && kind === 'prefix') prefix.add(action);
      yield;
    }
  return { byAction, prefix };
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
    return reject('permission_denied', deniedText(found));
  const asker = 'code' in found ? NOBODY : { ...found, holders: distinct(found.holders) };
  const owner = ownerOf(parts.service, request.caller);
  const work = steps(asker, parts.service.view);
  return { ...outcome, value: await parts.longWork.runSoon(owner, 'explain', work) };
}
