/** The history of a state that is restored from an archive. */
import { tableOf } from '../checksum.js';
import type { Command, StateRecord } from '../types.js';
import {
  chunkIndex,
  chunkKey,
  chunkOf,
  chunkText,
  countedBytes,
  deedOf,
  deedText,
  lineOf,
  lineText,
  traceOf,
  traceText,
  VERSION,
} from './records.js';
import { FLOOR_FACT, floorsFrom } from './settings.js';

/** Returns what a log has of a record of history; undefined if it has not reached its index. */
export function withinHistory([key, text]: StateRecord, index: number): StateRecord | undefined {
  if (tableOf(key) === VERSION) {
    const { gone, made, deed } = traceOf(text);
    const isMade = made <= index;
    const reached = { gone: gone <= index ? gone : 0, made: isMade ? made : 0 };
    const kept = traceText({ ...reached, deed: isMade ? deed : '' });
    return kept === undefined ? undefined : [key, kept];
  }
  if (chunkIndex(key) > index) return undefined;
  const { sinceMs, lines } = chunkOf(text);
  const kept = lines.filter((line) => lineOf(line).index <= index);
  return kept.length === 0 ? undefined : [key, chunkText({ sinceMs, lines: kept })];
}

/** Returns the records with which the history goes on after a restore at an index. */
export function restoredHistory(
  index: number,
  command: Command,
  { Bytes, LoginBytes }: { readonly Bytes: number; readonly LoginBytes: number },
): readonly StateRecord[] {
  const deed = deedOf(command, 'restore');
  const about = { type: '', ns: '', id: '', name: '' } as const;
  const link = { was: 0, count: 0, mark: 0 };
  const line = lineText({ index, position: 0 }, about, link, deedText(deed));
  const key = chunkKey('change', index, 0);
  const text = chunkText({ sinceMs: 0, lines: [line] });
  const sizes = { Bytes: Bytes + countedBytes(key, text), LoginBytes };
  return [
    [key, text],
    [FLOOR_FACT, JSON.stringify(floorsFrom(index, sizes))],
  ];
}
