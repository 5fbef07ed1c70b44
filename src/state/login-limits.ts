/**
 * How long the tokens of logins live and how many one identity may have from a method: the ACL configuration, one fact of
 * the state, and what apply works out by it.
 */
import type { Authorizer } from '../acl/types.js';
import { refusal } from '../errors.js';
import { parseDuration } from '../languages/duration.js';
import { computed, type Infer, keep, text, timeToLive, whole64 } from '../languages/fields.js';
import { keys } from './keys.js';
import { refused, stored } from './lists.js';
import type { AuthMethod } from './methods.js';
import { DEFAULT_NAMESPACE } from './object.js';
import { isAlive, type Token } from './tokens.js';
import { type Command, type Handler, keyOf, type View } from './types.js';

/** The fields of the configuration. */
export const configurationFields = {
  // Life of a login's token if its method sets no MaxTokenTTL: Go duration text, empty for none.
  LoginTokenTTL: keep(timeToLive),
  // Maximum life of a login's token, whatever its method says. Empty: no maximum.
  LoginTokenTTLMax: keep(timeToLive),
  // Live tokens that one identity may have from one method. 0: any number.
  TokensPerIdentity: keep(whole64),
  // What happens to a login beyond that: it is refused, or it replaces the oldest tokens.
  OnTokenLimit: keep(text({ values: ['refuse', 'replace'] })),
  ModifyIndex: keep(computed(whole64)),
};
/** The configuration as it is stored and answered. */
export type AclConfiguration = Readonly<Omit<Infer<typeof configurationFields>, 'ModifyIndex'>>;

/** Puts a configuration in the place of the present one. */
export interface AclConfigure extends Command {
  readonly type: 'acl.configure';
  readonly configuration: AclConfiguration;
  /** The ModifyIndexes of which the present one must be one; absent: any. */
  readonly ifMatch?: readonly number[];
}

export const ACL_FACT = keys.fact('acl');

export const ACL_DEFAULTS: AclConfiguration = {
  LoginTokenTTL: '',
  LoginTokenTTLMax: '',
  TokensPerIdentity: 0,
  OnTokenLimit: 'refuse',
};

/** How many tokens one login may replace: an entry must not stall the heartbeats. TokensPerIdentity is at most this. */
export const REPLACED_MAX = 1000;

/** The message by which a login beyond the limit is refused: whoever took it tells its client less. */
export const TOKEN_LIMIT = 'Permission denied: the identity has as many tokens as it may have';

/** The configuration in force; ModifyIndex 0: none was ever written. */
export const aclConfiguration = (view: View): AclConfiguration & { readonly ModifyIndex: number } =>
  stored(view, ACL_FACT) ?? { ...ACL_DEFAULTS, ModifyIndex: 0 };

/** Returns why a caller may not read or write the configuration; undefined if they may. */
export const configurationDenial = (
  authorizer: Authorizer,
  access: 'read' | 'write',
): string | undefined =>
  authorizer.denial('operator', access) ??
  (access === 'write'
    ? authorizer.denial('acl', 'write', undefined, DEFAULT_NAMESPACE)
    : undefined);

/** Stores the configuration. Answers it. */
export const configureAcl: Handler<AclConfigure> = (
  { draft, index },
  { configuration, ifMatch },
) => {
  const { ModifyIndex } = aclConfiguration(draft);
  if (ifMatch?.includes(ModifyIndex) === false) {
    const why = `Precondition failed: the ACL configuration has ModifyIndex ${ModifyIndex}`;
    return refused(refusal('precondition_failed', why));
  }
  const text = JSON.stringify({ ...configuration, ModifyIndex: index });
  draft.put(ACL_FACT, text);
  return { ok: true, value: text };
};

/** How long the token of a login by a method lives, in milliseconds; undefined: until it is deleted. */
export function loginLifeMs(
  view: View,
  { MaxTokenTTL = '' }: Pick<AuthMethod, 'MaxTokenTTL'>,
): number | undefined {
  const { LoginTokenTTL, LoginTokenTTLMax } = aclConfiguration(view);
  const life = millisecondsOf(MaxTokenTTL) ?? millisecondsOf(LoginTokenTTL);
  const most = millisecondsOf(LoginTokenTTLMax);
  return life === undefined || most === undefined ? (life ?? most) : Math.min(life, most);
}

function millisecondsOf(ttl: string): number | undefined {
  if (ttl === '') return undefined;
  const parsed = parseDuration(ttl);
  return parsed.ok ? Math.floor(parsed.nanoseconds / 1e6) : 0;
}

/**
 * The tokens that must go before an identity may have one more from a method: the oldest that live. Undefined: it may have
 * no more.
 */
export function displacedTokens(
  view: View,
  method: AuthMethod,
  identity: string,
  nowMs: number,
): readonly Token[] | undefined {
  const { TokensPerIdentity: most, OnTokenLimit } = aclConfiguration(view);
  if (most === 0) return [];
  const isReplacing = OnTokenLimit === 'replace';
  const live: Token[] = [];
  const { Namespace, Name } = method;
  for (const key of view.keys(
    keyOf('token-identity', Namespace, Name.toLowerCase(), identity, ''),
  )) {
    const [ns, accessor] = key.split('\u0000').slice(-2) as [string, string];
    const token = stored<Token>(view, keys.token(ns, accessor))!;
    if (!isAlive(view, token, nowMs)) continue;
    live.push(token);
    if (live.length >= most + (isReplacing ? REPLACED_MAX - 1 : 0)) break;
  }
  if (live.length < most) return [];
  return isReplacing ? live.slice(0, live.length - most + 1) : undefined;
}
