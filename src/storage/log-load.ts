/** Opens the files of a log, reads all of it, and compares it with its witness. */
import type { Index } from '../raft/types.js';
import { settled } from './calls.js';
import type { DiskFile, DiskFolder } from './disk.js';
import { FORGOTTEN, rootMessage, StorageError } from './errors.js';
import { type Recovered, recover, type SegmentSource } from './recovery.js';
import { segmentName, segmentNumber } from './segment.js';
import { SPARE } from './segment-pool.js';
import type { LogDamage, LogState } from './segment-record.js';
import { type Marks, WITNESS, Witness } from './witness.js';

/** A log that was read. */
export interface Loaded extends Omit<Recovered, 'unused'> {
  readonly folder: DiskFolder;
  readonly witness: Witness;
  readonly nextSegment: number;
  /** Files that hold nothing of the log, also those for later use. Kept while it is damaged. */
  readonly unused: UnusedFile[];
}

/** A file that holds nothing of the log. */
export interface UnusedFile {
  readonly name: string;
  /** Only if it was opened. */
  readonly file?: DiskFile;
}

/**
 * Reads the log in a folder. `windowBytes` bounds the entries that stay in memory. Throws
 * StorageError.
 */
export async function loadLog(folder: DiskFolder, windowBytes: number): Promise<Loaded> {
  const files: DiskFile[] = [];
  const open = async (name: string): Promise<DiskFile> => {
    const file = await settled<DiskFile>((done) => folder.open(name, done));
    files.push(file);
    return file;
  };
  try {
    const names = folder.names();
    const isNew = !names.includes(WITNESS);
    const witness = new Witness(await open(WITNESS));
    const sources: SegmentSource[] = [];
    for (const name of names) {
      const number = segmentNumber(name);
      if (number !== undefined) sources.push({ number, file: await open(name) });
    }
    sources.sort((a, b) => a.number - b.number);
    const recovered = compare(recover(sources, windowBytes), witness.marks);
    if (recovered.damage === undefined) {
      if (isNew) await settled((done) => folder.sync(done));
      await secure(recovered, witness);
    }
    const unused = [
      ...recovered.unused.map(({ number, file }) => ({ name: segmentName(number), file })),
      ...names.filter((name) => SPARE.test(name)).map((name) => ({ name })),
    ];
    const nextSegment = (sources.at(-1)?.number ?? 0) + 1;
    return { ...recovered, folder, witness, nextSegment, unused };
  } catch (error) {
    for (const file of files) file.close();
    if (error instanceof StorageError) throw error;
    throw new StorageError('failed', `the log cannot be read: ${rootMessage(error)}`, error);
  }
}

/** Adds what only the witness knows. Throws StorageError `damaged` if the vote may be lost. */
function compare(recovered: Recovered, marks: Marks | undefined): Recovered {
  const { state, window } = recovered;
  const promised = marks?.lastIndex ?? 0;
  const damage = extended(damageOf(recovered, marks), promised);
  if (damage === undefined) return recovered;
  if (marks === undefined) {
    throw new StorageError(
      'damaged',
      `the log is damaged from entry ${window.lastIndex() + 1} on, ` +
        `and so is the second copy of the term and the vote. ${FORGOTTEN}`,
    );
  }
  const newest: LogState = marks.version > state.version ? { ...state, ...hardOf(marks) } : state;
  // The batch of the repair must not have a number that the witness knows.
  const highestBatch = Math.max(recovered.highestBatch, marks.batch);
  return { ...recovered, state: newest, damage, highestBatch };
}

const hardOf = ({ version, hardState }: Marks) => ({ version, hardState });

function damageOf({ damage, batch, window }: Recovered, marks: Marks | undefined) {
  if (damage !== undefined || marks === undefined || marks.batch <= batch) return damage;
  const last = window.lastIndex();
  const reason =
    marks.lastIndex > last
      ? `entries up to ${marks.lastIndex} were on disk before`
      : 'the last batches written before are missing';
  return { index: last + 1, last, reason };
}

function extended(damage: LogDamage | undefined, last: Index): LogDamage | undefined {
  return damage && { ...damage, last: Math.max(damage.last, last) };
}

/**
 * Makes durable what was read: of the last batch, a killed process has not seen the end. Then lets
 * the witness record it.
 */
async function secure(
  { segments, window, state, batch }: Recovered,
  witness: Witness,
): Promise<void> {
  const newest = segments.at(-1);
  if (newest !== undefined) await settled((done) => newest.file.sync(done));
  const { version, hardState } = state;
  const lastIndex = window.lastIndex();
  await settled((done) => witness.write({ version, hardState, batch, lastIndex }, done));
}
