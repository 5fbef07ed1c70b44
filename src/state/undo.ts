/**
 * Undo (beyond.md 3.4): everything that one entry changed goes back to what it was before. The
 * versions tell what that is, so the command only names the entry, and it becomes the changes of a
 * set, judged on the state with all of them in it:
 *
 *     entry 132   policy ops 57 → 132, role web made
 *       →         policy.set with the content of version 57, role.delete
 */
import { policyHash } from '../acl/hash.js';
import { type Refusal, refusal } from '../base/errors.js';
import type { Author } from './author.js';
import type { ConfigDelete, ConfigSet } from './config.js';
import { hiddenText } from './history/contents.js';
import { linesAt } from './history/lines.js';
import {
  type Line,
  NOT_KEPT,
  objectKeyOf,
  type Place,
  placeOfLine,
  refOfLine,
} from './history/records.js';
import { newestVersion } from './history/versions.js';
import { linkFact, linkKey } from './links.js';
import { refused } from './lists.js';
import type { Ownership } from './owners.js';
import { type Body, HIDDEN, keepSecrets } from './put-form.js';
import { type ObjectType, tableOfType } from './refs.js';
import type { SetFacts } from './set-entries.js';
import { applyChanges, SET_CHANGES_MAX, type SetChange } from './sets.js';
import type { ApplyContext, Command, Handler, View } from './types.js';

/** Undoes the entry with the index `undone`. Answers `{"Index":n}`. */
export interface Undo extends Command, SetFacts {
  readonly type: 'undo';
  readonly undone: number;
  /** The accessor of the request's token: it cannot delete itself. */
  readonly caller: string;
  readonly nowMs: number;
}

/** What an undo does to one object. */
export interface Undone {
  readonly place: Place;
  readonly line: Line;
  readonly ref: string;
  readonly action: 'create' | 'update' | 'delete';
  /** The present text of the object, and what it becomes. Undefined where it does not exist. */
  readonly present: string | undefined;
  readonly target: string | undefined;
}

/** An object whose version is not the expected one. Actual: its ModifyIndex, null if it is gone. */
export interface VersionConflict {
  readonly Ref: string;
  readonly Expected: number;
  readonly Actual: number | null;
}

/** What an undo would do, or why it is refused. */
export interface UndoPlan {
  readonly changes: readonly Undone[];
  readonly conflicts: readonly VersionConflict[];
  readonly problem?: Refusal;
}

const isServer = (author: Author | null): boolean =>
  author !== null && author.AccessorID === '' && author.Identity === undefined;

const isObject = (line: Line): line is Line & { readonly type: ObjectType } =>
  line.type !== '' && line.type !== 'login-tokens';

/** Returns the lines of the objects that an entry changed, but for what the server computes. */
export const undoLines = (view: View, index: number): readonly Line[] =>
  linesAt(view, index, ['change']).filter((line) => isObject(line) && !isServer(line.author));

/** Returns what undoing an entry would do. */
export function undoPlan(
  view: View,
  { undone, caller }: Pick<Undo, 'undone' | 'caller'>,
): UndoPlan {
  const all = linesAt(view, undone);
  const no = (problem: Refusal): UndoPlan => ({ changes: [], conflicts: [], problem });
  if (all[0]?.position !== 0) return no(notKept(undone));
  const lines = undoLines(view, undone);
  const logins = linesAt(view, undone, ['login-change']);
  const final = (what: string): UndoPlan =>
    no(refusal('conflict', `Entry ${undone} cannot be undone: it ${what}`));
  if (all.some(({ type }) => type === '')) return final('restored an archive');
  if (lines.length === 0)
    return final(logins.length > 0 ? 'changed only tokens of logins' : 'is of the server itself');
  const ended = logins.find(({ more }) => more !== undefined);
  if (ended !== undefined) return no(tokenIsGone(ended.id));
  if (lines.length > SET_CHANGES_MAX)
    return no(refusal('too_large', `Entry ${undone} changed more than ${SET_CHANGES_MAX} objects`));
  const changes: Undone[] = [];
  const conflicts: VersionConflict[] = [];
  for (const line of lines) {
    // Only the owner of the object changed.
    if (line.operation === 'update' && line.was === 0) continue;
    const found = undoneBy(view, line, caller);
    if ('code' in found) return no(found);
    if ('Ref' in found) conflicts.push(found);
    else if (!isSame(found)) changes.push(found);
  }
  const [first] = conflicts;
  if (first === undefined) return { changes, conflicts };
  const why = `Precondition failed: ${first.Ref} has changed since entry ${undone}`;
  const hint = 'undo that change first, or go back by a set';
  return { changes, conflicts, problem: refusal('precondition_failed', why, { hint }) };
}

