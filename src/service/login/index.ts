/** The types of auth methods there are. */
import type { AddressRules } from './addresses.js';
import { Outbound, type Resolve } from './exchange.js';
import { JwtMethod } from './jwt.js';
import { KubernetesMethod } from './kubernetes.js';
import type { AuthMethodType, FetchLimits } from './types.js';

export interface LoginOptions {
  readonly limits: FetchLimits;
  readonly rules: AddressRules;
  readonly resolve?: Resolve;
  /** How long keys of issuers are used before they are fetched again, in milliseconds. */
  readonly keysAgeMsMax: number;
  /** How often, at most, an unknown key id makes them be fetched again, in milliseconds. */
  readonly keysRefetchMsMin: number;
}

/** A login waits for what is fetched, so that takes little time. */
const FETCH_MS = 5_000;
/** Bytes of one answer of an issuer: keys are small. */
const FETCH_BYTES_MAX = 1024 * 1024;
/** How long keys of issuers are used before they are fetched again. */
const KEYS_AGE_MS_MAX = 10 * 60_000;
/** How often, at most, an unknown key id makes them be fetched again: anybody can send one. */
const KEYS_REFETCH_MS_MIN = 5_000;

/** The options of a node with these settings. */
export const loginOptions = (rules: AddressRules, issuerRequests: number): LoginOptions => ({
  limits: { timeoutMs: FETCH_MS, bodyBytesMax: FETCH_BYTES_MAX, issuerRequests },
  rules,
  keysAgeMsMax: KEYS_AGE_MS_MAX,
  keysRefetchMsMin: KEYS_REFETCH_MS_MIN,
});

export type AuthMethodTypes = ReadonlyMap<string, AuthMethodType>;

/** Every type by name. Keys of issuers are kept inside, so there is one of these per node. */
export function authMethodTypes(options: LoginOptions): AuthMethodTypes {
  const { keysAgeMsMax, keysRefetchMsMin } = options;
  const outbound = new Outbound(options);
  const types = [
    new JwtMethod({ outbound, ageMsMax: keysAgeMsMax, refetchMsMin: keysRefetchMsMin }),
    new KubernetesMethod(outbound),
  ];
  return new Map(types.map((type) => [type.name, type]));
}
