/** What lint finds in stored objects: in each by itself, and between them. */
import { X509Certificate } from 'node:crypto';
import { grantsAnything } from '../../acl/authorizer.js';
import { ANONYMOUS_ACCESSOR, GLOBAL_MANAGEMENT_ID, isReservedId } from '../../acl/builtin.js';
import { lintBindingRule } from '../../acl/lint/binding-rule.js';
import type { Finding, Linting } from '../../acl/lint/findings.js';
import { lintPolicy } from '../../acl/lint/policy.js';
import { least, type Steps } from '../../acl/steps.js';
import type { StoredFinding } from '../../api/endpoints/lint.js';
import { partsOf } from '../../languages/hil.js';
import type { Grants } from '../../state/grants.js';
import { timeOfIndex } from '../../state/history/lines.js';
import { keys } from '../../state/keys.js';
import { type Link, type LinkTarget, take } from '../../state/links.js';
import { keysBelow, stored } from '../../state/lists.js';
import { loginLifeMs } from '../../state/login-limits.js';
import type { AuthMethod } from '../../state/methods.js';
import { MANAGEMENT_RULES, type Namespace } from '../../state/namespaces.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import type { Policy } from '../../state/policies.js';
import type { Role } from '../../state/roles.js';
import type { BindingRule } from '../../state/rules.js';
import { isAlive, loggedIn, type Token } from '../../state/tokens.js';
import { keyOf, type View } from '../../state/types.js';
import type { AuthMethodTypes } from '../login/index.js';
import { rulesOf } from '../login/judge.js';
import { Authorizers, RIGHTS_BYTES, rightsIdOf } from '../rights/authorizers.js';
import { isUnused, methodUse, type UsageBook } from '../usage/book.js';
import { type MayRead, surroundingsOf } from './lint.js';

export interface LintParts {
  readonly methodTypes: AuthMethodTypes;
  readonly datacenter: string;
  readonly defaultPolicy: 'deny' | 'allow';
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly usage: { readonly book: UsageBook };
}

/** A namespace whose ACL objects are linted. */
export interface LintPlace {
  readonly namespace: string;
  readonly showsCertificates: boolean;
  readonly showsItself: boolean;
}

type Add = (finding: StoredFinding) => void;

/** The namespaces to lint, and where their reader may read. */
interface LintScope {
  readonly places: readonly LintPlace[];
  readonly mayRead: MayRead;
}

/** Lints the objects of some namespaces. Yields after each object. */
export function* lintNamespaces(
  parts: LintParts,
  view: View,
  { places, mayRead }: LintScope,
  add: Add,
): Linting<void> {
  const rights = new TokenRights(new Authorizers({ ...parts, view, rightsBytes: RIGHTS_BYTES }));
  const linting = { parts, view, mayRead, rights, add };
  const linters = places.map((place) => new NamespaceLinter(linting, place));
  const isWhole = mayRead(DEFAULT_NAMESPACE);
  const named = new BoundNames(isWhole);
  for (const linter of linters) yield* linter.rules(named);
  if (isWhole && places.every(({ namespace }) => namespace !== DEFAULT_NAMESPACE)) {
    for (const rule of objectsIn<BindingRule>(view, 'rule', DEFAULT_NAMESPACE)) {
      named.add(rule);
      yield;
    }
  }
  for (const linter of linters) {
    yield* linter.policies(named);
    yield* linter.roles(named);
    yield* linter.tokens();
    yield* linter.others();
  }
}

/** The names of roles and policies that binding rules bind, by type. */
class BoundNames {
  readonly #literal = new Set<string>();
  /** The literal texts of names with interpolated parts. */
  readonly #patterns: { readonly at: string; readonly literals: readonly string[] }[] = [];
  /** Whether the rules of `default` are among them. */
  readonly isWhole: boolean;

  constructor(isWhole: boolean) {
    this.isWhole = isWhole;
  }

  add({ BindType, BindName, Namespace }: BindingRule): void {
    const at = keyOf(BindType, Namespace);
    const { literals, variables } = partsOf(BindName);
    if (variables.length === 0) this.#literal.add(keyOf(at, BindName.toLowerCase()));
    else this.#patterns.push({ at, literals: literals.map((text) => text.toLowerCase()) });
  }

