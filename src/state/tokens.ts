/**
 * ACL tokens: their definition, the records by which they are found, and whether one is alive. The
 * commands are in token-commands.ts.
 */
import { hash } from 'node:crypto';
import {
  boolean,
  computed,
  drop,
  type Infer,
  keep,
  omit,
  text,
  timeToLive,
  utcTime,
} from '../languages/fields.js';
import { grants } from './grants.js';
import { keys } from './keys.js';
import { links, take } from './links.js';
import { stored } from './lists.js';
import {
  contentHash,
  defineObject,
  description,
  indexes,
  putObject,
  removeObject,
} from './object.js';
import type { ApplyContext, StateRecord, View } from './types.js';

const fields = {
  AccessorID: keep(text()),
  SecretID: keep(text()),
  Description: keep(description),
  Policies: omit(links('policy')),
  Roles: omit(links('role')),
  ...grants,
  Local: keep(boolean),
  // Tokens of logins: the method that made them, in its spelling, and where it lives.
  AuthMethod: omit(text()),
  AuthMethodNamespace: omit(computed(text())),
  // RFC 3339, UTC.
  ExpirationTime: omit(utcTime),
  ExpirationTTL: drop(timeToLive),
  CreateTime: keep(text()),
  Namespace: keep(text()),
  Hash: keep(contentHash),
  ...indexes,
};

/** A token as it is stored. Answers add the names of links and may hide the SecretID. */
export type Token = Readonly<Infer<typeof fields>>;

/** Tokens. */
export const tokens = defineObject<Token, typeof fields>({
  table: 'token',
  noun: 'token',
  identity: 'AccessorID',
  fields,
  secrets: ['SecretID'],
  secretLeaves: 'when removed',
  recordTables: [
    'token-secret',
    'token-accessor',
    'token-by-expiry',
    'token-by-method',
    'token-identity',
  ],
  key: keys.token,
  records: tokenRecords,
  removed({ draft }, token) {
    for (const [key] of loginRecords(token, (at) => draft.get(at))) draft.del(key);
  },
});

/** Returns what a SecretID is looked up by: its SHA-256 in hex. */
export const secretKeyOf = (secret: string): string => hash('sha256', secret);

/**
 * Returns when a token expires, in milliseconds since the epoch, rounded down; undefined for never.
 */
export const expiryOf = (token: Token): number | undefined =>
  token.ExpirationTime === undefined ? undefined : Math.floor(Date.parse(token.ExpirationTime));

/** Returns the token of an accessor in any namespace, dead or alive. */
export function tokenByAccessor(view: View, accessor: string): Token | undefined {
  const ns = view.get(keys.tokenAccessor(accessor));
  return ns === undefined ? undefined : stored<Token>(view, keys.token(ns, accessor));
}

/** Returns the token of a secret, given its SHA-256 in hex, dead or alive. */
export function tokenBySecret(view: View, secretKey: string): Token | undefined {
  const place = view.get(keys.tokenSecret(secretKey));
  if (place === undefined) return undefined;
  const [ns, accessor] = place.split('\u0000') as [string, string];
  return stored<Token>(view, keys.token(ns, accessor));
}

/**
 * Whether a token is alive at a time. One that has expired, whose auth method is gone or whose
 * namespace is being deleted only waits for its removal: nothing may show or use it.
 */
export function isAlive(view: View, token: Token, nowMs: number): boolean {
  const expiry = expiryOf(token);
  if (expiry !== undefined && expiry <= nowMs) return false;
  if (token.AuthMethod !== undefined) {
    const method = keys.method(token.AuthMethodNamespace ?? token.Namespace, token.AuthMethod);
    if (view.get(method) === undefined) return false;
  }
  const namespace = stored<{ DeletedAt?: string }>(view, keys.namespace(token.Namespace));
  return namespace !== undefined && namespace.DeletedAt === undefined;
}

/** Returns the keys, besides its own, whose change may end a token's life. */
export const lifeKeys = (token: Token): string[] => [
  keys.namespace(token.Namespace),
  ...(token.AuthMethod === undefined
    ? []
    : [keys.method(token.AuthMethodNamespace ?? token.Namespace, token.AuthMethod)]),
];

/** Returns the records by which a token is found. They never change. */
function tokenRecords(token: Token): readonly StateRecord[] {
  const { AccessorID: accessor, Namespace: ns } = token;
  const expiry = expiryOf(token);
  return [
    [keys.tokenSecret(secretKeyOf(token.SecretID)), `${ns}\u0000${accessor}`],
    [keys.tokenAccessor(accessor), ns],
    ...(expiry === undefined ? [] : [[keys.tokenByExpiry(expiry, ns, accessor), ''] as const]),
  ];
}

/** The members of a token that tell which login made it. */
export type LoginOf = Pick<
  Token,
  'AccessorID' | 'AuthMethod' | 'AuthMethodNamespace' | 'CreateTime' | 'Namespace'
>;

/**
 * Returns the records that follow from the login of a token, if one made it. `identityAt` returns
 * the identity stored at a key, which is not part of the token.
 */
export function loginRecords(
  token: LoginOf,
  identityAt: (key: string) => string | undefined,
): readonly StateRecord[] {
  const { AuthMethod: name, AuthMethodNamespace, AccessorID: accessor, Namespace: ns } = token;
  if (name === undefined) return [];
  const method = { ns: AuthMethodNamespace ?? ns, name };
  const key = keys.tokenByMethod(method.ns, name, ns, accessor);
  const identity = identityAt(key) ?? '';
  if (identity === '') return [[key, '']];
  const createdMs = Date.parse(token.CreateTime);
  return [
    [key, identity],
    [keys.tokenIdentity(method, identity, createdMs, { ns, accessor }), ''],
  ];
}

/** Writes a new token. Returns its text. `identity` is that of the login, if it is known. */
export function addToken(context: ApplyContext, token: Token, identity?: string): string {
  for (const [key, value] of loginRecords(token, () => identity)) context.draft.put(key, value);
  return putObject(context, tokens, token, undefined);
}

/** Removes a token with all that follows from it. */
export const removeToken = (context: ApplyContext, token: Token): void =>
  removeObject(context, tokens, token);

/** Removes up to `max` tokens that an auth method made. Returns how many. */
export function removeTokensOfMethod(
  context: ApplyContext,
  ns: string,
  method: string,
  max: number,
): number {
  const prefix = keys.tokenByMethod(ns, method, '', '').slice(0, -1);
  const some = take(context.draft.keys(prefix), max);
  for (const key of some) {
    const [tokenNs, accessor] = key.split('\u0000').slice(-2) as [string, string];
    removeToken(context, stored<Token>(context.draft, keys.token(tokenNs, accessor))!);
  }
  return some.length;
}
