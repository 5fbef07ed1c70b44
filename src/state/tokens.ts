/**
 * ACL tokens: their definition, the records that find them, and whether one is alive. Their
 * commands are in token-commands.ts.
 */
import { hash } from 'node:crypto';
import {
  always,
  boolean,
  computed,
  type Infer,
  never,
  nonEmpty,
  text,
  timeToLive,
  utcTime,
} from '../languages/fields.js';
import type { Identity } from './author.js';
import { grants, IDENTITIES } from './grants.js';
import { mayHaveBlocks, revokedAt } from './identity-blocks.js';
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
import { type ApplyContext, keyOf, type StateRecord, type View } from './types.js';

const fields = {
  AccessorID: always('The public ID of the token. Clients may choose it on creation.', text()),
  SecretID: always(
    'The secret with which requests present the token. Clients may choose it on creation.',
    text(),
  ),
  Description: always('A human-readable description of the token.', description),
  Policies: nonEmpty('The policies of the token.', links('policy')),
  Roles: nonEmpty('The roles of the token.', links('role')),
  ...grants,
  Local: always('Whether the token belongs to one datacenter. This has no other effect.', boolean),
  AuthMethod: nonEmpty(
    'The name of the auth method whose login created the token, in its original spelling.',
    text(),
  ),
  AuthMethodNamespace: nonEmpty('The namespace of that auth method.', computed(text())),
  ExpirationTime: nonEmpty('When the token expires. It cannot be changed later.', utcTime),
  ExpirationTTL: never(
    'How long the token is valid, at least one minute. Set this instead of ExpirationTime.',
    timeToLive,
  ),
  CreateTime: always('When the token was created.', computed(text())),
  Namespace: always('The namespace of the token.', text()),
  Hash: always('A hash of the content.', contentHash),
  ...indexes,
};

/** A token as it is stored. Answers add the names of links and may hide the SecretID. */
export type Token = Readonly<Infer<typeof fields>>;

export const tokens = defineObject<Token, typeof fields>({
  table: 'token',
  description: 'A secret that identifies its holder and determines what the holder may do.',
  noun: 'token',
  identity: 'AccessorID',
  columns:
    `AccessorID as Accessor, Description, Policies, Roles, ${IDENTITIES}?, ` +
    'AuthMethod as Method?, ExpirationTime as Expires?',
  lines:
    `AccessorID, SecretID, Namespace, Description, Policies, Roles, ${IDENTITIES}, ` +
    'Local, AuthMethod, CreateTime as Created, ExpirationTime as Expires',
  fields,
  secrets: ['SecretID'],
  secretLeaves: 'when removed',
  recordTables: [
    'token-secret',
    'token-accessor',
    'token-by-expiry',
    'token-by-method',
    'token-identity',
    'subject',
  ],
  key: keys.token,
  records: tokenRecords,
  removed({ draft }, token) {
    for (const [key] of loginRecords(token, (at) => draft.get(at))) draft.del(key);
  },
});

/** Returns the SHA-256 of a SecretID in hex, by which its token is found. */
export const secretKeyOf = (secret: string): string => hash('sha256', secret);

/** Returns when a token expires, in Unix milliseconds rounded down; undefined if it never does. */
export const expiryOf = (token: Token): number | undefined =>
  token.ExpirationTime === undefined ? undefined : Math.floor(Date.parse(token.ExpirationTime));

/** Returns the token with an accessor, in any namespace, whether it is alive or not. */
export function tokenByAccessor(view: View, accessor: string): Token | undefined {
  const ns = view.get(keys.tokenAccessor(accessor));
  return ns === undefined ? undefined : stored<Token>(view, keys.token(ns, accessor));
}

/** Returns the token with a secret, given its SHA-256 in hex, whether it is alive or not. */
export function tokenBySecret(view: View, secretKey: string): Token | undefined {
  const place = view.get(keys.tokenSecret(secretKey));
  if (place === undefined) return undefined;
  const [ns, accessor] = place.split('\u0000') as [string, string];
  return stored<Token>(view, keys.token(ns, accessor));
}

/**
 * Whether a token is alive at a time. A token that has expired, whose identity was revoked, whose
 * auth method was deleted, or whose namespace is being deleted awaits its removal: no request may
 * show or use it.
 */
export function isAlive(view: View, token: Token, nowMs: number): boolean {
  const expiry = expiryOf(token);
  if (expiry !== undefined && expiry <= nowMs) return false;
  if (token.AuthMethod !== undefined) {
    const method = keys.method(token.AuthMethodNamespace ?? token.Namespace, token.AuthMethod);
    if (view.get(method) === undefined || revokedIndex(view, token) !== undefined) return false;
  }
  const namespace = stored<{ DeletedAt?: string }>(view, keys.namespace(token.Namespace));
  return namespace !== undefined && namespace.DeletedAt === undefined;
}

/** Returns the keys, besides its own, whose change may end a token's lifetime. */
export const lifeKeys = (token: Token): string[] => [
  keys.namespace(token.Namespace),
  ...(token.AuthMethod === undefined
    ? []
    : methodKeys(token.AuthMethodNamespace ?? token.Namespace, token.AuthMethod)),
];

const methodKeys = (ns: string, name: string): string[] => [
  keys.method(ns, name),
  keys.identityBlock(ns, name),
];

