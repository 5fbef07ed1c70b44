/** Use cases of login and logout. Only the log says why a login was refused. */
import { hash, randomUUID } from 'node:crypto';
import { bind, type Identity, type IdentityShape, selects } from '../acl/binding.js';
import { isNamespaceName } from '../acl/names.js';
import { ApiError, reject } from '../errors.js';
import { bodyOf, given, labels, type Normal, text } from '../languages/fields.js';
import { interpolate } from '../languages/hil.js';
import { timeOf } from '../languages/times.js';
import { keys } from '../state/keys.js';
import { isInForce } from '../state/levels.js';
import { lastPart, namespaceProblem, stored } from '../state/lists.js';
import { displacedTokens, loginLifeMs, TOKEN_LIMIT } from '../state/login-limits.js';
import type { AuthMethod } from '../state/methods.js';
import type { BindingRule } from '../state/rules.js';
import type { TokenLogin, TokenLogout } from '../state/token-commands.js';
import { keyOf, type View } from '../state/types.js';
import type { AuthMethodTypes } from './login/index.js';
import type { Refusals } from './login/refusals.js';
import type { LoginLogger, RefusalCause } from './login/types.js';
import { shown } from './tokens.js';
import type { Service } from './types.js';
import { propose, type Write } from './writing.js';

/** The body of a login. */
export const LOGIN = bodyOf({
  AuthMethod: given(text()),
  BearerToken: given(text()),
  Meta: given(labels),
  Namespace: given(text()),
});
/** A decoded login. */
export type LoginBody = Normal<typeof LOGIN>;

/** What logins work on. */
export interface LoginParts {
  readonly service: Service;
  readonly methodTypes: AuthMethodTypes;
  readonly datacenter: string;
  /**
   * Milliseconds since the epoch: the creation time of tokens, and the clock by which they expire.
   */
  readonly nowMs: () => number;
  readonly logger: LoginLogger;
  readonly refusals: Refusals;
}

/** The namespace of the auth method, and the limits on a login. */
export interface LoginRequest {
  readonly ns: string;
  readonly timeoutMs: number;
  /** Called with the verified subject. Throws ApiError `too_many` to refuse it. */
  readonly admit?: (subject: string) => void;
}

/**
 * Verifies a bearer token and creates a token with all that the rules of the method bind. Returns
 * it as answered. Throws ApiError.
 */
export async function login(
  parts: LoginParts,
  { ns, timeoutMs, admit }: LoginRequest,
  body: LoginBody,
): Promise<string> {
  const { service, methodTypes, nowMs } = parts;
  await service.catchUp(timeoutMs);
  const name = body.AuthMethod ?? '';
  const method = stored<AuthMethod>(service.view, keys.method(ns, name));
  if (method === undefined) {
    const why = `auth method ${JSON.stringify(name.slice(0, NAME_SHOWN_MAX))} not found`;
    parts.refusals.note({ cause: 'method_unknown', reason: why });
    reject('acl_not_found', `ACL not found: ${why}`);
  }
  const type = methodTypes.get(method.Type)!;
  // A token that was read from a file ends in a newline.
  const bearer = (body.BearerToken ?? '').trim();
  const judged = { namespace: method.Namespace, nowMs: nowMs() };
  const verdict = await type.validate(method.Config, bearer, judged);
  if (!verdict.ok) return refuse(parts, method, verdict.cause, verdict.reason);
  admit?.(verdict.subject);
  const shape = type.shapeOf(method.Config);
  const tokenNs = namespaceOfToken(method, verdict.identity, shape);
  if (tokenNs === undefined) {
    return refuse(parts, method, 'namespace', 'NamespaceRules name no namespace');
  }
  const closed = namespaceProblem(service.view, tokenNs);
  if (closed !== undefined) return refuse(parts, method, 'namespace', closed.message);
  const outcome = bind({
    rules: rulesOf(service.view, method),
    identity: verdict.identity,
    shape,
    datacenter: parts.datacenter,
    ...lookups(service.view, tokenNs),
  });
  if (!outcome.ok) return refuse(parts, method, 'binding', outcome.reason);
  const { Policies = [], Roles = [], ...grants } = outcome.bound;
  if (grants.NodeIdentities !== undefined && tokenNs !== 'default') {
    const why = `node identities are not allowed in namespace ${tokenNs}`;
    return refuse(parts, method, 'binding', why);
  }
  const at = nowMs();
  const identity = identityOf(method, verdict.subject);
  // Apply decides. A login that it would refuse anyway is not written into the log.
  if (displacedTokens(service.view, method, identity, at) === undefined)
    return refuseLimit(parts, method);
  const life = loginLifeMs(service.view, method);
  const command: TokenLogin = {
    type: 'token.login',
    v: 1,
    ns: tokenNs,
    accessor: randomUUID(),
    secret: randomUUID(),
    createTime: timeOf(at),
    method: { ns, name: method.Name, modifyIndex: method.ModifyIndex },
    token: {
      Description: descriptionOf(body.Meta ?? {}),
      Policies,
      Roles,
      ...grants,
      Local: method.TokenLocality !== 'global',
    },
    ...(isInForce(service.view, 'token.login/identity')
      ? { identity }
      : life !== undefined && { expirationTime: timeOf(at + life) }),
  };
  const proposed = propose(service, { caller: { tokenKey: null }, timeoutMs }, command);
  const token = await proposed.catch((error: unknown) => {
    const isLimit = error instanceof ApiError && error.refusal.message === TOKEN_LIMIT;
    if (isLimit) return refuseLimit(parts, method);
    throw error;
  });
  return shown(service, token);
}

