/** The commands on tokens, including login and logout. Ids, secrets and times are their members. */
import { ANONYMOUS_ACCESSOR } from '../acl/builtin.js';
import { tokenHash } from '../acl/hash.js';
import { type Refusal, refusal, UNKNOWN_TOKEN } from '../base/errors.js';
import { timeOf } from '../languages/times.js';
import type { Grants } from './grants.js';
import { accountOf, BLOCKED, blockOf } from './identity-blocks.js';
import { keys } from './keys.js';
import { type Link, type LinkInput, type LinkTarget, resolveLinks } from './links.js';
import { keysBelow, namespaceProblem, refused, stored } from './lists.js';
import { displacedTokens, loginLifeMs, TOKEN_LIMIT } from './login-limits.js';
import type { AuthMethod } from './methods.js';
import { type Commands, putObject } from './object.js';
import { ACL_WRITE } from './object-commands.js';
import {
  addToken,
  isAlive,
  removeToken,
  revokedIndex,
  secretKeyOf,
  type Token,
  tokenByAccessor,
  tokenBySecret,
  tokens,
} from './tokens.js';
import type { ApplyContext, Command, Handler, View } from './types.js';

/** The content of a token as a client writes it, normalised. */
export interface TokenInput extends Grants {
  readonly Description: string;
  readonly Policies: readonly LinkInput[];
  readonly Roles: readonly LinkInput[];
  readonly Local: boolean;
}
interface NewToken extends Command {
  readonly ns: string;
  readonly accessor: string;
  readonly secret: string;
  readonly createTime: string;
}

/** Creates a token. */
export interface TokenCreate extends NewToken {
  readonly type: 'token.create';
  readonly token: TokenInput;
  readonly expirationTime?: string;
}

/** Replaces the content of a token. Refused if an optional member differs from the stored token. */
export interface TokenUpdate extends Command {
  readonly type: 'token.update';
  readonly ns: string;
  readonly accessor: string;
  readonly nowMs: number;
  readonly token: TokenInput;
  readonly secretKey?: string;
  readonly authMethod?: string;
  readonly expirationTime?: string;
  /** The client sent a TTL, which always is a change of the expiration. */
  readonly expirationTtl?: true;
}

/** Copies the token with the accessor `source` under new ids. */
export interface TokenClone extends NewToken {
  readonly type: 'token.clone';
  readonly source: string;
  readonly nowMs: number;
  /** Absent: the description of the source. */
  readonly description?: string;
}

/** Deletes a token. `callerKey`: SHA-256 of the caller's secret. A token cannot delete itself. */
export interface TokenDelete extends Command {
  readonly type: 'token.delete';
  readonly ns: string;
  readonly accessor: string;
  readonly callerKey: string | null;
}

/** Creates a token for a login, verified with the method as of its `modifyIndex`: see `author`. */
export interface TokenLogin extends NewToken {
  readonly type: 'token.login';
  readonly method: { readonly ns: string; readonly name: string; readonly modifyIndex: number };
  /** Its links to objects that do not exist are dropped. */
  readonly token: TokenInput;
  /**
   * The identity that logs in: SHA-256 in hex. Apply computes the expiration and counts the tokens
   * of the identity. Absent in logins that release 0.3.0 proposed at level 1.
   */
  readonly identity?: string;
  /** Without an identity: the expiration computed by the member that received the login. */
  readonly expirationTime?: string;
}

/** Deletes the token of a login. `secretKey` is the SHA-256 of its secret. */
export interface TokenLogout extends Command {
  readonly type: 'token.logout';
  readonly secretKey: string;
}

/** Removes at most `max` tokens that expired by `nowMs` (Unix time). Answers how many. */
export interface TokenReap extends Command {
  readonly type: 'token.reap';
  readonly nowMs: number;
  readonly max: number;
}

const notFound = (): Refusal =>
  refusal('acl_not_found', 'token does not exist: ACL not found', { about: { kind: 'token' } });

