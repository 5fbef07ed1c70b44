/**
 * The objects of a migration: what a plan makes of them, and their application in parts. They are a
 * set of the owner `migrate/<datacenter>`. What it no longer holds is deleted by name and not by
 * Prune, so that what the source did not show, or what is left out, stays.
 */
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import type { Versions } from '../../api/endpoints/history.js';
import type { SetDelete, SetItem } from '../../api/endpoints/sets.js';
import type { Problem } from '../../api/migration-report.js';
import { refOf } from '../../migrate/source/conversion.js';
import type { ObjectType, Refused, Shown, SourceState } from '../../migrate/source/types.js';
import type { Call } from '../cli.js';
import { type Applied, planOf, sent } from '../commands/apply-set.js';
import { chunksOf, partSets } from '../commands/in-parts.js';
import { deletionOf, type Exported, keyOf, type ReadSet, refOfItem } from '../files/sets.js';
import { CliError } from '../print/error.js';
import type { Plan, PlannedChange } from '../print/plan-view.js';
import type { OtherIds } from './other-ids.js';

/** What migrations know of their writes. */
export interface Marks {
  readonly owner: string;
  /** The reason of each write: it begins with the owner, by which a later run knows it. */
  readonly reason: string;
  /** Whether objects of others are taken, and changes of others overwritten. */
  readonly force: boolean;
  readonly held: Held;
}

/** What a run has found or made here of its source. */
interface Held {
  /** Objects, by type and ID or Ref. */
  readonly objects: Set<string>;
  /** Those that others have deleted, by Ref in lower case. */
  readonly lost: Map<string, Refused>;
  /** The accessors of tokens that the source still has. */
  readonly tokens: Set<string>;
}

/** What a plan makes of objects. */
export interface PlannedObjects {
  readonly sets: readonly ReadSet[];
  readonly marks: Marks;
  /** The plan of the first of them, which is applied as it was made. */
  readonly first: Plan | undefined;
  /** The index of the state in which they were planned. */
  readonly index: number;
  readonly changes: readonly PlannedChange[];
  /** What a write refuses: the conversion leaves it out. */
  readonly refused: readonly Refused[];
  /** What the target has in its place, or has changed. */
  readonly problems: readonly Problem[];
}

/** Plans objects. With several chunks, what an earlier one makes is not missed by a later one. */
export async function planObjects(
  call: Call<object>,
  marks: Marks,
  objects: readonly SetItem[],
  doomed: readonly SetDelete[],
): Promise<PlannedObjects> {
  const { owner: Owner, reason: Reason, force } = marks;
  const body = { Owner, Reason, ...(force && { TakeOver: true }), Assert: [] };
  const set = { body: { ...body, Objects: objects, Delete: doomed }, placeOf: () => undefined };
  const sets = chunksOf(set);
  const changes: PlannedChange[] = [];
  const refused: Refused[] = [];
  const problems: Problem[] = [];
  const { objects: held, lost } = marks.held;
  for (const item of objects) lost.delete(refOfItem(item).toLowerCase());
  let first: Plan | undefined;
  let index = 0;
  for (const [at, chunk] of sets.entries()) {
    const plan = await planOf(call, chunk);
    first ??= plan;
    index = plan.Index;
    const nameOf = namesIn(plan, chunk.body);
    for (const { Ref: named, Code, Message, Pointer } of plan.Problems) {
      const Ref = nameOf(named);
      if (at > 0 && Code === 'unknown_reference') continue;
      const isTaken = Code === 'owned' || (Code === 'conflict' && Pointer.endsWith('/ID'));
      if (isTaken) problems.push({ Ref, Code, Message });
      else refused.push({ Ref, Message, Pointer: Pointer.replace(/^\/Objects\/\d+\/Object/, '') });
    }
    for (const planned of plan.Changes) {
      const change = { ...planned, Ref: nameOf(planned.Ref) };
      changes.push(change);
      problems.push(...takenBy(change, force));
      if (change.Owner === Owner) held.add(changeKey(change));
      else if (!force && change.Action === 'create' && held.has(changeKey(change))) {
        const who = await changedBy(call.api, `${change.Type}/${change.ID ?? change.Name}`, {
          ns: change.Namespace,
          reason: Reason,
        });
        const Message = `it was deleted here by ${who}: see --force`;
        if (who !== undefined) lost.set(change.Ref.toLowerCase(), { Ref: change.Ref, Message });
      }
    }
  }
  return { sets, marks, first, index, changes, refused: [...refused, ...lost.values()], problems };
}

