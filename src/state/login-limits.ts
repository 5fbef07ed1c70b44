/**
 * The ACL configuration: how long tokens of logins live, how many of them one identity may have
 * from one method, and whom the subjects of decisions mean. It is one fact of the state, which
 * apply reads.
 */
import type { Authorizer } from '../acl/types.js';
import { type Refusal, refusal } from '../base/errors.js';
import { parseDuration } from '../languages/duration.js';
import {
  always,
  computed,
  type Infer,
  map,
  neededText,
  nonEmpty,
  object,
  text,
  timeToLive,
  whole,
} from '../languages/fields.js';
import { keys } from './keys.js';
import { refused, stored } from './lists.js';
import type { AuthMethod } from './methods.js';
import { DEFAULT_NAMESPACE } from './object.js';
import { isAlive, type Token } from './tokens.js';
import { type Command, type Handler, keyOf, type View } from './types.js';

/**
 * Maximum number of tokens that one login replaces, because one entry must not delay heartbeats. It
 * is also the maximum of TokensPerIdentity.
 */
export const REPLACED_MAX = 1000;

/** Whom a subject type of decisions means: the identities of an auth method. */
const subjectType = object({
  AuthMethod: always('The auth method.', neededText),
  Namespace: always('Its namespace. Empty means default.', text()),
  From: always(
    'Whose rights count: those of tokens, or those that binding rules give to what is sent.',
    text({ values: ['tokens', 'properties'] }),
  ),
});
export type SubjectTypes = Readonly<Record<string, Infer<typeof subjectType.fields>>>;

/** Subject types: few applications have more words for who acts. */
const SUBJECT_TYPES_MAX = 32;

/** The fields of the configuration. */
export const configurationFields = {
  LoginTokenTTL: always(
    'How long login tokens are valid if their auth method sets no MaxTokenTTL. Empty ' +
      'means forever.',
    timeToLive,
  ),
  LoginTokenTTLMax: always(
    'The longest that a login token may be valid, whatever its auth method sets. Empty ' +
      'means no limit.',
    timeToLive,
  ),
  TokensPerIdentity: always(
    'How many live tokens one identity may have from one auth method. 0 means no limit.',
    whole({ min: 0, limits: { max: REPLACED_MAX } }),
  ),
  OnTokenLimit: always(
    'Whether a login beyond that number is refused or replaces the oldest tokens.',
    text({ values: ['refuse', 'replace'] }),
  ),
  SubjectTypes: nonEmpty(
    'Types of subjects of decisions, by the names that applications use. From level 3 on.',
    map(subjectType, undefined, SUBJECT_TYPES_MAX),
  ),
  ModifyIndex: always(
    'The index at which the configuration was last changed.',
    computed(whole({ min: 0 })),
  ),
};
/** The configuration as it is stored and answered. */
export type AclConfiguration = Readonly<Omit<Infer<typeof configurationFields>, 'ModifyIndex'>>;

/** Replaces the configuration. */
export interface AclConfigure extends Command {
  readonly type: 'acl.configure';
  readonly configuration: AclConfiguration;
  /** It has SubjectTypes, which releases of level 2 do not know. */
  readonly subjectTypes?: true;
  /** The present ModifyIndex must be one of these. Absent: it may be any. */
  readonly ifMatch?: readonly number[];
}

/** The key of the configuration. */
export const ACL_FACT = keys.fact('acl');

/** The configuration until one is written: what earlier releases did. */
export const ACL_DEFAULTS: AclConfiguration = {
  LoginTokenTTL: '',
  LoginTokenTTLMax: '',
  TokensPerIdentity: 0,
  OnTokenLimit: 'refuse',
};

/** The refusal of a login beyond the limit. The client gets a shorter text. */
export const TOKEN_LIMIT = refusal(
  'permission_denied',
  'Permission denied: the identity has as many tokens as it may have',
  { about: { kind: 'limit' } },
);

/** Returns the configuration in force. Its ModifyIndex is 0 until one is written. */
export const aclConfiguration = (view: View): AclConfiguration & { readonly ModifyIndex: number } =>
  stored(view, ACL_FACT) ?? { ...ACL_DEFAULTS, ModifyIndex: 0 };

/** Returns the types of subjects that the configuration has. */
export const subjectTypes = (view: View): SubjectTypes => aclConfiguration(view).SubjectTypes ?? {};

/** Returns the 403 of a caller who may not read or write the configuration. */
export const configurationDenial = (
  authorizer: Authorizer,
  access: 'read' | 'write',
): Refusal | undefined =>
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
    const about = { kind: 'version', current: ModifyIndex } as const;
    return refused(refusal('precondition_failed', why, { about }));
  }
  const text = JSON.stringify({ ...configuration, ModifyIndex: index });
  draft.put(ACL_FACT, text);
  return { ok: true, value: text };
};

/** Returns the lifetime of a login's token in milliseconds; undefined if it never expires. */
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
 * Returns the tokens to remove before an identity gets another one from a method: the oldest live
 * ones. Returns undefined if the login is to be refused. `replaced`: the AccessorID of a token that
 * the new one replaces, so that it does not count.
 */
export function displacedTokens(
  view: View,
  method: AuthMethod,
  identity: string,
  nowMs: number,
  replaced?: string,
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
    const token = stored<Token>(view, keys.token(ns, accessor));
    if (token === undefined || accessor === replaced || !isAlive(view, token, nowMs)) continue;
    live.push(token);
    if (live.length >= most + (isReplacing ? REPLACED_MAX - 1 : 0)) break;
  }
  if (live.length < most) return [];
  return isReplacing ? live.slice(0, live.length - most + 1) : undefined;
}