/** Stores a new token. Answers it without the names of its links. */
const createToken: Handler<TokenCreate> = (context, command) => {
  const { ns, token } = command;
  const problem = namespaceProblem(context.draft, ns) ?? idProblem(context.draft, command);
  if (problem !== undefined) return refused(problem);
  const links = allLinks(context.draft, ns, token);
  if ('problem' in links) return refused(links.problem);
  const built = build(context, command, { ...token, ...links }, command.expirationTime);
  return { ok: true, value: addToken(context, built) };
};

/** Replaces a token's content. Answers it without the names of its links. */
const updateToken: Handler<TokenUpdate> = (context, command) => {
  const { draft, index } = context;
  const { ns, accessor, token, nowMs } = command;
  const before = stored<Token>(draft, keys.token(ns, accessor));
  if (before === undefined || !isAlive(draft, before, nowMs)) {
    return refused(refusal('not_found', `Cannot find token ${JSON.stringify(accessor)}`));
  }
  const problem = namespaceProblem(draft, ns) ?? fixedProblem(command, before);
  if (problem !== undefined) return refused(problem);
  const links = allLinks(draft, ns, token);
  if ('problem' in links) return refused(links.problem);
  const content = contentOf({ ...token, ...links });
  const after: Token = {
    AccessorID: before.AccessorID,
    SecretID: before.SecretID,
    ...content,
    ...lastingOf(before),
    CreateTime: before.CreateTime,
    Hash: tokenHash(content),
    CreateIndex: before.CreateIndex,
    ModifyIndex: index,
    Namespace: ns,
  };
  return { ok: true, value: putObject(context, tokens, after, before) };
};

/** Copies a token under new ids. Answers the copy. */
const cloneToken: Handler<TokenClone> = (context, command) => {
  const { draft } = context;
  const { ns, nowMs } = command;
  const source = stored<Token>(draft, keys.token(ns, command.source));
  if (source === undefined || !isAlive(draft, source, nowMs)) return refused(notFound());
  if (source.AuthMethod !== undefined) {
    return refused(refusal('invalid', 'Cannot clone a token created from an auth method'));
  }
  const problem = namespaceProblem(draft, ns) ?? idProblem(draft, command);
  if (problem !== undefined) return refused(problem);
  const content = {
    ...source,
    Description: command.description ?? source.Description,
    // Links to objects that have been deleted meanwhile are dropped.
    Policies: existing(draft, 'policy', ns, source.Policies),
    Roles: existing(draft, 'role', ns, source.Roles),
  };
  const built = build(context, command, content, source.ExpirationTime);
  return { ok: true, value: addToken(context, built) };
};

/** Deletes a token. Answers `true` if there was one. */
const deleteToken: Handler<TokenDelete> = (context, { ns, accessor, callerKey }) => {
  if (accessor === ANONYMOUS_ACCESSOR) {
    return refused(refusal('invalid', 'Delete operation not permitted on the anonymous token'));
  }
  const token = stored<Token>(context.draft, keys.token(ns, accessor));
  if (token === undefined) return { ok: true, value: 'false' };
  if (callerKey !== null && secretKeyOf(token.SecretID) === callerKey) {
    const why = "Deletion of the request's authorization token is not permitted";
    return refused(refusal('invalid', why));
  }
  removeToken(context, token);
  return { ok: true, value: 'true' };
};