/** Returns what names binding rules as the set does: a plan names those with a handle by that. */
function namesIn({ Changes }: Plan, { Objects, Delete }: ReadSet['body']): (ref: string) => string {
  const byId = new Map<unknown, string>();
  for (const item of Objects) byId.set(item.Object['ID'], refOfItem(item));
  for (const item of Delete) byId.set(item.ID, refOfItem(item));
  const rules = Changes.filter(({ Type }) => Type === 'binding-rule');
  const names = new Map(rules.map(({ ID, Ref }) => [Ref, byId.get(ID)]));
  return (ref) => names.get(ref) ?? ref;
}

const changeKey = ({ ID, Ref, Type }: Pick<PlannedChange, 'ID' | 'Ref' | 'Type'>): string =>
  `${Type} ${ID ?? Ref.toLowerCase()}`;

/** Returns why an object of another one cannot be taken, of what only a migration minds. */
function takenBy(change: PlannedChange, force: boolean): Problem[] {
  const { Action, Diff = [], Owner, Ref } = change;
  const isOther = Action === 'update' && Owner === '' && Diff.length > 0;
  if (!isOther || force || isUntouched(change)) return [];
  const Message = 'an object of this name is here with other content';
  return [{ Ref, Code: 'unowned', Message }];
}

/** Whether an object that each cluster has is as it was made: only its description is lost. */
const isUntouched = ({ Diff = [], Ref }: PlannedChange): boolean =>
  [`token/${ANONYMOUS_ACCESSOR}`, 'namespace/default'].includes(Ref) &&
  Diff.every(({ Type, Path }) => Type === 'Added' || Path === '/Description');

/** Returns the changes that would undo what others did to objects of the migration. */
export async function changedHere(
  { api }: Call<object>,
  { owner, reason, force }: Marks,
  changes: readonly PlannedChange[],
): Promise<readonly Problem[]> {
  const found: Problem[] = [];
  if (force) return found;
  for (const { Action, Diff = [], ID, Name, Owner, Ref, Type } of changes) {
    const isOurs = Owner === owner && (Action === 'delete' || Diff.length > 0);
    if (!isOurs || !['update', 'delete'].includes(Action)) continue;
    const who = await changedBy(api, `${Type}/${Ref.startsWith('token/') ? Name : (ID ?? Name)}`, {
      ns: Ref.split('/')[1],
      reason,
    });
    if (who !== undefined)
      found.push({ Ref, Code: 'changed', Message: `it was changed here by ${who}: see --force` });
  }
  return found;
}

/** Returns the owner with which each reason of a migration begins; other reasons have none. */
export const ownerOf = (reason: string): string => reason.split(':', 1)[0]!;

/**
 * Returns who changed an object last; undefined if that was a migration from the same source as the
 * one with this `reason`, or is not known. Throws CliError.
 */
export async function changedBy(
  api: Call<object>['api'],
  path: string,
  { ns, reason }: { readonly ns?: string | undefined; readonly reason: string },
): Promise<string | undefined> {
  const query = { limit: '1', ...(ns !== undefined && { ns }) };
  const place = path.split('/').map(encodeURIComponent).join('/');
  let newest: NonNullable<Versions['Versions']>[number] | undefined;
  try {
    const answer = await api.get(`/v1/history/${place}`, { query, isPlain: true });
    [newest] = answer.json<Versions>().Versions ?? [];
  } catch (error) {
    const status = error instanceof CliError && error.details.problem?.['status'];
    if (status !== 403 && status !== 404) throw error;
  }
  if (newest === undefined) return undefined;
  const { Author, Operation, Reason } = newest;
  if (Operation === 'unknown' || ownerOf(Reason) === ownerOf(reason)) return undefined;
  return Author === null ? 'somebody' : Author.Description || Author.AccessorID;
}

