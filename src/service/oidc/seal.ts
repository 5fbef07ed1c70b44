/**
 * Encrypts what a client keeps between the steps of an OIDC login (beyond.md 7.4): nothing of a
 * login in progress is in the state of the cluster, and any node can go on with it.
 *
 *     base64url( iv (12 bytes)  tag (16 bytes)  AES-256-GCM( JSON ) )
 */
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import type { OidcKeys } from '../../state/oidc.js';

/** What a sealed text is for. A text for one purpose cannot be used for another. */
export type Purpose = 'state' | 'renewal';

const CIPHER = 'aes-256-gcm';
/** Bytes of an initialization vector, and of a tag: those of NIST SP 800-38D. */
const IV_BYTES = 12;
/** The same for a tag. */
const TAG_BYTES = 16;

const bound = (purpose: Purpose): Buffer => Buffer.from(`oidc ${purpose} 1`);

/** Encrypts a JSON value under the present key. */
export function seal({ Key }: OidcKeys, purpose: Purpose, value: object): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, Buffer.from(Key, 'base64'), iv).setAAD(bound(purpose));
  const text = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
}

/**
 * Decrypts a text that `seal` made with the present key or the one before. Returns undefined for
 * any other text.
 */
export function unseal(keys: OidcKeys, purpose: Purpose, text: string): unknown {
  const bytes = Buffer.from(text, 'base64url');
  // One spelling only: what was used is remembered by its text.
  if (bytes.toString('base64url') !== text || bytes.length < IV_BYTES + TAG_BYTES) return undefined;
  const iv = bytes.subarray(0, IV_BYTES);
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  for (const key of [keys.Key, ...(keys.Before === undefined ? [] : [keys.Before])]) {
    const decipher = createDecipheriv(CIPHER, Buffer.from(key, 'base64'), iv, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(bound(purpose)).setAuthTag(tag);
    try {
      const json = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
      return JSON.parse(Buffer.concat([json, decipher.final()]).toString());
    } catch {
      // Another key may fit.
    }
  }
  return undefined;
}

/** Returns the SHA-256 of a text in hex. */
export const fingerprint = (text: string): string => hash('sha256', text);
