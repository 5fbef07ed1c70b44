/** The machine's own record in the state. */
import type { Index, Term } from '../raft/types.js';
import { FatalError } from './fatal.js';
import { keys } from './keys.js';
import type { Handler, NewState, NextChanges, Result, StateRecord, View } from './types.js';

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

/**
 * Returns the same. Throws FatalError if a release with another version of the record wrote it, or
 * if the record of the level is lost.
 */
export function knownRecordOf(view: View, level: number): MachineRecord | undefined {
  const record = recordOf(view);
  if (record?.v === recordVersion(2) && recordVersion(level) < record.v)
    throw new FatalError(
      'the state has lost the level of its cluster: this folder alone cannot make a cluster',
    );
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

/** Returns the result of an entry as requests remember it. */
export function resultOf(outcome: ReturnType<Handler<never>>, index: Index): Result {
  if (!outcome.ok) return { ...outcome, index };
  const { value } = outcome;
  return { ok: true, ...(value !== undefined && { value }), index };
}

/** Called with the result of an entry that took many turns; undefined if it was not applied. */
export type Resume = (result: Result | undefined) => void;

/** A command that replaces the state. */
export interface Replacing {
  /** The id of the request. */
  readonly id: string;
  readonly result: Result;
  readonly state: NewState;
}

/** No changes of the records below NEXT. */
export const NO_NEXT: NextChanges = { replaces: false, records: [] };

/** Returns changes of the records below NEXT, followed by others. */
export function joined(one: NextChanges, other: NextChanges | undefined): NextChanges {
  if (other === undefined || other.replaces) return other ?? one;
  return { ...one, records: one.records.concat(other.records) };
}
