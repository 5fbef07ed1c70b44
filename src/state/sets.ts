/**
 * Sets (beyond.md 2.5): changes of objects of any type, made by one entry of the log, all or none.
 * They are judged on the state with all of them in it, so their order never matters:
 *
 *     set.apply  policy A "x" → "y"     each name is given up
 *                policy B "y" → "x"     before any is taken
 *                role "ops" links "x"   →  B
 *
 * The node that makes the command has judged everything. Apply judges again what may have changed
 * meanwhile: whether each object is as it was, names, links, and the rules between entries.
 */
import type { Steps } from '../acl/steps.js';
import { type Refusal, refusal } from '../base/errors.js';
import type { Kind } from '../kinds/types.js';
import { type ConfigDelete, type ConfigSet, dropEntry, writeEntry } from './config.js';
import { EntryUsers } from './entry-users.js';
import { keys, type Table } from './keys.js';
import { linkFact, take } from './links.js';
import { modifyIndexOf, namespaceProblem, refused, stored } from './lists.js';
import {
  DEFAULT_NAMESPACE,
  type ObjectDefinition,
  type ObjectSet,
  type ObjectTable,
  type StoredObject,
} from './object.js';
import { ACL_HANDLERS, OBJECTS } from './objects.js';
import { type ObjectPlace, type Ownership, ownerKey, ownershipOf, putOwnership } from './owners.js';
import { type EntryChange, judgeEntries, type SetFacts } from './set-entries.js';
import type { ApplyContext, Command, Handler, View } from './types.js';

/** One change of a set. */
export interface SetChange {
  /** What makes it alone, such as `policy.set`; `owner.set` if the owner alone changes. */
  readonly command: Command;
  /** The ModifyIndex of the object when the set was compared. Absent: it did not exist. */
  readonly was?: number;
  /** The record of its owner then. Absent: it had none. */
  readonly owned?: string;
  /** Its owner from now on. Absent: as before. */
  readonly owner?: Ownership;
  /** Refused if anything refers to what is deleted. */
  readonly ifUnused?: true;
}

/** Names an object whose owner alone changes. Its content and ModifyIndex stay. */
export interface OwnerSet extends Command, ObjectPlace {
  readonly type: 'owner.set';
}

/**
 * A record on which the node that made the command relied: its key, and what is compared. That is
 * the ModifyIndex of an object, and of other records the whole value; null: there was none.
 */
export type Rest = readonly [key: string, was: number | string | null];

/** Applies a set. Answers `{"Index":n}`. */
export interface SetApply extends Command, SetFacts {
  readonly type: 'set.apply';
  readonly changes: readonly SetChange[];
  readonly rests?: readonly Rest[];
}

/** The changes that one entry makes at most, because it must not delay heartbeats. */
export const SET_CHANGES_MAX = 500;

/** Returns what a change is about; undefined for a command that no set holds. */
export function placeOf(command: Command): ObjectPlace | undefined {
  const { type, ns = DEFAULT_NAMESPACE } = command as Command & { readonly ns?: string };
  const [table, act] = type.split('.') as [Table | 'owner', string];
  switch (table) {
    case 'owner':
      return act === 'set' ? (command as OwnerSet) : undefined;
    case 'config': {
      const { kind, name } = command as ConfigSet;
      return { table, ns, id: `${kind}/${name.toLowerCase()}` };
    }
    case 'namespace': {
      const { name, namespace } = command as { name?: string; namespace?: { Name: string } };
      return { table, ns, id: namespace?.Name ?? name! };
    }
    case 'token': {
      const { accessor } = command as { readonly accessor?: string };
      return accessor === undefined ? undefined : { table, ns, id: accessor };
    }
    default: {
      if (!Object.hasOwn(OBJECTS, table) || !['set', 'delete'].includes(act)) return undefined;
      const { id, name } = command as ObjectSet & { readonly name?: string };
      return { table, ns, id: id ?? name ?? contentOf(command, table)['Name']! };
    }
  }
}

const contentOf = (command: Command, table: Table): Readonly<Record<string, string>> =>
  (command as unknown as Record<string, Readonly<Record<string, string>>>)[table]!;

/** Returns the owner of the object that a command writes; empty if it has none. */
export function ownerOfWritten(view: View, command: Command): string {
  if (view.mayHave?.('owner') === false) return '';
  const place = placeOf(command);
  return place === undefined ? '' : (ownershipOf(view, place)?.Owner ?? '');
}

