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
import { reject } from '../../base/errors.js';
import type { ClusterNode } from '../../node/types.js';
import { levelOf } from '../../state/levels.js';
import { recordOf } from '../../state/machine-record.js';
import type { RestoreAdd, RestoreCommit } from '../../state/restore.js';
import type { Command } from '../../state/types.js';
import { Spool } from '../../storage/spool.js';
import { mustAllow, mustWrite } from '../cluster/cluster.js';
import { readState } from '../common/reading.js';
import type { Caller, QueryMeta, ReadOptions, Requester, Service } from '../common/types.js';
import { partsOf } from './archive-parts.js';
import type { ArchivePart } from './archive-thread.js';

/** Milliseconds that storing a part may take on a slow machine. */
const PART_MS = 64;
/** Parts in flight at a time: a restore delays other writes no more than a few writes do. */
const WINDOW = 4;
/** Bytes of an archive beyond its state: names, checksums, and blocks that do not compress. */
const ARCHIVE_BYTES_MORE = 2 ** 20;

export interface SnapshotParts {
  readonly service: Service;
  readonly node: ClusterNode;
  /** Folder of the file that holds an archive while it is verified. */
  readonly dataDir: string;
  /** Bytes to which an archive may decompress. About as many may be uploaded. */
  readonly snapshotBytes: number;
  /** Bytes that an upload must leave free on the disk. */
  readonly reserveBytes: number;
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
   * `too_large` for an unusable archive, `no_space`, and `too_many` while another one is restored:
   * a second restore would need as much space again, only to be replaced.
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
  { service, node, dataDir, snapshotBytes, reserveBytes }: SnapshotParts,
  requester: Requester,
  source: Readable,
): Promise<void> {
  const limits = { stateBytes: snapshotBytes, level: levelOf(node.view) };
  const index = recordOf(node.view)?.index ?? 0;
  const bytesMax = snapshotBytes + ARCHIVE_BYTES_MORE;
  const spool = await Spool.of(source, dataDir, { bytesMax, reserveBytes }).catch((error) => {
    if (error === source.errored) reject('invalid', 'the snapshot was cut off');
    throw error;
  });
  try {
    await replicate(service, requester, partsOf({ fd: spool.fd, limits, index }));
  } finally {
    await spool.close();
  }
}

/** Proposes the parts of an archive, which is verified meanwhile. Throws what `of` throws. */
async function replicate(
  service: Service,
  requester: Requester,
  of: AsyncIterable<ArchivePart>,
): Promise<void> {
  const id = randomUUID();
  const { caller, reason, timeoutMs, notes } = requester;
  const write = (command: Command, forMs = timeoutMs): Promise<string | undefined> =>
    service.write({ caller, reason, notes, timeoutMs: forMs }, command);
  const upload = new Upload(id, write);
  try {
    for await (const part of of) await upload.send(part);
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

/** Proposes a few parts at a time. */
class Upload {
  /** Parts sent so far, and records in them. */
  parts = 0;
  records = 0;
  readonly #id: string;
  readonly #write: (command: Command) => Promise<unknown>;
  readonly #inFlight = new Set<Promise<unknown>>();
  #failure: unknown;

  constructor(id: string, write: (command: Command) => Promise<unknown>) {
    this.#id = id;
    this.#write = write;
  }

  /** Sends a part. Waits while too many are in flight. Throws the first failure. */
  async send({ bytes, records }: ArchivePart): Promise<void> {
    const part = this.parts++;
    this.records += records;
    const command: RestoreAdd = { type: 'restore.add', v: 1, id: this.#id, part, bytes };
    const sent = this.#write(command)
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

  /** Waits for all parts. Throws the first failure. */
  async end(): Promise<void> {
    await this.settle();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Resolves when no part is in flight. */
  async settle(): Promise<void> {
    await Promise.all(this.#inFlight);
  }
}
