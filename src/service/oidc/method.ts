/**
 * Auth methods of type oidc. Who logs in comes back from the provider with a code, for which the
 * node gets an ID token; binding rules decide by its claims as by those of a JWT.
 */
import type { IdentityShape } from '../../acl/binding.js';
import type { Refusal } from '../../base/errors.js';
import { type Claims, hasClaim, whoIn } from '../login/claims.js';
import { FetchFault, type Outbound } from '../login/exchange.js';
import { isForeign, JwtMethod } from '../login/jwt.js';
import { type JudgedClaims, judgeClaims } from '../login/jwt-claims.js';
import type { KeyCache } from '../login/keys.js';
import type {
  AuthMethodType,
  CheckName,
  Examined,
  IssuerProblem,
  LoginFault,
  Shown,
  Verdict,
} from '../login/types.js';
import { type OidcConfig, readOidcConfig } from './config.js';
import { endpointProblem, type Granted, GrantFault, Provider } from './provider.js';

type At = Parameters<AuthMethodType['validate']>[2];

/** What the ID token of a login must agree with. */
export interface Expected {
  /** The nonce of the login. An ID token of a renewal may have none. */
  readonly nonce: string;
  /** The `sub` of the login that is renewed. */
  readonly sub?: string;
}

/** What a provider gave, and what it must agree with. */
interface ToIdentify {
  readonly config: OidcConfig;
  readonly provider: Provider;
  readonly granted: Granted;
  readonly expected: Expected;
  readonly at: At;
}

/** Who has logged in at the provider, with the provider's own name of them; or why nobody has. */
export type Identified =
  | (Extract<Verdict, { readonly ok: true }> & { readonly sub: string })
  | Extract<Verdict, { readonly ok: false }>;

/** Why nobody has logged in, with the Subject where the claims are genuine. */
type Refused = LoginFault & { readonly who?: string };

/** Claims that are about a token or an answer, and so are never taken from UserInfo. */
const OF_TOKEN = new Set(['iss', 'aud', 'exp', 'iat', 'nbf', 'jti', 'nonce', 'azp']);
/** UserInfo alone is no token, so only its claims are judged. */
const CLAIMS_ALONE: ReadonlySet<CheckName> = new Set(['claims']);

/** The auth method type `oidc`. */
export class OidcMethod implements AuthMethodType {
  readonly name = 'oidc';
  readonly #jwt: JwtMethod;
  readonly #keys: KeyCache;
  readonly #outbound: Outbound;

  constructor(keys: KeyCache, outbound: Outbound) {
    this.#jwt = new JwtMethod({ name: this.name, read: readOidcConfig }, keys);
    this.#keys = keys;
    this.#outbound = outbound;
  }

  checkConfig(config: unknown, namespace: string): Refusal | undefined {
    return this.#jwt.checkConfig(config, namespace);
  }

  async checkIssuer(config: unknown, namespace: string): Promise<IssuerProblem | undefined> {
    const { source } = readOidcConfig(config);
    const key = 'OIDCDiscoveryURL';
    try {
      const { document } = await this.#keys.check(source, namespace);
      const reason = endpointProblem(document, source.url);
      return reason === undefined ? undefined : { key, reason };
    } catch (error) {
      if (!isForeign(error)) throw error;
      return { key, reason: error.message };
    }
  }

  shapeOf(config: unknown): IdentityShape {
    return this.#jwt.shapeOf(config);
  }

  vouched(config: unknown, id: string, others: Claims): Claims | undefined {
    return this.#jwt.vouched(config, id, others);
  }

  /** Verifies an ID token, for explanations and decisions: a login takes none. */
  validate(config: unknown, idToken: string, at: At): Promise<Verdict> {
    return this.#jwt.validate(config, idToken, at);
  }

  examine(config: unknown, shown: Shown, at: At): Promise<Examined> {
    return this.#jwt.examine(config, shown, at);
  }

