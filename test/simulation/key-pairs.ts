/** Key pairs of simulated data folders: the same ones each time a seed is played. */
import { createHash, createPrivateKey } from 'node:crypto';
import type { KeyPair } from '../../src/base/peer-record.js';

/** The head of an Ed25519 private key in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

const known = new Map<string, KeyPair>();

/** The key pair that is drawn from a text. */
export function keyPairOf(text: string): KeyPair {
  const found = known.get(text);
  if (found !== undefined) return found;
  const secret = createHash('sha256').update(text).digest();
  const key = Buffer.concat([PKCS8_HEAD, secret]);
  const { x, d } = createPrivateKey({ key, format: 'der', type: 'pkcs8' }).export({
    format: 'jwk',
  });
  const pair = { publicKey: x!, privateKey: d! };
  if (known.size < KNOWN_MAX) known.set(text, pair);
  return pair;
}

const KNOWN_MAX = 1000;
