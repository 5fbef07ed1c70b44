/**
 * Use cases of OIDC logins (beyond.md 7.4): where to log in, the login itself, its renewal, and the
 * logout. Only the log and decisions say why one was refused.
 */
import { randomBytes } from 'node:crypto';
import {
  type AuthUrlBody,
  type CallbackBody,
  PROMPTS,
  type RenewBody,
} from '../../api/endpoints/oidc.js';
import { ApiError, refusal, reject, UNKNOWN_TOKEN } from '../../base/errors.js';
import { keys } from '../../state/keys.js';
import { keysBelow, stored } from '../../state/lists.js';
import type { AuthMethod } from '../../state/methods.js';
import { isUsed, KEY_BYTES, type OidcRotate, type Once, oidcKeys } from '../../state/oidc.js';
import { isOfMethod } from '../../state/token-login.js';
import { identityOf, isAlive, type Token, tokenBySecret } from '../../state/tokens.js';
import { isHidden } from '../common/reading.js';
import type { ReadUseCase, Requester, Service } from '../common/types.js';
import { FetchFault } from '../login/exchange.js';
import {
  descriptionOf,
  type Leaver,
  type LoginParts,
  type LoginRequest,
  loginMethod,
  logout,
  makeToken,
  refuseLogin,
} from '../login/login.js';
import type { LoginFault } from '../login/types.js';
import { type OidcConfig, readOidcConfig } from './config.js';
import { type Expected, OidcMethod } from './method.js';
import { type Granted, GrantFault, type Provider } from './provider.js';
import { fingerprint, seal, unseal } from './seal.js';

/** Milliseconds within which a login must be completed. */
const STATE_MS = 10 * 60_000;
/** Milliseconds for which a login can be renewed without its user. */
const RENEWAL_MS = 30 * 24 * 3600_000;
/** Bytes of Meta: it is part of an address. */
const META_MAX = 1024;
/** Characters of a refused address that an error shows. */
const SHOWN_MAX = 200;
/** Random bytes of a nonce and of a PKCE verifier (RFC 7636, section 4.1). */
const RANDOM_BYTES = 32;

/** What is sealed with every step of a login. */
interface Sealed {
  readonly ns: string;
  /** The auth method as it was then. */
  readonly method: string;
  readonly index: number;
  readonly meta: { readonly [name: string]: string };
  readonly untilMs: number;
}

/** A login in progress. */
interface State extends Sealed {
  readonly redirectUri: string;
  readonly nonce: string;
  readonly verifier: string;
  /** SHA-256 of the ClientNonce. */
  readonly client: string;
}

/** A completed login that can be renewed. */
interface Renewal extends Sealed {
  /** The Subject of its Identity, and the name of the user at the provider. */
  readonly subject: string;
  readonly sub: string;
  readonly nonce: string;
  readonly refresh: string;
}

/** Returns the address at which a user logs in. Throws ApiError. */
export async function authUrl(
  parts: LoginParts,
  request: LoginRequest,
  { AuthMethod, RedirectURI = '', ClientNonce = '', Meta, Prompt = '' }: AuthUrlBody,
): Promise<string> {
  const step = await Step.open(parts, request, AuthMethod);
  if (!step.config.redirectUris.includes(RedirectURI)) {
    const uri = JSON.stringify(RedirectURI.slice(0, SHOWN_MAX));
    const pointer = '/RedirectURI';
    reject('invalid', `RedirectURI ${uri} is not among the AllowedRedirectURIs`, { pointer });
  }
  if (!PROMPTS.some((known) => known === Prompt))
    reject('invalid', 'Prompt must be none, login, select_account or empty', {
      pointer: '/Prompt',
    });
  const meta = Meta ?? {};
  if (Buffer.byteLength(JSON.stringify(meta)) > META_MAX)
    reject('invalid', `Meta is longer than ${META_MAX} bytes of JSON`, { pointer: '/Meta' });
  const provider = await step.provider();
  const nonce = randomBytes(RANDOM_BYTES).toString('base64url');
  const verifier = randomBytes(RANDOM_BYTES).toString('base64url');
  const state: State = {
    ...step.sealedWith(meta, STATE_MS),
    redirectUri: RedirectURI,
    nonce,
    verifier,
    client: fingerprint(ClientNonce),
  };
  return provider.authUrl({
    redirectUri: RedirectURI,
    state: seal(mustHaveKeys(parts.service), 'state', state),
    nonce,
    verifier,
    prompt: Prompt,
  });
}

