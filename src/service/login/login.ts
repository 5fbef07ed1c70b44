/** Use cases of login and logout. Only the log says why a login was refused. */

import { randomUUID } from 'node:crypto';
import type { LoginBody } from '../../api/endpoints/tokens.js';
import { ApiError, type Refusal, refusal, reject } from '../../base/errors.js';
import { timeOf } from '../../languages/times.js';
import { keys } from '../../state/keys.js';
import { stored } from '../../state/lists.js';
import type { AuthMethod } from '../../state/methods.js';
import { loginAuthor } from '../../state/stamp.js';
import type { TokenLogin, TokenLogout } from '../../state/token-commands.js';
import { shown } from '../acl/tokens.js';
import type { Requester, Service } from '../common/types.js';
import type { AuthMethodTypes } from './index.js';
import { judgeLogin, LIMIT_FAULT } from './judge.js';
import type { LoginRefusals } from './refusals.js';
import { causeOf, type LoginFault, type LoginLogger } from './types.js';

export interface LoginParts {
  readonly service: Service;
  readonly methodTypes: AuthMethodTypes;
  readonly datacenter: string;
  /**
   * Milliseconds since the epoch: the creation time of tokens, and the clock by which they expire.
   */
  readonly nowMs: () => number;
  readonly logger: LoginLogger;
  readonly refusals: LoginRefusals;
}

/** The namespace of the auth method, and the limits on a login. */
export interface LoginRequest {
  readonly ns: string;
  readonly timeoutMs: number;
  readonly reason?: string | undefined;
  /** Called with the verified subject. Throws ApiError `too_many` to refuse it. */
  readonly admit?: (subject: string) => void;
  readonly notes?: Requester['notes'];
}

/**
 * Verifies a bearer token and creates a token with all that the rules of the method bind. Returns
 * it as answered. Throws ApiError.
 */
export async function login(
  parts: LoginParts,
  { ns, timeoutMs, reason, admit, notes }: LoginRequest,
  body: LoginBody,
): Promise<string> {
  const { service, methodTypes, nowMs } = parts;
  await service.catchUp(timeoutMs);
  const name = body.AuthMethod ?? '';
  const method = stored<AuthMethod>(service.view, keys.method(ns, name));
  if (method === undefined) {
    const why = `auth method ${JSON.stringify(name.slice(0, NAME_SHOWN_MAX))} not found`;
    parts.refusals.note({ cause: 'method_unknown', reason: why });
    const fault = { code: 'unknown_method', reason: why } as const;
    const unknown = { Name: name.slice(0, NAME_SHOWN_MAX), Namespace: ns };
    throw new LoginRefused(refusal('acl_not_found', `ACL not found: ${why}`), fault, unknown);
  }
  const type = methodTypes.get(method.Type)!;
  // A token that was read from a file ends in a newline.
  const bearer = (body.BearerToken ?? '').trim();
  const judged = { namespace: method.Namespace, nowMs: nowMs() };
  const verdict = await type.validate(method.Config, bearer, judged);
  if (!verdict.ok) return refuse(parts, method, verdict);
  admit?.(verdict.subject);
  const shape = type.shapeOf(method.Config);
  const at = nowMs();
  const { identity, subject, who } = verdict;
  const verified = { identity, subject, who, shape, datacenter: parts.datacenter, nowMs: at };
  const outcome = judgeLogin(service.view, method, verified);
  if (!outcome.ok) return refuse(parts, method, { ...outcome, who });
  const { grant } = outcome;
  const command: TokenLogin = {
    type: 'token.login',
    v: 1,
    ns: grant.ns,
    accessor: randomUUID(),
    secret: randomUUID(),
    createTime: timeOf(at),
    method: { ns, name: method.Name, modifyIndex: method.ModifyIndex },
    token: { Description: descriptionOf(body.Meta ?? {}), ...grant.token },
    identity: grant.identity,
  };
  const author = loginAuthor({ AuthMethod: method.Name, Namespace: ns, Subject: who });
  const requester = { caller: { tokenKey: null }, timeoutMs, reason, author, notes };
  const proposed = service.write(requester, command);
  const token = await proposed.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.refusal.code !== 'permission_denied') throw error;
    if (error.refusal.about?.kind === 'limit')
      return refuse(parts, method, { ...LIMIT_FAULT, who });
    if (error.refusal.about?.kind === 'blocked') return refuse(parts, method, { ...BLOCKED, who });
    throw new ApiError(DENIED);
  });
  return shown(service, token);
}

/** The refusal of an identity that was blocked while its login was verified. */
const BLOCKED = { code: 'blocked', reason: 'blocked: the identity is blocked' } as const;

/** Characters of an unknown name that an error shows: it does not echo whole names. */
const NAME_SHOWN_MAX = 128;

/** A refused login. Its client learns nothing of the reason. */
export class LoginRefused extends ApiError {
  readonly fault: LoginFault;
  readonly method: { readonly Name: string; readonly Namespace: string };
  /** Who tried, if that is known. */
  readonly who: string | undefined;

  constructor(why: Refusal, fault: LoginFault, method: LoginRefused['method'], who?: string) {
    super(why);
    this.fault = fault;
    this.method = method;
    this.who = who;
  }
}

/** All that the client of a refused login is told. */
const DENIED = refusal('permission_denied', 'Permission denied');

function refuse(
  { refusals }: LoginParts,
  method: AuthMethod,
  { code, reason, who }: LoginFault & { readonly who?: string },
): never {
  refusals.note({ cause: causeOf(code), reason, method });
  throw new LoginRefused(DENIED, { code, reason }, method, who);
}

/** Returns the description of the token of a login with this Meta. */
export function descriptionOf(meta: { readonly [name: string]: string }): string {
  const names = Object.keys(meta).sort();
  if (names.length === 0) return 'token created via login';
  // The JSON text is built by member: an object would reorder number-like names and lose __proto__.
  const members = names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(meta[name])}`);
  return `token created via login: {${members.join(',')}}`;
}

/** Deletes the token of the request, which a login created. */
export async function logout(service: Service, requester: Requester): Promise<string> {
  const { tokenKey } = requester.caller;
  if (tokenKey === null) reject('unauthenticated', 'Supplied token does not exist');
  const command: TokenLogout = { type: 'token.logout', v: 1, secretKey: tokenKey };
  return service.write(requester, command);
}
