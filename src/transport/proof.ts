/**
 * Proofs that a server has the private key of its data folder. Each side of a connection signs
 * bytes that only the two ends of this connection know: keying material that TLS exports (RFC 8446,
 * section 7.5). So a proof can neither be replayed on another connection nor be passed on by
 * somebody in the middle, and it needs no round trip of its own.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import type { KeyPair } from '../base/peer-record.js';
import type { Purpose } from './frames.js';
import type { WireSocket } from './sockets.js';

/** Draws the key pair of a new data folder. */
export function newKeyPair(): KeyPair {
  const { x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return { publicKey: x!, privateKey: d! };
}

/** The keying material that proofs are bound to; the label has the form of RFC 8446. */
const BINDING_BYTES = 32;
const BINDING_LABEL = 'EXPORTER-conclave-member';
const NO_CONTEXT = Buffer.alloc(0);

/** Returns what proofs on a connection are bound to; undefined where nothing protects it. */
export const bindingOf = (socket: Pick<WireSocket, 'exportKeyingMaterial'>): Buffer | undefined =>
  socket.exportKeyingMaterial?.(BINDING_BYTES, BINDING_LABEL, NO_CONTEXT);

/** What a proof is about. */
export interface Proven {
  /** Keying material of the connection. */
  readonly binding: Uint8Array;
  /** The side that proves, so that a proof cannot be sent back to its sender. */
  readonly side: 'dialling' | 'accepting';
  readonly nodeId: string;
  readonly purpose: Purpose;
}

const CURVE = { kty: 'OKP', crv: 'Ed25519' } as const;

const signedBytes = ({ binding, side, nodeId, purpose }: Proven): Buffer => {
  const bound = Buffer.from(binding).toString('base64url');
  return Buffer.from(JSON.stringify(['conclave member v1', side, nodeId, purpose, bound]));
};

/** Returns the proof of a server, in base64url. */
export function prove({ publicKey: x, privateKey: d }: KeyPair, what: Proven): string {
  const key = createPrivateKey({ key: { ...CURVE, x, d }, format: 'jwk' });
  return sign(null, signedBytes(what), key).toString('base64url');
}

/** Whether a proof was made with the private half of a public key. */
export function isProof(proof: string, publicKey: string, what: Proven): boolean {
  try {
    const key = createPublicKey({ key: { ...CURVE, x: publicKey }, format: 'jwk' });
    return verify(null, signedBytes(what), key, Buffer.from(proof, 'base64url'));
  } catch {
    // What was sent as a public key is none.
    return false;
  }
}