/**
 * Returns the identity of a login as the state stores it. The hash reveals no subject, and differs
 * between methods for the same subject.
 */
const identityOf = ({ Namespace, Name }: AuthMethod, subject: string): string =>
  hash('sha256', JSON.stringify([Namespace, Name.toLowerCase(), subject]));

/** Characters of an unknown name that an error shows: it does not echo whole names. */
const NAME_SHOWN_MAX = 128;

function refuse(
  { refusals }: LoginParts,
  method: AuthMethod,
  cause: RefusalCause,
  reason: string,
): never {
  refusals.note({ cause, reason, method });
  return reject('permission_denied', 'Permission denied');
}

function refuseLimit(parts: LoginParts, method: AuthMethod): never {
  const why = 'token_limit: the identity has as many live tokens of the method as it may have';
  return refuse(parts, method, 'token_limit', why);
}

function descriptionOf(meta: { readonly [name: string]: string }): string {
  const names = Object.keys(meta).sort();
  if (names.length === 0) return 'token created via login';
  // The JSON text is built by member: an object would reorder number-like names and lose __proto__.
  const members = names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(meta[name])}`);
  return `token created via login: {${members.join(',')}}`;
}

/** Returns the binding rules of a method. */
export function rulesOf(view: View, { Namespace, Name }: AuthMethod): BindingRule[] {
  const prefix = keyOf('rule-by-method', Namespace, Name.toLowerCase(), '');
  return [...view.keys(prefix)].map(
    (key) => stored<BindingRule>(view, keys.rule(Namespace, lastPart(key)))!,
  );
}

/** Returns lookups of roles and policies by name in the namespace of the new token. */
function lookups(view: View, ns: string) {
  const find = (id: string | undefined, key: (id: string) => string) =>
    id === undefined ? undefined : stored<{ ID: string; Name: string }>(view, key(id));
  return {
    roleByName: (name: string) =>
      find(view.get(keys.roleName(ns, name)), (id) => keys.role(ns, id)),
    policyByName: (name: string) =>
      find(view.get(keys.policyName(ns, name)), (id) => keys.policy(ns, id)),
  };
}

/**
 * Returns the namespace of the new token: that of the first matching rule, or that of the method if
 * no rule matches; undefined if the matching rule yields no valid name.
 */
function namespaceOfToken(
  { NamespaceRules = [], Namespace }: AuthMethod,
  identity: Identity,
  shape: IdentityShape,
): string | undefined {
  const rule = NamespaceRules.find(({ Selector }) => selects(Selector, identity, shape));
  if (rule === undefined) return Namespace;
  const name = interpolate(rule.BindNamespace, identity.variables);
  return name.ok && isNamespaceName(name.value) ? name.value : undefined;
}

/** Deletes the token of the request, which a login created. */
export async function logout(service: Service, write: Omit<Write, 'ns'>): Promise<string> {
  const { tokenKey } = write.caller;
  if (tokenKey === null) reject('unauthenticated', 'Supplied token does not exist');
  const command: TokenLogout = { type: 'token.logout', v: 1, secretKey: tokenKey };
  return propose(service, write, command);
}
