/** Opens the log's database and reads all of it: what is whole, and what is damaged. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClassicLevel } from 'classic-level';
import { Level } from 'level';
import type { HardState, Index, SnapshotMeta, Term } from '../raft/types.js';
import { EntryWindow } from './entry-window.js';
import { rootMessage, StorageError } from './errors.js';
import { decodeEntry, decodeSealed, encodeSealed, entryKey, indexOfKey } from './record.js';
import { IN_SLICES, slices } from './slices.js';
import { type Marks, Witness } from './witness.js';

/**
 * Of entries held while the log is opened: whoever starts reads all of it again, before the first
 * write lets most of it go.
 */
const OPENING_BYTES = 128 * 2 ** 20;

export type LogDatabase = ClassicLevel<Buffer, Buffer>;

/** The keys that are not entries; they sort after all entries. */
export const KEYS = {
  hard: Buffer.from('hard'),
  meta: Buffer.from('meta'),
  bar: Buffer.from('bar'),
} as const;

/** Entries index..last are lost or not to be trusted; they may have been acknowledged. */
export interface LogDamage {
  readonly index: Index;
  readonly last: Index;
  readonly reason: string;
}

/** Until this node has caught up with (index, term) it must not vote. */
export interface Bar {
  readonly index: Index;
  readonly term: Term;
}

/** Opens a LevelDB. A lock held by another process and unreadable files are said in plain words. */
export async function openDatabase<K, V>(
  dir: string,
  options: ConstructorParameters<typeof ClassicLevel<K, V>>[1],
): Promise<ClassicLevel<K, V>> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  // level is classic-level in Node, but its types leave out what only that has (getSync)
  const db = new Level<K, V>(dir, options as never) as unknown as ClassicLevel<K, V>;
  try {
    await db.open();
  } catch (error) {
    const why = rootMessage(error);
    if ((error as { cause?: { code?: string } }).cause?.code === 'LEVEL_LOCKED') {
      throw new StorageError('locked', `${dir} is in use by another process (${why})`, error);
    }
    throw new StorageError('failed', `${dir} cannot be opened: ${why}`, error);
  }
  return db;
}

export async function loadLog(dir: string, windowBytes: number) {
  const db: LogDatabase = await openDatabase<Buffer, Buffer>(dir, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    compression: false,
  });
  let witness: Witness | undefined;
  try {
    const opened = await Witness.open(join(dir, 'witness'));
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
  const meta = await readSealed<SnapshotMeta>(db, KEYS.meta);
  const bar = await readSealed<Bar>(db, KEYS.bar);
  const scan = await scanEntries(db, meta === 'damaged' ? undefined : meta, windowBytes);
  const hard = await readHardState(db, marks, scan.seen + scan.bad === 0 && meta === undefined);
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
  // While the log is damaged both copies stay as they are: together they are the evidence, until it
  // is repaired. What was read is on disk: LevelDB writes a table of its log when it opens.
  if (damaged === undefined && (hard.rewrite || promised < lastGood)) {
    if (hard.rewrite) {
      await db.put(KEYS.hard, encodeSealed(KEYS.hard, { version, hardState }), { sync: true });
    }
    told = { version, hardState, lastIndex: lastGood };
    await witness.write(told, true);
  }
  return {
    window: scan.window,
    meta: meta === 'damaged' ? undefined : meta,
    // A bar that cannot be read was a bar: be as strict as the present state allows.
    bar: bar === 'damaged' ? { index: lastGood, term: hardState.term } : bar,
    hardState,
    hardVersion: version,
    marks: told,
    damaged,
  };
}

async function readSealed<T>(db: LogDatabase, key: Buffer): Promise<T | undefined | 'damaged'> {
  const record = await db.get(key);
  return record === undefined ? undefined : (decodeSealed<T>(key, record) ?? 'damaged');
}

/**
 * The newer of the two copies of the hard state. `behind`: the database had forgotten what the
 * witness remembers, so it has lost its last batches. Throws when neither copy can be trusted.
 */
async function readHardState(db: LogDatabase, marks: Marks | undefined, empty: boolean) {
  const own = await readSealed<{ version: number; hardState: HardState }>(db, KEYS.hard);
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

/** Reads all entries after `meta` in order, up to the first that is not what must stand there. */
async function scanEntries(db: LogDatabase, meta: SnapshotMeta | undefined, windowBytes: number) {
  const window = new EntryWindow(meta, windowBytes);
  let bad = 0;
  let seen = 0;
  let reason = '';
  const base = meta?.index ?? 0;
  const records = db.iterator({ gt: entryKey(base), lt: KEYS.bar, ...IN_SLICES });
  for await (const some of slices(records)) {
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
