/** What entries changed, and what the streams of a node and their hub know of each other. */
import { linesAfter, merged, oldestLine } from '../../state/history/lines.js';
import type { RecentLines } from '../../state/history/recent.js';
import { type Line, RINGS, type Ring, type RingLine } from '../../state/history/records.js';
import { type Floors, floorsOf, historyBounds, resumedAt } from '../../state/history/settings.js';
import type { View } from '../../state/types.js';
import type { Authorizers } from '../rights/authorizers.js';
import { ObjectChange } from './changes.js';

/** What one entry changed. */
export interface EntryChanges {
  readonly index: number;
  readonly changes: readonly ObjectChange[];
  /** Whether it may have changed the rights of tokens by what is no object: revocations. */
  readonly isOfTokens: boolean;
}

/** What streams work with. */
export interface HubParts {
  readonly view: View;
  readonly recent: RecentLines;
  readonly authorizers: Authorizers;
  /** Milliseconds since the epoch, by which tokens expire. */
  readonly nowMs: () => number;
  /** Milliseconds after which a reader that does not read is cut. */
  readonly stallMs: number;
  /** Milliseconds for which a reader may be ahead of this node. */
  readonly aheadMs: number;
  /** Whether this node must not use its state: it is damaged, or no member any more. */
  readonly isClosed: () => boolean;
  /** Called with what a record of the state cannot be read for. */
  readonly onFault: (error: unknown) => void;
}

/** A stream, as the hub knows it. */
export interface HubStream {
  readonly id: string;
  /** The topics and objects that it asks for. */
  readonly items: ReadonlySet<string>;
  /** Whether it asks for the tokens of logins. */
  readonly logins: boolean;
  /** The state keys whose change concerns it. */
  readonly restsOn: readonly string[];
  /** Whether it waits for its turn. Only the hub sets it. */
  isQueued: boolean;
  /** A key on which it rests has changed in an entry after an index. */
  keyChanged(key: string, after: number): void;
  /** Everything may have changed. */
  stateReplaced(): void;
  /** There may be something after an index, up to which there was nothing if it is idle. */
  woken(index: number): void;
  /** Sends what there is, until the connection takes no more. */
  pump(): void;
  /** Called every second, with the time of `performance.now`. */
  tick(nowMs: number): void;
  /** Tells the reader why it is the end, and ends the response. */
  end(reason: string): void;
}

/** Yields what entries after an index changed, oldest first: `lines`, or those of the rings. */
export function* entriesAfter(
  view: View,
  index: number,
  lines: Iterable<RingLine> = linesOf(view, index),
): Iterable<EntryChanges> {
  let open: { index: number; changes: ObjectChange[]; isOfTokens: boolean } | undefined;
  for (const line of lines) {
    if (open?.index !== line.index) {
      if (open !== undefined) yield open;
      open = { index: line.index, changes: [], isOfTokens: false };
    }
    if (line.type === 'login-tokens') open.isOfTokens = true;
    else if (line.type !== '') open.changes.push(new ObjectChange(view, line));
  }
  if (open !== undefined) yield open;
}

function* linesOf(view: View, index: number): Iterable<RingLine> {
  yield* merged(
    RINGS.map((ring) => ofRing(linesAfter(view, ring, index), ring)),
    false,
  );
}

function* ofRing(lines: Iterable<Line>, ring: Ring): Iterable<RingLine> {
  for (const line of lines) yield { ...line, ring };
}

/** Whether the history keeps what a reader asks for. */
export function isKeptFor(view: View, { logins }: { readonly logins: boolean }): boolean {
  const { Bytes, LoginBytes } = historyBounds(view);
  return Bytes > 0 && (!logins || LoginBytes > 0);
}

/** Returns the index up to which changes after another one may be forgotten; else that one. */
export function forgottenTo(view: View, after: number, logins: boolean): number {
  const floors: Partial<Floors> = floorsOf(view) ?? {};
  const { Index = 0, Logins = 0, Dropped = 0 } = floors;
  const lost = (ring: Ring, floor: number): number => {
    const oldest = oldestLine(view, ring)?.index ?? Number.POSITIVE_INFINITY;
    return Math.max(Math.min(Math.max(floor, Dropped), oldest - 1), resumedAt(view, ring));
  };
  return Math.max(after, lost('change', Index), logins ? lost('login-change', Logins) : 0);
}
