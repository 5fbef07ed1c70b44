/** How a change of one entry is refused, and which other entries the refusal names. */
import { type About, OWN, type Refusal, refusal } from '../base/errors.js';
import type { ChainEntries, Compiled } from './chain.js';
import type { ConfigEntry, EntryId } from './types.js';

/** A change of one entry. `before` is undefined if it is created, `after` if it is deleted. */
export interface Change extends EntryId {
  readonly before?: ConfigEntry | undefined;
  readonly after?: ConfigEntry | undefined;
}

/** The set of changes that one entry of the log makes together: each is judged with all made. */
export interface Among {
  /** Returns the change of an entry; undefined if the set does not change it. */
  changeOf(entry: EntryId): Change | undefined;
  /** The entries before the set. */
  readonly past: ChainEntries;
  /** The chains compiled so far, by lower-case service. */
  readonly chains: Map<string, Compiled>;
  /** The change that the last refusal is about. */
  blamed: Change | undefined;
}

const shown = ({ kind, name }: EntryId): string => `${kind} ${JSON.stringify(name)}`;

const isSame = (one: EntryId, other: EntryId): boolean =>
  one.kind === other.kind && one.name.toLowerCase() === other.name.toLowerCase();

/** Whether a change writes an entry. */
export const isWritten = (entry: EntryId, change: Change): boolean =>
  change.after !== undefined && isSame(entry, change);

/** A fault of the changed entry is `invalid`. A fault that it causes in another is a `conflict`. */
export function refusalIn(where: EntryId, change: Change, fault: string): Refusal {
  if (isSame(where, change)) return refusal('invalid', fault, OWN);
  const lead = (who: string): string =>
    change.after === undefined
      ? `cannot delete ${shown(change)}, ${who} still needs it`
      : `cannot write ${shown(change)} like this, ${who} needs it otherwise`;
  return refusal('conflict', `${lead(shown(where))}: ${fault}`, naming(where, lead));
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
  if (head.name.toLowerCase() === written.name.toLowerCase())
    return refusal('invalid', fault, { pointer, ...OWN });
  const lead = (who: string): string =>
    `cannot write ${shown(written)} like this, ${who} leads to it and breaks`;
  return refusal('invalid', `${lead(shown(head))}: ${fault}`, { pointer, ...naming(head, lead) });
}

/**
 * Marks a refusal that names another entry, for callers who may not read it: apply does not know
 * who asks.
 */
const naming = (
  { kind, name }: EntryId,
  lead: (who: string) => string,
): { readonly about: About } => ({
  about: {
    kind: 'conflict',
    entry: { kind, name },
    unnamed: lead('an entry that the token may not read'),
  },
});