/** Completes a login. Returns its token as answered. Throws ApiError. */
export async function completeLogin(
  parts: LoginParts,
  request: LoginRequest,
  { AuthMethod, State: text = '', Code = '', ClientNonce = '' }: CallbackBody,
): Promise<string> {
  const step = await Step.open(parts, request, AuthMethod);
  const state = step.unsealed<State>('state', text);
  if (fingerprint(ClientNonce) !== state.client)
    step.refuse('client_nonce', 'the ClientNonce is not the one with which the login began');
  const once = { hash: fingerprint(text), untilMs: state.untilMs };
  step.mustBeUnused(once, STATE_USED);
  if (Code === '') step.refuse('code', 'the Code is missing');
  const provider = await step.provider();
  const granted = await step.granted('code', () =>
    provider.redeem(Code, state.redirectUri, state.verifier),
  );
  const { meta, nonce } = state;
  return step.finish(provider, granted, {
    once,
    usedFault: STATE_USED,
    meta,
    expected: { nonce },
  });
}

/** Renews the token of the request. Returns the new one as answered. Throws ApiError. */
export async function renewLogin(
  parts: LoginParts,
  request: LoginRequest,
  tokenKey: string | null,
  { AuthMethod, Renewal: text = '' }: RenewBody,
): Promise<string> {
  const step = await Step.open(parts, request, AuthMethod);
  const { view } = parts.service;
  const token = tokenKey === null ? undefined : tokenBySecret(view, tokenKey);
  if (
    token === undefined ||
    !isOfMethod(token, step.method) ||
    !isAlive(view, token, parts.nowMs())
  )
    throw new ApiError(UNKNOWN_TOKEN);
  const renewal = step.unsealed<Renewal>('renewal', text);
  if (identityOf(view, token)?.Subject !== renewal.subject) step.refuse('subject', OTHER_TOKEN);
  const once = { hash: fingerprint(text), untilMs: renewal.untilMs };
  step.mustBeUnused(once, RENEWAL_USED);
  const provider = await step.provider();
  const granted = await step.granted('renewal', () => provider.refresh(renewal.refresh));
  // A provider that sends no new refresh token goes on with the present one.
  const kept = { ...granted, refreshToken: granted.refreshToken ?? renewal.refresh };
  return step.finish(provider, kept, {
    once,
    usedFault: RENEWAL_USED,
    meta: renewal.meta,
    expected: { nonce: renewal.nonce, sub: renewal.sub },
    replaces: { tokenKey: tokenKey!, subject: renewal.subject },
  });
}

const STATE_USED: LoginFault = {
  code: 'state_used',
  reason: 'the login of this State was completed before',
};
const RENEWAL_USED: LoginFault = { code: 'renewal', reason: 'the Renewal was used before' };
const OTHER_TOKEN = 'the Renewal belongs to the login of another user';

/**
 * Ends the token of the request. Returns where the session at the provider ends; empty if unknown.
 */
export async function oidcLogout(parts: LoginParts, requester: Leaver): Promise<string> {
  const { service, methodTypes, nowMs } = parts;
  await service.catchUp(requester.timeoutMs);
  const { tokenKey } = requester.caller;
  const token = tokenKey === null ? undefined : tokenBySecret(service.view, tokenKey);
  const method = token === undefined ? undefined : methodOf(service, token);
  const type = methodTypes.get(method?.Type ?? '');
  // the entry refuses what no login made
  if (token?.AuthMethod !== undefined && !(type instanceof OidcMethod))
    reject('permission_denied', "Permission denied: token wasn't created via OIDC login");
  await logout(service, requester);
  const { Config, Namespace: namespace } = method!;
  try {
    const at = { namespace, nowMs: nowMs() };
    return (await (type as OidcMethod).provider(readOidcConfig(Config), at)).logoutUrl();
  } catch (error) {
    // The token has ended. The session at the provider ends by itself.
    if (error instanceof FetchFault || error instanceof ApiError) return '';
    throw error;
  }
}

