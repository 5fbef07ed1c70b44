/** Use cases that read tokens. Only callers who may write them see their secrets. */
import { isUuid } from '../../acl/names.js';
import { ApiError, refuse, reject } from '../../base/errors.js';
import type { Identity } from '../../state/author.js';
import { keys } from '../../state/keys.js';
import { keysBelow, lastPart, stored } from '../../state/lists.js';
import { tokenNotFound } from '../../state/token-commands.js';
import {
  expiryOf,
  identityOf,
  isAlive,
  lifeKeys,
  secretKeyOf,
  type Token,
  tokenBySecret,
} from '../../state/tokens.js';
import { keyOf, type View } from '../../state/types.js';
import type { Matches } from '../common/filters.js';
import {
  HIDDEN,
  Links,
  listedNamespaces,
  listPosition,
  mustBeUuid,
  mustRead,
  NO_UUID,
} from '../common/reading.js';
import type { ReadUseCase } from '../common/types.js';
import { subjectOf } from '../login/claims.js';
import type { ListPlan } from '../reads/list-plan.js';
import { planOf } from '../reads/list-rendering.js';
import type { ListQuery } from './objects.js';

const notFound = (): never => refuse(tokenNotFound());

/**
 * Returns a token with the present names of its links. With `identity` that follows its auth
 * method.
 */
export function tokenShown(
  token: Token,
  links: Links,
  withSecret: boolean,
  identity?: Identity,
): object {
  const { AccessorID, SecretID, Description, Policies, Roles, ...rest } = token;
  const policies = links.named('policy', Policies);
  const roles = links.named('role', Roles);
  return {
    AccessorID,
    SecretID: withSecret ? SecretID : HIDDEN,
    Description,
    ...(policies.length > 0 ? { Policies: policies } : {}),
    ...(roles.length > 0 ? { Roles: roles } : {}),
    ...(identity === undefined ? rest : withIdentity(rest, identity)),
  };
}

function withIdentity(rest: object, identity: Identity): object {
  const members = Object.entries(rest);
  const before = members.findLastIndex(([name]) => name.startsWith('AuthMethod'));
  return Object.fromEntries(members.toSpliced(before + 1, 0, ['Identity', identity]));
}

/** Returns a live token of a namespace by its accessor. Throws ApiError 403 if there is none. */
export function mustFindToken(view: View, ns: string, accessor: string, nowMs: number): Token {
  if (!isUuid(accessor)) {
    reject('invalid', 'failed acl token lookup: index error: UUID must be 36 characters', NO_UUID);
  }
  const token = stored<Token>(view, keys.token(ns, accessor.toLowerCase()));
  return token !== undefined && isAlive(view, token, nowMs) ? token : notFound();
}

/** Reads a token by its accessor. Throws ApiError 403, also if there is none. */
export const readToken =
  (ns: string, accessor: string, now: () => number): ReadUseCase<string | undefined> =>
  ({ view, authorizer }) => {
    mustRead(authorizer, ns);
    const nowMs = now();
    const token = mustFindToken(view, ns, accessor, nowMs);
    const withSecret = authorizer.allowed('acl', 'write', undefined, ns);
    return { ...answerOf(view, token, withSecret), ...endOf(token, nowMs) };
  };

/** When an answer about a token ends by itself, if it does. */
export function endOf(token: Token, nowMs: number): { readonly endsInMs?: number } {
  const expiryMs = expiryOf(token);
  return expiryMs === undefined ? {} : { endsInMs: expiryMs - nowMs };
}

/**
 * Reads the token of the request, with its secret. Needs no right. `expanded` adds who is behind
 * it.
 */
export const readOwnToken =
  (secret: string | null, expanded: boolean): ReadUseCase<string | undefined> =>
  ({ view }) => {
    const token = secret === null ? undefined : tokenBySecret(view, secretKeyOf(secret));
    if (token === undefined) return notFound();
    return answerOf(view, token, true, expanded ? identityOf(view, token) : undefined);
  };

/** Throws why the caller's token cannot be read, in the words that clients look for. */
export function refuseOwnToken(error: unknown): never {
  if (error instanceof ApiError && error.refusal.code === 'acl_not_found') return notFound();
  throw error;
}

function answerOf(view: View, token: Token, withSecret: boolean, identity?: Identity) {
  const links = new Links(view);
  const value = JSON.stringify(tokenShown(token, links, withSecret, identity));
  const ownKey = keys.token(token.Namespace, token.AccessorID);
  return {
    value,
    index: Math.max(token.ModifyIndex, links.index),
    keys: [ownKey, ...lifeKeys(token), ...links.keys],
  };
}

/** Lists the tokens of a namespace (`*`: of all), narrowed by at most one member of the query. */
export function listTokens(
  ns: string,
  selection: ListQuery,
  now: () => number,
): ReadUseCase<ListPlan> {
  checkSelection(selection);
  return ({ view, authorizer }) => {
    const places = listedNamespaces(view, authorizer, ns);
    const { shown, filtered } = places;
    const matching = matchingOf(selection);
    const candidates = () => shown.flatMap((each) => candidateKeys(view, each, selection));
    const inClear = new Set(
      shown.filter((each) => authorizer.allowed('acl', 'write', undefined, each)),
    );
    const nowMs = now();
    const itemOf = (of: View, key: string, links: Links): object | undefined => {
      const token = stored<Token>(of, key);
      if (token === undefined || !isAlive(of, token, nowMs)) return undefined;
      return tokenShown(token, links, inClear.has(token.Namespace));
    };
    const value = { ...planOf(candidates, itemOf, matching), isDescribed: true };
    return { value, filtered, ...listPosition(view, 'token', places) };
  };
}

/** Returns the filter of a list of tokens: that of the request, and that of a service. */
function matchingOf({ filter, servicename: service }: ListQuery): (() => Matches) | undefined {
  const begin = filter('token');
  if (service === undefined) return begin;
  return () => {
    const matches = begin?.();
    return (token) => isOfService(token as Token, service) && (matches?.(token) ?? true);
  };
}

function checkSelection({ policy, role, servicename, authmethod, subject }: ListQuery): void {
  const all = [policy, role, servicename, authmethod, subject];
  const given = all.filter((one) => one !== undefined);
  if (given.length > 1) {
    const why = 'can only filter by one of policy, role, serviceName, or methodName at a time';
    reject('invalid', why);
  }
}

function candidateKeys(view: View, ns: string, selection: ListQuery): string[] {
  const { policy, role, authmethod, subject, authmethodNs = ns } = selection;
  const linked = (...prefix: string[]): string[] =>
    [...view.keys(keyOf(...prefix, ns, ''))].map((key) => keys.token(ns, lastPart(key)));
  if (policy !== undefined)
    return linked('token-by-policy', mustBeUuid(policy, 'policy: index error'));
  if (role !== undefined) return linked('token-by-role', mustBeUuid(role, 'role: index error'));
  if (authmethod !== undefined) {
    return linked('token-by-method', authmethodNs, authmethod.toLowerCase());
  }
  if (subject !== undefined) {
    const method = subject.method.toLowerCase();
    return linked('subject', authmethodNs, method, subjectOf(subject.subject));
  }
  return [...keysBelow(view, 'token', ns)];
}

function isOfService({ ServiceIdentities, TemplatedPolicies }: Token, name: string): boolean {
  return (
    ServiceIdentities?.some(({ ServiceName }) => ServiceName === name) === true ||
    TemplatedPolicies?.some(
      ({ TemplateName, TemplateVariables }) =>
        TemplateName === 'builtin/service' && TemplateVariables?.name === name,
    ) === true
  );
}