const LISTS: Readonly<Record<ObjectType, string>> = {
  policy: 'acl/policies',
  role: 'acl/roles',
  namespace: 'namespaces',
  'auth-method': 'acl/auth-methods',
  'binding-rule': 'acl/binding-rules',
  token: 'acl/tokens',
  config: 'config',
};

/** Whether the source showed a whole list, so that what is not in it does not exist. */
export function wasRead(
  { info, findings }: SourceState,
  type: ObjectType,
  { ns = 'default', kind = '' }: { readonly ns?: string | undefined; readonly kind?: string },
): boolean {
  const path = type === 'config' ? `config/${kind}` : LISTS[type];
  const key = ns === 'default' || type === 'namespace' ? path : `${path}?ns=${ns}`;
  const isCut = findings.some(({ Ref, Code }) => Ref === key && Code === 'not_readable');
  return (info.Indexes[key] ?? 0) > 0 && !isCut;
}

/** Returns the texts of the target's policies by ID: what the source has too is not read again. */
export async function policyTexts({ api }: Call<object>): Promise<ReadonlyMap<string, string>> {
  const query = { types: 'policy', ids: 'true', ns: '*' };
  const answer = await api.get('/v1/export', { query, isPlain: true, takesAny: true });
  if (answer.status !== 200) return new Map();
  const policies = answer.json<Exported>().Objects.map(({ Object: object }) => object);
  return new Map(policies.map(({ ID, Rules }) => [String(ID), String(Rules ?? '')]));
}

/** Returns what the owner has and the source no longer, of what was read whole. */
export function goneObjects(
  owned: readonly SetItem[],
  source: SourceState,
  { allNamespaces, ids }: Pick<OtherIds, 'ids'> & { readonly allNamespaces: boolean },
): readonly SetDelete[] {
  const lists: readonly (readonly [ObjectType, readonly Shown[]])[] = [
    ['policy', source.policies],
    ['role', source.roles],
    ['namespace', source.namespaces],
    ['auth-method', source.authMethods],
    ['binding-rule', source.bindingRules],
    ['config', source.entries],
  ];
  const idHere = (id: string): string => ids.get(id) ?? id;
  const there = new Set(
    lists.flatMap(([type, list]) =>
      list.flatMap((one) => [
        keyOf(refOf(type, one)),
        ...('ID' in one ? [`${type} ${idHere(String(one['ID']).toLowerCase())}`] : []),
      ]),
    ),
  );
  return owned.flatMap((item): SetDelete[] => {
    if (!isCovered(item, source, allNamespaces)) return [];
    const { ID } = item.Object as { ID?: string };
    if (there.has(`${item.Type} ${ID}`) || there.has(keyOf(refOfItem(item)))) return [];
    const { Handle: _handle, ...known } = item;
    return [deletionOf(known)];
  });
}

/** Whether an object would have been read if the source had it. */
export function isCovered(
  { Namespace: ns, Object: object, Type }: SetItem,
  source: SourceState,
  allNamespaces: boolean,
): boolean {
  const type = Type as ObjectType;
  const { Kind: kind = '', Name } = object as { Kind?: string; Name?: string };
  const isChosen =
    type !== 'namespace' || allNamespaces || source.namespaces.some((one) => one['Name'] === Name);
  return isChosen && wasRead(source, type, { ns, kind });
}

/** Applies a planned set in as many entries as it needs. Calls `onPart` after each. */
export async function applyObjects(
  call: Call<object>,
  { sets, first, marks }: PlannedObjects,
  onPart: (applied: Applied) => void,
): Promise<void> {
  for (const [at, set] of sets.entries()) {
    // An earlier chunk has made what this one names.
    const plan = at === 0 ? first! : await planOf(call, set);
    if (plan.Changes.every(({ Action }) => Action === 'unchanged')) continue;
    const whole = { ...set, body: { ...set.body, Digest: plan.Digest } };
    const parts = plan.Parts.length < 2 ? [whole] : partSets(set, plan);
    for (const { body } of parts) {
      const applied = (await sent(call, '/v1/apply', body)).json<Applied>();
      for (const change of applied.Changes) marks.held.objects.add(changeKey(change));
      onPart(applied);
    }
  }
}
