/**
 * Use cases of archives: save the whole state, and restore it from an archive.
 *
 *   archive ──► file ──► restore.add for each part ────────┬──► restore.commit
 *                    └─► whole archive verified meanwhile ──┘
 *
 * Members store the parts beside the present state until the last command switches to them. It is
 * proposed once the archive is verified; otherwise the parts are dropped.
 */
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import { reject } from '../../base/errors.js';
import type { ClusterNode } from '../../node/types.js';
import { levelOf } from '../../state/levels.js';
import { recordOf } from '../../state/machine-record.js';
import { recordBytes } from '../../state/record-bytes.js';
import {
  isArchived,
  isRestored,
  isTaken,
  proposedRecord,
  type RestoreAdd,
  type RestoreCommit,
} from '../../state/restore.js';
import type { Command } from '../../state/types.js';
import { nextTurn } from '../../storage/record-stream.js';
import { Spool } from '../../storage/spool.js';
import type { StateRecord } from '../../storage/types.js';
import { mustAllow, mustWrite } from '../cluster/cluster.js';
import { readState } from '../common/reading.js';
import type { Caller, QueryMeta, ReadOptions, Requester, Service } from '../common/types.js';
import { SnapshotCheck } from './snapshot-check.js';

/**
 * Bytes of keys and values in one part. A member stores and applies a part in a few milliseconds.
 */
const PART_BYTES = 256 * 1024;
/** Milliseconds that storing a part may take on a slow machine. */
const PART_MS = 64;
/** Parts in flight at a time: a restore delays other writes no more than a few writes do. */
const WINDOW = 4;
/** Parts are compressed quickly rather than well: they travel to every member, and into its log. */
const DEFLATE = { level: 1 } as const;
const deflate = promisify(deflateRaw);
/** Bytes of an archive beyond its state: names, checksums, and blocks that do not compress. */
const ARCHIVE_BYTES_MORE = 2 ** 20;

export interface SnapshotParts {
  readonly service: Service;
  readonly node: ClusterNode;
  /** Folder of the file that holds an archive while it is verified. */
  readonly dataDir: string;
  /** Bytes to which an archive may decompress. About as many may be uploaded. */
  readonly snapshotBytes: number;
}

/** An archive that is being read. The reader must close it to release its view of the state. */
export interface SavedArchive {
  readonly pieces: AsyncIterable<Uint8Array>;
  readonly meta: QueryMeta;
  close(): void;
}

/** Saves and restores the state through one node. */
export class Snapshots {
  readonly #parts: SnapshotParts;
  #isRestoring = false;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  /** Returns the archive of the present state. Throws 403 without `acl:write`. */
  async save(caller: Caller, options: ReadOptions): Promise<SavedArchive> {
    const { service, node } = this.#parts;
    const { writeArchive } = await import('../../storage/archive.js');
    const { value: _, ...meta } = await readState(service, { caller, options }, ({ authorizer }) =>
      mustAllow(authorizer, 'acl', 'write'),
    );
    const { peers } = node.status();
    const view = node.pin();
    const members = peers.map(({ id, name, address, voter }) => ({ id, name, address, voter }));
    const { index, term } = recordOf(view) ?? { index: 0, term: 0 };
    return {
      pieces: writeArchive(view, { index, term, configuration: { members } }, Date.now()),
      meta: { ...meta, index },
      close: () => view.close(),
    };
  }

