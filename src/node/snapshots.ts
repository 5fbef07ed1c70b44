/**
 * Snapshots on their way out and in: the state as numbered chunks of records. Out: read from a frozen view between turns
 * of the loop; the same number always gives the same bytes, so a broken transfer goes on where it stopped. In: written
 * beside the present state, read back, compared with the announced tally and switched in.
 */
import { randomUUID } from 'node:crypto';
import { Packr } from 'msgpackr';
import type { NodeId, SnapshotMeta } from '../raft/types.js';
import { keyOf, type PinnedView } from '../state/types.js';
import { recordSum, Tally } from '../storage/key-index.js';
import type { DurableState, Installation, StateRecord, StateTally } from '../storage/types.js';
import type { ChunkSink, ChunkSource } from '../transport/types.js';

/** Bytes of keys and values in a chunk, about. */
const CHUNK_BYTES = 256 * 1024;
/** Records of this node alone, which do not travel. */
const LOCAL = keyOf('local', '');
/** Whether a record is of this node alone. */
export const isLocal = (key: string): boolean => key.startsWith(LOCAL);
/** Where the log stands with an installed state: lets a crash between the two switches be completed on start. */
export const POSITION_KEY = keyOf('local', 'position');
/** Why the state is known to be wrong; goes with the state itself when another one takes its place. */
export const WRONG_KEY = keyOf('local', 'wrong');

const packr = new Packr({ useRecords: false });

/** A frozen state as chunks `[records, tally or null]`; the tally is in the last one. */
export class StateSource implements ChunkSource {
  readonly id = randomUUID();
  readonly meta: SnapshotMeta;
  readonly #view: PinnedView;
  /** `after[n]`: the last key before chunk n. */
  readonly #after: (string | undefined)[] = [undefined];
  readonly #tally = new Tally();
  /** Number of the last chunk, once it was made. */
  #end: number | undefined;
  #closed = false;

  constructor(view: PinnedView, meta: SnapshotMeta) {
    this.#view = view;
    this.meta = meta;
  }

  /** Chunks are made in order; one that was made already can be made again. */
  async chunk(number: number): Promise<{ data: Uint8Array; last: boolean }> {
    if (this.#closed || number >= this.#after.length) throw new Error('no such chunk');
    const isNew = number === this.#after.length - 1 && this.#end === undefined;
    const records: StateRecord[] = [];
    let bytes = 0;
    let last = true;
    for (const key of this.#view.keys('', this.#after[number])) {
      if (isLocal(key)) continue;
      if (bytes >= CHUNK_BYTES) {
        last = false;
        break;
      }
      const value = this.#view.get(key)!;
      records.push([key, value]);
      bytes += key.length + value.length;
      if (isNew) this.#tally.add(recordSum(key, value));
    }
    if (isNew && last) this.#end = number;
    else if (isNew) this.#after.push(records.at(-1)![0]);
    const { count, sum } = this.#tally;
    return { data: packr.pack([records, last ? [count, sum] : null]), last };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#view.close();
  }
}

export interface InstallParts {
  readonly store: DurableState;
  /** Asked before the switch. */
  readonly wants: (meta: SnapshotMeta) => boolean;
  /** Applying rests from here on, until `switched` or `failed`. */
  readonly begin: () => void;
  /** The store holds the new state: take it up; resolves when the log agrees. */
  readonly switched: (meta: SnapshotMeta, from: NodeId) => Promise<void>;
  readonly failed: () => void;
  /** It takes no more chunks, for whatever reason. Called once. */
  readonly ended: () => void;
  /** See ChunkSink. */
  readonly disconnected: () => void;
}

/** Takes one state, chunk by chunk. */
export class StateSink implements ChunkSink {
  next = 0;
  readonly id: string;
  readonly #meta: SnapshotMeta;
  readonly #from: NodeId;
  readonly #parts: InstallParts;
  readonly #installation: Installation;
  #state: 'filling' | 'finishing' | 'switched' | 'aborted' = 'filling';
  /** Chunks on their way to the disk, one after the other. */
  #writes: Promise<void> = Promise.resolve();
  #writing = 0;

  constructor(id: string, from: NodeId, meta: SnapshotMeta, parts: InstallParts) {
    this.id = id;
    this.#from = from;
    this.#meta = meta;
    this.#parts = parts;
    this.#installation = parts.store.install();
  }

  get isWriting(): boolean {
    return this.#writing > 0;
  }

  /** All chunks are here: they are read back and switched in. */
  get isFinishing(): boolean {
    return this.#state === 'finishing';
  }

  /** Resolves when no chunk is on its way to the disk, so that `next` tells what is missing. */
  async settled(): Promise<void> {
    await this.#writes;
  }

  /** A chunk that was taken already is not taken again: a sender repeats the last one after a broken connection. */
  write(number: number, data: Uint8Array, last: boolean): Promise<void> {
    this.#writing += 1;
    const written = this.#writes
      .then(() => this.#take(number, data, last))
      .finally(() => {
        this.#writing -= 1;
      });
    this.#writes = written.catch(() => {});
    return written;
  }

  disconnected(): void {
    this.#parts.disconnected();
  }

  abort(): void {
    if (this.#state === 'switched' || this.#state === 'aborted') return;
    this.#state = 'aborted';
    this.#installation.abort();
    this.#parts.ended();
  }

  async #take(number: number, data: Uint8Array, last: boolean): Promise<void> {
    if (this.#state === 'aborted') throw new Error('the state that was arriving was given up');
    if (number < this.next) return;
    try {
      if (number > this.next) throw new Error(`chunk ${number} where ${this.next} was expected`);
      const { records, tally } = decodeChunk(data);
      if ((tally !== undefined) !== last) throw new Error('the last chunk must hold the tally');
      await this.#installation.add(records);
      if (tally !== undefined) await this.#finish(tally);
    } catch (error) {
      this.abort();
      throw error;
    }
    this.next += 1;
  }

  async #finish({ count, sum }: StateTally): Promise<void> {
    if (!this.#parts.wants(this.#meta)) {
      this.abort();
      return;
    }
    const position: StateRecord = [POSITION_KEY, JSON.stringify(this.#meta)];
    await this.#installation.add([position]);
    const own = recordSum(...position);
    this.#state = 'finishing';
    this.#parts.begin();
    try {
      await this.#installation.finish({ count: count + 1, sum: (sum + own) % 2 ** 48 });
    } catch (error) {
      this.#parts.failed();
      throw error;
    }
    await this.#parts.switched(this.#meta, this.#from);
    this.#state = 'switched';
    this.#parts.ended();
  }
}

function decodeChunk(data: Uint8Array): {
  records: readonly StateRecord[];
  tally: StateTally | undefined;
} {
  const parts: unknown = packr.unpack(data);
  if (!Array.isArray(parts) || parts.length !== 2 || !Array.isArray(parts[0])) {
    throw new Error('a chunk of a snapshot cannot be read');
  }
  const [records, tally] = parts as [unknown[], unknown];
  if (!records.every(isRecord) || !(tally === null || isTally(tally))) {
    throw new Error('a chunk of a snapshot cannot be read');
  }
  return { records, tally: tally === null ? undefined : { count: tally[0], sum: tally[1] } };
}

const isRecord = (value: unknown): value is StateRecord =>
  Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === 'string');
const isTally = (value: unknown): value is [number, number] =>
  Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger);