const tokenIsGone = (id: string): Refusal =>
  refusal('conflict', `Token ${id} was deleted, and a secret cannot come back`);

const notKept = (index: number): Refusal =>
  refusal('not_found', `Entry ${index} is no longer kept, or it changed nothing`);

/** Returns what becomes of the object of a line, or why it cannot go back. */
function undoneBy(view: View, line: Line, caller: string): Undone | VersionConflict | Refusal {
  const place = placeOfLine(line);
  const { type, id, index, was } = line;
  const present = view.get(objectKeyOf(place));
  const ref = refOfLine(line);
  const wasThere = line.content !== undefined || was === NOT_KEPT;
  if (type === 'token' && present === undefined && wasThere) return tokenIsGone(id);
  const newest = newestVersion(view, place, present);
  if (newest === undefined || was === NOT_KEPT) return notKept(index);
  const target = line.content;
  const action = target === undefined ? 'delete' : present === undefined ? 'create' : 'update';
  const undone: Undone = { place, line, ref, action, present, target };
  if (newest.index !== index && !isSame(undone)) {
    const Actual = present === undefined ? null : newest.index;
    return { Ref: ref, Expected: index, Actual };
  }
  if (type === 'token' && action === 'delete' && id === caller)
    return refusal('conflict', 'The token of the request cannot delete itself');
  return undone;
}

/** Members that the server sets. */
const SERVER_MADE = ['CreateIndex', 'ModifyIndex', 'Hash', 'Status'];

/** Returns the written members of a text of an object. */
function written(text: string): Body {
  const object = JSON.parse(text) as Record<string, unknown>;
  for (const name of SERVER_MADE) delete object[name];
  return object;
}

/** Whether an object is as it was already. */
function isSame({ place, present, target }: Undone): boolean {
  if (present === undefined || target === undefined) return present === target;
  const [is, should] = [written(hiddenText(place, present)), written(target)];
  return JSON.stringify(is) === JSON.stringify(should);
}

/** Returns the change of a set that takes an object back, or why it cannot be made. */
export function undoChange(undone: Undone, undo: Undo): SetChange | Refusal {
  const { place, present, target, line } = undone;
  const table = tableOfType(place.type)!;
  if (target === undefined) return { command: deletionOf(undone, undo) };
  const kept = keepSecrets(table, written(target), present && JSON.parse(present));
  // an object that is made again is in the set from which it was deleted
  const owner = present === undefined ? (line.more as Ownership | undefined) : undefined;
  if (!('problem' in kept)) {
    return { command: commandOf(undone, kept.body, undo), ...(owner && { owner }) };
  }
  const { pointer } = kept.problem;
  if (place.type === 'token')
    return { command: commandOf(undone, { ...written(target), SecretID: HIDDEN }, undo) };
  const why = `${undone.ref} had a secret, which is not kept`;
  return refusal('conflict', why, pointer === undefined ? {} : { pointer });
}