/** Returns the index at which the identity behind a token was revoked; undefined if it was not. */
export function revokedIndex(view: View, token: LoginOf): number | undefined {
  const method = methodOf(token);
  if (method === undefined || !mayHaveBlocks(view)) return undefined;
  const { AccessorID, Namespace: ns } = token;
  const text = view.get(keys.tokenByMethod(method.ns, method.name, ns, AccessorID));
  const { subject, before } = loggedIn(text ?? '');
  return subject === undefined ? undefined : revokedAt(view, method, { subject, before });
}

/** Returns the records that find a token. They never change. */
function tokenRecords(token: Token): readonly StateRecord[] {
  const { AccessorID: accessor, Namespace: ns } = token;
  const expiry = expiryOf(token);
  return [
    [keys.tokenSecret(secretKeyOf(token.SecretID)), `${ns}\u0000${accessor}`],
    [keys.tokenAccessor(accessor), ns],
    ...(expiry === undefined ? [] : [[keys.tokenByExpiry(expiry, ns, accessor), ''] as const]),
  ];
}

/** The members of a token from which the records of its login follow. */
export type LoginOf = Pick<
  Token,
  'AccessorID' | 'AuthMethod' | 'AuthMethodNamespace' | 'CreateTime' | 'Namespace'
>;

/** Who logged in, as the record of a login's token has it. */
export interface LoggedIn {
  /** SHA-256 in hex; empty if unknown. */
  readonly identity: string;
  /** Absent if the login was before level 3. */
  readonly subject?: string | undefined;
  /** How many revocations of identities of the method came before. */
  readonly before: number;
}

/** Returns the record of a login's token. */
export function loggedInText({ identity, subject, before }: LoggedIn): string {
  if (subject === undefined) return identity;
  return keyOf(identity, subject, ...(before > 0 ? [String(before)] : []));
}

/** Reads the record of a login's token. */
export function loggedIn(text: string): LoggedIn {
  const [identity = '', subject, before = '0'] = text.split('\u0000', 3);
  return { identity, subject, before: Number(before) };
}

/** Returns the auth method whose login created a token, and its namespace; undefined if none. */
function methodOf(token: LoginOf): { readonly ns: string; readonly name: string } | undefined {
  const { AuthMethod: name, AuthMethodNamespace: ns = token.Namespace } = token;
  return name === undefined ? undefined : { ns, name };
}

/**
 * Returns who is behind a token (beyond.md 7.1); undefined if no login created it, or one before
 * level 3.
 */
export function identityOf(view: View, token: LoginOf): Identity | undefined {
  const method = methodOf(token);
  if (method === undefined) return undefined;
  const { AccessorID, Namespace: ns } = token;
  const text = view.get(keys.tokenByMethod(method.ns, method.name, ns, AccessorID));
  const Subject = text === undefined ? undefined : loggedIn(text).subject;
  if (Subject === undefined) return undefined;
  return { AuthMethod: method.name, Namespace: method.ns, Subject };
}

/**
 * Returns the records of the login that created a token; none if no login did. `textAt` returns
 * the text stored under a key, because the token does not contain who logged in.
 */
export function loginRecords(
  token: LoginOf,
  textAt: (key: string) => string | undefined,
): readonly StateRecord[] {
  const method = methodOf(token);
  if (method === undefined) return [];
  const own = { ns: token.Namespace, accessor: token.AccessorID };
  const key = keys.tokenByMethod(method.ns, method.name, own.ns, own.accessor);
  const text = textAt(key) ?? '';
  const { identity, subject } = loggedIn(text);
  const createdMs = Date.parse(token.CreateTime);
  const records: StateRecord[] = [[key, text]];
  if (identity !== '') records.push([keys.tokenIdentity(method, identity, createdMs, own), '']);
  if (subject !== undefined) records.push([keys.subject(method, subject, own), '']);
  return records;
}

/** Writes a new token. Returns it as JSON text. `by`: who logged in to get it, if known. */
export function addToken(context: ApplyContext, token: Token, by?: LoggedIn): string {
  const text = by && loggedInText(by);
  for (const [key, value] of loginRecords(token, () => text)) context.draft.put(key, value);
  return putObject(context, tokens, token, undefined);
}

/** Removes a token and its derived records. */
export const removeToken = (context: ApplyContext, token: Token): void =>
  removeObject(context, tokens, token);

/** Removes up to `max` tokens that logins with a method created. Returns how many. */
export function removeTokensOfMethod(
  context: ApplyContext,
  ns: string,
  method: string,
  max: number,
): number {
  const prefix = keys.tokenByMethod(ns, method, '', '').slice(0, -1);
  const some = take(context.draft.keys(prefix), max);
  for (const key of some) removeTokenAt(context, key);
  return some.length;
}

/**
 * Removes the token whose place ends the key of a derived record. If the token was lost, and a
 * recovery accepted that, the record alone is removed.
 */
export function removeTokenAt(context: ApplyContext, key: string): void {
  const [ns, accessor] = key.split('\u0000').slice(-2) as [string, string];
  const token = stored<Token>(context.draft, keys.token(ns, accessor));
  if (token === undefined) context.draft.del(key);
  else removeToken(context, token);
}
