/**
 * Reads the log of releases before 0.3.0, a LevelDB. LevelDB's batches are atomic, so a crash
 * removes only whole batches from the end. A record that differs from what was written is therefore
 * damage, wherever it is. The same holds for entries that are missing below the witness's mark:
 *
 *     entries   1 2 3 4 x 6 7      the checksum of 5 is wrong
 *     witness   lastIndex 8        8 was synced, and has disappeared
 *     damaged   {index 5, last 8}  5 to 8 may have been acknowledged
 */
import { crc32 } from 'node:zlib';
import type { Configuration, Entry, HardState, Index, SnapshotMeta, Term } from '../raft/types.js';
import { settled } from './calls.js';
import type { Database, Disk, DiskFile, DiskFolder } from './disk.js';
import { FORGOTTEN, StorageError } from './errors.js';
import { decodeSealed, readSafe, writeSafe } from './record.js';
import type { LogDamage, LogState, Position } from './segment-record.js';
import { type Marks, WITNESS, Witness } from './witness.js';

const VERSION = 1;
/** Bytes before the payload of an entry. */
const HEAD_BYTES = 22;
const KINDS = ['command', 'noop', 'configuration'] as const;

/** The keys of records that are not entries. They sort after all entries. */
const KEYS = {
  hard: Buffer.from('hard'),
  meta: Buffer.from('meta'),
  bar: Buffer.from('bar'),
} as const;

/** The log of an earlier release. */
export class LevelLogReader {
  /** What it says besides entries; `damage` is known once all entries were read. */
  state: LogState;
  readonly #db: Database<Buffer>;
  readonly #marks: LevelMarks | undefined;
  readonly #isBehind: boolean;
  readonly #hasLostMeta: boolean;

  /** Use `LevelLogReader.open`. */
  constructor(db: Database<Buffer>, marks: LevelMarks | undefined, found: Found) {
    this.#db = db;
    this.#marks = marks;
    this.state = found.state;
    this.#isBehind = found.isBehind;
    this.#hasLostMeta = found.hasLostMeta;
  }

  /** Opens the log. Throws StorageError; `damaged` if the vote may be lost. */
  static async open(dir: string, disk: Disk): Promise<LevelLogReader> {
    const db = await disk.openBytes(dir);
    try {
      const marks = await readMarks(disk.folder(dir));
      return new LevelLogReader(db, marks, await readState(db, marks));
    } catch (error) {
      await db.close();
      throw error;
    }
  }

