/** The whole state as an archive, out and in. */
import { randomUUID } from 'node:crypto';
import { reject } from '../errors.js';
import type { ClusterNode } from '../node/types.js';
import { SnapshotCheck } from '../service/snapshot-check.js';
import { nextTurn } from '../service/turns.js';
import type { Service } from '../service/types.js';
import { keys } from '../state/keys.js';
import { levelOf } from '../state/levels.js';
import { isRestored, type RestoreAdd, type RestoreCommit } from '../state/restore.js';
import type { Command, View } from '../state/types.js';
import { type ArchiveLimits, readArchive, writeArchive } from '../storage/archive.js';
import { Spool } from '../storage/spool.js';
import type { StateRecord } from '../storage/types.js';
import type { ApiRequest, Route } from './types.js';

/**
 * Bytes of keys and values in one command: each member stores and applies one in a few
 * milliseconds.
 */
const PART_BYTES = 64 * 1024;
/** Milliseconds that applying a part may take on a slow machine. */
const PART_MS = 64;
/**
 * Parts on their way at one time: the log is never busy with this for longer than with a few
 * ordinary writes.
 */
const WINDOW = 2;
/**
 * What an archive may be longer than its state: names, checksums, and blocks that do not compress.
 */
const ARCHIVE_BYTES_MORE = 2 ** 20;

export interface SnapshotParts {
  readonly service: Service;
  readonly node: ClusterNode;
  /** Folder of the file that an archive is kept in while it is verified. */
  readonly dataDir: string;
  /** Bytes a snapshot may unfold to, and about as many may be sent. */
  readonly snapshotBytes: number;
}

export function snapshotRoutes(parts: SnapshotParts): readonly Route[] {
  let isRestoring = false;
  return [
    {
      path: '/v1/snapshot',
      GET: (request) => save(parts, request),
      PUT: async (request) => {
        await mayRestore(parts, request);
        // A second archive would need as much room again, and would only take the place of the
        // first.
        if (isRestoring) reject('too_many', 'This server takes another snapshot just now');
        isRestoring = true;
        try {
          await restore(parts, request);
        } finally {
          isRestoring = false;
        }
      },
    },
  ];
}

async function save({ service, node }: SnapshotParts, request: ApiRequest): Promise<void> {
  const outcome = await service.read(
    request.caller,
    request.readOptions(false),
    ({ view, authorizer }) => {
      const denial = authorizer.denial('acl', 'write');
      if (denial !== undefined) reject('permission_denied', denial);
      return { value: undefined, index: positionOf(view).index, keys: [] };
    },
  );
  const view = node.pin();
  try {
    const { peers } = node.status();
    const members = peers.map(({ id, name, address, voter }) => ({ id, name, address, voter }));
    const at = { ...positionOf(view), configuration: { members } };
    await request.answerStream(writeArchive(view, at, Date.now()), {
      contentType: 'application/x-gzip',
      outcome: { ...outcome, index: at.index },
    });
  } finally {
    view.close();
  }
}

/** How far a view has been applied. */
function positionOf(view: View): { index: number; term: number } {
  const { index, term } = JSON.parse(view.get(keys.machine) ?? '{"index":0,"term":0}') as {
    index: number;
    term: number;
  };
  return { index, term };
}

async function mayRestore({ service }: SnapshotParts, { caller, timeoutMs }: ApiRequest) {
  // so that the level in force is known here
  await service.catchUp(timeoutMs);
  await service.permit(caller, timeoutMs, (authorizer) => authorizer.denial('acl', 'write'));
}

/** Verifies the whole archive before any of it is proposed. */
async function restore(
  { service, node, dataDir, snapshotBytes }: SnapshotParts,
  request: ApiRequest,
): Promise<void> {
  const limits = { stateBytes: snapshotBytes, level: levelOf(node.view) };
  const { incoming } = request;
  const spool = await Spool.of(incoming, dataDir, snapshotBytes + ARCHIVE_BYTES_MORE).catch(
    (error) => {
      if (error === incoming.errored) reject('invalid', 'the snapshot was cut off');
      throw error;
    },
  );
  try {
    await verify(spool, limits);
    await replicate(service, request, spool, limits);
  } finally {
    await spool.close();
  }
  request.answerText('');
}

/** Throws ApiError `invalid` or `too_large` unless the archive is whole and holds a state. */
async function verify(spool: Spool, limits: ArchiveLimits): Promise<void> {
  const check = new SnapshotCheck();
  await readArchive(spool.read(), limits, async (records) => {
    for (const record of records) if (isRestored(record[0])) check.add(record);
    await nextTurn();
  });
  for (const _ of check.end()) await nextTurn();
}

async function replicate(
  service: Service,
  { caller, timeoutMs }: ApiRequest,
  spool: Spool,
  limits: ArchiveLimits,
): Promise<void> {
  const id = randomUUID();
  const write = (command: Command, forMs = timeoutMs): Promise<string | undefined> =>
    service.write(caller, command, forMs);
  const upload = new Upload(id, write);
  try {
    await readArchive(spool.read(), limits, (records) => upload.add(records));
    await upload.end();
  } catch (error) {
    await upload.settle();
    // what was sent is dropped; if that fails too, the next restore does it
    if (upload.parts > 0)
      await write({ type: 'restore.abort', v: 1, id } as Command).catch(() => {});
    throw error;
  }
  const { parts } = upload;
  const commit: RestoreCommit = { type: 'restore.commit', v: 1, id, parts };
  await write(commit, timeoutMs + parts * PART_MS);
}

/** Cuts records into parts and writes a few of them at a time. */
class Upload {
  parts = 0;
  private readonly id: string;
  private readonly write: (command: Command) => Promise<unknown>;
  private records: StateRecord[] = [];
  private bytes = 0;
  private readonly flying = new Set<Promise<unknown>>();
  private failure: unknown;

  constructor(id: string, write: (command: Command) => Promise<unknown>) {
    this.id = id;
    this.write = write;
  }

  async add(records: readonly StateRecord[]): Promise<void> {
    for (const record of records) {
      if (!isRestored(record[0])) continue;
      this.records.push(record);
      this.bytes += record[0].length + record[1].length;
      if (this.bytes >= PART_BYTES) await this.send();
    }
  }

  /** Sends the rest and waits for all. */
  async end(): Promise<void> {
    if (this.records.length > 0 || this.parts === 0) await this.send();
    await this.settle();
    if (this.failure !== undefined) throw this.failure;
  }

  /** Resolves when nothing is on its way any more. */
  async settle(): Promise<void> {
    await Promise.all(this.flying);
  }

  private async send(): Promise<void> {
    const { id, records } = this;
    const part = this.parts++;
    this.records = [];
    this.bytes = 0;
    const command: RestoreAdd = { type: 'restore.add', v: 1, id, part, records };
    const sent = this.write(command)
      .catch((error) => {
        this.failure ??= error;
      })
      .finally(() => this.flying.delete(sent));
    this.flying.add(sent);
    // the first part makes room for the others
    if (part === 0) await sent;
    else if (this.flying.size >= WINDOW) await Promise.race(this.flying);
    if (this.failure !== undefined) throw this.failure;
  }
}