  /**
   * Whether a rule may bind the name: one of its namespace, or of `default`, whose logins may lead
   * to any namespace. Rules that are not known may bind any name.
   */
  has(type: LinkTarget, ns: string, name: string): boolean {
    if (!this.isWhole) return true;
    const lower = name.toLowerCase();
    const places = [keyOf(type, ns), keyOf(type, DEFAULT_NAMESPACE)];
    return (
      places.some((at) => this.#literal.has(keyOf(at, lower))) ||
      this.#patterns.some(
        ({ at, literals }) => places.includes(at) && literals.every((text) => lower.includes(text)),
      )
    );
  }
}

/** Tokens linked to global-management that need no warning. */
const MANAGEMENT_TOKENS_MAX = 2;
/** Tokens of an auth method by which lint judges whether its logins name anybody. */
const NEWEST = 100;
/** How long before its end a certificate is told: 30 days. */
const CERTIFICATE_MS = 30 * 86_400_000;
/** How long a token or method is not used that is told: 30 days. */
const UNUSED_MS = 30 * 86_400_000;
/** Keys that are read at once. */
const KEYS_AT_ONCE = 1_000;

/** Tells whether tokens have rights. Tokens that grant alike are looked at once. */
class TokenRights {
  readonly #authorizers: Authorizers;
  readonly #known = new Map<string, boolean>();

  constructor(authorizers: Authorizers) {
    this.#authorizers = authorizers;
  }