  /**
   * Replaces the state by that of an archive. Throws 403 without `acl:write`, ApiError `invalid` or
   * `too_large` for an unusable archive, and `too_many` while another one is restored: a second
   * restore would need as much space again, only to be replaced.
   */
  async restore(requester: Requester, source: Readable): Promise<void> {
    // This waits for a barrier, so the level in force is known here.
    await mustWrite(this.#parts.service, requester, 'acl');
    if (this.#isRestoring)
      reject('too_many', 'This server is restoring another snapshot: try again later');
    this.#isRestoring = true;
    try {
      await restore(this.#parts, requester, source);
    } finally {
      this.#isRestoring = false;
    }
  }
}

async function restore(
  { service, node, dataDir, snapshotBytes }: SnapshotParts,
  requester: Requester,
  source: Readable,
): Promise<void> {
  const limits = { stateBytes: snapshotBytes, level: levelOf(node.view) };
  const index = recordOf(node.view)?.index ?? 0;
  const spool = await Spool.of(source, dataDir, snapshotBytes + ARCHIVE_BYTES_MORE).catch(
    (error) => {
      if (error === source.errored) reject('invalid', 'the snapshot was cut off');
      throw error;
    },
  );
  try {
    const { readArchive } = await import('../../storage/archive.js');
    const read = (add: (records: readonly StateRecord[]) => Promise<void>): Promise<unknown> =>
      readArchive(spool.read(), limits, add);
    await replicate(service, requester, index, read);
  } finally {
    await spool.close();
  }
}

/**
 * Proposes the records of an archive, and verifies them meanwhile. `index` is one that the log of
 * this cluster has reached. Throws ApiError `invalid` or `too_large` unless the archive is whole
 * and holds a state.
 */
async function replicate(
  service: Service,
  requester: Requester,
  index: number,
  read: (add: (records: readonly StateRecord[]) => Promise<void>) => Promise<unknown>,
): Promise<void> {
  const id = randomUUID();
  const { caller, reason, timeoutMs, notes } = requester;
  const write = (command: Command, forMs = timeoutMs): Promise<string | undefined> =>
    service.write({ caller, reason, notes, timeoutMs: forMs }, command);
  const upload = new Upload(id, write);
  const check = new SnapshotCheck();
  try {
    await read(async (records) => {
      for (const record of records) {
        const [key] = record;
        // Archives of older releases contain join tokens.
        if (!isRestored(key) || !isArchived(key)) continue;
        check.add(record);
        const proposed = isTaken(key) ? proposedRecord(record, index) : undefined;
        // Most are only added to a part.
        const sent = proposed && upload.add(proposed);
        if (sent) await sent;
      }
      await nextTurn();
    });
    for (const _ of check.end()) await nextTurn();
    await upload.end();
  } catch (error) {
    await upload.settle();
    // Drops the parts that were sent. If that fails too, the housekeeper does it later.
    if (upload.parts > 0)
      await write({ type: 'restore.abort', v: 1, id } as Command).catch(() => {});
    throw error;
  }
  const { parts, records } = upload;
  const commit: RestoreCommit = { type: 'restore.commit', v: 1, id, parts, records };
  await write(commit, timeoutMs + parts * PART_MS);
}

/** Divides records into parts and proposes a few of them at a time. */
class Upload {
  /** Parts sent so far, and records in them. */
  parts = 0;
  records = 0;
  readonly #id: string;
  readonly #write: (command: Command) => Promise<unknown>;
  #records: Buffer[] = [];
  #bytes = 0;
  readonly #inFlight = new Set<Promise<unknown>>();
  #failure: unknown;

  constructor(id: string, write: (command: Command) => Promise<unknown>) {
    this.#id = id;
    this.#write = write;
  }

  /** Adds a record. Waits while too many parts are in flight. Throws the first failure. */
  add(record: StateRecord): Promise<void> | undefined {
    const bytes = recordBytes(record);
    this.#records.push(bytes);
    this.records += 1;
    this.#bytes += bytes.length;
    return this.#bytes >= PART_BYTES ? this.#send() : undefined;
  }

  /** Sends the last part and waits for all. Throws the first failure. */
  async end(): Promise<void> {
    if (this.#records.length > 0 || this.parts === 0) await this.#send();
    await this.settle();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Resolves when no part is in flight. */
  async settle(): Promise<void> {
    await Promise.all(this.#inFlight);
  }

  async #send(): Promise<void> {
    const part = this.parts++;
    const records = Buffer.concat(this.#records);
    this.#records = [];
    this.#bytes = 0;
    const sent = deflate(records, DEFLATE)
      .then((deflated) => {
        const [id, bytes] = [this.#id, deflated.toString('base64')];
        const command: RestoreAdd = { type: 'restore.add', v: 1, id, part, bytes };
        return this.#write(command);
      })
      .catch((error) => {
        this.#failure ??= error;
      })
      .finally(() => this.#inFlight.delete(sent));
    this.#inFlight.add(sent);
    // The first part discards those of an earlier restore, which makes room for the others.
    if (part === 0) await sent;
    else if (this.#inFlight.size >= WINDOW) await Promise.race(this.#inFlight);
    if (this.#failure !== undefined) throw this.#failure;
  }
}
