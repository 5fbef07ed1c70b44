/** Writes logs as releases before 0.3.0 did; docs/formats.md describes them. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ClassicLevel } from 'classic-level';
import type { Entry, HardState, Index, SnapshotMeta, Term } from '../../src/raft/types.js';
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
export async function writeLevelLog(dir: string, content: LevelLogContent): Promise<void> {
  const { entries, hardState, meta, bar } = content;
  const db = new ClassicLevel<Buffer, Buffer>(dir, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    compression: false,
  });
  const seal = async (name: string, value: unknown): Promise<void> => {
    const key = Buffer.from(name);
    if (value !== undefined) await db.put(key, encodeSealed(key, value));
  };
  await seal('hard', { version: 3, hardState });
  await seal('meta', meta);
  await seal('bar', bar);
  let term = meta?.term ?? 0;
  const batch = db.batch();
  for (const entry of entries) {
    batch.put(levelKey(entry.index), levelRecord(entry, term));
    term = entry.term;
  }
  await batch.write({ sync: true });
  await db.close();
  const lastIndex = content.promised ?? entries.at(-1)?.index ?? 0;
  const marks = { version: 3, hardState, lastIndex };
  const record = encodeSealed(Buffer.from('witness'), { turn: 1, marks });
  const slot = Buffer.alloc(record.length + 2);
  slot.writeUInt16BE(record.length, 0);
  slot.set(record, 2);
  const witness = await open(join(dir, 'witness'), 'w');
  await witness.write(slot, 0, slot.length, 4096);
  await witness.close();
}