/** Stores the token of a login, unless the method has changed or the token grants nothing. */
const loginToken: Handler<TokenLogin> = (context, command) => {
  const { draft } = context;
  const { ns, method: used, token, identity } = command;
  const method = stored<AuthMethod>(draft, keys.method(used.ns, used.name));
  const problem = idProblem(draft, command);
  if (problem !== undefined) return refused(problem);
  const content = {
    ...token,
    Policies: existing(draft, 'policy', ns, token.Policies),
    Roles: existing(draft, 'role', ns, token.Roles),
  };
  const binds = [
    content.Policies,
    content.Roles,
    token.ServiceIdentities,
    token.NodeIdentities,
    token.TemplatedPolicies,
  ].some((list) => (list?.length ?? 0) > 0);
  const closed = namespaceProblem(draft, ns);
  if (closed !== undefined || method?.ModifyIndex !== used.modifyIndex || !binds) {
    return refused(refusal('permission_denied', 'Permission denied'));
  }
  if (identity === undefined) {
    const built = build(context, command, content, command.expirationTime, method);
    return { ok: true, value: addToken(context, built) };
  }
  const nowMs = Date.parse(command.createTime);
  const subject = command.author?.Identity?.Subject;
  if (blockOf(draft, used, subject, nowMs) !== undefined) return refused(BLOCKED);
  const displaced = displacedTokens(draft, method, identity, nowMs);
  if (displaced === undefined) return refused(TOKEN_LIMIT);
  for (const old of displaced) removeToken(context, old);
  const lifeMs = loginLifeMs(draft, method);
  const end = lifeMs === undefined ? undefined : timeOf(nowMs + lifeMs);
  const built = build(context, command, content, end, method);
  const { Made: before } = accountOf(draft, used);
  return { ok: true, value: addToken(context, built, { identity, subject, before }) };
};

/** Deletes the token of a login. */
const logoutToken: Handler<TokenLogout> = (context, { secretKey }) => {
  const token = tokenBySecret(context.draft, secretKey);
  const isRevoked = token !== undefined && revokedIndex(context.draft, token) !== undefined;
  if (token === undefined || isRevoked) return refused(UNKNOWN_TOKEN);
  if (token.AuthMethod === undefined) {
    const why = "Permission denied: token wasn't created via login";
    return refused(refusal('permission_denied', why));
  }
  removeToken(context, token);
  return { ok: true, value: 'true' };
};

/** Removes expired tokens, oldest first. */
const reapTokens: Handler<TokenReap> = (context, { nowMs, max }) => {
  const { draft } = context;
  const due: Token[] = [];
  for (const key of keysBelow(draft, 'token-by-expiry')) {
    const [, at, ns, accessor] = key.split('\u0000') as [string, string, string, string];
    if (Number(at) > nowMs || due.length >= max) break;
    due.push(stored<Token>(draft, keys.token(ns, accessor))!);
  }
  for (const token of due) removeToken(context, token);
  return { ok: true, value: String(due.length) };
};

/** The commands on tokens. Logins are open, because the member that received one verified it. */
export const tokenCommands: Commands = {
  'token.create': { right: ACL_WRITE, apply: createToken },
  'token.update': { right: ACL_WRITE, apply: updateToken },
  'token.clone': { right: ACL_WRITE, apply: cloneToken },
  'token.delete': { right: ACL_WRITE, apply: deleteToken },
  'token.login': { right: 'open', apply: loginToken },
  'token.logout': { right: 'open', apply: logoutToken },
  'token.reap': { right: 'internal', apply: reapTokens },
};

/** Returns why the ids of a new token cannot be used: no two accessors or secrets may be equal. */
function idProblem(view: View, { accessor, secret }: NewToken): Refusal | undefined {
  const taken = (id: string): boolean =>
    tokenByAccessor(view, id.toLowerCase()) !== undefined ||
    view.get(keys.tokenSecret(secretKeyOf(id))) !== undefined;
  for (const [field, id] of [
    ['AccessorID', accessor],
    ['SecretID', secret],
  ] as const) {
    if (taken(id)) {
      const why = `Invalid Token: ${field} is already in use`;
      return refusal('conflict', why, { pointer: `/${field}` });
    }
  }
  if (secret.toLowerCase() === accessor) {
    const why = 'Invalid Token: SecretID is already in use as the AccessorID, which is no secret';
    return refusal('conflict', why, { pointer: '/SecretID' });
  }
  return undefined;
}

