/** The report of a migration (moving-in.md 7). It holds no secret. */
import type { Rights } from '../rights/types.js';

/** Why an object, or a part of it, has no counterpart (moving-in.md 4.1). */
export const FINDING_CODES = [
  'auth_method_type',
  'partition',
  'kind',
  'wildcard',
  'member',
  'legacy_token',
  'dangling',
  'expired',
  'no_secret',
  'hidden_secret',
  'invalid',
  'rules',
  'intentions_source',
  'other_datacenter',
  'not_readable',
] as const;
/** A code of FINDING_CODES. */
export type FindingCode = (typeof FINDING_CODES)[number];

/** One thing that has no counterpart, or that was not read. */
export interface Finding {
  /** The object at the source. */
  readonly Ref: string;
  readonly Code: FindingCode;
  readonly Message: string;
  /** The place in a text, from 1. */
  readonly Line?: number;
  readonly Column?: number;
  /** The place in an object. */
  readonly Pointer?: string;
  /** What is lost. Empty: nothing. */
  readonly Lost: string;
  /** What to do about it. */
  readonly Do: string;
  readonly Original?: string;
  readonly Mended?: string;
  /** Whether the whole object is left out. */
  readonly LeftOut: boolean;
}

/** How many objects of a type there are, and what is done with them. */
export interface TypeCounts {
  readonly Source: number;
  readonly Same: number;
  readonly Create: number;
  readonly Update: number;
  readonly Delete: number;
  readonly LeftOut: number;
}

/** Why something is not written that could be: the target has another thing in its place. */
export interface Problem {
  readonly Ref: string;
  /** `conflict`, `owned`, `unowned`, `secret_differs`, or `changed`: here, since the last run. */
  readonly Code: string;
  readonly Message: string;
}

/** A token of the source that may write what is moved: before the switch it must not. */
export interface Writer {
  readonly AccessorID: string;
  readonly Description: string;
  /** Such as `acl:write`; `service:write` on every service. */
  readonly Rights: readonly string[];
}

/** Everything that a migration says in the end. */
export interface Report {
  readonly Version: 1;
  readonly Time: string;
  readonly Source: {
    readonly Address: string;
    readonly Version?: string;
    readonly Datacenter?: string;
    readonly DefaultPolicy?: string;
    readonly Indexes: Readonly<Record<string, number>>;
  };
  readonly Target: {
    readonly Datacenter: string;
    readonly DefaultPolicy: string;
    readonly Index: number;
    readonly Level: number;
  };
  readonly DryRun: boolean;
  readonly Types: Readonly<Record<string, TypeCounts>>;
  readonly Findings: readonly Finding[];
  /** Absent: there are none. */
  readonly Problems?: readonly Problem[];
  /** Of a dry run that compares rights. */
  readonly Writers?: readonly Writer[];
  readonly Rights?: Rights & {
    /** What was asked of the servers themselves (moving-in.md 5.3). */
    readonly Asked?: { readonly Tokens: number; readonly Questions: number };
  };
  readonly Exit: number;
}