  /**
   * Yields the entries after the snapshot in order, up to the first one that is missing, damaged or
   * does not follow the one before. Then sets `state.damage` if anything is lost.
   */
  async *entries(): AsyncGenerator<Entry[]> {
    let last: Position = this.state.meta ?? { index: 0, term: 0 };
    let reason = this.#hasLostMeta ? 'the position of the last snapshot is damaged' : undefined;
    let seen = 0;
    let bad = 0;
    for await (const some of this.#db.records({ gt: entryKey(last.index), lt: KEYS.bar })) {
      const entries: Entry[] = [];
      for (const [key, record] of some) {
        const index = key.length === 8 ? readSafe(key, 0) : 0;
        const decoded = decodeEntry(index, record);
        if (decoded !== undefined) seen = index;
        if (bad === 0) reason ??= refusal(index, decoded, last);
        if (reason !== undefined) bad += 1;
        else {
          entries.push(decoded!.entry);
          last = decoded!.entry;
        }
      }
      if (entries.length > 0) yield entries;
    }
    const promised = this.#marks?.lastIndex ?? 0;
    if (promised > last.index) reason ??= `entries up to ${promised} were on disk before`;
    if (this.#isBehind) reason ??= 'the last batches written before are gone';
    if (reason === undefined) return;
    const { index } = last;
    const damage: LogDamage = {
      index: index + 1,
      last: Math.max(seen, promised, index + bad),
      reason,
    };
    this.state = { ...this.state, damage };
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

type Decoded = { readonly entry: Entry; readonly previousTerm: Term };

/** Why a record is not the entry that follows `last`; undefined if it is. */
function refusal(index: Index, decoded: Decoded | undefined, last: Position): string | undefined {
  const next = last.index + 1;
  if (index !== next) return `entry ${next} is missing`;
  if (decoded === undefined) return `entry ${next} does not match its checksum`;
  if (decoded.previousTerm === last.term) return undefined;
  return `entry ${last.index} is not the one that entry ${next} was written after`;
}

/** What the witness of such a log records: it knows no batches. */
type LevelMarks = Omit<Marks, 'batch'>;

async function readMarks(folder: DiskFolder): Promise<LevelMarks | undefined> {
  if (!folder.names().includes(WITNESS)) return undefined;
  const witness = new Witness(await settled<DiskFile>((done) => folder.open(WITNESS, done)));
  witness.close();
  return witness.marks;
}

interface Found {
  readonly state: LogState;
  readonly isBehind: boolean;
  readonly hasLostMeta: boolean;
}

async function readState(db: Database<Buffer>, marks: LevelMarks | undefined): Promise<Found> {
  const meta = readSealed<SnapshotMeta>(db, KEYS.meta);
  const bar = readSealed<Position>(db, KEYS.bar);
  const hasEntries = (await db.keys({ lt: KEYS.bar }, 1)).length > 0;
  const hard = readHardState(db, marks, !hasEntries && meta === undefined);
  const { version, hardState } = hard;
  return {
    state: {
      version,
      hardState,
      meta: meta === 'damaged' ? undefined : meta,
      // An unreadable bar was a bar. Assume the strictest one that the log supports.
      bar: bar === 'damaged' ? { index: marks?.lastIndex ?? 0, term: hardState.term } : bar,
    },
    isBehind: hard.isBehind,
    hasLostMeta: meta === 'damaged',
  };
}

function readSealed<T>(db: Database<Buffer>, key: Buffer): T | undefined | 'damaged' {
  const record = db.get(key);
  return record === undefined ? undefined : (decodeSealed<T>(key, record) ?? 'damaged');
}

/**
 * Returns the newer of the two copies of the hard state. `isBehind`: the database's copy is older
 * than the witness's, so the database has lost its last batches. Throws StorageError `damaged` if
 * neither copy can be trusted.
 */
function readHardState(db: Database<Buffer>, marks: LevelMarks | undefined, isEmpty: boolean) {
  const own = readSealed<{ version: number; hardState: HardState }>(db, KEYS.hard);
  if (own !== undefined && own !== 'damaged' && own.version >= (marks?.version ?? 0)) {
    return { ...own, isBehind: false };
  }
  if (marks !== undefined && marks.version > 0) return { ...marks, isBehind: own !== 'damaged' };
  if (own === undefined && (isEmpty || marks?.version === 0)) {
    const hardState: HardState = { term: 0, votedFor: null };
    return { version: 0, hardState, isBehind: false };
  }
  throw new StorageError(
    'damaged',
    `the record of the term and the vote is damaged in both copies. ${FORGOTTEN}`,
  );
}

function entryKey(index: Index): Buffer {
  const key = Buffer.allocUnsafe(8);
  writeSafe(key, index, 0);
  return key;
}

/**
 *     key     index u64
 *     record  crc u32 · version u8 · kind u8 · term u64 · term of the entry before u64 · payload
 */
function decodeEntry(index: Index, record: Buffer): Decoded | undefined {
  if (record.length < HEAD_BYTES || record[4] !== VERSION) return undefined;
  if (record.readUInt32BE(0) !== crc32(record.subarray(4), crc32(entryKey(index))))
    return undefined;
  const kind = KINDS[record[5]!];
  const term = readSafe(record, 6);
  const previousTerm = readSafe(record, 14);
  const payload = record.subarray(HEAD_BYTES);
  if (kind === 'command') return { entry: { kind, index, term, data: payload }, previousTerm };
  if (kind === 'noop') return { entry: { kind, index, term }, previousTerm };
  if (kind !== 'configuration') return undefined;
  const configuration = JSON.parse(payload.toString()) as Configuration;
  return { entry: { kind, index, term, configuration }, previousTerm };
}
