/** What a server keeps as history, compared with what a replay saw. */
import { isDeepStrictEqual } from 'node:util';
import type { Index } from '../../src/raft/types.js';
import { Checksums } from '../../src/state/checksum.js';
import { hiddenText, isComputed, isOfLogin } from '../../src/state/history/contents.js';
import { linesAt, oldestLine } from '../../src/state/history/lines.js';
import { NotKnown, objectAt } from '../../src/state/history/past.js';
import { objectKeyOf, type Place, placeOf, placeOfLine } from '../../src/state/history/records.js';
import { floorsOf, historyBounds } from '../../src/state/history/settings.js';
import { restoredAt } from '../../src/state/restore.js';
import type { View } from '../../src/state/types.js';
import { Violation } from './invariants.js';
import type { Replay, Replayed } from './replay.js';

/** Throws a violation unless a server has what the replay has, record by record, and its past. */
export function checkServer(id: string, view: View, replay: Replay): void {
  const wrong = (what: string): never => {
    throw new Violation('history is what happened', `${id}: ${what}`);
  };
  const [is, should] = [view, replay.view].map((each) => Checksums.of(each).toJSON());
  if (!isDeepStrictEqual(is, should))
    throw new Violation(
      'equal states',
      `${id} has ${JSON.stringify(is)}, a replay ${JSON.stringify(should)}`,
    );
  checkPast(view, replay, wrong);
  checkLines(view, replay, wrong);
}

type Wrong = (what: string) => never;

/** Each object at each index is what it was, and known above the floor. */
function checkPast(view: View, replay: Replay, wrong: Wrong): void {
  const floor = floorsOf(view)?.Index;
  if (floor === undefined) return;
  const restored = restoredAt(view);
  for (const [key, past] of replay.past) {
    const place = placeOf(key)!;
    const isLogin = past.some(({ text }) => text !== undefined && isOfLogin(place, text));
    if (isLogin || place.id.startsWith('bound-api-gateway/')) continue;
    const indexes = new Set(past.flatMap(({ index }) => [index - 1, index]));
    for (const index of indexes) {
      const was = replay.textAt(key, index);
      const then = textAt(view, place, index);
      if (then === null) {
        if (place.ns === 'default' && index > floor && index >= restored)
          wrong(`${key} at ${index} is not known, above the floor ${floor}`);
      } else if (then !== was && !(then && was && isComputed(place, was, then)))
        wrong(`${key} at ${index} was ${was}, and is said to be ${then}`);
    }
  }
}

/** What the history says of an object; null if that is not known. */
function textAt(view: View, place: Place, index: Index): string | undefined | null {
  try {
    const { text } = objectAt(view, place, index);
    return text === undefined ? undefined : hiddenText(place, text);
  } catch (error) {
    if (error instanceof NotKnown) return null;
    throw error;
  }
}

/**
 * Each change has a line with its author, and what was refused has none. While lines are kept, all
 * that follow the oldest one are there.
 */
function checkLines(view: View, replay: Replay, wrong: Wrong): void {
  const oldest = Math.max(oldestLine(view, 'change')?.index ?? Infinity, restoredAt(view));
  for (const [index, entry] of replay.entries) {
    if (index <= oldest) continue;
    if (!entry.isKept) {
      const isMissing = historyBounds(view).Bytes > 0 && entry.changes.size > 0;
      if (isMissing) wrong(`entry ${index} has no line, and the oldest is of ${oldest}`);
      continue;
    }
    const lines = linesAt(view, index, ['change']);
    if (!entry.result.ok && lines.length > 0) wrong(`the refused entry ${index} has lines`);
    checkEntry(entry, lines, wrong);
  }
}

function checkEntry(
  { index, command, changes }: Replayed,
  lines: ReturnType<typeof linesAt>,
  wrong: Wrong,
): void {
  for (const [key, { before, after }] of changes) {
    const place = placeOf(key)!;
    const text = (after ?? before)!;
    const isUpdate = before !== undefined && after !== undefined;
    if (isOfLogin(place, text) && !isUpdate) continue;
    const found = lines.filter(
      (line) =>
        line.type !== '' && line.type !== 'login-tokens' && objectKeyOf(placeOfLine(line)) === key,
    );
    if (found.length !== 1) wrong(`${key} has ${found.length} lines of ${index}`);
    const isOwn = !isComputed(place, before, after);
    const { author } = found[0]!;
    if (isOwn && !isDeepStrictEqual(author, command.author ?? null))
      wrong(`${key} at ${index} is said to be by ${JSON.stringify(author)}`);
  }
}
