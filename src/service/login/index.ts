/** The types of auth methods there are. */
import { JwtMethod } from './jwt.js';
import { KubernetesMethod } from './kubernetes.js';
import type { AuthMethodType, FetchLimits } from './types.js';

export interface LoginOptions {
  readonly limits: FetchLimits;
  /** How long keys of issuers are used before they are fetched again, in milliseconds. */
  readonly keysAgeMsMax: number;
  /** How often, at most, an unknown key id makes them be fetched again, in milliseconds. */
  readonly keysRefetchMsMin: number;
}

/** A login waits for these fetches, so they are short; keys are small. */
export const LOGIN_DEFAULTS: LoginOptions = {
  limits: { timeoutMs: 5_000, bodyBytesMax: 1024 * 1024 },
  keysAgeMsMax: 10 * 60_000,
  keysRefetchMsMin: 5_000,
};

export type AuthMethodTypes = ReadonlyMap<string, AuthMethodType>;

/** Every type by name. Keys of issuers are kept inside, so there is one of these per node. */
export function authMethodTypes(options: LoginOptions = LOGIN_DEFAULTS): AuthMethodTypes {
  const { limits, keysAgeMsMax, keysRefetchMsMin } = options;
  const types = [
    new JwtMethod({ limits, ageMsMax: keysAgeMsMax, refetchMsMin: keysRefetchMsMin }),
    new KubernetesMethod(limits),
  ];
  return new Map(types.map((type) => [type.name, type]));
}
