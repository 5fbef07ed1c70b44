/** What an entry may do: whole sets or nothing, preconditions, undo, and each only at its level. */
import { isComputed } from '../../src/state/history/contents.js';
import { placeOf, RINGS, VERSION } from '../../src/state/history/records.js';
import { floorsOf } from '../../src/state/history/settings.js';
import { LEVELS, levelFor, levelOf } from '../../src/state/levels.js';
import { take } from '../../src/state/links.js';
import { modifyIndexOf } from '../../src/state/lists.js';
import { ownershipOf } from '../../src/state/owners.js';
import { isDelete, keyAt, placeOf as meantBy, type SetApply } from '../../src/state/sets.js';
import { type Command, keyOf, type View } from '../../src/state/types.js';
import type { Undo } from '../../src/state/undo.js';
import { Violation } from './invariants.js';
import { CHANGE_LEVEL } from './releases.js';
import type { Replay, Replayed } from './replay.js';

/** What an entry is judged by. */
export interface Around {
  /** The objects before it. */
  readonly before: Pick<View, 'get'>;
  /** The state after it. */
  readonly after: View;
  /** The entries before it. */
  readonly replay: Replay;
}

/** Throws a violation unless an entry did what it may. */
export function judgeEntry(entry: Replayed, around: Around): void {
  const { index, command, result, changes } = entry;
  if (!result.ok || result.index !== index) {
    if (changes.size > 0) fail(entry, 'changes objects, although it is refused or came again');
    judgeRefusal(entry, around);
    return;
  }
  judgeLevel(entry, around);
  if (command.match !== undefined && !holds(command, around.before))
    fail(entry, 'is accepted, although its precondition does not hold');
  if (command.type === 'set.apply') judgeSet(entry, command as SetApply, around);
  if (command.type === 'undo') judgeUndo(entry, command as Undo, around.replay);
}

function fail({ index, command, result }: Replayed, what: string): never {
  const text = JSON.stringify(command).slice(0, 2_000);
  throw new Violation(
    'entries do what they may',
    `${command.type} at ${index} ${what}: ${JSON.stringify(result)} for ${text}`,
  );
}

/** The precondition of a command, by what the contract says of it. */
function holds(command: Command, before: Pick<View, 'get'>): boolean {
  const { match } = command;
  const text = before.get(keyAt(meantBy(command)!));
  if (match === 'none') return text === undefined;
  if (match === 'any') return text !== undefined;
  return text !== undefined && match!.includes(modifyIndexOf(text));
}

function judgeRefusal(entry: Replayed, { before }: Around): void {
  const { index, command, result } = entry;
  if (result.ok || result.index !== index || command.match === undefined) return;
  if (command.type === 'set.apply' || meantBy(command) === undefined) return;
  // it came too late, whatever it was
  if (result.refusal.code === 'outcome_unknown') return;
  const isForMatch = result.refusal.code === 'precondition_failed';
  if (isForMatch === holds(command, before))
    fail(entry, 'is refused for its precondition if and only if it holds');
}

function judgeLevel(entry: Replayed, { after }: Around): void {
  const { index, command, level } = entry;
  if (levelFor(LEVELS, command) > level) fail(entry, `is accepted at level ${level}`);
  const now = levelOf(after);
  if (now < level) fail(entry, 'lowers the level');
  const tables = [VERSION, ...RINGS].filter(
    (table) => take(after.keys(keyOf(table, '')), 1).length,
  );
  if (level < CHANGE_LEVEL && tables.length > 0) fail(entry, 'leaves history below its level');
  const floor = floorsOf(after)?.Index;
  if (level < CHANGE_LEVEL && now >= CHANGE_LEVEL && floor !== index)
    fail(entry, `begins a history from ${floor} on`);
}

/** An accepted set is whole: each of its objects is what the set says, as of its index. */
function judgeSet(entry: Replayed, { changes }: SetApply, { before, after }: Around): void {
  for (const { command, owner, was } of changes) {
    const place = meantBy(command)!;
    const key = keyAt(place);
    const text = after.get(key);
    const old = before.get(key);
    if ((old === undefined ? undefined : modifyIndexOf(old)) !== was)
      fail(entry, `is accepted, although ${key} is not as it was compared`);
    if (isDelete(command)) {
      const isMarked = place.table === 'namespace' && text?.includes('"DeletedAt":') === true;
      if (text !== undefined && !isMarked) fail(entry, `leaves ${key}`);
      continue;
    }
    if (text === undefined) fail(entry, `lacks ${key}`);
    // what is written again unchanged keeps its index
    const isSame = place.table === 'config' && text === old;
    if (modifyIndexOf(text) !== entry.index && command.type !== 'owner.set' && !isSame)
      fail(entry, `has not written ${key}`);
    if (owner !== undefined && ownershipOf(after, place)?.Owner !== owner.Owner)
      fail(entry, `does not own ${key}`);
  }
}

const SERVER_MADE = ['CreateIndex', 'ModifyIndex', 'Hash', 'Status', 'SecretID'];

function written(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const object = JSON.parse(text) as Record<string, unknown>;
  for (const name of SERVER_MADE) delete object[name];
  return JSON.stringify(object);
}

/** Everything that the entry changed is what it was before. */
function judgeUndo(entry: Replayed, { undone }: Undo, replay: Replay): void {
  const past = replay.entries.get(undone);
  if (past === undefined) fail(entry, 'undoes what was no entry');
  for (const [key, { before, after }] of past.changes) {
    const place = placeOf(key)!;
    const isLogin = [before, after].some((text) => text?.includes('"AuthMethod":"'));
    const isKept = place.type === 'namespace' || (place.type === 'token' && isLogin);
    if (isKept || isComputed(place, before, after)) continue;
    const target = written(replay.textAt(key, undone - 1));
    const last = written(replay.textAt(key, entry.index - 1));
    if (last !== target && last !== written(replay.textAt(key, undone)))
      fail(entry, `undoes a later change of ${key}`);
    const change = entry.changes.get(key);
    const is = change === undefined ? replay.textAt(key, entry.index - 1) : change.after;
    if (written(is) !== target) fail(entry, `does not take back ${key}: ${is}`);
  }
}
