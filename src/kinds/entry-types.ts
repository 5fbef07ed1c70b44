/** The types of entries by kind. */
import type { Normal } from '../languages/fields.js';
import type { DefinitionOf } from './definitions.js';
import type { ConfigEntry, Kind } from './types.js';

/** A normalised entry of a kind. */
export type EntryOfKind<K extends Kind> = ConfigEntry & Normal<DefinitionOf<K>['type']>;

/** Returns an entry if it is of a kind. */
export const ofKind = <K extends Kind>(
  kind: K,
  entry: ConfigEntry | undefined,
): EntryOfKind<K> | undefined =>
  // An entry was decoded by the definition of its kind, so that it has the type of that.
  entry?.Kind === kind ? (entry as EntryOfKind<K>) : undefined;

/** Looks up an entry. */
export const entryOf = <K extends Kind>(
  entries: { get(kind: Kind, name: string): ConfigEntry | undefined },
  kind: K,
  name: string,
): EntryOfKind<K> | undefined => ofKind(kind, entries.get(kind, name));
