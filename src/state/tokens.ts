/**
 * ACL tokens as state: their record, their secondary keys, and whether one still counts. The commands are in
 * `token-commands.ts`.
 */
import { hash } from 'node:crypto';
import type { Grants } from './grants.js';
import { keys } from './keys.js';
import { type Link, moveLinks } from './links.js';
import { noteChange, noteDeletion, stored } from './lists.js';
import type { ApplyContext, View } from './types.js';

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

/** The records that follow from a token, its links apart: by what it is found. They never change. */
export function tokenRecords(token: Token): readonly (readonly [key: string, value: string])[] {
  const { AccessorID: accessor, Namespace: ns } = token;
  const expiry = expiryOf(token);
  return [
    [keys.tokenSecret(secretKeyOf(token.SecretID)), `${ns}\u0000${accessor}`],
    [keys.tokenAccessor(accessor), ns],
    ...(expiry === undefined ? [] : [[keys.tokenByExpiry(expiry, ns, accessor), ''] as const]),
    ...(token.AuthMethod === undefined ? [] : [[methodKey(token), ''] as const]),
  ];
}

/** Writes a token and all that follows from it; gives its text. What may never change is taken from a new one only. */
export function putToken(context: ApplyContext, token: Token, before?: Token): string {
  const { draft } = context;
  const { AccessorID: accessor, Namespace: ns } = token;
  if (before === undefined) {
    for (const [key, value] of tokenRecords(token)) draft.put(key, value);
  }
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
  for (const [key] of tokenRecords(token)) draft.del(key);
  moveTokenLinks(context, token, token, undefined);
  draft.del(keys.token(ns, accessor));
  noteDeletion(context, 'token', ns);
}

function methodKey(token: Token): string {
  const { AuthMethod = '', AuthMethodNamespace, AccessorID, Namespace } = token;
  return keys.tokenByMethod(AuthMethodNamespace ?? Namespace, AuthMethod, Namespace, AccessorID);
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
