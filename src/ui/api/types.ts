/** Answers of the API, as far as the pages read them. */

/** Any stored object. Forms know its other members. */
export interface Stored {
  readonly ModifyIndex: number;
  readonly CreateIndex: number;
  readonly [member: string]: unknown;
}

/** A link to a policy or a role. */
export interface Link {
  readonly ID?: string;
  readonly Name?: string;
}

/** One thing that lint finds. */
export interface Finding {
  readonly Severity: 'error' | 'warning' | 'info';
  readonly Code: string;
  readonly Message: string;
  readonly Line?: number;
  readonly Column?: number;
  readonly Hint?: string;
  readonly Field?: string;
  readonly Fix?: string;
}

/** The answer of lint for one text. */
export interface Linted {
  readonly Valid: boolean;
  readonly Problems: readonly Finding[];
}

/** One step of the way from a token to a text. */
export interface Step {
  readonly Type: string;
  readonly ID?: string;
  readonly Name: string;
}

/** Where a rule stands. */
export interface Source {
  readonly Path: readonly Step[];
  readonly Line?: number;
  readonly Column?: number;
  readonly Level: string;
  readonly Counts: boolean;
}

/** A rule that speaks about a question. */
export interface SpeakingRule {
  readonly Rule: string;
  readonly Level: string;
  readonly Why?: string;
  readonly Sources: readonly Source[];
  readonly MoreSources?: number;
}

/** A question about rights. */
export interface Question {
  readonly Resource: string;
  readonly Access: string;
  readonly Segment?: string;
  readonly Namespace?: string;
}

/** The answer to a question. */
export interface Result extends Question {
  readonly Allow: boolean;
  readonly Reason: string;
  readonly Text: string;
  readonly Level: string | null;
  readonly Winner: SpeakingRule | null;
  readonly Candidates: readonly SpeakingRule[];
  readonly MoreCandidates?: number;
}

/** The answer of explain. */
export interface Explained {
  readonly AccessorID?: string;
  readonly Description?: string;
  readonly DefaultPolicy: string;
  readonly Results: readonly Result[];
}

/** A decision that refused a request. */
export interface Decision {
  readonly ID: string;
  readonly Time: string;
  readonly Node: string;
  readonly Type: string;
  readonly Method: string;
  readonly Path: string;
  readonly Message: string;
  readonly AccessorID: string | null;
  readonly Changed: boolean;
  readonly Now: Result | null;
  readonly Login: { readonly AuthMethod: string; readonly Reason: string } | null;
}

/** One row of the rights of a token. */
export interface Right {
  readonly Layer: string;
  readonly Namespace: { readonly Match: string; readonly Name: string };
  readonly Resource: string;
  readonly Match: string;
  readonly Name?: string;
  readonly Level: string;
  readonly Intentions?: string;
  readonly Sources: readonly Source[];
}

/** All rights of a token. */
export interface Effective {
  readonly DefaultPolicy: string;
  readonly Truncated: boolean;
  readonly Rights: readonly Right[];
}

/** Tokens that grant alike. */
export interface Group {
  readonly Tokens: number;
  readonly AuthMethod: string;
  readonly Namespace: string;
  readonly Policies: readonly Link[];
  readonly Roles: readonly Link[];
  readonly ServiceIdentities: readonly { readonly ServiceName: string }[];
  readonly NodeIdentities: readonly { readonly NodeName: string }[];
  readonly TemplatedPolicies: readonly { readonly TemplateName: string }[];
  readonly Sample: readonly { readonly AccessorID: string; readonly Description: string }[];
  readonly Result: Result;
}

/** The answer of who-can. */
export interface WhoCan {
  readonly Scanned: number;
  readonly Allowed: number;
  readonly Truncated: boolean;
  readonly Filtered?: boolean;
  readonly Groups: readonly Group[];
}
