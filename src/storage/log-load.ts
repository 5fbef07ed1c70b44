/**
 * Opens the log's database, reads every record and finds what is damaged. LevelDB's batches are
 * atomic, so a crash removes only whole batches from the end. A record that differs from what was
 * written is therefore damage, wherever it is, and may be an acknowledged entry. The same holds for
 * entries that are missing below the witness's mark:
 *
 *     entries   1 2 3 4 x 6 7      the checksum of 5 is wrong
 *     witness   lastIndex 8        8 was synced, and has disappeared
 *     damaged   {index 5, last 8}  5 to 8 may have been acknowledged
 */
import { join } from 'node:path';
import type { HardState, Index, SnapshotMeta, Term } from '../raft/types.js';
import type { Database, Disk } from './disk.js';
import { EntryWindow } from './entry-window.js';
import { rootMessage, StorageError } from './errors.js';
import { sealedPut } from './log-change.js';
import { decodeEntry, decodeSealed, entryKey, indexOfKey } from './record.js';
import { type Marks, Witness } from './witness.js';

/**
 * Bytes of entries kept in memory while the log is opened. The start of a node reads the whole log
 * again before the first write evicts most of it.
 */
const OPENING_BYTES = 128 * 2 ** 20;

/** The database of a log. Keys and values are bytes; see `record.ts`. */
export type LogDatabase = Database<Buffer>;

/** The keys of records that are not entries. They sort after all entries. */
export const KEYS = {
  hard: Buffer.from('hard'),
  meta: Buffer.from('meta'),
  bar: Buffer.from('bar'),
} as const;

/**
 * Damage to the log. The entries index..last are lost or cannot be trusted, and may have been
 * acknowledged.
 */
export interface LogDamage {
  readonly index: Index;
  readonly last: Index;
  readonly reason: string;
}

/** This node must not vote until it has caught up with (index, term). See `log.ts`. */
export interface Bar {
  readonly index: Index;
  readonly term: Term;
}

/**
 * Opens the log in `dir` and reads all of it. `windowBytes` bounds the entries that stay in memory.
 * Throws StorageError.
 */
export async function loadLog(dir: string, disk: Disk, windowBytes: number) {
  const db: LogDatabase = await disk.openBytes(dir);
  let witness: Witness | undefined;
  try {
    const opened = await Witness.open(join(dir, 'witness'), disk.files);
    witness = opened.witness;
    return { db, witness, ...(await readAll(db, opened.witness, opened.marks, windowBytes)) };
  } catch (error) {
    await witness?.close();
    await db.close();
    if (error instanceof StorageError) throw error;
    throw new StorageError(
      'failed',
      `the log in ${dir} cannot be read: ${rootMessage(error)}`,
      error,
    );
  }
}

async function readAll(
  db: LogDatabase,
  witness: Witness,
  marks: Marks | undefined,
  windowBytes: number,
) {
  const meta = readSealed<SnapshotMeta>(db, KEYS.meta);
  const bar = readSealed<Bar>(db, KEYS.bar);
  const scan = await scanEntries(db, meta === 'damaged' ? undefined : meta, windowBytes);
  const hard = readHardState(db, marks, scan.seen + scan.bad === 0 && meta === undefined);
  const promised = marks?.lastIndex ?? 0;
  const lastGood = scan.window.lastIndex();
  const lost = (reason: string): LogDamage => ({
    index: lastGood + 1,
    last: Math.max(scan.seen, promised, lastGood + scan.bad),
    reason,
  });

  let damaged: LogDamage | undefined;
  if (meta === 'damaged') damaged = lost('the position of the last snapshot is damaged');
  else if (scan.bad > 0) damaged = lost(scan.reason);
  else if (promised > lastGood) damaged = lost(`entries up to ${promised} were on disk before`);
  else if (hard.behind) damaged = lost('the last batches written before are gone');
  const { hardState, version } = hard;
  let told: Marks = marks ?? { version, hardState, lastIndex: 0 };
  // A damaged log keeps both copies unchanged until it is repaired: together they are the evidence.
  // Otherwise everything that was read is on disk: LevelDB flushes its log to a table on opening.
  if (damaged === undefined && (hard.rewrite || promised < lastGood)) {
    if (hard.rewrite) {
      await db.write([sealedPut(KEYS.hard, { version, hardState })], { sync: true });
    }
    told = { version, hardState, lastIndex: lastGood };
    await witness.write(told, true);
  }
  return {
    window: scan.window,
    meta: meta === 'damaged' ? undefined : meta,
    // An unreadable bar was a bar. Assume the strictest one that the log supports.
    bar: bar === 'damaged' ? { index: lastGood, term: hardState.term } : bar,
    hardState,
    hardVersion: version,
    marks: told,
    damaged,
  };
}

function readSealed<T>(db: LogDatabase, key: Buffer): T | undefined | 'damaged' {
  const record = db.get(key);
  return record === undefined ? undefined : (decodeSealed<T>(key, record) ?? 'damaged');
}

/**
 * Returns the newer of the two copies of the hard state. `behind`: the database's copy is older
 * than the witness's, so the database has lost its last batches. `rewrite`: the copies differ and
 * must be written again. Throws StorageError `damaged` if neither copy can be trusted.
 */
function readHardState(db: LogDatabase, marks: Marks | undefined, empty: boolean) {
  const own = readSealed<{ version: number; hardState: HardState }>(db, KEYS.hard);
  if (own !== undefined && own !== 'damaged' && own.version >= (marks?.version ?? 0)) {
    return { ...own, behind: false, rewrite: own.version !== marks?.version };
  }
  if (marks !== undefined && marks.version > 0) {
    const { version, hardState } = marks;
    return { version, hardState, behind: own !== 'damaged', rewrite: true };
  }
  if (own === undefined && (empty || marks?.version === 0)) {
    const hardState: HardState = { term: 0, votedFor: null };
    return { version: 0, hardState, behind: false, rewrite: marks === undefined };
  }
  throw new StorageError(
    'damaged',
    'the record of the term and the vote is damaged in both copies. This node cannot know whom it voted for and must not ' +
      'take part under its name again: remove it from the cluster, empty its data folder, and add it as a new server',
  );
}

/**
 * Reads the entries after `meta` in order, up to the first one that is missing, damaged or does not
 * follow the one before. Counts the records from there on as bad.
 */
async function scanEntries(db: LogDatabase, meta: SnapshotMeta | undefined, windowBytes: number) {
  const window = new EntryWindow(meta, windowBytes);
  let bad = 0;
  let seen = 0;
  let reason = '';
  const base = meta?.index ?? 0;
  for await (const some of db.records({ gt: entryKey(base), lt: KEYS.bar })) {
    for (const [key, record] of some) {
      const index = indexOfKey(key);
      const decoded = index === undefined ? undefined : decodeEntry(index, record);
      if (decoded !== undefined) seen = index!;
      const next = window.lastIndex() + 1;
      if (bad === 0 && index === next && decoded?.previousTerm === window.term(next - 1)) {
        window.append([decoded!.entry]);
        window.evict(index, OPENING_BYTES);
        continue;
      }
      if (bad === 0) {
        if (index !== next) reason = `entry ${next} is missing`;
        else if (decoded === undefined) reason = `entry ${next} does not match its checksum`;
        else reason = `entry ${next - 1} is not the one that entry ${next} was written after`;
      }
      bad += 1;
    }
  }
  return { window, bad, seen, reason };
}
