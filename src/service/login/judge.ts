/**
 * What a login of a verified identity comes to: the content of its token, or why it is refused.
 * Logins and their explanations both ask this.
 */
import { hash } from 'node:crypto';
import { bind, type Identity, type IdentityShape, selects } from '../../acl/binding.js';
import { isNamespaceName } from '../../acl/names.js';
import type { Steps } from '../../acl/steps.js';
import { interpolate } from '../../languages/hil.js';
import { blockOf, type IdentityBlock } from '../../state/identity-blocks.js';
import { keys } from '../../state/keys.js';
import { take } from '../../state/links.js';
import { keysBelow, lastPart, namespaceProblem, stored } from '../../state/lists.js';
import { displacedTokens, loginLifeMs } from '../../state/login-limits.js';
import type { AuthMethod } from '../../state/methods.js';
import type { BindingRule } from '../../state/rules.js';
import type { TokenLogin } from '../../state/token-login.js';
import { tokenBySecret } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import type { LoginFault } from './types.js';

/** A verified identity, and when and where it logs in. */
export interface VerifiedLogin {
  readonly identity: Identity;
  readonly subject: string;
  /** The Subject of its Identity; empty if it has none. */
  readonly who: string;
  /** See `Verdict`. */
  readonly named?: string | undefined;
  readonly shape: IdentityShape;
  readonly datacenter: string;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** SHA-256 of the SecretID of the token that the login replaces, if it replaces one. */
  readonly replaces?: string | undefined;
  /** Whether to decide what the login may do, and not whether it may have another token. */
  readonly ignoresLimit?: true;
  /** The binding rules of the method, if the caller of this has read them. */
  readonly rules?: readonly BindingRule[];
}

/** The token that a login makes, but for its ids, secret, times and description. */
export interface LoginGrant {
  readonly ns: string;
  readonly token: Omit<TokenLogin['token'], 'Description'>;
  /** The identity as the state stores it. */
  readonly identity: string;
  /** Milliseconds until the token expires; undefined if it never does. */
  readonly lifeMs: number | undefined;
}

/** What a login may do, or why it is refused. */
export type LoginOutcome =
  | { readonly ok: true; readonly grant: LoginGrant }
  | ({ readonly ok: false } & LoginFault);

/** Decides a login. Where the state changes between two steps, apply decides by what it is then. */
export function* judgeLogin(
  view: View,
  method: AuthMethod,
  { identity, subject, who, named, shape, datacenter, nowMs, ...more }: VerifiedLogin,
): Steps<LoginOutcome> {
  const { replaces, ignoresLimit, rules } = more;
  const refused = (code: LoginFault['code'], reason: string) =>
    ({ ok: false, code, reason }) as const;
  const place = { ns: method.Namespace, name: method.Name };
  const block = blockOf(view, place, who, nowMs) ?? blockOf(view, place, named, nowMs);
  if (block !== undefined) return blockedFault(block);
  const ns = namespaceOfToken(method, identity, shape);
  if (ns === undefined) return refused('namespace', 'NamespaceRules name no namespace');
  const closed = namespaceProblem(view, ns);
  if (closed !== undefined) return refused('namespace', closed.message);
  const outcome = yield* bind({
    rules: rules ?? (yield* readRules(view, method)),
    identity,
    shape,
    datacenter,
    ...lookups(view, ns),
  });
  if (!outcome.ok) return outcome;
  const { Policies = [], Roles = [], ...grants } = outcome.bound;
  if (grants.NodeIdentities !== undefined && ns !== 'default') {
    return refused('bad_name', `node identities are not allowed in namespace ${ns}`);
  }
  const hashed = identityOf(method, subject);
  // Apply decides. A login that it would refuse anyway is not written into the log.
  const replaced = replaces === undefined ? undefined : tokenBySecret(view, replaces)?.AccessorID;
  const displaced = ignoresLimit ? [] : displacedTokens(view, method, hashed, nowMs, replaced);
  if (displaced === undefined) return LIMIT_FAULT;
  const token = { Policies, Roles, ...grants, Local: method.TokenLocality !== 'global' };
  const lifeMs = loginLifeMs(view, method);
  return { ok: true, grant: { ns, token, identity: hashed, lifeMs } };
}

/** The refusal of an identity with too many tokens. */
export const LIMIT_FAULT = {
  ok: false,
  code: 'token_limit',
  reason: 'token_limit: the identity has as many live tokens of the method as it may have',
} as const;

/** Returns the refusal of a blocked identity. */
const blockedFault = ({ ID, Subject, SubjectPrefix, Until }: IdentityBlock) => {
  const whom = Subject === undefined ? `prefix ${JSON.stringify(SubjectPrefix)}` : 'identity';
  const end = Until === null ? 'until it is lifted' : `until ${Until}`;
  return {
    ok: false,
    code: 'blocked',
    reason: `blocked: the ${whom} is blocked ${end} by ${ID}`,
  } as const;
};

/**
 * Returns the identity of a login as the state stores it. The hash reveals no subject, and differs
 * between methods for the same subject.
 */
const identityOf = ({ Namespace, Name }: AuthMethod, subject: string): string =>
  hash('sha256', JSON.stringify([Namespace, Name.toLowerCase(), subject]));

/** Returns the binding rules of a method, or the first of them. */
export function rulesOf(
  view: View,
  { Namespace, Name }: AuthMethod,
  most = Number.POSITIVE_INFINITY,
): BindingRule[] {
  const ids = take(keysBelow(view, 'rule-by-method', Namespace, Name.toLowerCase()), most);
  const found = ids.map((key) => stored<BindingRule>(view, keys.rule(Namespace, lastPart(key))));
  // One may be lost: a recovery accepts that.
  return found.filter((rule) => rule !== undefined);
}

/** Returns the binding rules of a method, one read in each step. */
function* readRules(view: View, { Namespace, Name }: AuthMethod): Steps<BindingRule[]> {
  const rules: BindingRule[] = [];
  for (const key of [...keysBelow(view, 'rule-by-method', Namespace, Name.toLowerCase())]) {
    // it may have been deleted since the last step
    const rule = stored<BindingRule>(view, keys.rule(Namespace, lastPart(key)));
    if (rule !== undefined) rules.push(rule);
    yield;
  }
  return rules;
}

/** Returns lookups of roles and policies by name in the namespace of the new token. */
export function lookups(view: View, ns: string) {
  const find = (id: string | undefined, key: (id: string) => string) =>
    id === undefined ? undefined : stored<{ ID: string; Name: string }>(view, key(id));
  return {
    roleByName: (name: string) =>
      find(view.get(keys.roleName(ns, name)), (id) => keys.role(ns, id)),
    policyByName: (name: string) =>
      find(view.get(keys.policyName(ns, name)), (id) => keys.policy(ns, id)),
  };
}

/** Returns the rule of a method that chooses the namespace of an identity's token, if any does. */
export const namespaceRuleOf = (
  { NamespaceRules = [] }: AuthMethod,
  identity: Identity,
  shape: IdentityShape,
) => NamespaceRules.find(({ Selector }) => selects(Selector, identity, shape));

/**
 * Returns the namespace of the new token: that of the first matching rule, or that of the method if
 * no rule matches; undefined if the matching rule yields no valid name.
 */
export function namespaceOfToken(
  method: AuthMethod,
  identity: Identity,
  shape: IdentityShape,
): string | undefined {
  const rule = namespaceRuleOf(method, identity, shape);
  if (rule === undefined) return method.Namespace;
  const name = interpolate(rule.BindNamespace, identity.variables);
  return name.ok && isNamespaceName(name.value) ? name.value : undefined;
}