/** Returns the key of an object. */
export function keyAt({ table, ns, id }: ObjectPlace): string {
  if (table !== 'config') return OBJECTS[table].key(ns, id);
  const slash = id.indexOf('/');
  return keys.config(ns, id.slice(0, slash), id.slice(slash + 1));
}

/** Whether a change deletes its object. */
export const isDelete = ({ type }: Command): boolean => type.endsWith('.delete');

/** Called with the position of a change that is refused. */
export type RefuseChange = (at: number, why: Refusal) => void;

const applySet: Handler<SetApply> = (context, command) => {
  const { draft, index } = context;
  const moved = command.changes.some((one) => hasMoved(draft, one));
  if (moved || command.rests?.some((rest) => isOther(draft, rest))) return refused(MOVED);
  let first: Refusal | undefined;
  const refuse: RefuseChange = (_at, why) => {
    first ??= why;
  };
  const steps = applyChanges(context, command.changes, command, refuse);
  while (first === undefined && steps.next().done !== true);
  if (first !== undefined) return refused(first);
  return { ok: true, value: JSON.stringify({ Index: index }) };
};

export const SET_HANDLERS = { 'set.apply': applySet } as const;

/** What the set was compared with has changed since. */
const MOVED = refusal(
  'precondition_failed',
  'An object that the set was compared with has changed',
);

function modifyIndexAt(view: View, key: string): number | undefined {
  const text = view.get(key);
  return text === undefined ? undefined : modifyIndexOf(text);
}

function hasMoved(view: View, { command, was, owned }: SetChange): boolean {
  const place = placeOf(command)!;
  return modifyIndexAt(view, keyAt(place)) !== was || view.get(ownerKey(place)) !== owned;
}

function isOther(view: View, [key, was]: Rest): boolean {
  return typeof was === 'number'
    ? modifyIndexAt(view, key) !== was
    : (view.get(key) ?? null) !== was;
}

/** The order in which objects are written, each after what it names: in default, and elsewhere. */
const LATENESS: Readonly<Record<Table, readonly [inDefault: number, elsewhere: number]>> = {
  policy: [0, 3],
  role: [1, 4],
  namespace: [2, 2],
  method: [5, 5],
  rule: [6, 6],
  token: [7, 7],
  config: [8, 8],
};

/** Returns how late an object is written among those of a set. Deletes come first, latest first. */
export const lateness = ({ table, ns }: Pick<ObjectPlace, 'table' | 'ns'>): number =>
  LATENESS[table][ns === DEFAULT_NAMESPACE ? 0 : 1];

/**
 * Makes changes in the draft, judged with all of them in it. Calls `refuse` for those that are
 * refused, whose effects are then undefined: the caller must discard the draft. What the objects
 * were when the changes were made is not compared.
 */
export function* applyChanges(
  context: ApplyContext,
  changes: readonly SetChange[],
  facts: SetFacts,
  refuse: RefuseChange,
): Steps<void> {
  const placed = changes.map(({ command, owner, ifUnused }, at): Placed => {
    return { command, owner, ifUnused, at, place: placeOf(command)! };
  });
  const meant = placed.filter(({ command }) => command.type !== 'owner.set');
  const objects = meant.filter(({ place }) => place.table !== 'config');
  const entries = meant.filter(({ place }) => place.table === 'config');
  const byTime = objects.sort((a, b) => lateness(a.place) - lateness(b.place));
  const run = ({ command, at }: Placed): void => {
    const outcome = ACL_HANDLERS[command.type]!(context, command);
    if (!outcome.ok) refuse(at, outcome.refusal);
  };
  for (const change of byTime.filter(({ command }) => isDelete(command)).reverse()) {
    const { ifUnused, place, at } = change;
    if (ifUnused && isMethodUsed(context.draft, place)) refuse(at, STILL_USED);
    run(change);
    yield;
  }
  const written = byTime.filter(({ command }) => !isDelete(command));
  releaseNames(context, written);
  for (const change of written) {
    const taken = idProblem(context.draft, change);
    if (taken === undefined) run(change);
    else refuse(change.at, taken);
    yield;
  }
  yield* changeEntries(context, entries, facts, refuse);
  const users = new EntryUsers(context.draft);
  for (const { ifUnused, place, at } of placed) {
    if (ifUnused && isStillUsed(users, context.draft, place)) refuse(at, STILL_USED);
  }
  yield* own(context, placed, refuse);
}

interface Placed {
  readonly command: Command;
  readonly owner: Ownership | undefined;
  readonly ifUnused: true | undefined;
  readonly at: number;
  readonly place: ObjectPlace;
}

