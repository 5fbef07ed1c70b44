/** How a change of one entry is refused, and which other entries the refusal names. */
import { type Refusal, refusal } from '../base/errors.js';
import type { ConfigEntry, EntryId, Kind } from './types.js';

/** A change of one entry. `before` is undefined if it is created, `after` if it is deleted. */
export interface Change extends EntryId {
  readonly before?: ConfigEntry | undefined;
  readonly after?: ConfigEntry | undefined;
}

const shown = ({ kind, name }: EntryId): string => `${kind} ${JSON.stringify(name)}`;

const isSame = (one: EntryId, other: EntryId): boolean =>
  one.kind === other.kind && one.name.toLowerCase() === other.name.toLowerCase();

/** Whether a change writes an entry. */
export const isWritten = (entry: EntryId, change: Change): boolean =>
  change.after !== undefined && isSame(entry, change);

/** A fault of the changed entry is `invalid`. A fault that it causes in another is a `conflict`. */
export function refusalIn(where: EntryId, change: Change, fault: string): Refusal {
  if (isSame(where, change)) return refusal('invalid', fault);
  const lead =
    change.after === undefined
      ? `cannot delete ${shown(change)}, ${shown(where)} still needs it`
      : `cannot write ${shown(change)} like this, ${shown(where)} needs it otherwise`;
  return refusal('conflict', `${lead}: ${fault}`);
}

/**
 * Refuses a written entry that breaks a chain: that of its own service, or one with another head
 * that leads to it.
 */
export function refusalOfBroken(
  written: EntryId,
  fault: string,
  { head, pointer }: { readonly head: EntryId; readonly pointer: string },
): Refusal {
  const isOwn = head.name.toLowerCase() === written.name.toLowerCase();
  const lead = `cannot write ${shown(written)} like this, ${shown(head)} leads to it and breaks`;
  return refusal('invalid', isOwn ? fault : `${lead}: ${fault}`, { pointer });
}

/** The text of a refusal up to its fault. A name is quoted, so it cannot end early. */
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
const NAMING = new RegExp(
  `^(cannot (?:delete|write) [a-z-]+ ${QUOTED}(?: like this)?, )([a-z-]+) (${QUOTED})` +
    '( still needs it| needs it otherwise| leads to it and breaks): ',
);

/**
 * Returns the other entry that a refusal names, and the same refusal without that entry and its
 * services, for callers who may not read it: apply does not know who asks. Undefined if it names
 * none.
 */
export function namedIn(
  why: Refusal,
): { readonly entry: EntryId; readonly unnamed: Refusal } | undefined {
  const [, lead, kind, name, end] = NAMING.exec(why.message) ?? [];
  if (lead === undefined || name === undefined) return undefined;
  const message = `${lead}an entry that the token may not read${end}`;
  return {
    entry: { kind: kind as Kind, name: JSON.parse(name) as string },
    unnamed: { ...why, message },
  };
}
