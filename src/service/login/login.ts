/** Use cases of login and logout. Only the log says why a login was refused. */
import { randomUUID } from 'node:crypto';
import type { LoginBody } from '../../api/endpoints/tokens.js';
import { ApiError, type Refusal, refusal, refuse, reject } from '../../base/errors.js';
import { timeOf } from '../../languages/times.js';
import { keys } from '../../state/keys.js';
import { stored } from '../../state/lists.js';
import type { AuthMethod } from '../../state/methods.js';
import { loginAuthor } from '../../state/stamp.js';
import { NO_LOGIN, type TokenLogin, type TokenLogout } from '../../state/token-login.js';
import { shown } from '../acl/tokens.js';
import { inSlices } from '../common/event-loop.js';
import type { Requester, Service } from '../common/types.js';
import { methodUse, type UsageBook } from '../usage/book.js';
import type { AuthMethodTypes } from './index.js';
import { judgeLogin, LIMIT_FAULT } from './judge.js';
import type { LoginRefusals } from './refusals.js';
import { causeOf, type LoginFault, type LoginLogger, type Verdict } from './types.js';

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
  /** Where the use of auth methods is noted. */
  readonly usage: { readonly book: Pick<UsageBook, 'note'> };
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
  request: LoginRequest,
  body: LoginBody,
): Promise<string> {
  let verified = await verify(parts, request, body);
  let asked = request;
  for (let retries = 0; ; retries++) {
    try {
      return await createToken(parts, asked, verified);
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      const { method, verdict } = verified;
      if (retries === RETRIES_MAX)
        refuseLogin(parts, method, { ...CHANGED, who: verdict.who }, UNSETTLED);
    }
    const { admit: _, ...admitted } = request;
    asked = admitted;
    verified = await verify(parts, request, body, verified);
  }
}

/** How often a login is decided again because its method or what it binds has changed meanwhile. */
const RETRIES_MAX = 5;
const UNSETTLED = refusal(
  'conflict',
  'The auth method kept changing while the login was verified: try again',
);

/**
 * Verifies a bearer token by its method as it is now. What was verified `before` by a method with
 * the same Config stays so. Throws ApiError.
 */
async function verify(
  parts: LoginParts,
  request: LoginRequest,
  body: LoginBody,
  before?: VerifiedToken,
): Promise<VerifiedToken> {
  const method = await loginMethod(parts, request, body.AuthMethod ?? '');
  if (method.Type === 'oidc') {
    const why = `auth method "${method.Name}" is of type oidc: start at /v1/acl/oidc/auth-url`;
    reject('invalid', why, { pointer: '/AuthMethod' });
  }
  const judgedBy = ({ Type, Config }: AuthMethod): string => JSON.stringify([Type, Config]);
  if (before !== undefined && judgedBy(before.method) === judgedBy(method))
    return { ...before, method };
  const type = parts.methodTypes.get(method.Type)!;
  // A token that was read from a file ends in a newline.
  const bearer = (body.BearerToken ?? '').trim();
  const judged = { namespace: method.Namespace, nowMs: parts.nowMs() };
  const verdict = await type.validate(method.Config, bearer, judged);
  if (!verdict.ok) return refuseLogin(parts, method, verdict);
  return { method, verdict, Description: descriptionOf(method.Type, body.Meta) };
}

/** Returns the auth method of a login. Throws ApiError. */
export async function loginMethod(
  { service, refusals }: LoginParts,
  { ns, timeoutMs }: Pick<LoginRequest, 'ns' | 'timeoutMs'>,
  name: string,
): Promise<AuthMethod> {
  await service.catchUp(timeoutMs);
  const method = stored<AuthMethod>(service.view, keys.method(ns, name));
  if (method !== undefined) return method;
  const why = `auth method ${JSON.stringify(name.slice(0, NAME_SHOWN_MAX))} not found`;
  refusals.note({ cause: 'method_unknown', reason: why });
  const fault = { code: 'unknown_method', reason: why } as const;
  const unknown = { Name: name.slice(0, NAME_SHOWN_MAX), Namespace: ns };
  throw new LoginRefused(refusal('acl_not_found', `ACL not found: ${why}`), fault, unknown);
}

/** A verified identity, and what its token has besides what the rules of the method bind. */
interface VerifiedToken extends Pick<TokenLogin, 'once' | 'replaces'> {
  readonly method: AuthMethod;
  readonly verdict: Omit<Extract<Verdict, { readonly ok: true }>, 'ok'>;
  readonly Description: string;
  /** Why the login is refused if what it uses up was used before. */
  readonly usedFault?: LoginFault;
}

