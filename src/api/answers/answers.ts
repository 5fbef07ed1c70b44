/**
 * Types of answers that clients read: the command line and the web UI. They are types alone, and
 * import nothing. The declarations of the answers (api/answers/acl-answers.ts), from which their
 * schemas are made, do not compile unless they have these types.
 */

/** A step of the way from a token to a text. */
export interface Step {
  readonly Type: string;
  readonly ID: string;
  readonly Name: string;
}

/** Where a rule stands. Texts that the server writes have no lines. */
export interface Source {
  readonly Path: readonly Step[];
  readonly Line: number | null;
  readonly Column: number | null;
  readonly Level: string | null;
  readonly Counts: boolean;
}

/** A rule that speaks about a question. */
export interface Rule {
  readonly Resource: string | null;
  readonly Match: string | null;
  readonly Name?: string;
  readonly NamespaceBlock?: Place;
  readonly Level: string | null;
  readonly Rule: string | null;
  readonly Sources: readonly Source[];
  readonly MoreSources: number;
}
/** A rule that does not decide. */
export interface Candidate extends Rule {
  readonly Why: string;
}

/** A namespace, or the beginning of its name. */
export interface Place {
  readonly Match: string;
  readonly Name: string;
}

/** The answer to one question about rights. */
export interface Result {
  readonly Resource: string;
  readonly Access: string;
  readonly Segment: string;
  readonly Namespace: string;
  readonly Allow: boolean;
  readonly Reason: string;
  readonly Layer?: string;
  readonly Level: string | null;
  readonly Text: string;
  readonly Winner: Rule | null;
  readonly Candidates: readonly Candidate[];
  readonly MoreCandidates: number;
}

/** Whose rights an answer is about. */
interface Whose {
  readonly AccessorID: string;
  readonly Namespace: string;
  readonly Anonymous: boolean;
  readonly DefaultPolicy: string;
}

/** `POST /v1/acl/authorize/explain`. */
export interface Explained extends Whose {
  readonly Description: string;
  readonly Index: number;
  readonly Results: readonly Result[];
}

/** A row of the rights of a token. */
export interface Right {
  readonly Layer: string;
  readonly Namespace: Place;
  readonly Resource: string;
  readonly Match: string;
  readonly Name?: string;
  readonly Level: string;
  readonly Intentions?: string;
  readonly IntentionsExplicit?: boolean;
  readonly Sources: readonly Source[];
  readonly MoreSources: number;
}

/** `GET /v1/acl/token/:accessor/effective`. */
export interface Effective extends Whose {
  readonly ExpirationTime?: string;
  readonly Truncated: boolean;
  readonly Rights: readonly Right[];
}

