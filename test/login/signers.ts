/** Keys, JWTs signed with them, and a node's verdict on those. */
import {
  CompactSign,
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWK,
} from 'jose';
import { authMethodTypes } from '../../src/service/login/index.js';
import { LOGIN_DEFAULTS } from '../support/defaults.js';

const NOW_MS = 1_800_000_000_000;
export const NOW = NOW_MS / 1000;
/** The time at which, and the namespace of the method for which, JWTs are judged. */
export const AT = { namespace: 'default', nowMs: NOW_MS };
export const options = {
  ...LOGIN_DEFAULTS,
  limits: { ...LOGIN_DEFAULTS.limits, timeoutMs: 10_000, bodyBytesMax: 100_000 },
  keysRenewalMs: 0,
};

/** A signing key, in the forms in which methods contain it. */
export interface Signer {
  readonly alg: string;
  readonly pem: string;
  readonly jwk: JWK;
  /** `claims` is the payload, or its exact text or bytes in the JWT. */
  sign(claims: object | string | Buffer, header?: object): Promise<string>;
}

function bytesOf(claims: object | string | Buffer): Uint8Array {
  if (Buffer.isBuffer(claims)) return claims;
  return new TextEncoder().encode(typeof claims === 'string' ? claims : JSON.stringify(claims));
}

export async function signer(alg: string, kid?: string): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const sign = (
    claims: object | string | Buffer,
    header: object = {},
    key: CryptoKey = privateKey,
  ): Promise<string> =>
    new CompactSign(bytesOf(claims))
      .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }), ...header })
      .sign(key);
  const jwk = { ...(await exportJWK(publicKey)), alg, ...(kid === undefined ? {} : { kid }) };
  return { alg, pem: await exportSPKI(publicKey), jwk, sign };
}

export const times = { iat: NOW - 10, nbf: NOW - 10, exp: NOW + 600 };

/** The verdict of a fresh node on one JWT: the identity, or the reason. */
export async function verdict(
  config: object,
  jwt: string,
  types = authMethodTypes(options),
): Promise<unknown> {
  const judged = await types.get('jwt')?.validate(config, jwt, AT);
  return judged?.ok ? judged.identity.selectable : judged?.reason;
}
/** The verdict on claims without any mapping. */
export const ACCEPTED = { value: {}, list: {} };
