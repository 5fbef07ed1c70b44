/** What a snapshot file holds, read without a server. */
import { createReadStream } from 'node:fs';
import { OBJECTS } from '../../state/objects.js';
import { isRestored } from '../../state/restore.js';
import { readArchive } from '../../storage/archive.js';
import { nextTurn } from '../common/event-loop.js';
import { SnapshotCheck } from './snapshot-check.js';

/** The content of a snapshot file. */
export interface SnapshotContent {
  readonly index: number;
  readonly term: number;
  readonly level: number;
  /** Bytes and records of the state. */
  readonly bytes: number;
  readonly records: number;
  /** The number of objects by type, and of entries by kind. */
  readonly objects: Readonly<Record<string, number>>;
}

/**
 * Reads a snapshot file to its end, and checks its checksums; with `check` also every record.
 * Throws ApiError `invalid` if it is not whole, and the error of the file system.
 */
export async function readSnapshotFile(file: string, check: boolean): Promise<SnapshotContent> {
  const counts = new Map<string, number>();
  const snapshotCheck = new SnapshotCheck();
  const limits = { stateBytes: Number.MAX_SAFE_INTEGER };
  const { meta } = await readArchive(createReadStream(file), limits, async (records) => {
    for (const record of records) {
      if (check && isRestored(record[0])) snapshotCheck.add(record);
      const type = typeOf(record[0]);
      if (type !== undefined) counts.set(type, (counts.get(type) ?? 0) + 1);
    }
    await nextTurn();
  });
  if (check) for (const _ of snapshotCheck.end()) await nextTurn();
  return {
    index: meta.Index,
    term: meta.Term,
    level: meta.Level ?? 1,
    bytes: meta.Size,
    records: meta.Records,
    objects: Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1))),
  };
}

/** Returns the type of the object in a record; undefined for what follows from objects. */
function typeOf(key: string): string | undefined {
  const [table = '', , kind = ''] = key.split('\u0000');
  if (table === 'config') return kind;
  return Object.values(OBJECTS).some((one) => one.table === table) ? table : undefined;
}
