/** What saving or deleting one object would do, before it is done. */
import { Problem } from '../api/problem.js';
import {
  applySet,
  type Change,
  type ChangeSet,
  isLacking,
  type Plan,
  planSet,
} from '../api/sets.js';
import type { Stored } from '../api/types.js';
import type { Body } from './fields.js';
import { idParts } from './linking.js';
import type { ObjectType, Version, WriteHow, Written } from './type.js';

/** A body with the plan of its write. */
export interface Planned {
  readonly body: Body;
  readonly set: ChangeSet;
  /** Undefined where the cluster cannot plan: it is below level 3. */
  readonly plan: Plan | undefined;
}

/** Whether a set makes and deletes objects of the type. It makes no credentials. */
export const isInSets = ({ ref }: ObjectType): boolean => ref !== 'token';

/** Plans a set; undefined where the cluster cannot plan. Throws `Problem`. */
async function planOf(set: ChangeSet, signal: AbortSignal): Promise<Plan | undefined> {
  try {
    return await planSet(set, signal);
  } catch (error) {
    if (isLacking(error)) return undefined;
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.status, { ...error.details, pointer: ofObject(error.pointer) });
  }
}

/** Returns a pointer into the only object of a set as one into the object. */
const ofObject = (pointer: string | undefined): string | undefined =>
  pointer?.replace(/^\/Objects\/0\/Object(?=\/|$)/, '');

/**
 * Plans the write of a body over `before`; undefined if that has changed meanwhile. Throws
 * `Problem`, also for what the plan finds wrong.
 */
export async function planWrite(
  type: ObjectType,
  body: Body,
  before: Version,
  signal: AbortSignal,
): Promise<Planned | undefined> {
  const set = { Objects: [{ Type: type.ref, Object: body }] };
  try {
    const plan = await planOf(set, signal);
    const change = plan?.Changes.find(({ Type }) => Type === type.ref);
    if (change !== undefined && isOther(change, before)) return undefined;
    if (plan?.Valid === false) throw problemOf(plan);
    return { body, set, plan };
  } catch (error) {
    // What is wrong may be that the object has changed.
    if (!(error instanceof Problem)) throw error;
    const now = await type.find(type.idOf(before.object), signal);
    if (now?.index !== before.index) return undefined;
    throw error;
  }
}

/** Whether a change is one of another version than was read. */
const isOther = ({ Action, ExpectedIndex }: Change, { index }: Version): boolean =>
  Action === 'create' || (ExpectedIndex !== undefined && ExpectedIndex !== index);

/** What is wrong with a plan, as the refusal of the write would say it. */
function problemOf({ Problems }: Plan): Problem {
  const [first] = Problems;
  const detail = Problems.map(({ Message }) => Message).join(' ');
  return new Problem(400, { detail, code: first?.Code, pointer: ofObject(first?.Pointer) });
}

/** Writes what was planned; undefined if something has changed since. Throws `Problem`. */
export async function writePlanned(
  type: ObjectType,
  { body, set, plan }: Planned,
  before: Version | undefined,
  how: WriteHow,
): Promise<Written | undefined> {
  if (plan === undefined || !isInSets(type)) return type.write(body, before, how);
  const { Changes } = await applySet(set, plan, how.reason, how.signal);
  const { ID, Name } = [...Changes, ...plan.Changes].find(({ Type }) => Type === type.ref)!;
  return { to: [type.slug, ...idParts(type.ref, ID ?? Name)] };
}

/** Plans a deletion; undefined where there is no plan of it. Throws `Problem`. */
export const planRemoval = async (
  type: ObjectType,
  { object }: Version,
  signal: AbortSignal,
): Promise<Plan | undefined> => {
  if (!isInSets(type)) return undefined;
  return planOf({ Delete: [byName(type, object)] }, signal);
};

/** Returns what a set deletes. */
export function byName(type: ObjectType, object: Stored): NonNullable<ChangeSet['Delete']>[number] {
  const Name = type.ref === 'config' ? type.idOf(object).join('/') : object['Name'];
  const by = Name === undefined ? { ID: String(object['ID']) } : { Name: String(Name) };
  return { Type: type.ref, ...by };
}
