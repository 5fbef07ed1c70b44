/**
 * Snapshots as streams: the state as numbered chunks of records. The sender reads them from a view
 * that does not change. A number always stands for the same bytes, so an interrupted transfer
 * continues where it stopped. The receiver writes the chunks beside its present state, reads them
 * back, compares them with the tally of the last chunk, and switches to the new state:
 *
 *     chunk 0 [records, null]   chunk 1 [records, null]   chunk 2 [records, [count, sum]]
 */
import { Packr } from 'msgpackr/pack';
import type { SnapshotMessage, SnapshotMeta } from '../raft/types.js';
import type {
  IncomingSnapshot,
  SnapshotTransfer,
  TransferEvents,
} from '../replica/state/incoming-snapshot.js';
import { isLocal, POSITION_KEY } from '../state/keys.js';
import type { PinnedView } from '../state/types.js';
import { recordSum, Tally } from '../storage/key-index.js';
import type { DurableState, Installation, StateRecord, StateTally } from '../storage/types.js';
import type { ChunkSink, ChunkSource } from '../transport/types.js';

/** Approximate bytes of keys and values in a chunk. */
const CHUNK_BYTES = 256 * 1024;
const packr = new Packr({ useRecords: false });

export interface StateSourceParts {
  readonly id: string;
  readonly view: PinnedView;
  readonly meta: SnapshotMeta;
  /** Approximate bytes of keys and values in a chunk. Absent: 256 KiB. */
  readonly chunkBytes?: number | undefined;
}

/** Cuts a state into chunks `[records, tally or null]`. Only the last one has the tally. */
export class StateSource implements ChunkSource {
  readonly id: string;
  readonly meta: SnapshotMeta;
  readonly #view: PinnedView;
  readonly #chunkBytes: number;
  /** `after[n]`: the last key before chunk n. */
  readonly #after: (string | undefined)[] = [undefined];
  readonly #tally = new Tally();
  /** Number of the last chunk; undefined until it was made. */
  #end: number | undefined;
  #closed = false;

  constructor({ id, view, meta, chunkBytes = CHUNK_BYTES }: StateSourceParts) {
    this.id = id;
    this.#view = view;
    this.meta = meta;
    this.#chunkBytes = chunkBytes;
  }

  /**
   * Returns a chunk. New chunks are made in order; one that was made already can be made again.
   * Rejects for any other number, and after `close`.
   */
  async chunk(number: number): Promise<{ data: Uint8Array; last: boolean }> {
    if (this.#closed || number >= this.#after.length) throw new Error('no such chunk');
    const isNew = number === this.#after.length - 1 && this.#end === undefined;
    const records: StateRecord[] = [];
    let bytes = 0;
    let last = true;
    for (const key of this.#view.keys('', this.#after[number])) {
      if (isLocal(key)) continue;
      if (bytes >= this.#chunkBytes) {
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

/**
 * Returns the sink of a snapshot that a leader offers; undefined if the snapshot is refused. A
 * transfer with the same `id` continues where it stopped.
 */
export async function snapshotSink(
  message: SnapshotMessage,
  id: string,
  { incoming, store, guard }: SnapshotSinkParts,
): Promise<ChunkSink | undefined> {
  const sink = incoming.accept(
    message,
    id,
    (events) => new StateSink(id, message.meta, store, { ...events, guard }),
  );
  // A chunk that arrived before the connection broke may still be on its way to the disk.
  await sink?.settled();
  return sink !== undefined && incoming.isPresent(sink) ? sink : undefined;
}

export interface SnapshotSinkParts {
  readonly incoming: IncomingSnapshot;
  readonly store: Pick<DurableState, 'install'>;
  /** Runs the switch to the new state. An error in it stops the process. */
  readonly guard: (run: () => void) => void;
}

/** Stores one snapshot, one chunk after the other. */
class StateSink implements ChunkSink, SnapshotTransfer {
  next = 0;
  readonly id: string;
  readonly #meta: SnapshotMeta;
  readonly #events: TransferEvents & Pick<SnapshotSinkParts, 'guard'>;
  readonly #installation: Installation;
  #state: 'filling' | 'finishing' | 'switched' | 'aborted' = 'filling';
  /** Resolves once all chunks received so far are on disk. */
  #writes: Promise<void> = Promise.resolve();
  #writing = 0;

  constructor(
    id: string,
    meta: SnapshotMeta,
    store: Pick<DurableState, 'install'>,
    events: TransferEvents & Pick<SnapshotSinkParts, 'guard'>,
  ) {
    this.id = id;
    this.#meta = meta;
    this.#events = events;
    this.#installation = store.install();
  }

  get isWriting(): boolean {
    return this.#writing > 0;
  }

  get isFinishing(): boolean {
    return this.#state === 'finishing';
  }

  /** Resolves once no chunk is on its way to the disk; `next` is then the first missing one. */
  async settled(): Promise<void> {
    await this.#writes;
  }

  /**
   * Stores a chunk. Ignores one that is stored already, because a sender repeats the last one after
   * a broken connection. Rejects and aborts the transfer if the chunk is not the expected one.
   */
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
    this.#events.disconnected();
  }

  abort(): void {
    if (this.#state === 'switched' || this.#state === 'aborted') return;
    this.#state = 'aborted';
    this.#installation.abort();
    this.#events.ended();
  }

  async #take(number: number, data: Uint8Array, last: boolean): Promise<void> {
    if (this.#state === 'aborted') throw new Error('the incoming state was abandoned');
    if (number < this.next) return;
    try {
      if (number > this.next) throw new Error(`chunk ${number} where ${this.next} was expected`);
      const { records, tally } = decodeChunk(data);
      if ((tally !== undefined) !== last) throw new Error('the last chunk must contain the tally');
      await this.#installation.add(records);
      if (tally !== undefined) await this.#finish(tally);
    } catch (error) {
      this.abort();
      throw error;
    }
    this.next += 1;
  }

  async #finish({ count, sum }: StateTally): Promise<void> {
    const { begin, failed, guard, installed, ended } = this.#events;
    const position: StateRecord = [POSITION_KEY, JSON.stringify(this.#meta)];
    await this.#installation.add([position]);
    if (!begin()) {
      this.abort();
      return;
    }
    this.#state = 'finishing';
    const own = recordSum(...position);
    try {
      await this.#installation.finish({ count: count + 1, sum: (sum + own) % 2 ** 48 });
    } catch (error) {
      failed();
      throw error;
    }
    await new Promise<void>((resolve) => guard(() => installed(resolve)));
    this.#state = 'switched';
    ended();
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