/** The method, what it binds, or the namespace was changed while a login was verified. */
class Overtaken extends Error {}

/**
 * Creates the token of a verified identity. Returns it as answered. Throws ApiError.
 */
export async function makeToken(
  parts: LoginParts,
  request: LoginRequest,
  verified: VerifiedToken,
): Promise<string> {
  try {
    return await createToken(parts, request, verified);
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error;
    const { method, verdict } = verified;
    return refuseLogin(parts, method, { ...CHANGED, who: verdict.who });
  }
}

/** Creates the token of a verified identity. Throws ApiError, and Overtaken. */
async function createToken(
  parts: LoginParts,
  { timeoutMs, reason, admit, notes }: LoginRequest,
  { method, verdict, Description, once, replaces, usedFault }: VerifiedToken,
): Promise<string> {
  const { identity, subject, who, named } = verdict;
  const { service, methodTypes, datacenter } = parts;
  admit?.(subject);
  const shape = methodTypes.get(method.Type)!.shapeOf(method.Config);
  const at = parts.nowMs();
  const known = { identity, subject, who, named, shape, datacenter, nowMs: at, replaces };
  const outcome = await inSlices(judgeLogin(service.view, method, known), 'login');
  if (!outcome.ok) return refuseLogin(parts, method, { ...outcome, who });
  const { grant } = outcome;
  const place = { ns: method.Namespace, name: method.Name };
  const command: TokenLogin = {
    type: 'token.login',
    v: 1,
    ns: grant.ns,
    accessor: randomUUID(),
    secret: randomUUID(),
    createTime: timeOf(at),
    method: { ...place, modifyIndex: method.ModifyIndex },
    token: { Description, ...grant.token },
    identity: grant.identity,
    ...(once !== undefined && { once }),
    ...(replaces !== undefined && { replaces }),
  };
  const author = loginAuthor({ AuthMethod: place.name, Namespace: place.ns, Subject: who });
  const requester = { caller: { tokenKey: null }, timeoutMs, reason, author, notes };
  const proposed = service.write(requester, command);
  const token = await proposed.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.refusal.code !== 'permission_denied') throw error;
    const kind = error.refusal.about?.kind;
    const faults = new Map([
      ['limit', LIMIT_FAULT],
      ['blocked', BLOCKED],
      ['used', usedFault],
    ]);
    const fault = faults.get(kind ?? '');
    if (fault === undefined) throw new Overtaken();
    return refuseLogin(parts, method, { ...fault, who });
  });
  parts.usage.book.note(methodUse(place.ns, place.name));
  return shown(service, token);
}

/** The refusal of a login that a change has overtaken. */
const CHANGED = {
  code: 'nothing_bound',
  reason: 'the auth method, what the login binds, or its namespace was changed meanwhile',
} as const;

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

/** Refuses a login: counts it, and throws LoginRefused. `told`: what its client is told. */
export function refuseLogin(
  { refusals }: Pick<LoginParts, 'refusals'>,
  method: AuthMethod,
  { code, reason, who }: LoginFault & { readonly who?: string },
  told = DENIED,
): never {
  refusals.note({ cause: causeOf(code), reason, method });
  throw new LoginRefused(told, { code, reason }, method, who);
}

/** Returns the description of the token of a login with a method of a type, and with a Meta. */
export function descriptionOf(
  type: string,
  meta: { readonly [name: string]: string } | null = {},
): string {
  const what = `token created via ${type === 'oidc' ? 'OIDC login' : 'login'}`;
  const names = Object.keys(meta ?? {}).sort();
  if (names.length === 0) return what;
  // The JSON text is built by member: an object would reorder number-like names and lose __proto__.
  const members = names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(meta![name])}`);
  return `${what}: {${members.join(',')}}`;
}

/** Who logs out: the secret of the anonymous token makes nobody known. */
export type Leaver = Requester & { readonly secret: string | null };

/** Deletes the token of the request, which a login created. */
export async function logout(service: Service, requester: Leaver): Promise<string> {
  const { tokenKey } = requester.caller;
  if (requester.secret === null) reject('unauthenticated', 'Supplied token does not exist');
  if (tokenKey === null) refuse(NO_LOGIN);
  const command: TokenLogout = { type: 'token.logout', v: 1, secretKey: tokenKey };
  return service.write(requester, command);
}
