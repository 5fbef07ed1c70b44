/** The machine's own record in the state. */
import type { Index, Term } from '../raft/types.js';
import { FatalError } from './fatal.js';
import { keys } from './keys.js';
import type { StateRecord, View } from './types.js';

/**
 * The value of `keys.machine`: its version, the position of the last entry applied, the floor of
 * the remembered requests (see RequestMemory) and the checksums by table.
 */
export interface MachineRecord {
  readonly v: number;
  readonly index: Index;
  readonly term: Term;
  readonly floor: Index;
  readonly sums: Readonly<Record<string, string>>;
}

/** Returns the version of the machine's record, by which release 0.3.0 too tells level 1. */
const recordVersion = (level: number): number => (level >= 2 ? 2 : 1);

/** Returns the machine's record in a state; undefined if the state is empty. */
export function recordOf(view: View): MachineRecord | undefined {
  const text = view.get(keys.machine);
  return text === undefined ? undefined : (JSON.parse(text) as MachineRecord);
}

/** Returns the same. Throws FatalError if a release with another version of the record wrote it. */
export function knownRecordOf(view: View, level: number): MachineRecord | undefined {
  const record = recordOf(view);
  if (record !== undefined && record.v !== recordVersion(level)) {
    throw new FatalError(`the state was written by another version (record ${record.v})`);
  }
  return record;
}

/** Returns the record of a state at a level. */
export function recordAt(level: number, content: Omit<MachineRecord, 'v'>): StateRecord {
  const { index, term, floor, sums } = content;
  const record: MachineRecord = { v: recordVersion(level), index, term, floor, sums };
  return [keys.machine, JSON.stringify(record)];
}