/**
 * Lists the methods of a namespace by which a browser can log in. Needs no right. The index tells
 * callers without one nothing of other methods.
 */
export const browserMethods =
  (ns: string): ReadUseCase<string> =>
  ({ view, authorizer }) => {
    const all = [...keysBelow(view, 'method', ns)].map((key) => stored<AuthMethod>(view, key)!);
    const found = all.filter(({ Type }) => Type === 'oidc');
    const shown = found.map(({ Name, DisplayName = '', Namespace }) => ({
      Name,
      DisplayName,
      Kind: 'oidc',
      Namespace,
    }));
    const list = keys.index('method', ns);
    const index = isHidden(authorizer, ns)
      ? Math.max(0, ...found.map(({ ModifyIndex }) => ModifyIndex))
      : Number(view.get(list) ?? 0);
    return { value: JSON.stringify(shown), index, keys: [list] };
  };

/** Makes a new key for what clients keep of logins. Returns the index. */
export function rotateKey(service: Service, requester: Requester): Promise<string> {
  const key = newKey();
  const command: OidcRotate = { type: 'oidc.rotate', v: 1, key };
  return service.write(requester, command);
}

/** Returns a random key for a cluster, in base64. */
export const newKey = (): string => randomBytes(KEY_BYTES).toString('base64');

const methodOf = (service: Service, token: Token): AuthMethod | undefined =>
  token.AuthMethod === undefined
    ? undefined
    : stored<AuthMethod>(
        service.view,
        keys.method(token.AuthMethodNamespace ?? token.Namespace, token.AuthMethod),
      );

const TEXT_OF = { code: 'code', renewal: 'refresh token' } as const;
const OTHER_SUBJECT = 'the claims name another identity than that of the token';

/** What the last part of a login or renewal needs. */
interface Last {
  readonly once: Once;
  readonly usedFault: LoginFault;
  readonly meta: Sealed['meta'];
  readonly expected: Expected;
  /** The token that the new one replaces, and the Subject of both. */
  readonly replaces?: { readonly tokenKey: string; readonly subject: string };
}

/** A step of a login by an auth method of type oidc. */
class Step {
  readonly method: AuthMethod;
  readonly config: OidcConfig;
  readonly #type: OidcMethod;
  readonly #parts: LoginParts;
  readonly #request: LoginRequest;

  constructor(
    parts: LoginParts,
    request: LoginRequest,
    { method, type }: { readonly method: AuthMethod; readonly type: OidcMethod },
  ) {
    this.method = method;
    this.config = readOidcConfig(method.Config);
    this.#type = type;
    this.#parts = parts;
    this.#request = request;
  }

  /** Throws ApiError if the method is unknown, or of another type. */
  static async open(parts: LoginParts, request: LoginRequest, name = ''): Promise<Step> {
    const method = await loginMethod(parts, request, name);
    const type = parts.methodTypes.get(method.Type);
    if (type instanceof OidcMethod) return new Step(parts, request, { method, type });
    const why = `auth method "${method.Name}" is of type ${method.Type}: log in at /v1/acl/login`;
    return reject('invalid', why, { pointer: '/AuthMethod' });
  }