  /** Returns the provider of a method. Rejects with FetchFault if it cannot be reached. */
  async provider(config: OidcConfig, { namespace, nowMs }: At): Promise<Provider> {
    const { document } = await this.#keys.of(config.source, namespace, nowMs);
    const problem = endpointProblem(document, config.source.url);
    if (problem !== undefined) throw new FetchFault(problem);
    return new Provider(config, document, this.#outbound, namespace);
  }

  /**
   * Verifies what a provider gave, and asks it for claims that the ID token lacks. Rejects with
   * ApiError `too_many`, and with FetchFault if UserInfo cannot be reached.
   */
  async identify({ config, provider, granted, expected, at }: ToIdentify): Promise<Identified> {
    const token = await this.#ownClaims(config, granted.idToken, expected, at);
    if ('fault' in token) return { ok: false, ...token.fault };
    const { claims } = token;
    if (claims !== undefined && hasAll(claims, config)) return verdictOf(claims, config, at);
    let info: Claims | undefined;
    try {
      info = await provider.userInfo(granted.accessToken);
    } catch (error) {
      if (!(error instanceof GrantFault)) throw error;
      const reason = `the provider refuses UserInfo: ${error.message}`;
      const who = claims && { who: whoIn(claims, config.identityClaim) };
      return { ok: false, code: 'claims', reason, ...who };
    }
    if (claims === undefined) return infoAlone(info, config, expected, at);
    // OpenID Connect Core 1.0, section 5.3.2: what is said of another subject must not be used
    const isSame = info !== undefined && info['sub'] === claims['sub'];
    return verdictOf(isSame ? { ...withoutToken(info!), ...claims } : claims, config, at);
  }

  /**
   * Returns the claims of an ID token that passes all checks; none if there is no ID token where a
   * login is renewed.
   */
  async #ownClaims(
    config: OidcConfig,
    idToken: string | undefined,
    { nonce, sub }: Expected,
    at: At,
  ): Promise<{ readonly claims: Claims | undefined } | { readonly fault: Refused }> {
    const fault = (code: LoginFault['code'], reason: string, who?: string) => ({
      fault: { code, reason, ...(who !== undefined && { who }) },
    });
    if (idToken === undefined) {
      if (sub !== undefined) return { claims: undefined };
      return fault('form', 'the provider gives no ID token');
    }
    const found = await this.#jwt.claimsOf(config, idToken, at);
    if ('fault' in found) return found;
    const { claims } = found;
    const { faults, who } = judgeClaims(claims, config, at.nowMs);
    const [first] = faults;
    if (first !== undefined) return fault(first.code, first.reason, who);
    if (typeof claims['sub'] !== 'string' || claims['sub'] === '')
      return fault('claims', 'the ID token has no sub', who);
    const isOwn = claims['nonce'] === nonce || (sub !== undefined && claims['nonce'] === undefined);
    if (!isOwn) return fault('nonce', 'the nonce of the ID token is that of another login', who);
    if (sub !== undefined && claims['sub'] !== sub) return fault('subject', OTHER, who);
    return found;
  }
}

const OTHER = 'the provider names another user than the one who logged in';

/** Returns who UserInfo names, where a renewal gives no ID token. */
function infoAlone(
  info: Claims | undefined,
  config: OidcConfig,
  { sub }: Expected,
  at: At,
): Identified {
  if (info === undefined) {
    const reason = 'the provider gives neither an ID token nor UserInfo';
    return { ok: false, code: 'renewal', reason };
  }
  if (info['sub'] !== sub) return { ok: false, code: 'subject', reason: OTHER };
  const claims = withoutToken(info);
  return asVerdict(judgeClaims(claims, config, at.nowMs, CLAIMS_ALONE), claims);
}

const verdictOf = (claims: Claims, config: OidcConfig, { nowMs }: At): Identified =>
  asVerdict(judgeClaims(claims, config, nowMs), claims);

function asVerdict(judged: JudgedClaims, claims: Claims): Identified {
  const { faults, identity, subject, who, named } = judged;
  const [fault] = faults;
  if (fault !== undefined) return { ok: false, code: fault.code, reason: fault.reason, who };
  // Claims that cannot be mapped are a fault.
  return { ok: true, identity: identity!, subject, who, named, sub: String(claims['sub']) };
}

const withoutToken = (claims: Claims): Claims =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !OF_TOKEN.has(name)));

/** Whether claims have all that a method uses. */
const hasAll = (claims: Claims, { identityClaim, mappings }: OidcConfig): boolean =>
  [identityClaim, ...mappings.values.keys(), ...mappings.lists.keys()].every((key) =>
    hasClaim(claims, key),
  );