/** Gives up the names of objects that get another one, so that an object of the set may take it. */
function releaseNames({ draft }: ApplyContext, changes: readonly Placed[]): void {
  for (const { command, place } of changes) {
    const { key, nameKey } = OBJECTS[place.table as ObjectTable] as ObjectDefinition;
    if (nameKey === undefined) continue;
    const before = stored<StoredObject>(draft, key(place.ns, place.id));
    if (before === undefined) continue;
    const old = nameKey(place.ns, before.Name!);
    if (old !== nameKey(place.ns, contentOf(command, place.table)['Name']!)) draft.del(old);
  }
}

/** An ID names one object, whatever its type. */
function idProblem(draft: View, { command, place }: Placed): Refusal | undefined {
  if ((command as ObjectSet).create !== true) return undefined;
  const { table, id } = place;
  const isTaken =
    (table !== 'policy' && linkFact(draft, 'policy', id)?.Name !== undefined) ||
    (table !== 'role' && linkFact(draft, 'role', id)?.Name !== undefined) ||
    draft.get(keys.tokenAccessor(id)) !== undefined;
  if (!isTaken) return undefined;
  return refusal('conflict', `ID ${id} is already in use`, { pointer: '/ID' });
}

function* changeEntries(
  context: ApplyContext,
  changes: readonly Placed[],
  facts: SetFacts,
  refuse: RefuseChange,
): Steps<void> {
  const made: EntryChange[] = [];
  const positions = new Map<string, number>();
  for (const { command, place, at } of changes) {
    const { ns } = place;
    const why = isDelete(command) ? undefined : namespaceProblem(context.draft, ns);
    if (why !== undefined) refuse(at, why);
    const change = isDelete(command)
      ? dropEntry(context, command as ConfigDelete)
      : writeEntry(context, command as ConfigSet);
    if (change === undefined) continue;
    made.push({ ...change, ns });
    positions.set(keys.config(ns, change.kind, change.name), at);
    yield;
  }
  const refuseEntry = ({ ns, kind, name }: EntryChange, why: Refusal): void =>
    refuse(positions.get(keys.config(ns, kind, name))!, why);
  if (made.length > 0) yield* judgeEntries(context, made, facts, refuseEntry);
}

const STILL_USED = refusal('conflict', 'It is still in use', {
  hint: 'leave out IfUnused to delete it',
});

/** Whether anything refers to an object that is an auth method. Its deletion removes that too. */
function isMethodUsed(draft: View, { table, ns, id }: ObjectPlace): boolean {
  if (table !== 'method') return false;
  const rules = draft.keys(keys.ruleByMethod(ns, id, ''));
  const tokens = draft.keys(keys.tokenByMethod(ns, id, '', '').slice(0, -1));
  return take(rules, 1).length + take(tokens, 1).length > 0;
}

/**
 * Whether anything refers to a deleted object. Binding rules that name a policy or role in BindName
 * are not looked for.
 */
function isStillUsed(users: EntryUsers, draft: View, { table, ns, id }: ObjectPlace): boolean {
  if (table === 'policy' || table === 'role') return linkFact(draft, table, id) !== undefined;
  if (table !== 'config') return false;
  const slash = id.indexOf('/');
  const entry = { kind: id.slice(0, slash) as Kind, name: id.slice(slash + 1) };
  return take(users.of(ns, entry), 1).length > 0;
}

/** Records the owners of what is still there. A handle is given up before another rule takes it. */
function* own(
  context: ApplyContext,
  changes: readonly Placed[],
  refuse: RefuseChange,
): Steps<void> {
  const { draft } = context;
  const owned = changes.filter(({ command, owner }) => owner !== undefined && !isDelete(command));
  for (const { place, owner } of owned) {
    const before = ownershipOf(draft, place)?.Handle;
    if (before !== undefined && before !== owner?.Handle)
      draft.del(keys.ruleHandle(place.ns, before));
  }
  for (const { at, place, owner } of owned) {
    const { Handle } = owner!;
    const holder = Handle === undefined ? undefined : draft.get(keys.ruleHandle(place.ns, Handle));
    if (holder === undefined || holder === place.id) {
      putOwnership(context, place, owner!);
    } else {
      const why = `A binding rule with Handle ${JSON.stringify(Handle)} already exists`;
      refuse(at, refusal('conflict', why, { pointer: '/Handle' }));
    }
    yield;
  }
}
