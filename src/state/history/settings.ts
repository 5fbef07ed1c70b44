/** The bounds of the history (beyond.md 3.2), and what is known of what has been forgotten. */
import type { Authorizer } from '../../acl/types.js';
import { type Refusal, refusal } from '../../base/errors.js';
import { parseDuration } from '../../languages/duration.js';
import { always, computed, type Infer, timeToLive, whole } from '../../languages/fields.js';
import { keys } from '../keys.js';
import { levelOf } from '../levels.js';
import { refused, stored } from '../lists.js';
import type { Command, Handler, View } from '../types.js';
import { RINGS, type Ring } from './records.js';

/** The level from whose index on the history is kept. */
export const HISTORY_LEVEL = 3;

const MIB = 2 ** 20;
/** Most versions of one object that can be kept. */
export const VERSIONS_MAX = 10_000;
/** Most bytes that the history can have. */
export const BYTES_MAX = 8192 * MIB;
/** Least bytes that the history can have, unless it keeps nothing. */
export const BYTES_MIN = MIB;

/** The fields of the configuration. */
export const historyFields = {
  VersionsPerObject: always(
    'How many versions of an object are kept, the present one included. 0 keeps none.',
    whole({ min: 0, limits: { max: VERSIONS_MAX } }),
  ),
  Bytes: always(
    'How many bytes the history may have. The oldest is dropped beyond that. 0 keeps nothing.',
    whole({ min: 0, limits: { max: BYTES_MAX } }),
  ),
  LoginBytes: always(
    'How many of these bytes the lines of login tokens may have. 0 keeps none.',
    whole({ min: 0, limits: { max: BYTES_MAX } }),
  ),
  MaxAge: always('How long records are kept. Empty means no limit.', timeToLive),
  ModifyIndex: always(
    'The index at which the configuration was last changed.',
    computed(whole({ min: 0 })),
  ),
};
/** The bounds in force. */
export type HistoryBounds = Readonly<Omit<Infer<typeof historyFields>, 'ModifyIndex'>>;

/** The bounds until others are written. */
export const HISTORY_DEFAULTS: HistoryBounds = {
  VersionsPerObject: 200,
  Bytes: 256 * MIB,
  LoginBytes: 64 * MIB,
  MaxAge: '8784h',
};

/** Whether a ring gets lines. */
export const hasLines = (
  ring: Ring,
  { Bytes, LoginBytes }: Pick<HistoryBounds, 'Bytes' | 'LoginBytes'>,
): boolean => Bytes > 0 && (ring === 'change' || LoginBytes > 0);

/** Replaces the bounds. */
export interface HistoryConfigure extends Command {
  readonly type: 'history.configure';
  readonly bounds: HistoryBounds;
  /** The present ModifyIndex must be one of these. Absent: it may be any. */
  readonly ifMatch?: readonly number[];
}

/** The key of the bounds. */
export const HISTORY_FACT = keys.fact('history');
/** The key of what has been forgotten. It changes with every record of the history. */
export const FLOOR_FACT = keys.fact('history-floor');

/** What has been forgotten, and what is kept. */
export interface Floors {
  /** The greatest index at which anything forgotten was in force. */
  readonly Index: number;
  /** The same of the tokens of logins that have ended. */
  readonly Logins: number;
  /** Bytes of both rings, and those of the ring of logins. */
  readonly Bytes: number;
  readonly LoginBytes: number;
  /** The greatest index of a line that was dropped, or that has lost its content. */
  readonly Dropped?: number;
  /** Bytes of contents beyond the number of versions, roughly: a sweep drops them. */
  readonly Excess?: number;
  /** While versions are compared with the bound on their number: the key of the last chunk. */
  readonly Sweep?: string;
  /** The index from which on a ring has lines again, after it got none for a while. */
  readonly Resumed?: { readonly [R in Ring]?: number };
}

/** Returns what has been forgotten; undefined below the level of the history. */
export const floorsOf = (view: View): Floors | undefined => stored(view, FLOOR_FACT);

/** Returns the index after which no line of a ring is missing, if it ever got none; or 0. */
export const resumedAt = (view: View, ring: Ring): number => floorsOf(view)?.Resumed?.[ring] ?? 0;

/** Returns what has been forgotten of a history that begins at an index. */
export const floorsFrom = (index: number, sizes = { Bytes: 0, LoginBytes: 0 }): Floors => ({
  Index: index,
  Logins: index,
  ...sizes,
});

/** Returns the bounds in force. Their ModifyIndex is 0 until some are written. */
export const historyBounds = (view: View): HistoryBounds & { readonly ModifyIndex: number } =>
  stored(view, HISTORY_FACT) ?? { ...HISTORY_DEFAULTS, ModifyIndex: 0 };

/** Returns MaxAge in milliseconds; undefined if there is no limit. */
export function maxAgeMs({ MaxAge }: HistoryBounds): number | undefined {
  const parsed = MaxAge === '' ? undefined : parseDuration(MaxAge);
  return parsed?.ok === true ? parsed.nanoseconds / 1e6 : undefined;
}

/** Returns the 403 of a caller who may not read or write the bounds. */
export const historyDenial = (
  authorizer: Authorizer,
  access: 'read' | 'write',
): Refusal | undefined => authorizer.denial('operator', access);

/** Stores the bounds. Answers them. */
export const configureHistory: Handler<HistoryConfigure> = (
  { draft, index },
  { bounds, ifMatch },
) => {
  const before = historyBounds(draft);
  const { ModifyIndex, VersionsPerObject, Bytes } = before;
  if (ifMatch?.includes(ModifyIndex) === false) {
    const why = `Precondition failed: the history configuration has ModifyIndex ${ModifyIndex}`;
    return refused(refusal('precondition_failed', why));
  }
  const text = JSON.stringify({ ...bounds, ModifyIndex: index });
  draft.put(HISTORY_FACT, text);
  const floors = floorsOf(draft);
  const isLess = bounds.VersionsPerObject < VersionsPerObject || (bounds.Bytes === 0 && Bytes > 0);
  const resumed = RINGS.filter((ring) => hasLines(ring, bounds) && !hasLines(ring, before));
  if (floors !== undefined && (isLess || resumed.length > 0)) {
    const at = Object.fromEntries(resumed.map((ring) => [ring, index]));
    const changed: Floors = {
      ...floors,
      ...(isLess && { Sweep: '' }),
      ...(resumed.length > 0 && { Resumed: { ...floors.Resumed, ...at } }),
    };
    draft.put(FLOOR_FACT, JSON.stringify(changed));
  }
  return { ok: true, value: text };
};

/** Whether the history is kept: from its level on. */
export const isKept = (view: View): boolean => levelOf(view) >= HISTORY_LEVEL;
