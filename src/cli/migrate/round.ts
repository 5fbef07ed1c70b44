/** What a round of a migration has read and planned. */
import type { Problem } from '../../api/migration-report.js';
import type { Converted, SourceState } from '../../migrate/source/types.js';
import type { PlannedObjects } from './objects.js';
import { entriesOf, type PlannedOurs } from './of-ours.js';
import type { OtherIds } from './other-ids.js';
import type { PlannedTokens } from './tokens.js';

/** What a round has read and planned. */
export interface Round {
  readonly state: SourceState;
  readonly ids: OtherIds['ids'];
  readonly converted: Converted;
  readonly objects: PlannedObjects;
  /** Absent without `--with-secrets`. */
  readonly tokens: PlannedTokens | undefined;
  /** Of a source of ours. */
  readonly ours: PlannedOurs | undefined;
  readonly problems: readonly Problem[];
  /** Whether there is something to write. */
  readonly isIdle: boolean;
}

/** Whether a round has nothing to write. */
export const isIdle = ({ objects, tokens, ours }: Omit<Round, 'isIdle'>): boolean =>
  objects.changes.every(({ Action }) => Action === 'unchanged') &&
  [tokens?.created, tokens?.updated, tokens?.deleted].every((list = []) => list.length === 0) &&
  entriesOf(ours) === 0;
