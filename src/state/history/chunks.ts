/** The last chunks of the rings, to which lines are added without reading or hashing them anew. */
import { type Checksums, GrowingHash, hashOf, type RecordHash, tableOf } from '../checksum.js';
import type { Draft } from '../types.js';
import type { Ledger } from './ledger.js';
import { lastChunk } from './lines.js';
import { CHUNK_LINES, chunkKey, chunkOf, type Line, lineOf, type Ring } from './records.js';

/** Characters of a chunk to which no line is added. */
const CHUNK_CHARS = 8192;

/** The last chunk of a ring, while it has this text. */
interface OpenChunk {
  readonly key: string;
  text: string;
  lines: number;
  /** The time of the newest line of the ring. */
  newestMs: number;
  /** The hash of the text, which only grows. */
  readonly hash: GrowingHash;
  /** The text at the last commit, and its hash. */
  committed?: { readonly text: string; readonly hash: RecordHash };
}

/** The last chunks by ring. */
export class LastChunks {
  readonly #open = new Map<Ring, OpenChunk>();

  /** Adds a line to the last chunk of a ring, or to a new one. */
  add(
    { draft, floors }: Ledger,
    ring: Ring,
    line: Pick<Line, 'index' | 'position' | 'timeMs'> & { readonly text: string },
  ): void {
    const last = this.#lastChunk(draft, ring, line.index);
    const isFull =
      last !== undefined && (last.lines >= CHUNK_LINES || last.text.length >= CHUNK_CHARS);
    let open = last;
    let added = `${line.text}\n`;
    if (open === undefined || isFull) {
      const key = chunkKey(ring, line.index, line.position);
      const newestMs = last?.newestMs ?? 0;
      open = { key, text: '', lines: 0, newestMs, hash: new GrowingHash(key) };
      added = `${newestMs}\n${added}`;
    }
    open.text += added;
    open.lines += 1;
    open.newestMs = Math.max(open.newestMs, line.timeMs ?? 0);
    open.hash.add(added);
    draft.put(open.key, open.text);
    const bytes = Buffer.byteLength(added);
    floors.Bytes += bytes;
    if (ring === 'login-change') floors.LoginBytes += bytes;
    this.#open.set(ring, open);
  }

  /** Adds a change to checksums. The last chunks are not hashed anew with each line. */
  count(sums: Checksums, key: string, before: string | undefined, after: string | undefined): void {
    const open = this.#open.get(tableOf(key) as Ring);
    if (open === undefined || open.key !== key || open.text !== after) {
      sums.change(key, before, after);
      return;
    }
    const hash = open.hash.value;
    const { committed } = open;
    let past: RecordHash | undefined;
    if (before !== undefined)
      past = committed?.text === before ? committed.hash : hashOf(key, before);
    sums.replace(key, past, hash);
    open.committed = { text: after, hash };
  }

  #lastChunk(draft: Draft, ring: Ring, index: number): OpenChunk | undefined {
    const open = this.#open.get(ring);
    if (open !== undefined && draft.get(open.key) === open.text) return open;
    const key = lastChunk(draft, ring, index);
    if (key === undefined) return undefined;
    const text = draft.get(key)!;
    const { sinceMs, lines } = chunkOf(text);
    const newestMs = Math.max(sinceMs, ...lines.map((line) => lineOf(line).timeMs ?? 0));
    const hash = new GrowingHash(key);
    hash.add(text);
    return { key, text, lines: lines.length, newestMs, hash };
  }
}
