/**
 * ACL tokens as state: their record, their secondary keys, and whether one still counts. The commands are in
 * `token-commands.ts`.
 */
import { hash } from 'node:crypto';
import type { Grants } from './grants.js';
import { keys } from './keys.js';
import { type Link, moveLinks } from './links.js';
import { noteChange, noteDeletion, stored } from './lists.js';
import type { ApplyContext, StateRecord, View } from './types.js';

/** A token as it is stored; answers add the names of links and may hide the SecretID. */
export interface Token extends Grants {
  readonly AccessorID: string;
  readonly SecretID: string;
  readonly Description: string;
  readonly Policies?: readonly Link[];
  readonly Roles?: readonly Link[];
  readonly Local: boolean;
  /** Login tokens: the method that made them, in its spelling, and where it lives. */
  readonly AuthMethod?: string;
  readonly AuthMethodNamespace?: string;
  /** RFC 3339, UTC. */
  readonly ExpirationTime?: string;
  readonly CreateTime: string;
  readonly Hash: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly Namespace: string;
}

/** What a SecretID is looked up by: its SHA-256 in hex. */
export const secretKeyOf = (secret: string): string => hash('sha256', secret);

/** Milliseconds since the epoch at which a token stops counting; rounded down, so never late. */
export const expiryOf = (token: Token): number | undefined =>
  token.ExpirationTime === undefined ? undefined : Math.floor(Date.parse(token.ExpirationTime));

/** The token of an accessor, wherever it lives, dead or alive. */
export function tokenByAccessor(view: View, accessor: string): Token | undefined {
  const ns = view.get(keys.tokenAccessor(accessor));
  return ns === undefined ? undefined : stored<Token>(view, keys.token(ns, accessor));
}

/** The token of a secret, by the SHA-256 of it in hex, dead or alive. */
export function tokenBySecret(view: View, secretKey: string): Token | undefined {
  const place = view.get(keys.tokenSecret(secretKey));
  if (place === undefined) return undefined;
  const [ns, accessor] = place.split('\u0000') as [string, string];
  return stored<Token>(view, keys.token(ns, accessor));
}

/**
 * Whether a token counts at a time. One that has expired, whose auth method is gone or whose namespace is being deleted
 * waits for its removal only: nothing may show or use it.
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

/** The keys, besides its own, whose change may end a token's life. */
export const lifeKeys = (token: Token): string[] => [
  keys.namespace(token.Namespace),
  ...(token.AuthMethod === undefined
    ? []
    : [keys.method(token.AuthMethodNamespace ?? token.Namespace, token.AuthMethod)]),
];

/** The records that follow from a token, its links and its login apart: by what it is found. They never change. */
export function tokenRecords(token: Token): readonly StateRecord[] {
  const { AccessorID: accessor, Namespace: ns } = token;
  const expiry = expiryOf(token);
  return [
    [keys.tokenSecret(secretKeyOf(token.SecretID)), `${ns}\u0000${accessor}`],
    [keys.tokenAccessor(accessor), ns],
    ...(expiry === undefined ? [] : [[keys.tokenByExpiry(expiry, ns, accessor), ''] as const]),
  ];
}

/** What tells of the login that made a token. */
export type LoginOf = Pick<
  Token,
  'AccessorID' | 'AuthMethod' | 'AuthMethodNamespace' | 'CreateTime' | 'Namespace'
>;

/**
 * The records that follow from the login of a token, if one made it. `identityAt` gives the identity kept at a key: it
 * is not part of the token.
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

/** Writes a new token and all that follows from it; gives its text. `identity`: who logged in, where that is known. */
export function addToken(context: ApplyContext, token: Token, identity?: string): string {
  const records = [...tokenRecords(token), ...loginRecords(token, () => identity)];
  for (const [key, value] of records) context.draft.put(key, value);
  return putToken(context, token, undefined);
}

/** Writes a token; gives its text. What follows from it and never changes is there. */
export function putToken(context: ApplyContext, token: Token, before: Token | undefined): string {
  const { draft } = context;
  const { AccessorID: accessor, Namespace: ns } = token;
  moveTokenLinks(context, token, before, token);
  noteChange(context, 'token', ns);
  const text = JSON.stringify(token);
  draft.put(keys.token(ns, accessor), text);
  return text;
}

/** Takes a token and what follows from it out of the state. */
export function removeToken(context: ApplyContext, token: Token): void {
  const { draft } = context;
  const { AccessorID: accessor, Namespace: ns } = token;
  const records = [...tokenRecords(token), ...loginRecords(token, (key) => draft.get(key))];
  for (const [key] of records) draft.del(key);
  moveTokenLinks(context, token, token, undefined);
  draft.del(keys.token(ns, accessor));
  noteDeletion(context, 'token', ns);
}

function moveTokenLinks(
  context: ApplyContext,
  { AccessorID: id, Namespace: ns }: Token,
  before: Token | undefined,
  after: Token | undefined,
): void {
  const holder = 'token';
  moveLinks(context, {
    holder,
    target: 'policy',
    ns,
    id,
    before: before?.Policies,
    after: after?.Policies,
  });
  moveLinks(context, {
    holder,
    target: 'role',
    ns,
    id,
    before: before?.Roles,
    after: after?.Roles,
  });
}
