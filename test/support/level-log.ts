/** Writes logs as releases before 0.3.0 did; docs/formats.md describes them. */
import { crc32 } from 'node:zlib';
import type { Entry, HardState, Index, SnapshotMeta, Term } from '../../src/raft/types.js';
import { settled, writeAll } from '../../src/storage/calls.js';
import type { Disk, DiskFile, Operation } from '../../src/storage/disk.js';
import { LEVEL_DISK } from '../../src/storage/level-disk.js';
import { encodeSealed, writeSafe } from '../../src/storage/record.js';

/** What such a log holds. */
export interface LevelLogContent {
  readonly entries: readonly Entry[];
  readonly hardState: HardState;
  readonly meta?: SnapshotMeta;
  readonly bar?: { readonly index: Index; readonly term: Term };
  /** How far the witness says that it was synced; the last entry unless given. */
  readonly promised?: Index;
}

/** The key of an entry. */
export function levelKey(index: Index): Buffer {
  const key = Buffer.alloc(8);
  writeSafe(key, index, 0);
  return key;
}

/** The record of an entry. */
function levelRecord(entry: Entry, previousTerm: Term): Buffer {
  const head = Buffer.alloc(22);
  head[4] = 1;
  head[5] = ['command', 'noop', 'configuration'].indexOf(entry.kind);
  writeSafe(head, entry.term, 6);
  writeSafe(head, previousTerm, 14);
  let payload: Uint8Array = new Uint8Array(0);
  if (entry.kind === 'command') payload = entry.data;
  if (entry.kind === 'configuration') payload = Buffer.from(JSON.stringify(entry.configuration));
  const record = Buffer.concat([head, payload]);
  record.writeUInt32BE(crc32(record.subarray(4), crc32(levelKey(entry.index))), 0);
  return record;
}

/** Writes such a log into a new folder. */
export async function writeLevelLog(
  dir: string,
  content: LevelLogContent,
  disk: Disk = LEVEL_DISK,
): Promise<void> {
  const { entries, hardState, meta, bar } = content;
  const operations: Operation<Buffer>[] = [];
  const seal = (name: string, value: unknown): void => {
    const key = Buffer.from(name);
    if (value === undefined) return;
    operations.push({ type: 'put', key, value: encodeSealed(key, value) });
  };
  seal('hard', { version: 3, hardState });
  seal('meta', meta);
  seal('bar', bar);
  let term = meta?.term ?? 0;
  for (const entry of entries) {
    const value = levelRecord(entry, term);
    operations.push({ type: 'put', key: levelKey(entry.index), value });
    term = entry.term;
  }
  const db = await disk.openBytes(dir);
  await db.write(operations, { sync: true });
  await db.close();
  const lastIndex = content.promised ?? entries.at(-1)?.index ?? 0;
  const marks = { version: 3, hardState, lastIndex };
  const record = encodeSealed(Buffer.from('witness'), { turn: 1, marks });
  const slot = Buffer.alloc(record.length + 2);
  slot.writeUInt16BE(record.length, 0);
  slot.set(record, 2);
  const folder = disk.folder(dir);
  const witness = await settled<DiskFile>((done) => folder.open('witness', done));
  await settled((done) => writeAll(witness, slot, 4096, done));
  await settled((done) => folder.sync(done));
  witness.close();
}
