/**
 * Opens databases with corrupted files and prints what they contain, one line of JSON each. This is
 * a separate process because LevelDB aborts the process when some of its own structures are
 * inconsistent. Arguments: `log` or `state`, folders.
 */
import { StorageError } from '../../src/storage/errors.js';
import { openLog } from '../../src/storage/open-log.js';
import { openState } from '../../src/storage/state.js';
import { entriesOf } from './helpers.js';

/** The contents of a folder. */
export type Found =
  | { readonly dir: string; readonly refused: string }
  | {
      readonly dir: string;
      readonly damaged: boolean;
      readonly hardState?: unknown;
      readonly entries?: unknown[];
      /** Keys with their values; null for one that could not be read. */
      readonly records?: (readonly [string, string | null])[];
    };

const onFatal = (): void => {};

async function verifyLog(dir: string): Promise<Found> {
  const log = await openLog(dir, { onFatal });
  const { damaged } = log;
  const entries = entriesOf(log);
  const hardState = log.hardState();
  await log.close();
  return { dir, damaged: damaged !== undefined, hardState, entries };
}

async function verifyState(dir: string): Promise<Found> {
  const state = await openState(dir, { onFatal });
  const read = (key: string): string | null => {
    try {
      return state.get(key) ?? null;
    } catch (error) {
      if (error instanceof StorageError) return null;
      throw error;
    }
  };
  const damaged = state.damaged !== undefined;
  const records = [...state.keys('')].map((key) => [key, read(key)] as const);
  await state.close();
  return { dir, damaged, records };
}

const [kind, ...dirs] = process.argv.slice(2);
for (const dir of dirs) {
  let found: Found;
  try {
    found = await (kind === 'log' ? verifyLog(dir) : verifyState(dir));
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    found = { dir, refused: error.message };
  }
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