/** A link to a policy or a role. A deleted one has no name. */
export interface Link {
  readonly ID: string;
  readonly Name?: string;
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

/** `POST /v1/acl/who-can`. */
export interface WhoCan {
  readonly Index: number;
  readonly Scanned: number;
  readonly Allowed: number;
  readonly Truncated: boolean;
  readonly Filtered: boolean;
  readonly Groups: readonly Group[];
  readonly MoreGroups: number;
}

/** `GET /v1/acl/decision/:id`. */
export interface Decision {
  readonly ID: string;
  readonly Time: string;
  readonly Node: string;
  readonly Type: 'authorization' | 'unknown_token' | 'login';
  readonly Method: string;
  readonly Path: string;
  readonly RemoteAddr: string;
  readonly AccessorID: string | null;
  readonly Namespace: string;
  readonly Resource: string | null;
  readonly Access: string | null;
  readonly Segment: string | null;
  readonly Message: string;
  readonly AppliedIndex: number;
  readonly Then: {
    readonly Reason: string;
    readonly Level: string | null;
    readonly Rule: string | null;
  } | null;
  readonly Now: Result | null;
  readonly Changed: boolean;
  readonly Login: {
    readonly AuthMethod: string;
    readonly Namespace: string;
    readonly ReasonCode: string;
    readonly Reason: string;
  } | null;
}

/** One thing that lint finds in a text. */
export interface LintProblem {
  readonly Severity: 'error' | 'warning' | 'info';
  readonly Code: string;
  readonly Message: string;
  readonly Field?: string;
  readonly Line: number;
  readonly Column: number;
  readonly Claim?: string;
  readonly Fix?: string;
  readonly Hint?: string;
}

/** Lint of a policy or of a binding rule. */
export interface Linted {
  readonly Valid: boolean;
  readonly Problems: readonly LintProblem[];
  readonly More?: number;
}

/** What lint finds in what is stored. */
export interface Finding {
  readonly Ref: string;
  readonly Severity: LintProblem['Severity'];
  readonly Code: string;
  readonly Message: string;
  readonly Line?: number;
}

/** `GET /v1/acl/lint`. */
export interface Findings {
  readonly Index: number;
  readonly Findings: readonly Finding[];
  readonly More: number;
}

/** A test of a selector, or several that are joined, with its result. */
export interface Clause {
  readonly Type: 'match' | 'and' | 'or' | 'not';
  readonly Text: string;
  readonly Result: boolean;
  readonly Terms?: readonly Clause[];
  readonly Actual?: unknown;
  readonly Missing?: boolean;
}

/** A binding rule, judged for a login. */
export interface JudgedRule {
  readonly ID: string;
  readonly Description: string;
  readonly BindType: string;
  readonly BindName: string;
  readonly Selector: string;
  readonly Matches: boolean;
  readonly Clause: Clause | null;
  readonly Name: string | null;
  readonly Effect: string;
  readonly Problem: string;
}

/** The token that a login would make, as far as it is known before. */
export interface LoginToken {
  readonly Policies?: readonly Link[];
  readonly Roles?: readonly Link[];
  readonly ServiceIdentities?: readonly {
    readonly ServiceName: string;
    readonly Datacenters?: readonly string[];
  }[];
  readonly NodeIdentities?: readonly { readonly NodeName: string; readonly Datacenter: string }[];
  readonly TemplatedPolicies?: readonly {
    readonly TemplateName: string;
    readonly TemplateVariables?: { readonly name?: string };
    readonly Datacenters?: readonly string[];
  }[];
  readonly ExpirationTTL?: string;
}

/** `POST /v1/acl/login/explain`. */
export interface LoginExplained {
  readonly AuthMethod: string;
  readonly Type: string;
  readonly Namespace: string;
  readonly Index: number;
  readonly Outcome: 'granted' | 'refused';
  readonly ReasonCode: string;
  readonly Reason: string;
  readonly Verified: boolean;
  readonly Checks: readonly {
    readonly Name: string;
    readonly Result: 'passed' | 'failed' | 'skipped';
    readonly Detail: string;
  }[];
  readonly Values: Readonly<Record<string, string>>;
  readonly Lists: Readonly<Record<string, readonly string[]>>;
  readonly Missing: { readonly Values: readonly string[]; readonly Lists: readonly string[] };
  readonly Unmapped: readonly string[];
  readonly TokenNamespace: string | null;
  readonly Rules: readonly JudgedRule[];
  readonly MoreRules: number;
  readonly Token: LoginToken | null;
  readonly Rights: readonly Right[] | null;
  readonly Truncated: boolean;
}

/** What a route of a chain matches. */
export type RouteMatch = {
  readonly PathExact?: string;
  readonly PathPrefix?: string;
  readonly PathRegex?: string;
  readonly Methods?: readonly string[] | null;
  readonly Header?: readonly { readonly Name: string }[] | null;
  readonly QueryParam?: readonly { readonly Name: string }[] | null;
};

/** A route as its entry has it, with the members that clients show. */
export interface RouteDefinition {
  readonly Match?: { readonly HTTP?: RouteMatch };
}

/** A node of a discovery chain. */
export interface ChainNode {
  readonly Type: 'router' | 'splitter' | 'resolver';
  readonly Name: string;
  readonly Routes?: readonly { readonly Definition: RouteDefinition; readonly NextNode: string }[];
  readonly Splits?: readonly { readonly Weight: number; readonly NextNode: string }[];
  readonly Resolver?: {
    readonly Default: boolean;
    readonly Target: string;
    readonly Failover?: { readonly Targets: readonly string[] };
  };
}

/** A target of a discovery chain. */
export interface ChainTarget {
  readonly Service: string;
  readonly ServiceSubset?: string;
  readonly Namespace: string;
  readonly Datacenter: string;
  readonly Peer?: string;
  readonly Subset: { readonly Filter?: string; readonly OnlyPassing?: boolean };
}

/** The chain of `GET /v1/discovery-chain/:service`. */
export interface Chain {
  readonly ServiceName: string;
  readonly Namespace: string;
  readonly Datacenter: string;
  readonly Protocol: string;
  readonly StartNode: string;
  readonly Nodes: Readonly<Record<string, ChainNode>>;
  readonly Targets: Readonly<Record<string, ChainTarget>>;
}

/** A member as the leader, or a node without one, sees it. */
export interface Server {
  readonly ID: string;
  readonly Name: string;
  readonly Address: string;
  readonly NodeStatus: string;
  readonly Version: string;
  readonly LastContact: string;
  readonly LastTerm: number;
  readonly LastIndex: number;
  readonly Healthy: boolean;
  /** `problem`: why the server is not healthy although it answers. */
  readonly Meta: Readonly<Record<string, string>>;
  readonly Status: 'leader' | 'voter' | 'non-voter';
}

/** `GET /v1/operator/autopilot/state`. */
export interface Autopilot {
  readonly Healthy: boolean;
  readonly FailureTolerance: number;
  readonly Leader: string;
  readonly Voters: readonly string[];
  readonly Servers: Readonly<Record<string, Server>>;
}

/** `GET /v1/operator/level`. */
export interface Level {
  readonly Level: number;
  readonly Supported: number;
  readonly Members: readonly { readonly ID: string; readonly Supported: number | null }[];
  readonly Waiting: readonly string[];
}