function fixedProblem(command: TokenUpdate, before: Token): Refusal | undefined {
  const { accessor, secretKey, token, authMethod, expirationTime } = command;
  if (secretKey !== undefined && secretKey !== secretKeyOf(before.SecretID)) {
    return refusal('invalid', "Changing a token's SecretID is not permitted", {
      pointer: '/SecretID',
    });
  }
  if (token.Local !== before.Local) {
    return refusal('invalid', `Cannot toggle local mode of ${accessor}`, { pointer: '/Local' });
  }
  if (authMethod !== undefined && authMethod !== (before.AuthMethod ?? '')) {
    return refusal('invalid', `Cannot change AuthMethod of ${accessor}`, {
      pointer: '/AuthMethod',
    });
  }
  const otherTime = expirationTime !== undefined && expirationTime !== before.ExpirationTime;
  if (command.expirationTtl === true || otherTime) {
    const pointer = otherTime ? '/ExpirationTime' : '/ExpirationTTL';
    return refusal('invalid', `Cannot change expiration time of ${accessor}`, { pointer });
  }
  return undefined;
}

function allLinks(
  view: View,
  ns: string,
  token: TokenInput,
): { Policies: Link[]; Roles: Link[] } | { problem: Refusal } {
  const policies = resolveLinks(view, 'policy', ns, token.Policies);
  if ('problem' in policies) return policies;
  const roles = resolveLinks(view, 'role', ns, token.Roles);
  if ('problem' in roles) return roles;
  const link = (ID: string): Link => ({ ID });
  return { Policies: policies.ids.map(link), Roles: roles.ids.map(link) };
}

/** Returns those of the links whose targets exist. */
function existing(
  view: View,
  target: LinkTarget,
  ns: string,
  links: readonly LinkInput[] = [],
): Link[] {
  const found = links.flatMap((link) => {
    const resolved = resolveLinks(view, target, ns, [link]);
    return 'ids' in resolved ? resolved.ids : [];
  });
  return [...new Set(found)].map((ID) => ({ ID }));
}

type Content = Grants &
  Pick<Token, 'Description' | 'Local'> & {
    readonly Policies: readonly Link[];
    readonly Roles: readonly Link[];
  };

/** Returns the members that a token's hash covers, in answer order, without empty lists. */
function contentOf(content: Content) {
  const some = <T>(field: string, list: readonly T[] | undefined) =>
    list !== undefined && list.length > 0 ? { [field]: list } : {};
  return {
    Description: content.Description,
    ...some('Policies', content.Policies),
    ...some('Roles', content.Roles),
    ...some('ServiceIdentities', content.ServiceIdentities),
    ...some('NodeIdentities', content.NodeIdentities),
    ...some('TemplatedPolicies', content.TemplatedPolicies),
    Local: content.Local,
  };
}

/** Returns the members that no update changes, in answer order. */
const lastingOf = ({ AuthMethod, AuthMethodNamespace, ExpirationTime }: Partial<Token>) => ({
  ...(AuthMethod === undefined ? {} : { AuthMethod }),
  ...(AuthMethodNamespace === undefined ? {} : { AuthMethodNamespace }),
  ...(ExpirationTime === undefined ? {} : { ExpirationTime }),
});

function build(
  { index }: ApplyContext,
  { ns, accessor, secret, createTime }: Omit<NewToken, 'type' | 'v'>,
  input: Content,
  expirationTime: string | undefined,
  method?: AuthMethod,
): Token {
  const content = contentOf(input);
  return {
    AccessorID: accessor,
    SecretID: secret,
    ...content,
    ...lastingOf({
      ...(method ? { AuthMethod: method.Name, AuthMethodNamespace: method.Namespace } : {}),
      ...(expirationTime === undefined ? {} : { ExpirationTime: expirationTime }),
    }),
    CreateTime: createTime,
    Hash: tokenHash(content),
    CreateIndex: index,
    ModifyIndex: index,
    Namespace: ns,
  };
}

/** Stores a token that the cluster creates itself, linked to policies of its namespace. */
export function plantToken(
  context: ApplyContext,
  ids: { ns: string; accessor: string; secret: string; createTime: string },
  description: string,
  policyIds: readonly string[],
): string {
  const content: Content = {
    Description: description,
    Policies: policyIds.map((ID) => ({ ID })),
    Roles: [],
    Local: false,
  };
  return addToken(context, build(context, ids, content, undefined));
}
