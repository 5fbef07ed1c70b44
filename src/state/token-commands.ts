/** The commands on tokens. Ids, secrets and times are their members. */
import { ANONYMOUS_ACCESSOR } from '../acl/builtin.js';
import { type Refusal, refusal } from '../base/errors.js';
import { keys } from './keys.js';
import { keysBelow, namespaceProblem, refused, stored } from './lists.js';
import type { Commands } from './object.js';
import { ACL_WRITE } from './object-commands.js';
import {
  allLinks,
  build,
  existing,
  idProblem,
  type NewToken,
  replaceContent,
  type TokenInput,
} from './token-content.js';
import { loginCommands } from './token-login.js';
import {
  addToken,
  isAlive,
  removeToken,
  removeTokenAt,
  secretKeyOf,
  type Token,
} from './tokens.js';
import type { Command, Handler } from './types.js';

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

/** Removes at most `max` tokens that expired by `nowMs` (Unix time). Answers how many. */
export interface TokenReap extends Command {
  readonly type: 'token.reap';
  readonly nowMs: number;
  readonly max: number;
}

/** Returns the refusal of a token that does not exist. */
export const tokenNotFound = (): Refusal =>
  refusal('acl_not_found', 'token does not exist: ACL not found', { about: { kind: 'token' } });

/** Stores a new token. Answers it without the names of its links. */
const createToken: Handler<TokenCreate> = (context, command) => {
  const { ns, token } = command;
  const problem = namespaceProblem(context.draft, ns) ?? idProblem(context.draft, command);
  if (problem !== undefined) return refused(problem);
  const links = allLinks(context.draft, ns, token);
  if ('problem' in links) return refused(links.problem);
  const built = build(context, command, { ...token, ...links }, { end: command.expirationTime });
  return { ok: true, value: addToken(context, built) };
};

/** Replaces a token's content. Answers it without the names of its links. */
const updateToken: Handler<TokenUpdate> = (context, command) => {
  const { draft } = context;
  const { ns, accessor, token, nowMs } = command;
  const before = stored<Token>(draft, keys.token(ns, accessor));
  if (before === undefined || !isAlive(draft, before, nowMs)) {
    return refused(refusal('not_found', `Cannot find token ${JSON.stringify(accessor)}`));
  }
  const problem = namespaceProblem(draft, ns) ?? fixedProblem(command, before);
  if (problem !== undefined) return refused(problem);
  const links = allLinks(draft, ns, token);
  if ('problem' in links) return refused(links.problem);
  return { ok: true, value: replaceContent(context, before, { ...token, ...links }) };
};

/** Copies a token under new ids. Answers the copy. */
const cloneToken: Handler<TokenClone> = (context, command) => {
  const { draft } = context;
  const { ns, nowMs } = command;
  const source = stored<Token>(draft, keys.token(ns, command.source));
  if (source === undefined || !isAlive(draft, source, nowMs)) return refused(tokenNotFound());
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
  const built = build(context, command, content, { end: source.ExpirationTime });
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

/** Removes expired tokens, oldest first. */
const reapTokens: Handler<TokenReap> = (context, { nowMs, max }) => {
  const due: string[] = [];
  for (const key of keysBelow(context.draft, 'token-by-expiry')) {
    if (Number(key.split('\u0000')[1]) > nowMs || due.length >= max) break;
    due.push(key);
  }
  for (const key of due) removeTokenAt(context, key);
  return { ok: true, value: String(due.length) };
};

export const tokenCommands: Commands = {
  'token.create': { right: ACL_WRITE, apply: createToken },
  'token.update': { right: ACL_WRITE, apply: updateToken },
  'token.clone': { right: ACL_WRITE, apply: cloneToken },
  'token.delete': { right: ACL_WRITE, apply: deleteToken },
  'token.reap': { right: 'internal', apply: reapTokens },
  ...loginCommands,
};

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
