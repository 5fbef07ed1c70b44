/** Sets of changes: planned, applied, undone. And what refers to an object. */
import type { Refs } from '../../api/endpoints/change.js';
import type { Plan as AnyPlan, Applied, SetBody } from '../../api/endpoints/sets.js';
import type { Link } from '../../api/links.js';
import { ask, question, read } from './client.js';
import { Problem } from './problem.js';

export type { Applied, Refs };

/** A set as it is sent. */
export type ChangeSet = SetBody;
export type Change = Plan['Changes'][number];
/** What differs in one place of an object. */
export type DiffItem = Omit<NonNullable<Change['Diff']>[number], 'Type'>;

/** A right that tokens gain or lose. Levels are '' for none. */
export interface RightChange {
  readonly Namespace: string;
  readonly Resource: string;
  readonly Match: string;
  readonly Name?: string;
  readonly Before: string;
  readonly After: string;
}

/** Tokens whose rights a plan changes. */
export interface TokensImpact {
  readonly Affected: number;
  readonly Truncated: boolean;
  readonly Hidden: boolean;
  readonly Groups: readonly ImpactGroup[];
}

/** Tokens with equal grants whose rights change alike. */
export interface ImpactGroup {
  readonly Tokens: number;
  readonly Removed: boolean;
  readonly Policies: readonly Link[];
  readonly Roles: readonly Link[];
  readonly Sample: readonly { readonly AccessorID: string; readonly Description: string }[];
  readonly Gains: readonly RightChange[];
  readonly Loses: readonly RightChange[];
}

/** What a set would do. */
export interface Plan extends Omit<AnyPlan, 'Impact'> {
  readonly Impact: { readonly Tokens: TokensImpact };
}

/** Whether the cluster does not know the request yet: it is below the level that it needs. */
export const isLacking = (error: unknown): boolean =>
  error instanceof Problem && (error.about === 'level' || error.status === 404);

/** Whether the object was changed after it was read. */
export const isOutdated = (error: unknown): boolean =>
  error instanceof Problem && error.status === 412;

/** Plans a set. Throws `Problem`. */
export const planSet = (set: ChangeSet, signal?: AbortSignal): Promise<Plan> =>
  question<Plan>('/v1/plan', set, { signal });

/** Applies a set exactly as it was planned. Throws `Problem`. */
export async function applySet(
  set: ChangeSet,
  { Digest }: Plan,
  reason: string,
  signal?: AbortSignal,
): Promise<Applied> {
  const body = { ...set, Digest, ...(reason !== '' && { Reason: reason }) };
  return (await ask<Applied>('/v1/apply', { method: 'POST', body, signal })).value;
}

/** Plans to undo what an entry has changed. Throws `Problem`. */
export const planUndo = (Index: number, signal?: AbortSignal): Promise<Plan> =>
  question<Plan>('/v1/undo', { Index, DryRun: true }, { signal });

/** Undoes it as it was planned. Throws `Problem`. */
export async function undo(
  Index: number,
  { Expected }: Plan,
  reason: string,
  signal: AbortSignal,
): Promise<Applied> {
  const body = { Index, Expected, ...(reason !== '' && { Reason: reason }) };
  return (await ask<Applied>('/v1/undo', { method: 'POST', body, signal })).value;
}

/** Reads what refers to an object. Throws `Problem`. */
export const readRefs = (type: string, id: readonly string[], signal: AbortSignal): Promise<Refs> =>
  read<Refs>(`/v1/refs/${[type, ...id].map(encodeURIComponent).join('/')}`, { signal });
