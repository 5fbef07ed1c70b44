/**
 * Whether a folder holds a LevelDB, and how one is retired. A release that keeps its log in LevelDB
 * must not open the folder of a log that was taken over: what it would find there is old, and it
 * might vote twice. LevelDB reads from the file CURRENT how its manifest is called. So CURRENT
 * stays and has the reason in the place of that name. The old release prints:
 *
 *     data/log cannot be opened: IO error: data/log/THE LOG IS IN SEGMENTS SINCE RELEASE 0.3.0 -
 *     nothing is damaged - (...): No such file or directory
 *
 * Replacing CURRENT is the one step that retires the database. The other files can go afterwards.
 */
import { settled } from './calls.js';
import { NodeFolder } from './node-folder.js';
import { readFile, replaceFile } from './sealed-file.js';

const CURRENT = 'CURRENT';
/** LevelDB asks for a newline at the end. A slash would be part of the path. */
const RETIRED = Buffer.from(
  'THE LOG IS IN SEGMENTS SINCE RELEASE 0.3.0 - nothing is damaged - start that release again, ' +
    'or this one with a copy of the data folder from before\n',
);
/** What LevelDB and logs in it leave besides CURRENT. */
const OTHER_FILES =
  /^(CURRENT\.new|LOCK|LOG(\.old)?|MANIFEST-\d+|\d+\.(log|ldb|sst|dbtmp)|witness)$/;

/** See `Disk`. */
export async function hasDatabase(dir: string): Promise<boolean> {
  const current = await readFile(new NodeFolder(dir), CURRENT);
  return current !== undefined && !current.equals(RETIRED);
}

/** See `Disk`. The folder of a new log is marked too. */
export async function retireDatabase(dir: string): Promise<void> {
  const folder = new NodeFolder(dir);
  const current = await readFile(folder, CURRENT);
  if (!current?.equals(RETIRED)) await replaceFile(folder, CURRENT, RETIRED);
  for (const name of folder.names()) {
    if (OTHER_FILES.test(name)) await settled((done) => folder.remove(name, done));
  }
}
