/** The commands of logins and logouts. Ids, secrets and times are members of a login. */
import { refusal, UNKNOWN_TOKEN } from '../base/errors.js';
import { timeOf } from '../languages/times.js';
import { accountOf, BLOCKED, blockOf } from './identity-blocks.js';
import { keys } from './keys.js';
import { namespaceProblem, refused, stored } from './lists.js';
import { displacedTokens, loginLifeMs, TOKEN_LIMIT } from './login-limits.js';
import type { AuthMethod } from './methods.js';
import type { Commands } from './object.js';
import { isUsed, type Once, use } from './oidc.js';
import { build, existing, idProblem, type NewToken, type TokenInput } from './token-content.js';
import {
  addToken,
  isAlive,
  removeToken,
  revokedIndex,
  type Token,
  tokenBySecret,
} from './tokens.js';
import type { Command, Handler, View } from './types.js';

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
  /** What the login uses up. It is refused if that was used before. */
  readonly once?: Once;
  /** SHA-256 of the SecretID of a token of the same method, which ends with this login. */
  readonly replaces?: string;
  /** Without an identity: the expiration computed by the member that received the login. */
  readonly expirationTime?: string;
}

/** Deletes the token of a login. `secretKey` is the SHA-256 of its secret. */
export interface TokenLogout extends Command {
  readonly type: 'token.logout';
  readonly secretKey: string;
}

/** The refusal of a login that was completed before. The client gets a shorter text. */
const USED = refusal('permission_denied', 'Permission denied: this login was completed before', {
  about: { kind: 'used' },
});

/** The refusal of a logout with a token that no login created. */
export const NO_LOGIN = refusal(
  'permission_denied',
  "Permission denied: token wasn't created via login",
);

/** Stores the token of a login, unless the method has changed or the token grants nothing. */
const loginToken: Handler<TokenLogin> = (context, command) => {
  const { draft } = context;
  const { ns, method: used, token, identity, once } = command;
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
    const built = build(context, command, content, { end: command.expirationTime, method });
    return { ok: true, value: addToken(context, built) };
  }
  const nowMs = Date.parse(command.createTime);
  const subject = command.author?.Identity?.Subject;
  if (blockOf(draft, used, subject, nowMs) !== undefined) return refused(BLOCKED);
  if (once !== undefined && isUsed(draft, once)) return refused(USED);
  const replaced = replacedToken(draft, command, method, nowMs);
  if (replaced === null) return refused(UNKNOWN_TOKEN);
  const displaced = displacedTokens(draft, method, identity, nowMs, replaced?.AccessorID);
  if (displaced === undefined) return refused(TOKEN_LIMIT);
  if (once !== undefined) use(context, once, nowMs);
  for (const old of displaced) removeToken(context, old);
  if (replaced !== undefined) removeToken(context, replaced);
  const lifeMs = loginLifeMs(draft, method);
  const end = lifeMs === undefined ? undefined : timeOf(nowMs + lifeMs);
  const built = build(context, command, content, { end, method });
  const { Made: before } = accountOf(draft, used);
  return { ok: true, value: addToken(context, built, { identity, subject, before }) };
};

/**
 * Returns the token that a login replaces; undefined if it replaces none, null if that token is not
 * alive or of another method.
 */
function replacedToken(
  view: View,
  { replaces }: Pick<TokenLogin, 'replaces'>,
  method: AuthMethod,
  nowMs: number,
): Token | undefined | null {
  if (replaces === undefined) return undefined;
  const token = tokenBySecret(view, replaces);
  return token !== undefined && isOfMethod(token, method) && isAlive(view, token, nowMs)
    ? token
    : null;
}

/** Whether a login with a method created a token. */
export const isOfMethod = (token: Token, { Namespace, Name }: AuthMethod): boolean =>
  token.AuthMethod?.toLowerCase() === Name.toLowerCase() &&
  (token.AuthMethodNamespace ?? token.Namespace) === Namespace;

/** Deletes the token of a login. */
const logoutToken: Handler<TokenLogout> = (context, { secretKey }) => {
  const token = tokenBySecret(context.draft, secretKey);
  const isRevoked = token !== undefined && revokedIndex(context.draft, token) !== undefined;
  if (token === undefined || isRevoked) return refused(UNKNOWN_TOKEN);
  if (token.AuthMethod === undefined) return refused(NO_LOGIN);
  removeToken(context, token);
  return { ok: true, value: 'true' };
};

/** The commands of logins. They are open, because the member that received one verified it. */
export const loginCommands: Commands = {
  'token.login': { right: 'open', apply: loginToken },
  'token.logout': { right: 'open', apply: logoutToken },
};
