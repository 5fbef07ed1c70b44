/** The known types of auth methods. */
import type { MethodType } from '../../state/methods.js';
import { OidcMethod } from '../oidc/method.js';
import type { AddressRules } from './addresses.js';
import { Outbound, type Resolve } from './exchange.js';
import { JWT_RULES, JwtMethod } from './jwt.js';
import { KeyCache } from './keys.js';
import { KubernetesMethod } from './kubernetes.js';
import type { AuthMethodType, FetchLimits } from './types.js';

export interface LoginOptions {
  readonly limits: FetchLimits;
  readonly rules: AddressRules;
  readonly resolve?: Resolve;
  /** Milliseconds for which fetched keys of issuers are used. */
  readonly keysAgeMsMax: number;
  /** Milliseconds between two fetches for JWTs that no key fits, on average. */
  readonly keysRenewalMs: number;
}

/** Milliseconds for one exchange. It is short, because logins wait for it. */
const FETCH_MS = 10_000;
/** Bytes of one reply of an issuer: keys are small. */
const FETCH_BYTES_MAX = 1024 * 1024;
/**
 * Milliseconds for which fetched keys are used. After that, a key that an issuer removed is gone.
 */
const KEYS_AGE_MS_MAX = 10 * 60_000;
/** Milliseconds between two fetches for JWTs that no key fits, on average: anyone can send one. */
const KEYS_RENEWAL_MS = 5_000;

/** Returns the options of a node with these settings. */
export const loginOptions = (rules: AddressRules, issuerRequests: number): LoginOptions => ({
  limits: { timeoutMs: FETCH_MS, bodyBytesMax: FETCH_BYTES_MAX, issuerRequests },
  rules,
  keysAgeMsMax: KEYS_AGE_MS_MAX,
  keysRenewalMs: KEYS_RENEWAL_MS,
});

/** Auth method types by name. */
export type AuthMethodTypes = ReadonlyMap<string, AuthMethodType>;

/** Creates every type. The types cache keys of issuers, so a node creates them once. */
export function authMethodTypes(options: LoginOptions): AuthMethodTypes {
  const { keysAgeMsMax: ageMsMax, keysRenewalMs: renewalMs } = options;
  const outbound = new Outbound(options);
  const keys = new KeyCache({ outbound, ageMsMax, renewalMs });
  const types = [
    new JwtMethod(JWT_RULES, keys),
    new KubernetesMethod(outbound),
    new OidcMethod(keys, outbound),
  ] satisfies readonly { readonly name: MethodType }[];
  return new Map<string, AuthMethodType>(types.map((type) => [type.name, type]));
}