  refuse(code: LoginFault['code'], reason: string): never {
    refuseLogin(this.#parts, this.method, { code, reason });
  }

  /** Returns what every step seals, for some time. */
  sealedWith(meta: Sealed['meta'], ms: number): Sealed {
    const { Namespace: ns, Name: method, ModifyIndex: index } = this.method;
    return { ns, method, index, meta, untilMs: this.#parts.nowMs() + ms };
  }

  /** Returns what a client has kept for the method as it is now. Refuses the login otherwise. */
  unsealed<T extends Sealed>(purpose: 'state' | 'renewal', text: string): T {
    const { Namespace, Name, ModifyIndex } = this.method;
    const what = purpose === 'state' ? 'State' : 'Renewal';
    const found = unseal(mustHaveKeys(this.#parts.service), purpose, text) as T | undefined;
    if (found === undefined) return this.refuse(purpose, `the ${what} is not one of this cluster`);
    if (found.untilMs <= this.#parts.nowMs()) this.refuse(purpose, `the ${what} is too old`);
    if (found.ns !== Namespace || found.method !== Name)
      this.refuse(purpose, `the ${what} is for another auth method`);
    if (found.index !== ModifyIndex)
      this.refuse(purpose, `the auth method was changed after the ${what} was made`);
    return found;
  }

  /** Refuses a login that was completed before, so that its code is not spent in vain. */
  mustBeUnused(once: Once, { code, reason }: LoginFault): void {
    if (isUsed(this.#parts.service.view, once)) this.refuse(code, reason);
  }

  /** Throws ApiError 503 if the provider cannot be reached. */
  provider(): Promise<Provider> {
    return this.#reached(() => this.#type.provider(this.config, this.#at()));
  }

  /** Returns what the provider gives. Refuses the login if it gives nothing. */
  granted(code: 'code' | 'renewal', send: () => Promise<Granted>): Promise<Granted> {
    return this.#reached(async () => {
      try {
        return await send();
      } catch (error) {
        if (!(error instanceof GrantFault)) throw error;
        return this.refuse(code, `the provider refuses the ${TEXT_OF[code]}: ${error.message}`);
      }
    });
  }

  /** Makes the token of what a provider gave. */
  async finish(
    provider: Provider,
    granted: Granted,
    { once, usedFault, meta, expected, replaces }: Last,
  ): Promise<string> {
    const { method, config } = this;
    const found = await this.#reached(() =>
      this.#type.identify({ config, provider, granted, expected, at: this.#at() }),
    );
    if (!found.ok) return refuseLogin(this.#parts, method, found);
    const { who, sub } = found;
    if (replaces !== undefined && replaces.subject !== who)
      return refuseLogin(this.#parts, method, { code: 'subject', reason: OTHER_SUBJECT, who });
    const Description = descriptionOf(method.Type, meta);
    const more = { once, usedFault, ...(replaces && { replaces: replaces.tokenKey }) };
    const verified = { method, verdict: found, Description, ...more };
    const token = await makeToken(this.#parts, this.#request, verified);
    const { refreshToken: refresh } = granted;
    const kept = this.sealedWith(meta, RENEWAL_MS);
    const renewal: Renewal | undefined =
      refresh === undefined
        ? undefined
        : { ...kept, subject: who, sub, nonce: expected.nonce, refresh };
    const { Namespace, Name } = method;
    return JSON.stringify({
      ...(JSON.parse(token) as object),
      Identity: { AuthMethod: Name, Namespace, Subject: who },
      ...(renewal && { Renewal: seal(mustHaveKeys(this.#parts.service), 'renewal', renewal) }),
    });
  }

  #at() {
    return { namespace: this.method.Namespace, nowMs: this.#parts.nowMs() };
  }

  /** Waits for a request to the provider. Throws ApiError 503 if it cannot be reached. */
  async #reached<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof FetchFault)) throw error;
      const { method } = this;
      const reason = `the provider cannot be reached: ${error.message}`;
      this.#parts.refusals.note({ cause: 'unreachable', reason, method });
      const why = `The provider of auth method "${method.Name}" cannot be reached`;
      const hint = 'try again later; the log of the node that answered has the reason';
      throw new ApiError(refusal('unavailable', why, { hint }));
    }
  }
}

/** Returns the keys of the cluster. */
function mustHaveKeys({ view }: Service) {
  const found = oidcKeys(view);
  if (found !== undefined) return found;
  return reject('unavailable', 'The cluster has no key for OIDC logins', {
    hint: 'an operator makes one with: conclave operator oidc rotate',
  });
}
