/** The report that `conclave migrate` writes (moving-in.md 7). It holds no secret. */

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
  readonly Do: string;
  readonly Original?: string;
  readonly Mended?: string;
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

/** Why rights differ (moving-in.md 5.2). `reading` is for live questions (5.3). */
export type DifferenceCode =
  | 'rights_add_up'
  | 'anonymous_operator'
  | 'default_policy'
  | 'left_out'
  | 'reading'
  | 'unexplained';

/** A question that both sides answer differently, for the tokens of some grant classes. */
export interface RightsDifference {
  readonly Code: DifferenceCode;
  /** The objects from which it follows, with `left_out`. */
  readonly LeftOut?: readonly string[];
  readonly Tokens: number;
  /** AccessorIDs of some of the tokens. */
  readonly Sample: readonly string[];
  readonly Resource: string;
  readonly Access: string;
  readonly Segment: string;
  readonly Namespace: string;
  readonly Source: { readonly Allow: boolean; readonly Rule?: string };
  /** As `POST /v1/acl/authorize/explain` answers it. Only `Allow` if the token is missing. */
  readonly Target: { readonly Allow: boolean; readonly [member: string]: unknown };
}

/** What a comparison found, as the report shows it. */
export interface Rights {
  readonly Tokens: number;
  readonly Classes: number;
  /** Questions that were asked of each side. */
  readonly Questions: number;
  /** Classes that were too large for all questions: those of differing rules were asked. */
  readonly ComparedByRule?: number;
  readonly Differences: readonly RightsDifference[];
  /** Differences beyond those shown. */
  readonly More?: number;
  /** Whether there are no differences but those of accepted codes. */
  readonly Equal: boolean;
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