  *has(token: Token): Steps<boolean> {
    const id = rightsIdOf(token);
    let isSome = this.#known.get(id);
    if (isSome === undefined) {
      isSome = grantsAnything((yield* this.#authorizers.compiled(token, id)).rights);
      this.#known.set(id, isSome);
    }
    return isSome;
  }
}

/** What all namespaces are linted with. */
interface Shared {
  readonly parts: LintParts;
  readonly view: View;
  readonly mayRead: MayRead;
  readonly rights: TokenRights;
  readonly add: Add;
}

class NamespaceLinter {
  readonly #shared: Shared;
  readonly #parts: LintParts;
  readonly #view: View;
  readonly #place: LintPlace;
  readonly #ns: string;
  readonly #add: Add;

  constructor(shared: Shared, place: LintPlace) {
    this.#shared = shared;
    this.#parts = shared.parts;
    this.#view = shared.view;
    this.#place = place;
    this.#ns = place.namespace;
    this.#add = shared.add;
  }

  *rules(named: BoundNames): Linting<void> {
    for (const method of this.#objects<AuthMethod>('method')) {
      yield;
      if (loginLifeMs(this.#view, method) === undefined) {
        const why = 'tokens of its logins never expire: it has no MaxTokenTTL';
        const Ref = `auth-method/${this.#ns}/${method.Name}`;
        this.#warn(Ref, 'login_tokens_never_expire', why);
      }
      if (yield* this.#namesNobody(method)) {
        const why =
          'its newest tokens do not say who logged in: no claim has the name of its IdentityClaim';
        this.#warn(`auth-method/${this.#ns}/${method.Name}`, 'identity_unknown', why);
      }
      this.#unusedMethod(method);
      const all = rulesOf(this.#view, method);
      const surroundings = surroundingsOf(this.#parts.methodTypes, this.#shared, method, all);
      for (const rule of all) {
        named.add(rule);
        const problems = yield* lintBindingRule(rule, surroundings);
        this.#found(`binding-rule/${this.#ns}/${rule.ID}`, problems, false);
        yield;
      }
    }
  }

  /** Whether the newest live tokens of a method, of those with an identity, have no subject. */
  *#namesNobody({ Namespace, Name }: AuthMethod): Linting<boolean> {
    const view = this.#view;
    const of = [Namespace, Name.toLowerCase()] as const;
    if (take(keysBelow(view, 'subject', ...of, ''), 1).length === 0) return false;
    const nowMs = this.#parts.nowMs();
    const newest = yield* least(loginsOf(view, of, nowMs), NEWEST, (a, b) => b.index - a.index);
    return newest.length > 0 && newest.every(({ subject }) => subject === '');
  }

  /** Tells of a method by which nobody has logged in for long, and which has no tokens. */
  #unusedMethod({ Namespace, Name, CreateIndex }: AuthMethod): void {
    const { nowMs, usage } = this.#parts;
    const beforeMs = nowMs() - UNUSED_MS;
    if (!usage.book.knowsFrom(beforeMs) || timeOfIndex(this.#view, CreateIndex) >= beforeMs) return;
    if (usage.book.usedSince(methodUse(Namespace, Name), beforeMs)) return;
    const tokens = keysBelow(this.#view, 'token-by-method', Namespace, Name.toLowerCase());
    if (take(tokens, 1).length > 0) return;
    const why = 'nobody has logged in by it for 30 days, and it has no tokens';
    this.#info(`auth-method/${Namespace}/${Name}`, 'unused_auth_method', why);
  }

  *policies(named: BoundNames): Linting<void> {
    for (const { ID, Name, Rules } of this.#objects<Policy>('policy')) {
      yield;
      // The server writes these policies itself.
      if (isReservedId(ID) || Rules === MANAGEMENT_RULES) continue;
      const Ref = `policy/${this.#ns}/${Name}`;
      const { Problems } = yield* lintPolicy(Rules, this.#ns);
      this.#found(Ref, Problems, true);
      const isUsed =
        named.has('policy', this.#ns, Name) ||
        ['role', 'token', 'namespace'].some((holder) => this.#isLinked(`${holder}-by-policy`, ID));
      if (!isUsed)
        this.#info(Ref, 'unused_policy', 'no token, role, namespace or binding rule names it');
    }
  }

  *roles(named: BoundNames): Linting<void> {
    for (const role of this.#objects<Role>('role')) {
      yield;
      const { ID, Name, Policies } = role;
      const Ref = `role/${this.#ns}/${Name}`;
      this.#dangling(Ref, 'policy', Policies);
      if (!hasIdentities(role) && Policies === undefined) {
        this.#info(Ref, 'empty_role', 'it has no policies, identities or templated policies');
      }
      const isUsed =
        named.has('role', this.#ns, Name) ||
        ['token', 'namespace'].some((holder) => this.#isLinked(`${holder}-by-role`, ID));
      if (!isUsed) this.#info(Ref, 'unused_role', 'no token, namespace or binding rule names it');
    }
  }

  *tokens(): Linting<void> {
    let managers = 0;
    for (const token of this.#objects<Token>('token')) {
      yield;
      if (!isAlive(this.#view, token, this.#parts.nowMs())) continue;
      const { AccessorID, Policies, Roles } = token;
      const Ref = `token/${AccessorID}`;
      this.#dangling(Ref, 'policy', Policies);
      this.#dangling(Ref, 'role', Roles);
      if (Policies?.some(({ ID }) => ID === GLOBAL_MANAGEMENT_ID)) managers += 1;
      this.#unused(Ref, token);
      if (AccessorID === ANONYMOUS_ACCESSOR || (yield* this.#shared.rights.has(token))) continue;
      const why = 'it has no policy, role or identity that gives rights';
      this.#warn(Ref, 'token_without_rights', why);
    }
    if (managers > MANAGEMENT_TOKENS_MAX) {
      const why = `${managers} tokens are linked to it, and each may do everything`;
      this.#warn('policy/default/global-management', 'management_tokens', why);
    }
  }

  /** Tells of a token that has not been used for long, if uses are known for so long. */
  #unused(Ref: string, token: Token): void {
    const { nowMs, usage } = this.#parts;
    const beforeMs = nowMs() - UNUSED_MS;
    if (token.AccessorID === ANONYMOUS_ACCESSOR || !usage.book.knowsFrom(beforeMs)) return;
    if (isUnused(usage.book, token, beforeMs))
      this.#info(Ref, 'unused_token', 'it has not been used for 30 days');
  }

  /** Lints what the namespace itself links, and its certificates. */
  *others(): Linting<void> {
    const { ACLs } = stored<Namespace>(this.#view, keys.namespace(this.#ns)) ?? {};
    if (this.#place.showsItself) {
      const Ref = `namespace/${this.#ns}`;
      this.#dangling(Ref, 'policy', ACLs?.PolicyDefaults, DEFAULT_NAMESPACE);
      this.#dangling(Ref, 'role', ACLs?.RoleDefaults, DEFAULT_NAMESPACE);
    }
    if (!this.#place.showsCertificates) return;
    type Entry = { readonly Name: string; readonly Certificate: string };
    for (const { Name, Certificate } of this.#objects<Entry>('config', 'inline-certificate')) {
      yield;
      const end = endOf(Certificate);
      if (end === undefined || end - this.#parts.nowMs() > CERTIFICATE_MS) continue;
      const verb = end < this.#parts.nowMs() ? 'expired' : 'expires';
      const day = new Date(end).toISOString().slice(0, 10);
      const Ref = `config/${this.#ns}/inline-certificate/${Name}`;
      this.#warn(Ref, 'certificate_expires', `the certificate ${verb} on ${day}`);
    }
  }

  #objects<T>(table: string, ...more: string[]): Iterable<T> {
    return objectsIn(this.#view, table, this.#ns, ...more);
  }

  #isLinked(table: string, id: string): boolean {
    return take(keysBelow(this.#view, table, id), 1).length > 0;
  }

  #exists(target: LinkTarget, id: string, ns: string): boolean {
    const key = target === 'policy' ? keys.policy : keys.role;
    return this.#view.get(key(ns, id)) !== undefined;
  }

  #dangling(Ref: string, target: LinkTarget, links: readonly Link[] = [], ns = this.#ns): void {
    const gone = links.filter(({ ID }) => !this.#exists(target, ID, ns));
    if (gone.length === 0) return;
    const ids = take(gone, 3).map(({ ID }) => ID);
    const more = gone.length > ids.length ? ` and ${gone.length - ids.length} more` : '';
    const why = `it links a ${target} that was deleted: ${ids.join(', ')}${more}`;
    this.#warn(Ref, 'dangling_link', why);
  }

  #found(Ref: string, problems: readonly Finding[], hasLines: boolean): void {
    for (const { Severity, Code, Message, Line } of problems) {
      this.#add({ Ref, Severity, Code, Message, ...(hasLines && { Line }) });
    }
  }

  #warn(Ref: string, Code: string, Message: string): void {
    this.#add({ Ref, Severity: 'warning', Code, Message });
  }

  #info(Ref: string, Code: string, Message: string): void {
    this.#add({ Ref, Severity: 'info', Code, Message });
  }
}

/** Yields the objects of a table of a namespace. */
function* objectsIn<T>(view: View, ...start: string[]): Iterable<T> {
  for (const key of keysIn(view, ...start)) yield stored<T>(view, key)!;
}

/** Yields keys, some of which are read at once. */
function* keysIn(view: View, ...start: string[]): Iterable<string> {
  const prefix = keyOf(...start, '');
  for (let after: string | undefined; ; ) {
    const part = take(view.keys(prefix, after), KEYS_AT_ONCE);
    yield* part;
    if (part.length < KEYS_AT_ONCE) return;
    after = part.at(-1);
  }
}

/** Yields when the live tokens of a method with an identity were created, and their subjects. */
function* loginsOf(
  view: View,
  method: readonly [ns: string, name: string],
  nowMs: number,
): Iterable<{ readonly index: number; readonly subject: string }> {
  for (const key of keysIn(view, 'token-by-method', ...method)) {
    const { subject } = loggedIn(view.get(key)!);
    if (subject === undefined) continue;
    const [ns, accessor] = key.split('\u0000').slice(-2) as [string, string];
    const token = stored<Token>(view, keys.token(ns, accessor))!;
    if (isAlive(view, token, nowMs)) yield { index: token.CreateIndex, subject };
  }
}

const hasIdentities = ({ ServiceIdentities, NodeIdentities, TemplatedPolicies }: Grants): boolean =>
  [ServiceIdentities, NodeIdentities, TemplatedPolicies].some((list) => (list?.length ?? 0) > 0);

/** Returns when a certificate ends, in milliseconds since the epoch; undefined if it is none. */
function endOf(pem: string): number | undefined {
  try {
    return Date.parse(new X509Certificate(pem).validTo);
  } catch {
    return undefined;
  }
}
