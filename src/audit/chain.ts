/**
 * The chain of a sink (beyond.md 5.2): each record has the hash of the one before it, so that a
 * line that is changed, left out or added shows.
 *
 *     {"created_at":…,"payload":{…},"seq":17,"prev":"<hash of 16>","hash":"<of all before it>"}
 */
import { createHmac, hash } from 'node:crypto';

/** Where a chain ends. */
export interface ChainEnd {
  /** The number of the last record; 0 for none. */
  readonly seq: number;
  readonly hash: string;
}

/** The end of a chain without records. */
export const EMPTY_CHAIN: ChainEnd = { seq: 0, hash: '0'.repeat(64) };

const HASH = ',"hash":';
/** Bytes of `,"hash":"<64 hex>"}`. */
const HASH_BYTES = HASH.length + 64 + 3;

/** Returns the hash of a line up to its hash: SHA-256, or HMAC-SHA-256 with a key. */
const digest = (bytes: string | Uint8Array, key: Uint8Array | undefined): string =>
  key === undefined ? hash('sha256', bytes) : createHmac('sha256', key).update(bytes).digest('hex');

/**
 * Returns a record as the next line of a chain, without line feed, and the new end. `members` are
 * those of the record as JSON, without braces.
 */
export function chained(
  end: ChainEnd,
  members: string,
  key: Uint8Array | undefined,
): { readonly line: string; readonly end: ChainEnd } {
  const seq = end.seq + 1;
  const head = `{${members},"seq":${seq},"prev":"${end.hash}"`;
  const own = digest(head, key);
  return { line: `${head}${HASH}"${own}"}`, end: { seq, hash: own } };
}

/** What a line says of its place in a chain. */
interface Linked extends ChainEnd {
  readonly prev: string;
  readonly createdMs: number;
}

/** Reads a line, without line feed; undefined if it is not a record. */
export function readLine(line: Uint8Array): Linked | undefined {
  try {
    const text = new TextDecoder('utf8', { fatal: true }).decode(line);
    const { seq, prev, hash: own, created_at } = JSON.parse(text);
    const isRecord =
      Number.isSafeInteger(seq) && typeof prev === 'string' && typeof own === 'string';
    return isRecord ? { seq, prev, hash: own, createdMs: Date.parse(created_at) } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a line has the hash that it says. */
export function isHashed(line: Buffer, key: Uint8Array | undefined): boolean {
  const end = line.length - HASH_BYTES;
  if (end < 0 || line.subarray(end, end + HASH.length).toString() !== HASH) return false;
  const said = line.subarray(end + HASH.length + 1, -2).toString();
  return digest(line.subarray(0, end), key) === said;
}