/** Returns the command that deletes an object. */
export function deletionOf(
  { place, line: { ns, id } }: Pick<Undone, 'place' | 'line'>,
  { at, datacenter }: SetFacts,
): Command {
  const table = tableOfType(place.type)!;
  const head = { type: `${table}.delete`, v: 1 } as const;
  if (table === 'namespace') return { ...head, name: id, at } as Command;
  if (table === 'method') return { ...head, ns, name: id } as Command;
  if (table === 'token') return { ...head, ns, accessor: id, callerKey: null } as Command;
  if (table !== 'config') return { ...head, ns, id } as Command;
  const command: ConfigDelete = {
    ...entryOf(id),
    ns,
    cas: null,
    at,
    datacenter,
    type: 'config.delete',
    v: 1,
  };
  return command;
}

function entryOf(id: string): Pick<ConfigSet, 'kind' | 'name'> {
  const slash = id.indexOf('/');
  return { kind: id.slice(0, slash) as ConfigSet['kind'], name: id.slice(slash + 1) };
}

function commandOf({ line, present }: Undone, body: Body, undo: Undo): Command {
  const { ns, id } = line;
  const { ID: _id, Namespace: _ns, ...content } = body;
  const create = present === undefined;
  const { at, datacenter, nowMs } = undo;
  switch (line.type) {
    case 'policy': {
      const hash = policyHash(content as unknown as Parameters<typeof policyHash>[0]);
      return { type: 'policy.set', v: 1, ns, id, create, policy: content, hash } as Command;
    }
    case 'role':
      return { type: 'role.set', v: 1, ns, id, create, role: content } as Command;
    case 'binding-rule':
      return { type: 'rule.set', v: 1, ns, id, create, rule: content } as Command;
    case 'auth-method':
      return { type: 'method.set', v: 1, ns, method: content } as Command;
    case 'token': {
      const { Policies = [], Roles = [], ...rest } = content;
      const token = { ...rest, Policies, Roles };
      return { type: 'token.update', v: 1, ns, accessor: id, nowMs, token } as Command;
    }
    case 'namespace': {
      const { ACLs, ...rest } = content as { readonly ACLs?: object };
      const namespace = { PolicyDefaults: [], RoleDefaults: [], ...ACLs, ...rest };
      return { type: 'namespace.set', v: 1, policyId: '', namespace } as unknown as Command;
    }
    default: {
      const entry = JSON.stringify(content);
      const config = { ...entryOf(id), ns, cas: null, at, datacenter };
      return { type: 'config.set', v: 1, ...config, entry } as Command;
    }
  }
}

const applyUndo: Handler<Undo> = (context, command) => {
  const { draft, index } = context;
  const { changes, problem } = undoPlan(draft, command);
  if (problem !== undefined) return refused(problem);
  const why = makeUndone(context, changes, command);
  return why === undefined ? { ok: true, value: JSON.stringify({ Index: index }) } : refused(why);
};

/** Takes objects back in the draft. Returns why that is refused; then it must be discarded. */
export function makeUndone(
  context: ApplyContext,
  undone: readonly Undone[],
  command: Undo,
): Refusal | undefined {
  const changes: SetChange[] = [];
  for (const one of undone) {
    const change = undoChange(one, command);
    if ('code' in change) return change;
    changes.push(change);
    if (one.action === 'create') freeName(context, one);
  }
  let first: Refusal | undefined;
  const refuse = (_at: number, why: Refusal): void => {
    first ??= why;
  };
  const steps = applyChanges(context, changes, command, refuse);
  while (first === undefined && steps.next().done !== true);
  return first;
}

/** Links to a deleted object keep its ID, which it gets back. */
function freeName({ draft }: ApplyContext, { place: { type, id } }: Undone): void {
  if (type !== 'policy' && type !== 'role') return;
  if (linkFact(draft, type, id)?.Name === undefined) draft.del(linkKey(type, id));
}

export const UNDO_HANDLERS = { undo: applyUndo } as const;
