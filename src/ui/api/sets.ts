/** Sets of changes: planned, applied, undone. And what refers to an object. */
import { ask, question, read } from './client.js';
import { Problem } from './problem.js';
import type { Link, Result } from './types.js';

/** An object of a set. */
export interface SetObject {
  readonly Type: string;
  readonly Namespace?: string;
  readonly Object: Readonly<Record<string, unknown>>;
}

/** A set as it is sent. A set that was pasted may have other members. */
export interface ChangeSet {
  readonly Objects?: readonly SetObject[];
  readonly Delete?: readonly {
    readonly Type: string;
    readonly Name?: string;
    readonly ID?: string;
  }[];
}

/** What differs in one place of an object. */
export interface DiffItem {
  readonly Type: 'Added' | 'Deleted' | 'Edited';
  /** A JSON pointer. */
  readonly Path: string;
  readonly Old?: unknown;
  readonly New?: unknown;
  /** Whether the values are longer than what stands here. */
  readonly Cut?: boolean;
}

/** What a plan would do to one object. */
export interface Change {
  readonly Ref: string;
  readonly Type: string;
  readonly Name: string;
  readonly ID?: string;
  readonly Action: 'create' | 'update' | 'delete' | 'unchanged' | 'hidden';
  /** The index that the object must still have; 0: it must not exist. */
  readonly ExpectedIndex?: number;
  readonly Allowed: boolean;
  readonly Diff?: readonly DiffItem[];
  readonly Warnings?: readonly PlanWarning[];
}

interface PlanWarning {
  readonly Severity?: string;
  readonly Code: string;
  readonly Message: string;
  readonly Line?: number;
}

/** A right that tokens gain or lose. Levels are '' for none. */
export interface RightChange {
  readonly Namespace: string;
  readonly Resource: string;
  readonly Match: string;
  readonly Name?: string;
  readonly Before: string;
  readonly After: string;
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

/** Why a plan cannot be applied. */
export interface PlanProblem {
  readonly Ref: string;
  readonly Code: string;
  readonly Message: string;
  readonly Pointer?: string;
}

/** What a set would do. */
export interface Plan {
  readonly Index: number;
  readonly Valid: boolean;
  readonly Digest: string;
  readonly Changes: readonly Change[];
  readonly Expected: Readonly<Record<string, number>>;
  readonly Problems: readonly PlanProblem[];
  readonly Asserts: readonly {
    readonly Name: string;
    readonly Passed: boolean;
    readonly Problem?: string;
    readonly Result: Result | null;
  }[];
  readonly Parts: readonly (readonly string[])[];
  readonly Impact: {
    readonly Tokens: {
      readonly Affected: number;
      readonly Truncated: boolean;
      readonly Hidden: boolean;
      readonly Groups: readonly ImpactGroup[];
    };
  };
}

/** What was done. */
export interface Applied {
  readonly Index: number;
  readonly Changes: readonly (Pick<Change, 'Type' | 'Name' | 'Action'> & { readonly ID: string })[];
}

/** What refers to an object, and what deleting it would do. Counts are by type. */
export interface Refs {
  readonly UsedBy: readonly { readonly Type: string; readonly Name: string; readonly ID: string }[];
  readonly UsedByTotal: Readonly<Record<string, number>>;
  /** Whether there is more that the user may not read. */
  readonly Filtered: boolean;
  readonly IfDeleted: {
    readonly Refused: string;
    readonly Removed: Readonly<Record<string, number>>;
    readonly TokensThatLoseRights?: number;
    readonly Truncated: boolean;
  };
}

/** Whether the cluster does not know the request yet: it is below the level that it needs. */
export const isLacking = (error: unknown): boolean =>
  error instanceof Problem && (error.code === 'unavailable' || error.status === 404);

/** Whether the object was changed after it was read. */
export const isOutdated = (error: unknown): boolean =>
  error instanceof Problem && error.status === 412;

/** Plans a set. Throws `Problem`. */
export const planSet = (set: ChangeSet, signal?: AbortSignal): Promise<Plan> =>
  question<Plan>('/v1/plan', set, { signal, mayLack: true });

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
  question<Plan>('/v1/undo', { Index, DryRun: true }, { signal, mayLack: true });

/** Undoes it as it was planned. Throws `Problem`. */
export async function undo(Index: number, { Expected }: Plan, reason: string): Promise<Applied> {
  const body = { Index, Expected, ...(reason !== '' && { Reason: reason }) };
  return (await ask<Applied>('/v1/undo', { method: 'POST', body })).value;
}

/** Reads what refers to an object. Throws `Problem`. */
export const readRefs = (type: string, id: readonly string[], signal: AbortSignal): Promise<Refs> =>
  read<Refs>(`/v1/refs/${[type, ...id].map(encodeURIComponent).join('/')}`, { signal });
