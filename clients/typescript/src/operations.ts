/** Written by npm run clients. The operations of the API and their types. */
import type { Answer, CallOptions, Caller } from './calls.js';

/** What is sent of an object: members may be absent, or null to be as if they were. */
export type Sent<T> = T extends readonly (infer U)[]
  ? readonly Sent<U>[]
  : T extends object
    ? { readonly [K in keyof T]?: Sent<T[K]> | null }
    : T;

/** How long login tokens are valid, and how many one identity may have. */
export interface AclConfiguration {
  /** How long login tokens are valid if their auth method sets no MaxTokenTTL. Empty means forever. */
  readonly LoginTokenTTL: string;
  /** The longest that a login token may be valid, whatever its auth method sets. Empty means no limit. */
  readonly LoginTokenTTLMax: string;
  /** How many live tokens one identity may have from one auth method. 0 means no limit. */
  readonly TokensPerIdentity: number;
  /** Whether a login beyond that number is refused or replaces the oldest tokens. */
  readonly OnTokenLimit: string;
  /** Types of subjects of decisions, by the names that applications use. From level 3 on. */
  readonly SubjectTypes?: Readonly<Record<string, AclConfigurationSubjectType>> | null;
  /** The index at which the configuration was last changed. */
  readonly ModifyIndex: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface AclConfigurationSubjectType {
  /** The auth method. */
  readonly AuthMethod: string;
  /** Its namespace. Empty means default. */
  readonly Namespace: string;
  /** Whose rights count: those of tokens, or those that binding rules give to what is sent. */
  readonly From: string;
}

/** A gateway with listeners to which routes bind. */
export interface ApiGateway {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The listeners of the gateway. */
  readonly Listeners: readonly ApiGatewayListener[] | null;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The status that the server reports for the entry. */
  readonly Status?: ApiGatewayStatus;
  /** TLS settings of the gateway, a feature of later releases that is not supported. */
  readonly TLS?: unknown;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ApiGatewayListener {
  /** The name of the listener. */
  readonly Name: string;
  /** The host names that the listener serves, such as *.example.com. */
  readonly Hostname: string;
  /** The port on which the gateway listens. */
  readonly Port: number;
  /** The protocol of the listener. */
  readonly Protocol: string;
  /** TLS settings of the listener. */
  readonly TLS: ApiGatewayListenerTLS;
  /** Requirements that requests must meet, whatever their routes require. */
  readonly Override?: ApiGatewayListenerOverride;
  /** Requirements that requests must meet if their routes have none. */
  readonly Default?: ApiGatewayListenerOverride;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Requirements that requests must meet if their routes have none. */
export interface ApiGatewayListenerOverride {
  /** The JSON Web Token that a request must carry. */
  readonly JWT?: ApiGatewayListenerOverrideJWT;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The JSON Web Token that a request must carry. */
export interface ApiGatewayListenerOverrideJWT {
  /** The providers, one of which must have issued the token. */
  readonly Providers?: readonly ApiGatewayListenerOverrideJWTProvider[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ApiGatewayListenerOverrideJWTProvider {
  /** The name of a jwt-provider. */
  readonly Name?: string;
  /** The claims that the token must have. */
  readonly VerifyClaims?: readonly ApiGatewayListenerOverrideJWTProviderVerifyClaim[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ApiGatewayListenerOverrideJWTProviderVerifyClaim {
  /** The path to the claim, as a list of names. */
  readonly Path?: readonly string[] | null;
  /** The value of the claim, or one of its values if it is a list. */
  readonly Value?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** TLS settings of the listener. */
export interface ApiGatewayListenerTLS {
  /** The certificates that the listener presents. */
  readonly Certificates: readonly ApiGatewayListenerTLSCertificate[] | null;
  /** The maximum TLS version. */
  readonly MaxVersion: string;
  /** The minimum TLS version. */
  readonly MinVersion: string;
  /** The cipher suites for TLS 1.2 and earlier. */
  readonly CipherSuites: readonly string[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ApiGatewayListenerTLSCertificate {
  /** The kind of the certificate. */
  readonly Kind: string;
  /** The name of the certificate. */
  readonly Name: string;
  /** Part of the certificate. It has no effect. */
  readonly SectionName: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The status that the server reports for the entry. */
export interface ApiGatewayStatus {
  /** The conditions of the entry and of its listeners. */
  readonly Conditions: readonly ApiGatewayStatusCondition[] | null;
}

export interface ApiGatewayStatusCondition {
  /** The type of the condition. */
  readonly Type: string;
  /** Whether the condition is met. */
  readonly Status: string;
  /** The reason, in one word. */
  readonly Reason: string;
  /** The reason, in a sentence. */
  readonly Message: string;
  /** The listener or entry that it concerns; empty members mean the whole entry. */
  readonly Resource: ApiGatewayStatusConditionResource;
  /** When the status last changed. */
  readonly LastTransitionTime: string;
}

/** The listener or entry that it concerns; empty members mean the whole entry. */
export interface ApiGatewayStatusConditionResource {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. */
  readonly Name: string;
  /** The listener. */
  readonly SectionName: string;
}

export interface ApplySetChange {
  /** The object: its type, namespace and name. */
  readonly Ref: string;
  /** The type of the object. */
  readonly Type: string;
  /** The namespace of the object. */
  readonly Namespace: string;
  /** The name of the object. */
  readonly Name: string;
  /** The ID of the object. */
  readonly ID?: string;
  /** What became of it. */
  readonly Action: string;
  /** Its ModifyIndex. Absent if it was deleted. */
  readonly ModifyIndex?: number;
}

export interface ApplySetResult {
  /** The index of the entry, or of the state if nothing changed. */
  readonly Index: number;
  /** How many objects changed. */
  readonly Changed: number;
  /** How many did not. */
  readonly Unchanged: number;
  /** What changed. */
  readonly Changes: readonly ApplySetChange[];
  /** The assertions. */
  readonly Asserts: readonly PlanSetAssert[];
}

/** A way to log in, and how it verifies identities. */
export interface AuthMethod {
  /** The name of the auth method. */
  readonly Name: string;
  /** How identities are verified. It cannot be changed later. */
  readonly Type: string;
  /** A human-readable name of the auth method. */
  readonly DisplayName?: string;
  /** A human-readable description of the auth method. */
  readonly Description?: string;
  /** How long the tokens of its logins are valid, at least one minute. */
  readonly MaxTokenTTL?: string;
  /** Whether tokens belong to one datacenter. This has no other effect. */
  readonly TokenLocality?: string;
  /** Rules that choose the namespace of a token by its login, instead of that of the method. */
  readonly NamespaceRules?: readonly AuthMethodNamespaceRule[];
  /** Settings of the type. */
  readonly Config: Readonly<Record<string, unknown>>;
  /** The namespace of the auth method. */
  readonly Namespace: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A way to log in, and how it verifies identities. */
export interface AuthMethodItem {
  /** The name of the auth method. */
  readonly Name: string;
  /** How identities are verified. It cannot be changed later. */
  readonly Type: string;
  /** A human-readable name of the auth method. */
  readonly DisplayName?: string;
  /** A human-readable description of the auth method. */
  readonly Description?: string;
  /** How long the tokens of its logins are valid, at least one minute. */
  readonly MaxTokenTTL?: string;
  /** Whether tokens belong to one datacenter. This has no other effect. */
  readonly TokenLocality?: string;
  /** The namespace of the auth method. */
  readonly Namespace: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
}

export interface AuthMethodNamespaceRule {
  /** Which logins the rule applies to. Empty means all. */
  readonly Selector: string;
  /** The namespace of the tokens. It may contain claims, such as ${value.name}. */
  readonly BindNamespace: string;
}

export interface AuthorizeBody {
  /** The resource, such as service or key. */
  readonly Resource?: string | null;
  /** The access, such as read or write. */
  readonly Access?: string | null;
  /** The name of the resource. Omitted for resources without names. */
  readonly Segment?: string | null;
}

export interface AuthorizeResult {
  /** The resource. */
  readonly Resource: string;
  /** The access. */
  readonly Access: string;
  /** The name of the resource. */
  readonly Segment?: string;
  /** Whether the access is allowed. */
  readonly Allow: boolean;
}

export interface AuthzenConfigurationResult {
  readonly policy_decision_point?: string;
  readonly access_evaluation_endpoint?: string;
  readonly access_evaluations_endpoint?: string;
  readonly search_subject_endpoint?: string;
  readonly search_resource_endpoint?: string;
  readonly search_action_endpoint?: string;
}

/** When a server is considered healthy, and what happens to dead servers. */
export interface AutopilotConfigurationBody {
  /** Whether dead servers are removed once others replace them. */
  readonly CleanupDeadServers?: boolean | null;
  /** How long a healthy server may go without contact with the leader. */
  readonly LastContactThreshold?: unknown;
  /** How many log entries a healthy server may be behind. */
  readonly MaxTrailingLogs?: number | null;
  /** How many voters must remain when a dead server is removed. */
  readonly MinQuorum?: number | null;
  /** How long a new server must be healthy before it may vote. */
  readonly ServerStabilizationTime?: unknown;
  /** A setting of another edition. It is stored but has no effect. */
  readonly RedundancyZoneTag?: string | null;
  /** A setting of another edition. It is stored but has no effect. */
  readonly DisableUpgradeMigration?: boolean | null;
  /** A setting of another edition. It is stored but has no effect. */
  readonly UpgradeVersionTag?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A rule that determines what the tokens of an auth method are linked to. */
export interface BindingRule {
  /** The ID of the rule. */
  readonly ID: string;
  /** A human-readable description of the rule. */
  readonly Description: string;
  /** The auth method to whose logins the rule applies. It cannot be changed later. */
  readonly AuthMethod: string;
  /** Which logins the rule applies to. Empty means all. */
  readonly Selector?: string;
  /** What BindName names: a service, a node, a role, a policy or a templated policy. */
  readonly BindType: string;
  /** The name of what tokens are linked to. It may contain claims, such as ${value.name}. */
  readonly BindName: string;
  /** The variables of a templated policy. */
  readonly BindVars?: TemplatedPolicyTemplateVariables;
  /** The namespace of the rule. */
  readonly Namespace: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A rule that determines what the tokens of an auth method are linked to. */
export interface BindingRuleItem {
  /** The ID of the rule. */
  readonly ID: string;
  /** A human-readable description of the rule. */
  readonly Description: string;
  /** The auth method to whose logins the rule applies. It cannot be changed later. */
  readonly AuthMethod: string;
  /** Which logins the rule applies to. Empty means all. */
  readonly Selector?: string;
  /** What BindName names: a service, a node, a role, a policy or a templated policy. */
  readonly BindType: string;
  /** The name of what tokens are linked to. It may contain claims, such as ${value.name}. */
  readonly BindName: string;
  /** The variables of a templated policy. */
  readonly BindVars?: TemplatedPolicyTemplateVariables;
  /** The namespace of the rule. */
  readonly Namespace: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
}

/** The first token of a cluster. */
export interface BootstrapBody {
  /** The SecretID of the first token, a UUID. By default, the server generates one. */
  readonly BootstrapSecret?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The first token. */
export interface BootstrapToken {
  /** The same as SecretID, for old clients. */
  readonly ID: string;
  /** The public ID of the token. Clients may choose it on creation. */
  readonly AccessorID: string;
  /** The secret with which requests present the token. Clients may choose it on creation. */
  readonly SecretID: string;
  /** A human-readable description of the token. */
  readonly Description: string;
  /** The policies of the token. */
  readonly Policies?: readonly Link[];
  /** The roles of the token. */
  readonly Roles?: readonly Link[];
  /** Identities that grant the rights of a service, by its name. */
  readonly ServiceIdentities?: readonly ServiceIdentity[];
  /** Identities that grant the rights of a node, by its name. */
  readonly NodeIdentities?: readonly NodeIdentity[];
  /** Built-in templates with their variables. */
  readonly TemplatedPolicies?: readonly TemplatedPolicy[];
  /** Whether the token belongs to one datacenter. This has no other effect. */
  readonly Local: boolean;
  /** The name of the auth method whose login created the token, in its original spelling. */
  readonly AuthMethod?: string;
  /** The namespace of that auth method. */
  readonly AuthMethodNamespace?: string;
  /** When the token expires. It cannot be changed later. */
  readonly ExpirationTime?: string;
  /** When the token was created. */
  readonly CreateTime: string;
  /** The namespace of the token. */
  readonly Namespace: string;
  /** A hash of the content. */
  readonly Hash: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
}

/** The routes and certificates that are bound to an api-gateway. Only the server writes this entry. */
export interface BoundApiGateway {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The listeners of the gateway, with the routes and certificates bound to them. */
  readonly Listeners: readonly BoundApiGatewayListener[] | null;
  /** The routes, keyed by the service to which they lead. */
  readonly Services: Readonly<Record<string, readonly BoundApiGatewayListenerRoute[]>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface BoundApiGatewayListener {
  /** The name of the listener. */
  readonly Name: string;
  /** The routes that are bound to the listener. */
  readonly Routes: readonly BoundApiGatewayListenerRoute[] | null;
  /** The certificates of the listener. */
  readonly Certificates: readonly ApiGatewayListenerTLSCertificate[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface BoundApiGatewayListenerRoute {
  /** The kind of the route. */
  readonly Kind: string;
  /** The name of the route. */
  readonly Name: string;
  /** The listener to which the route is bound. */
  readonly SectionName: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface CleanUpTokensBody {
  /** Whether only to show what would be deleted. True unless it is false. */
  readonly DryRun?: boolean | null;
  /** Deletes tokens that were not used for this long. */
  readonly UnusedFor?: string | null;
  /** Only tokens that were created at least this long ago. */
  readonly OlderThan?: string | null;
  /** Only tokens of the logins of an auth method. */
  readonly AuthMethod?: string | null;
  /** Only tokens of this namespace; * for all. */
  readonly Namespace?: string | null;
  /** Deletes all but this many of the newest tokens of each identity. */
  readonly KeepPerIdentity?: number | null;
  /** How many tokens to delete, 1,000 at most. */
  readonly Limit?: number | null;
  /** Why, for the history and the audit log. */
  readonly Reason?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface CleanUpTokensResult {
  /** Whether nothing was done. */
  readonly DryRun: boolean;
  /** False: not every member has recently reported its uses. */
  readonly Complete?: boolean;
  /** How many tokens there are to delete. */
  readonly Total: number;
  /** Those that are deleted now. */
  readonly Tokens: readonly CleanUpTokensToken[];
  /** How many are never deleted like this, by the reason. */
  readonly Skipped: Readonly<Record<string, number>>;
  /** The index of the deletion, or of the state of a dry run. */
  readonly Index: number;
}

export interface CleanUpTokensToken {
  /** The AccessorID of the token. */
  readonly AccessorID: string;
  /** Its description. */
  readonly Description: string;
  /** The auth method whose login created it. Empty if none did. */
  readonly AuthMethod: string;
  /** Who is behind the token, if a login made it. */
  readonly Identity?: TokenIdentity;
  /** Its namespace. */
  readonly Namespace: string;
  /** The hour of the last use; null: none since Since. */
  readonly LastUsed: string | null;
  /** Why it is deleted. */
  readonly Why: string;
}

/** A config entry as answers contain it. */
export type ConfigEntry = ApiGateway | BoundApiGateway | ExportedServices | FileSystemCertificate | HttpRoute | IngressGateway | InlineCertificate | JwtProvider | Mesh | ProxyDefaults | ServiceDefaults | ServiceIntentions | ServiceResolver | ServiceRouter | ServiceSplitter | TcpRoute | TerminatingGateway;

export interface CreateJoinTokenResult {
  /** The token. It is shown once. */
  readonly JoinToken: string;
  /** When the token expires. */
  readonly ExpirationTime: string;
}

export interface EvaluateActionBody {
  readonly name: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

export interface EvaluateAllBody {
  readonly subject?: EvaluateSubjectBody;
  readonly action?: EvaluateActionBody;
  readonly resource?: EvaluateSubjectBody;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly evaluations?: readonly (Readonly<Record<string, unknown>>)[];
  readonly options?: EvaluateAllOptionsBody;
}

export interface EvaluateAllOptionsBody {
  readonly evaluations_semantic?: string;
}

export interface EvaluateAllResult1 {
  readonly evaluations: readonly EvaluateResult[];
}

export interface EvaluateBody {
  readonly subject: EvaluateSubjectBody;
  readonly action: EvaluateActionBody;
  readonly resource: EvaluateSubjectBody;
  readonly context?: Readonly<Record<string, unknown>>;
}

export interface EvaluateContext {
  readonly id?: string;
  readonly code?: string;
  readonly reason_admin?: EvaluateContextReasonAdmin;
  readonly reason_user?: EvaluateContextReasonAdmin;
  readonly decision_id?: string;
  readonly index?: number;
  readonly layer?: string;
  readonly truncated?: boolean;
  readonly error?: EvaluateContextError;
}

export interface EvaluateContextError {
  readonly status?: number;
  readonly message?: string;
}

export interface EvaluateContextReasonAdmin {
  readonly en?: string;
}

export interface EvaluateResult {
  readonly decision: boolean;
  readonly context?: EvaluateContext;
}

export interface EvaluateSubjectBody {
  readonly type: string;
  readonly id: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

export interface ExplainAuthorizationBody {
  /** The token whose rights are explained. Defaults to the token of the request. */
  readonly AccessorID?: string | null;
  /** A token that does not exist, to use instead of AccessorID. */
  readonly Draft?: ExplainAuthorizationDraftBody | null;
  /** Between 1 and 64 questions. */
  readonly Requests?: readonly ExplainAuthorizationRequestBody[] | null;
  /** The namespace of the request. */
  readonly Namespace?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A token that does not exist, to use instead of AccessorID. */
export interface ExplainAuthorizationDraftBody {
  /** The policies of the token. */
  readonly Policies?: readonly ExplainAuthorizationDraftPolicyBody[] | null;
  /** The roles of the token. */
  readonly Roles?: readonly ExplainAuthorizationDraftPolicyBody[] | null;
  /** Identities that grant the rights of a service, by its name. */
  readonly ServiceIdentities?: readonly ExplainAuthorizationDraftServiceIdentityBody[] | null;
  /** Identities that grant the rights of a node, by its name. */
  readonly NodeIdentities?: readonly ExplainAuthorizationDraftNodeIdentityBody[] | null;
  /** Built-in templates with their variables. */
  readonly TemplatedPolicies?: readonly ExplainAuthorizationDraftTemplatedPolicyBody[] | null;
  /** The rules of an additional policy for the token. */
  readonly Rules?: string | null;
}

export interface ExplainAuthorizationDraftNodeIdentityBody {
  /** The node whose rights are granted. */
  readonly NodeName?: string | null;
  /** The datacenter in which the rights are granted. */
  readonly Datacenter?: string | null;
}

export interface ExplainAuthorizationDraftPolicyBody {
  /** The ID of the object. */
  readonly ID?: string | null;
  /** The name of the object. Not needed in a link with an ID. */
  readonly Name?: string | null;
}

export interface ExplainAuthorizationDraftServiceIdentityBody {
  /** The service whose rights are granted. */
  readonly ServiceName?: string | null;
  /** The datacenters in which the rights are granted. Empty means all. */
  readonly Datacenters?: readonly string[] | null;
}

export interface ExplainAuthorizationDraftTemplatedPolicyBody {
  /** The ID of the template. It is checked but not stored. */
  readonly TemplateID?: string | null;
  /** The name of the template, such as builtin/service. */
  readonly TemplateName?: string | null;
  /** The values of the template variables. */
  readonly TemplateVariables?: LintBindingRuleBindVarsBody | null;
  /** The datacenters in which the rights are granted. Empty means all. */
  readonly Datacenters?: readonly string[] | null;
}

export interface ExplainAuthorizationRequestBody {
  /** The resource, such as service, key or namespace. */
  readonly Resource?: string | null;
  /** The access, such as read or write. */
  readonly Access?: string | null;
  /** The name of the resource. Omitted for resources without names. */
  readonly Segment?: string | null;
  /** The namespace of the resource. Defaults to that of the request. */
  readonly Namespace?: string | null;
}

export interface ExplainAuthorizationResult {
  /** With at: the moment that the answer is about. */
  readonly At?: ReadOwnRightsAt;
  /** The token. */
  readonly AccessorID: string;
  /** The namespace of the token. */
  readonly Namespace: string;
  /** Whether it is the anonymous token. */
  readonly Anonymous: boolean;
  /** The decision if no rule applies. */
  readonly DefaultPolicy: string;
  /** The description of the token. */
  readonly Description: string;
  /** Who is behind the token, if a login made it. */
  readonly Identity?: TokenIdentity;
  /** The index of the state that was read. */
  readonly Index: number;
  /** The answers, in the order of the questions. */
  readonly Results: readonly ReadDecisionNow[];
}

export interface ExplainLoginBody {
  /** The name of the auth method. */
  readonly AuthMethod?: string | null;
  /** The bearer token of the login. It is checked, but nothing is written. */
  readonly BearerToken?: string | null;
  /** Claims to use instead of a bearer token. */
  readonly Claims?: Readonly<Record<string, unknown>> | null;
  /** The namespace of the auth method. */
  readonly Namespace?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ExplainLoginCheck {
  /** The name of the check. */
  readonly Name: string;
  /** The result of the check. */
  readonly Result: string;
  /** Why it failed. */
  readonly Detail: string;
}

/** Mapped names without a value. */
export interface ExplainLoginMissing {
  /** The names of values. */
  readonly Values: readonly string[];
  /** The names of lists. */
  readonly Lists: readonly string[];
}

/** The rule that chooses that namespace. */
export interface ExplainLoginNamespaceRule {
  /** Its selector. */
  readonly Selector: string;
  /** The template from which it computes the namespace. */
  readonly BindNamespace: string;
  /** The namespace. */
  readonly Namespace: string | null;
}

export interface ExplainLoginResult {
  /** The name of the auth method. */
  readonly AuthMethod: string;
  /** Its type. */
  readonly Type: string;
  /** Its namespace. */
  readonly Namespace: string;
  /** The index of the state that was read. */
  readonly Index: number;
  /** The outcome of the login. */
  readonly Outcome: string;
  /** Why it is refused, in one word. */
  readonly ReasonCode: string;
  /** Why it is refused, in a sentence. */
  readonly Reason: string;
  /** Whether the claims have been verified. */
  readonly Verified: boolean;
  /** The checks of the bearer token. */
  readonly Checks: readonly ExplainLoginCheck[];
  /** The mapped values by name. */
  readonly Values: Readonly<Record<string, string>>;
  /** The mapped lists by name. */
  readonly Lists: Readonly<Record<string, readonly string[]>>;
  /** Mapped names without a value. */
  readonly Missing: ExplainLoginMissing;
  /** Claims that are not mapped. */
  readonly Unmapped: readonly string[];
  /** The namespace of the token. */
  readonly TokenNamespace: string | null;
  /** The rule that chooses that namespace. */
  readonly NamespaceRule: ExplainLoginNamespaceRule | null;
  /** The binding rules, with matching ones first. */
  readonly Rules: readonly ExplainLoginRule[];
  /** How many rules are left out. */
  readonly MoreRules: number;
  /** The token, without its IDs and times. */
  readonly Token: ExplainLoginToken | null;
  /** The rights of the token. */
  readonly Rights: readonly ReadOwnRightsRight[] | null;
  /** Whether rights are left out. */
  readonly Truncated: boolean;
}

export interface ExplainLoginRule {
  /** The ID of the rule. */
  readonly ID: string;
  /** Its description. */
  readonly Description: string;
  /** What it binds. */
  readonly BindType: string;
  /** The template from which it computes the name. */
  readonly BindName: string;
  /** Its selector. */
  readonly Selector: string;
  /** Whether it applies to the login. */
  readonly Matches: boolean;
  /** The selector in parts, each with its result. Null if it is empty or cannot be evaluated. */
  readonly Clause: Readonly<Record<string, unknown>> | null;
  /** The name that the rule computes. */
  readonly Name: string | null;
  /** The variables that the rule computes for a template. */
  readonly Vars: Readonly<Record<string, unknown>> | null;
  /** What the name refers to. */
  readonly Target: Readonly<Record<string, unknown>> | null;
  /** What the rule does for the login. */
  readonly Effect: string;
  /** Why the rule cannot be evaluated. */
  readonly Problem: string;
}

/** The token, without its IDs and times. */
export interface ExplainLoginToken {
  /** Its description. */
  readonly Description: string;
  /** Who is behind the token, if a login made it. */
  readonly Identity?: TokenIdentity;
  /** Its policies. */
  readonly Policies?: readonly Link[];
  /** Its roles. */
  readonly Roles?: readonly Link[];
  /** Identities that grant the rights of a service, by its name. */
  readonly ServiceIdentities?: readonly ServiceIdentity[];
  /** Identities that grant the rights of a node, by its name. */
  readonly NodeIdentities?: readonly NodeIdentity[];
  /** Built-in templates with their variables. */
  readonly TemplatedPolicies?: readonly TemplatedPolicy[];
  /** Whether it belongs to one datacenter. */
  readonly Local: boolean;
  /** The auth method. */
  readonly AuthMethod: string;
  /** The namespace of the auth method, if it differs. */
  readonly AuthMethodNamespace?: string;
  /** How long the token is valid. */
  readonly ExpirationTTL?: string;
  /** Its namespace. */
  readonly Namespace: string;
}

/** The moment at which the objects were as shown. */
export interface ExportObjectsAt {
  /** The index. */
  readonly Index: number;
  /** Its time. */
  readonly Time: string | null;
}

export interface ExportObjectsObject {
  /** The type of the object. */
  readonly Type: string;
  /** The namespace of the object. */
  readonly Namespace?: string;
  /** The handle of a binding rule. */
  readonly Handle?: string;
  /** The object as a PUT would write it. */
  readonly Object: Readonly<Record<string, unknown>>;
}

export interface ExportObjectsResult {
  /** The index of the state that was read. */
  readonly Index: number;
  /** The objects, in the order in which they can be written. */
  readonly Objects: readonly ExportObjectsObject[];
  /** How many secrets are hidden. */
  readonly Secrets: number;
  /** The moment at which the objects were as shown. */
  readonly At?: ExportObjectsAt;
  /** Objects of which nothing from then is kept. */
  readonly Unknown?: readonly string[];
}

/** The services that peers may use. */
export interface ExportedServices {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The services that peers may use. */
  readonly Services?: readonly ExportedServicesService[] | null;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ExportedServicesService {
  /** The name of the service, or `*` for all services. */
  readonly Name: string;
  /** The namespace of the entry, as that of the service. It is not stored. */
  readonly Namespace?: string;
  /** Who may use the service. */
  readonly Consumers: readonly ExportedServicesServiceConsumer[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ExportedServicesServiceConsumer {
  /** The peer that may use the service. */
  readonly Peer?: string;
  /** The admin partition. Only default is supported. */
  readonly Partition?: string;
  /** A sameness group. Sameness groups are not supported. */
  readonly SamenessGroup?: string;
}

/** A certificate and its key, in files on the gateways. */
export interface FileSystemCertificate {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The file that holds the certificate. */
  readonly Certificate: string;
  /** The file that holds the private key. */
  readonly PrivateKey: string;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface FindWhoCanBody {
  /** The resource, such as service, key or namespace. */
  readonly Resource?: string | null;
  /** The access, such as read or write. */
  readonly Access?: string | null;
  /** The name of the resource. Omitted for resources without names. */
  readonly Segment?: string | null;
  /** The namespace of the resource. Defaults to that of the request. */
  readonly Namespace?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface FindWhoCanGroup {
  /** How many tokens are in the group. */
  readonly Tokens: number;
  /** How many different subjects logged in to get them. */
  readonly Subjects: number;
  /** The auth method of their logins, if any. */
  readonly AuthMethod: string;
  /** Their namespace. */
  readonly Namespace: string;
  /** Their policies. */
  readonly Policies: readonly Link[];
  /** Their roles. */
  readonly Roles: readonly Link[];
  /** Their service identities. */
  readonly ServiceIdentities: readonly ServiceIdentity[];
  /** Their node identities. */
  readonly NodeIdentities: readonly NodeIdentity[];
  /** Their templated policies. */
  readonly TemplatedPolicies: readonly TemplatedPolicy[];
  /** Some of the tokens. */
  readonly Sample: readonly FindWhoCanGroupSample[];
  /** Why they are allowed the access. */
  readonly Result: ReadDecisionNow;
}

export interface FindWhoCanGroupSample {
  /** The token. */
  readonly AccessorID: string;
  /** Its description. */
  readonly Description: string;
  /** Who is behind the token, if a login made it. */
  readonly Identity?: TokenIdentity;
}

export interface FindWhoCanResult {
  /** With at: the moment that the answer is about. */
  readonly At?: ReadOwnRightsAt;
  /** With at: login tokens that have ended are known from this index on. */
  readonly LoginsSince?: number;
  /** The index of the state that was read. */
  readonly Index: number;
  /** How many tokens were examined. */
  readonly Scanned: number;
  /** How many of them are allowed the access. */
  readonly Allowed: number;
  /** Whether the search stopped before the last token. */
  readonly Truncated: boolean;
  /** Whether namespaces that the caller may not read were left out. */
  readonly Filtered: boolean;
  /** Groups of tokens with the same grants, the largest first. */
  readonly Groups: readonly FindWhoCanGroup[];
  /** How many groups are left out. */
  readonly MoreGroups: number;
}

/** How much of the history is kept. */
export interface HistoryConfiguration {
  /** How many versions of an object are kept, the present one included. 0 keeps none. */
  readonly VersionsPerObject: number;
  /** How many bytes the history may have. The oldest is dropped beyond that. 0 keeps nothing. */
  readonly Bytes: number;
  /** How many of these bytes the lines of login tokens may have. 0 keeps none. */
  readonly LoginBytes: number;
  /** How long records are kept. Empty means no limit. */
  readonly MaxAge: string;
  /** The index at which the configuration was last changed. */
  readonly ModifyIndex: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A route for HTTP requests from an api-gateway to services. */
export interface HttpRoute {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The gateways to which the route binds. */
  readonly Parents: readonly HttpRouteParent[] | null;
  /** The rules that route requests to services. */
  readonly Rules: readonly HttpRouteRule[] | null;
  /** The host names of the requests. Defaults to all host names of the listener. */
  readonly Hostnames: readonly string[] | null;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The status that the server reports for the entry. */
  readonly Status?: ApiGatewayStatus;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface HttpRouteParent {
  /** The kind of the gateway. */
  readonly Kind: string;
  /** The name of the gateway. */
  readonly Name: string;
  /** The listener of the gateway. Defaults to all listeners that fit. */
  readonly SectionName: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface HttpRouteRule {
  /** Filters applied to requests that match the rule. */
  readonly Filters: HttpRouteRuleFilters;
  /** Filters applied to responses to requests that match the rule. */
  readonly ResponseFilters: HttpRouteRuleResponseFilters;
  /** The requests to which the rule applies. A request needs to satisfy only one match. */
  readonly Matches: readonly HttpRouteRuleMatche[] | null;
  /** The services that receive the requests. */
  readonly Services: readonly HttpRouteRuleService[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Filters applied to requests sent to the service. */
export interface HttpRouteRuleFilters {
  /** Changes to the headers of requests. */
  readonly Headers: readonly HttpRouteRuleFiltersHeader[] | null;
  /** A rewrite of the request path. */
  readonly URLRewrite: HttpRouteRuleFiltersURLRewrite | null;
  /** When a failed request is retried. */
  readonly RetryFilter: HttpRouteRuleFiltersRetryFilter | null;
  /** How long requests may take. */
  readonly TimeoutFilter: HttpRouteRuleFiltersTimeoutFilter | null;
  /** The JSON Web Token that a request must carry. */
  readonly JWT: ApiGatewayListenerOverrideJWT | null;
  /** External processing, a feature of later releases that is not supported. */
  readonly ExtProc?: unknown;
  /** External authorization, a feature of later releases that is not supported. */
  readonly ExtAuthz?: unknown;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface HttpRouteRuleFiltersHeader {
  /** Headers to add, with their values. */
  readonly Add: Readonly<Record<string, string>> | null;
  /** Headers to remove. */
  readonly Remove: readonly string[] | null;
  /** Headers to set, replacing any existing values. */
  readonly Set: Readonly<Record<string, string>> | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** When a failed request is retried. */
export interface HttpRouteRuleFiltersRetryFilter {
  /** How many times a request is retried. */
  readonly NumRetries: number;
  /** The conditions under which a request is retried. */
  readonly RetryOn: readonly string[] | null;
  /** The response status codes on which a request is retried. */
  readonly RetryOnStatusCodes: readonly number[] | null;
  /** Whether a request is retried if no connection could be established. */
  readonly RetryOnConnectFailure: boolean;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** How long requests may take. */
export interface HttpRouteRuleFiltersTimeoutFilter {
  /** How long a response may take. */
  readonly RequestTimeout: number;
  /** How long a request may remain idle, with nothing sent. */
  readonly IdleTimeout: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A rewrite of the request path. */
export interface HttpRouteRuleFiltersURLRewrite {
  /** The path that replaces the matched prefix. */
  readonly Path: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface HttpRouteRuleMatche {
  /** Conditions on headers. */
  readonly Headers: readonly HttpRouteRuleMatcheHeader[] | null;
  /** The HTTP method. Empty means all. */
  readonly Method: string;
  /** A condition on the path. */
  readonly Path: HttpRouteRuleMatchePath;
  /** Conditions on query parameters. */
  readonly Query: readonly HttpRouteRuleMatcheQuery[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface HttpRouteRuleMatcheHeader {
  /** How the value is compared. */
  readonly Match: string;
  /** The name of the header. */
  readonly Name: string;
  /** The value to compare with. */
  readonly Value: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A condition on the path. */
export interface HttpRouteRuleMatchePath {
  /** How the path is compared. Empty matches every path. */
  readonly Match: string;
  /** The path to compare with. */
  readonly Value: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface HttpRouteRuleMatcheQuery {
  /** How the value is compared. */
  readonly Match: string;
  /** The name of the query parameter. */
  readonly Name: string;
  /** The value to compare with. */
  readonly Value: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Filters applied to responses from the service. */
export interface HttpRouteRuleResponseFilters {
  /** Changes to the headers of responses. */
  readonly Headers: readonly HttpRouteRuleFiltersHeader[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface HttpRouteRuleService {
  /** The name of the service. */
  readonly Name: string;
  /** The share of requests, relative to the other services of the rule. */
  readonly Weight: number;
  /** Filters applied to requests sent to the service. */
  readonly Filters: HttpRouteRuleFilters;
  /** Filters applied to responses from the service. */
  readonly ResponseFilters: HttpRouteRuleResponseFilters;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ImportTokensResult {
  /** The index of the entry, or of the state of a dry run. 0 if there was nothing to do. */
  readonly Index: number;
  /** How many tokens were created. */
  readonly Created: number;
  /** How many were changed. */
  readonly Updated: number;
  /** How many were deleted. */
  readonly Deleted: number;
  /** How many were as they should be. */
  readonly Unchanged: number;
  /** Tokens that were left out. */
  readonly Skipped: readonly ImportTokensSkipped[];
  /** Tokens with something to know. */
  readonly Warnings: readonly ImportTokensWarning[];
}

export interface ImportTokensSkipped {
  /** The AccessorID of the token. */
  readonly AccessorID: string;
  /** Why. */
  readonly Why: string;
}

export interface ImportTokensWarning {
  /** The AccessorID of the token. */
  readonly AccessorID: string;
  /** What it is. */
  readonly Code: string;
}

/** Services that can be reached from outside the mesh. */
export interface IngressGateway {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** TLS settings of all listeners. */
  readonly TLS: IngressGatewayTLS;
  /** The listeners of the gateway, with their ports and services. */
  readonly Listeners: readonly IngressGatewayListener[] | null;
  /** Limits for all services of the gateway. */
  readonly Defaults?: IngressGatewayDefaults;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Limits for all services of the gateway. */
export interface IngressGatewayDefaults {
  /** The maximum number of open connections to a service. 0 means no limit. */
  readonly MaxConnections: number;
  /** The maximum number of requests that wait for a connection. 0 means no limit. */
  readonly MaxPendingRequests: number;
  /** The maximum number of concurrent requests. 0 means no limit. */
  readonly MaxConcurrentRequests: number;
  /** When a failing instance is temporarily ejected. */
  readonly PassiveHealthCheck?: IngressGatewayListenerServicePassiveHealthCheck;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface IngressGatewayListener {
  /** The port on which the gateway listens. */
  readonly Port: number;
  /** The protocol of the listener. */
  readonly Protocol: string;
  /** TLS settings of this listener. */
  readonly TLS?: IngressGatewayTLS;
  /** The services behind the listener. */
  readonly Services: readonly IngressGatewayListenerService[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface IngressGatewayListenerService {
  /** The name of the service, or `*` for all services that use the protocol of the listener. */
  readonly Name: string;
  /** The host names of requests for the service. By default, they are derived from its name. */
  readonly Hosts: readonly string[] | null;
  /** TLS settings of this service. */
  readonly TLS?: IngressGatewayListenerServiceTLS;
  /** Changes to the headers of requests. */
  readonly RequestHeaders?: IngressGatewayListenerServiceRequestHeaders;
  /** Changes to the headers of responses. */
  readonly ResponseHeaders?: IngressGatewayListenerServiceRequestHeaders;
  /** The maximum number of open connections to the service. */
  readonly MaxConnections?: number;
  /** The maximum number of requests that wait for a connection. */
  readonly MaxPendingRequests?: number;
  /** The maximum number of concurrent requests. */
  readonly MaxConcurrentRequests?: number;
  /** When a failing instance is temporarily ejected. */
  readonly PassiveHealthCheck?: IngressGatewayListenerServicePassiveHealthCheck;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** When a failing instance is temporarily ejected. */
export interface IngressGatewayListenerServicePassiveHealthCheck {
  /** How often instances are evaluated. */
  readonly Interval?: number;
  /** The number of consecutive failures after which an instance is ejected. */
  readonly MaxFailures?: number;
  /** The probability, in percent, that an instance is ejected after consecutive 5xx responses. */
  readonly EnforcingConsecutive5xx?: number;
  /** The maximum percentage of instances that may be ejected at the same time. */
  readonly MaxEjectionPercent?: number;
  /** How long an instance is ejected, multiplied by the number of times it has been ejected. */
  readonly BaseEjectionTime?: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Changes to the headers of responses. */
export interface IngressGatewayListenerServiceRequestHeaders {
  /** Headers to add, with their values. */
  readonly Add?: Readonly<Record<string, string>> | null;
  /** Headers to set, replacing any existing values. */
  readonly Set?: Readonly<Record<string, string>> | null;
  /** Headers to remove. */
  readonly Remove?: readonly string[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** TLS settings of this service. */
export interface IngressGatewayListenerServiceTLS {
  /** The source of the certificate for the hosts. */
  readonly SDS?: IngressGatewayTLSSDS;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** TLS settings of this listener. */
export interface IngressGatewayTLS {
  /** Whether listeners accept TLS. */
  readonly Enabled: boolean;
  /** The source of the certificates, instead of the built-in CA. */
  readonly SDS?: IngressGatewayTLSSDS;
  /** The minimum TLS version. */
  readonly TLSMinVersion?: string;
  /** The maximum TLS version. */
  readonly TLSMaxVersion?: string;
  /** The cipher suites for TLS 1.2 and earlier. */
  readonly CipherSuites?: readonly string[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The source of the certificate for the hosts. */
export interface IngressGatewayTLSSDS {
  /** The Envoy cluster that serves certificates over SDS. */
  readonly ClusterName?: string;
  /** The name of the certificate in that cluster. */
  readonly CertResource?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A certificate and its key. The key is visible only to callers that may write the entry. */
export interface InlineCertificate {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The certificate in PEM format. */
  readonly Certificate: string;
  /** The private key in PEM format, or `<hidden>` for the stored one. */
  readonly PrivateKey?: string;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** An issuer of JSON Web Tokens: its keys, and where requests carry a token. */
export interface JwtProvider {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The keys used to verify tokens. */
  readonly JSONWebKeySet?: JwtProviderJSONWebKeySet;
  /** The issuer that tokens must name. */
  readonly Issuer?: string;
  /** The accepted audiences. A token must name one of them. */
  readonly Audiences?: readonly string[] | null;
  /** Where requests carry the token. Defaults to the Authorization header. */
  readonly Locations?: readonly JwtProviderLocation[] | null;
  /** A header in which the payload of a token is forwarded. */
  readonly Forwarding?: JwtProviderForwarding;
  /** The maximum difference between the clocks of the issuer and the proxy, in seconds. */
  readonly ClockSkewSeconds: number;
  /** A cache of verified tokens. */
  readonly CacheConfig?: JwtProviderCacheConfig;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A cache of verified tokens. */
export interface JwtProviderCacheConfig {
  /** The number of tokens in the cache. */
  readonly Size?: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A header in which the payload of a token is forwarded. */
export interface JwtProviderForwarding {
  /** The name of the header. */
  readonly HeaderName?: string;
  /** Whether the base64 encoding of the payload is padded. */
  readonly PadForwardPayloadHeader: boolean;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The keys used to verify tokens. */
export interface JwtProviderJSONWebKeySet {
  /** A key set that proxies already have. */
  readonly Local?: JwtProviderJSONWebKeySetLocal;
  /** A key set that proxies fetch. */
  readonly Remote?: JwtProviderJSONWebKeySetRemote;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A key set that proxies already have. */
export interface JwtProviderJSONWebKeySetLocal {
  /** The key set in base64. */
  readonly JWKS?: string;
  /** The file on the proxies that contains the key set. */
  readonly Filename?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A key set that proxies fetch. */
export interface JwtProviderJSONWebKeySetRemote {
  /** The URI from which the key set is fetched. */
  readonly URI?: string;
  /** The time limit for fetching the key set, in milliseconds. */
  readonly RequestTimeoutMs?: number;
  /** How long a fetched key set is used. */
  readonly CacheDuration?: number;
  /** Whether a listener starts before the key set is fetched. */
  readonly FetchAsynchronously?: boolean;
  /** Whether the host of the URI is sent as the TLS server name. */
  readonly UseSNI?: boolean;
  /** How a failed fetch is retried. */
  readonly RetryPolicy?: JwtProviderJSONWebKeySetRemoteRetryPolicy;
  /** How the server of the key set is reached. */
  readonly JWKSCluster?: JwtProviderJSONWebKeySetRemoteJWKSCluster;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** How the server of the key set is reached. */
export interface JwtProviderJSONWebKeySetRemoteJWKSCluster {
  /** How the addresses of the server are found. */
  readonly DiscoveryType?: string;
  /** The certificates used to verify the server. */
  readonly TLSCertificates?: JwtProviderJSONWebKeySetRemoteJWKSClusterTLSCertificates;
  /** The time limit for connecting to the server. */
  readonly ConnectTimeout?: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The certificates used to verify the server. */
export interface JwtProviderJSONWebKeySetRemoteJWKSClusterTLSCertificates {
  /** A certificate provider known to Envoy. */
  readonly CaCertificateProviderInstance?: JwtProviderJSONWebKeySetRemoteJWKSClusterTLSCertificatesCaCertificateProviderInstance;
  /** The certificates themselves, from one source. */
  readonly TrustedCA?: JwtProviderJSONWebKeySetRemoteJWKSClusterTLSCertificatesTrustedCA;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A certificate provider known to Envoy. */
export interface JwtProviderJSONWebKeySetRemoteJWKSClusterTLSCertificatesCaCertificateProviderInstance {
  /** The name of the provider. */
  readonly InstanceName?: string;
  /** The name of the certificate at the provider. */
  readonly CertificateName?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The certificates themselves, from one source. */
export interface JwtProviderJSONWebKeySetRemoteJWKSClusterTLSCertificatesTrustedCA {
  /** The file that contains the certificates. */
  readonly Filename?: string;
  /** The environment variable that holds the certificates. */
  readonly EnvironmentVariable?: string;
  /** The certificates as text. */
  readonly InlineString?: string;
  /** The certificates in base64. */
  readonly InlineBytes?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** How a failed fetch is retried. */
export interface JwtProviderJSONWebKeySetRemoteRetryPolicy {
  /** How many times a fetch is retried. */
  readonly NumRetries?: number;
  /** The pauses between attempts. */
  readonly RetryPolicyBackOff?: JwtProviderJSONWebKeySetRemoteRetryPolicyRetryPolicyBackOff;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The pauses between attempts. */
export interface JwtProviderJSONWebKeySetRemoteRetryPolicyRetryPolicyBackOff {
  /** The first pause. */
  readonly BaseInterval?: number;
  /** The longest pause. */
  readonly MaxInterval?: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface JwtProviderLocation {
  /** A header that carries the token. */
  readonly Header?: JwtProviderLocationHeader;
  /** A query parameter that carries the token. */
  readonly QueryParam?: JwtProviderLocationQueryParam;
  /** A cookie that carries the token. */
  readonly Cookie?: JwtProviderLocationCookie;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A cookie that carries the token. */
export interface JwtProviderLocationCookie {
  /** The name of the cookie. */
  readonly Name?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A header that carries the token. */
export interface JwtProviderLocationHeader {
  /** The name of the header. */
  readonly Name?: string;
  /** Text before the token, such as "Bearer ". */
  readonly ValuePrefix?: string;
  /** Whether the header is kept in requests to the service. */
  readonly Forward?: boolean;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A query parameter that carries the token. */
export interface JwtProviderLocationQueryParam {
  /** The name of the query parameter. */
  readonly Name?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface Link {
  /** The ID of the object. */
  readonly ID: string;
  /** The name of the object. Not needed in a link with an ID. */
  readonly Name: string;
}

/** The variables of a templated policy. */
export interface LintBindingRuleBindVarsBody {
  /** The name that is inserted into the template. */
  readonly name?: string | null;
}

export interface LintBindingRuleBody {
  /** The ID of the rule. */
  readonly ID?: string | null;
  /** A human-readable description of the rule. */
  readonly Description?: string | null;
  /** The auth method to whose logins the rule applies. It cannot be changed later. */
  readonly AuthMethod?: string | null;
  /** Which logins the rule applies to. Empty means all. */
  readonly Selector?: string | null;
  /** What BindName names: a service, a node, a role, a policy or a templated policy. */
  readonly BindType?: string | null;
  /** The name of what tokens are linked to. It may contain claims, such as ${value.name}. */
  readonly BindName?: string | null;
  /** The variables of a templated policy. */
  readonly BindVars?: LintBindingRuleBindVarsBody | null;
  /** The namespace of the rule. */
  readonly Namespace?: string | null;
  /** The index at which the object was created. */
  readonly CreateIndex?: number | null;
  /** The index at which the object was last changed. */
  readonly ModifyIndex?: number | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface LintClusterFinding {
  /** The object: its type, namespace and name. */
  readonly Ref: string;
  /** The severity of the problem. */
  readonly Severity: string;
  /** The problem, in one word. */
  readonly Code: string;
  /** The problem, in a sentence. */
  readonly Message: string;
  /** The line in the rules of a policy. */
  readonly Line?: number;
}

export interface LintClusterResult {
  /** The index of the state that was read. */
  readonly Index: number;
  /** What lint finds. */
  readonly Findings: readonly LintClusterFinding[];
  /** How many findings are left out. */
  readonly More: number;
}

export interface LintPolicyBody {
  /** The rules to lint. */
  readonly Rules?: string | null;
  /** The ID of a stored policy, to use instead of rules. */
  readonly ID?: string | null;
  /** The namespace of the policy. */
  readonly Namespace?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface LintPolicyProblem {
  /** The severity of the problem. */
  readonly Severity: string;
  /** The problem, in one word. */
  readonly Code: string;
  /** The problem, in a sentence. */
  readonly Message: string;
  /** The field of the object. */
  readonly Field?: string;
  /** The line in the text. */
  readonly Line: number;
  /** The column in the line. */
  readonly Column: number;
  /** The claim that the problem concerns. */
  readonly Claim?: string;
  /** A corrected text. */
  readonly Fix?: string;
  /** A suggestion that may help. */
  readonly Hint?: string;
}

export interface LintPolicyResult {
  /** Whether a write would be accepted. */
  readonly Valid: boolean;
  /** What lint finds, in the order of the text. */
  readonly Problems: readonly LintPolicyProblem[];
  /** How many problems are left out. */
  readonly More?: number;
}

/** Who made it. */
export interface ListIdentityBlocksAuthor {
  /** The token of the request. Empty for a login and for the server. */
  readonly AccessorID: string;
  /** Its description then. */
  readonly Description: string;
  /** Who logged in. */
  readonly Identity?: TokenIdentity;
}

export interface ListIdentityBlocksResult {
  /** The ID of the block. */
  readonly ID: string;
  /** The auth method. */
  readonly AuthMethod: string;
  /** The namespace of the auth method. */
  readonly Namespace: string;
  /** Whose logins are refused. */
  readonly Subject?: string;
  /** Instead of Subject: all whose Subject begins with this. */
  readonly SubjectPrefix?: string;
  /** When it ends by itself; null if it does not. */
  readonly Until: string | null;
  /** Who made it. */
  readonly Author: ListIdentityBlocksAuthor | null;
  /** When. */
  readonly Time: string;
  /** Why. */
  readonly Reason: string;
  /** The index at which it was made. */
  readonly ModifyIndex: number;
}

export interface ListImportedTokensResult {
  /** The index of the state that was read. */
  readonly Index: number;
  /** The tokens of the source, by AccessorID. */
  readonly Tokens: readonly ListImportedTokensToken[];
}

export interface ListImportedTokensToken {
  /** The AccessorID of the token. */
  readonly AccessorID: string;
  /** The namespace of the token. */
  readonly Namespace: string;
  /** A hash of the content. */
  readonly Hash: string;
  /** When the token expires. */
  readonly ExpirationTime?: string;
}

export interface ListJoiningServersResult {
  /** The ID of the server. */
  readonly ID: string;
  /** Its address. */
  readonly Address: string;
  /** The name of the server. */
  readonly Node: string;
  /** The subject of its certificate, if members use TLS. */
  readonly CertificateSubject?: string;
  /** The public key of its data folder, which it has proved to have. */
  readonly PublicKey?: string;
}

export interface ListOidcAuthMethodsResult {
  /** The name of the auth method. */
  readonly Name: string;
  /** Its name for humans. Empty if it has none. */
  readonly DisplayName: string;
  /** Always oidc. */
  readonly Kind: string;
  /** Its namespace. */
  readonly Namespace: string;
}

export interface ListOwnersResult {
  /** The owner. */
  readonly Owner: string;
  /** How many objects and tokens it has that the caller may read. */
  readonly Objects: number;
}

export interface ListTemplatedPoliciesResult {
  /** The name of the template. */
  readonly TemplateName: string;
  /** The JSON Schema of its variables, as text. Empty if it has none. */
  readonly Schema: string;
  /** The rules, with placeholders for the variables. */
  readonly Template: string;
  /** What the template grants. */
  readonly Description: string;
}

export interface ListTokenUsageResult {
  /** The time from which on uses are known. */
  readonly Since: string;
  /** Whether every member has recently reported its uses. */
  readonly Complete: boolean;
  /** How many tokens there are. */
  readonly Total: number;
  /** The tokens, the longest unused first. */
  readonly Tokens: readonly ListTokenUsageToken[];
}

export interface ListTokenUsageToken {
  /** The AccessorID of the token. */
  readonly AccessorID: string;
  /** Its description. */
  readonly Description: string;
  /** The auth method whose login created it. Empty if none did. */
  readonly AuthMethod: string;
  /** Who is behind the token, if a login made it. */
  readonly Identity?: TokenIdentity;
  /** Its namespace. */
  readonly Namespace: string;
  /** When it was created. */
  readonly CreateTime: string;
  /** The hour of the last use; null: none since Since. */
  readonly LastUsed: string | null;
}

/** A login with an auth method. */
export interface LoginBody {
  /** The name of the auth method. */
  readonly AuthMethod?: string | null;
  /** The token that proves the identity of the client. */
  readonly BearerToken?: string | null;
  /** Labels that become part of the description of the token. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The namespace of the auth method. */
  readonly Namespace?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Settings for the whole mesh. */
export interface Mesh {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** Settings for transparent mode. */
  readonly TransparentProxy: MeshTransparentProxy;
  /** Whether services may accept connections without mutual TLS. */
  readonly AllowEnablingPermissiveMutualTLS?: boolean;
  /** Whether Envoy checks that the clusters of its routes exist. */
  readonly ValidateClusters?: boolean;
  /** Settings for TLS between proxies. */
  readonly TLS?: MeshTLS;
  /** Settings for HTTP between proxies. */
  readonly HTTP?: MeshHTTP;
  /** Settings for connections between peers. */
  readonly Peering?: MeshPeering;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Settings for HTTP between proxies. */
export interface MeshHTTP {
  /** Whether proxies drop the header x-forwarded-client-cert. */
  readonly SanitizeXForwardedClientCert: boolean;
  /** Settings for requests to services. */
  readonly Incoming?: MeshHTTPIncoming;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Settings for requests to services. */
export interface MeshHTTPIncoming {
  /** How requests are normalised before rules are applied to them. */
  readonly RequestNormalization?: MeshHTTPIncomingRequestNormalization;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** How requests are normalised before rules are applied to them. */
export interface MeshHTTPIncomingRequestNormalization {
  /** Whether paths are compared as they were sent. Path-based rules can then be bypassed. */
  readonly InsecureDisablePathNormalization: boolean;
  /** Whether consecutive slashes count as one. */
  readonly MergeSlashes: boolean;
  /** What happens to a path with escaped slashes. */
  readonly PathWithEscapedSlashesAction: string;
  /** What happens to headers with underscores in their names. */
  readonly HeadersWithUnderscoresAction: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Settings for connections between peers. */
export interface MeshPeering {
  /** Whether the peering traffic itself goes through mesh gateways. */
  readonly PeerThroughMeshGateways: boolean;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Settings for TLS between proxies. */
export interface MeshTLS {
  /** TLS settings for connections to services. */
  readonly Incoming?: MeshTLSIncoming;
  /** TLS settings for connections from services. */
  readonly Outgoing?: MeshTLSIncoming;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** TLS settings for connections from services. */
export interface MeshTLSIncoming {
  /** The minimum TLS version. */
  readonly TLSMinVersion?: string;
  /** The maximum TLS version. */
  readonly TLSMaxVersion?: string;
  /** The cipher suites for TLS 1.2 and earlier. */
  readonly CipherSuites?: readonly string[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Settings for transparent mode. */
export interface MeshTransparentProxy {
  /** Whether proxies refuse connections to anything outside the mesh. */
  readonly MeshDestinationsOnly: boolean;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A part of the cluster with its own objects and entries. */
export interface Namespace {
  /** The name of the namespace, a DNS label. */
  readonly Name: string;
  /** A human-readable description of the namespace. */
  readonly Description?: string;
  /** Links to objects in the namespace default that every token of this namespace has in addition to its own. */
  readonly ACLs: NamespaceACLs;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>>;
  /** When the deletion of the namespace began. Absent if it is not being deleted. */
  readonly DeletedAt?: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Links to objects in the namespace default that every token of this namespace has in addition to its own. */
export interface NamespaceACLs {
  /** Policies in the namespace default. */
  readonly PolicyDefaults: readonly Link[];
  /** Roles in the namespace default. */
  readonly RoleDefaults: readonly Link[];
}

/** A part of the cluster with its own objects and entries. */
export interface NamespaceItem {
  /** The name of the namespace, a DNS label. */
  readonly Name: string;
  /** A human-readable description of the namespace. */
  readonly Description?: string;
  /** Links to objects in the namespace default that every token of this namespace has in addition to its own. */
  readonly ACLs: NamespaceACLs;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>>;
  /** When the deletion of the namespace began. Absent if it is not being deleted. */
  readonly DeletedAt?: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
}

export interface NodeIdentity {
  /** The node whose rights are granted. */
  readonly NodeName: string;
  /** The datacenter in which the rights are granted. */
  readonly Datacenter: string;
}

export interface OidcAuthUrlBody {
  /** The name of the auth method. */
  readonly AuthMethod?: string | null;
  /** Where the provider sends the browser back: one of the AllowedRedirectURIs. */
  readonly RedirectURI?: string | null;
  /** A random text that the client keeps, so that nobody else can complete the login. */
  readonly ClientNonce?: string | null;
  /** Labels that become part of the description of the token. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The namespace of the auth method. */
  readonly Namespace?: string | null;
  /** What the provider asks of the user. Empty: what it finds fit. */
  readonly Prompt?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface OidcAuthUrlResult {
  /** The address. */
  readonly AuthURL: string;
}

export interface OidcCallbackBody {
  /** The name of the auth method. */
  readonly AuthMethod?: string | null;
  /** The state that the provider sent back. */
  readonly State?: string | null;
  /** The code that the provider sent back. */
  readonly Code?: string | null;
  /** A random text that the client keeps, so that nobody else can complete the login. */
  readonly ClientNonce?: string | null;
  /** The namespace of the auth method. */
  readonly Namespace?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface OidcLogoutResult {
  /** Where the session at the provider ends. Empty if the provider does not tell. */
  readonly LogoutURL: string;
}

export interface OidcRenewBody {
  /** The name of the auth method. */
  readonly AuthMethod?: string | null;
  /** The namespace of the auth method. */
  readonly Namespace?: string | null;
  /** The Renewal that came with the token. It can be used once. */
  readonly Renewal?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The token of an OIDC login. */
export interface OidcToken {
  /** The public ID of the token. Clients may choose it on creation. */
  readonly AccessorID: string;
  /** The secret with which requests present the token. Clients may choose it on creation. */
  readonly SecretID: string;
  /** A human-readable description of the token. */
  readonly Description: string;
  /** The policies of the token. */
  readonly Policies?: readonly Link[];
  /** The roles of the token. */
  readonly Roles?: readonly Link[];
  /** Identities that grant the rights of a service, by its name. */
  readonly ServiceIdentities?: readonly ServiceIdentity[];
  /** Identities that grant the rights of a node, by its name. */
  readonly NodeIdentities?: readonly NodeIdentity[];
  /** Built-in templates with their variables. */
  readonly TemplatedPolicies?: readonly TemplatedPolicy[];
  /** Whether the token belongs to one datacenter. This has no other effect. */
  readonly Local: boolean;
  /** The name of the auth method whose login created the token, in its original spelling. */
  readonly AuthMethod?: string;
  /** The namespace of that auth method. */
  readonly AuthMethodNamespace?: string;
  /** When the token expires. It cannot be changed later. */
  readonly ExpirationTime?: string;
  /** When the token was created. */
  readonly CreateTime: string;
  /** The namespace of the token. */
  readonly Namespace: string;
  /** A hash of the content. */
  readonly Hash: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
  /** Who logged in. */
  readonly Identity: TokenIdentity;
  /** With this the login can be renewed, once, within 30 days. */
  readonly Renewal?: string;
}

export interface PlanSetAssert {
  /** The name of the assertion. */
  readonly Name: string;
  /** Whether the answer is as expected. */
  readonly Passed: boolean;
  /** The answer and its reason. */
  readonly Result: Readonly<Record<string, unknown>> | null;
  /** Why there is no answer. */
  readonly Problem?: string;
}

export interface PlanSetChange {
  /** The object: its type, namespace and name. */
  readonly Ref: string;
  /** The type of the object. */
  readonly Type: string;
  /** The namespace of the object. */
  readonly Namespace: string;
  /** The name of the object. */
  readonly Name: string;
  /** The ID of the object. */
  readonly ID?: string;
  /** What becomes of it. */
  readonly Action: string;
  /** The ModifyIndex that it has now; 0: it does not exist. */
  readonly ExpectedIndex?: number;
  /** The owner that it has now. */
  readonly Owner?: string;
  /** The handle of a binding rule. */
  readonly Handle?: string;
  /** Whether the token could apply it. */
  readonly Allowed: boolean;
  /** How it changes. */
  readonly Diff?: readonly PlanSetChangeDiff[];
  /** What lint finds in it. */
  readonly Warnings?: readonly LintPolicyProblem[];
}

export interface PlanSetChangeDiff {
  /** How the member changes. */
  readonly Type: string;
  /** A JSON pointer to the member. */
  readonly Path: string;
  /** The value before. */
  readonly Old?: unknown;
  /** The value after. */
  readonly New?: unknown;
  /** Whether a value was cut. */
  readonly Cut?: boolean;
}

export interface PlanSetProblem {
  /** The object: its type, namespace and name. */
  readonly Ref: string;
  /** The problem, in one word. */
  readonly Code: string;
  /** The problem, in a sentence. */
  readonly Message: string;
  /** Where it is in the set. */
  readonly Pointer: string;
}

export interface PlanSetResult {
  /** The index of the state that was read. */
  readonly Index: number;
  /** Whether an apply would be accepted, rights aside. */
  readonly Valid: boolean;
  /** A digest of the changes, for an apply. */
  readonly Digest: string;
  /** The owner. */
  readonly Owner: string;
  /** How many objects. */
  readonly Summary: PlanSetSummary;
  /** What becomes of each object. */
  readonly Changes: readonly PlanSetChange[];
  /** The ModifyIndex of what changes, by Ref. */
  readonly Expected: Readonly<Record<string, unknown>>;
  /** Why an apply would be refused. */
  readonly Problems: readonly PlanSetProblem[];
  /** The assertions. */
  readonly Asserts: readonly PlanSetAssert[];
  /** Whose rights change. */
  readonly Impact: Readonly<Record<string, unknown>>;
  /** The Refs of each entry, if one does not take all. */
  readonly Parts: readonly (readonly string[])[];
}

/** How many objects. */
export interface PlanSetSummary {
  /** Created. */
  readonly Create: number;
  /** Updated. */
  readonly Update: number;
  /** Deleted. */
  readonly Delete: number;
  /** Unchanged. */
  readonly Unchanged: number;
  /** Objects that the token may not read. */
  readonly Hidden: number;
}

/** Rules that apply to the tokens and roles that link to them. */
export interface Policy {
  /** The ID of the policy. */
  readonly ID: string;
  /** The name of the policy. */
  readonly Name: string;
  /** A human-readable description of the policy. */
  readonly Description: string;
  /** The rules, in the policy language or as JSON. */
  readonly Rules: string;
  /** The datacenters in which the policy applies. Empty means all. */
  readonly Datacenters?: readonly string[];
  /** The namespace of the policy. */
  readonly Namespace: string;
  /** A hash of the content. */
  readonly Hash: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Rules that apply to the tokens and roles that link to them. */
export interface PolicyItem {
  /** The ID of the policy. */
  readonly ID: string;
  /** The name of the policy. */
  readonly Name: string;
  /** A human-readable description of the policy. */
  readonly Description: string;
  /** The datacenters in which the policy applies. Empty means all. */
  readonly Datacenters: readonly string[] | null;
  /** The namespace of the policy. */
  readonly Namespace: string;
  /** A hash of the content. */
  readonly Hash: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
}

export interface PreviewTemplatedPolicyResult {
  /** The ID of the policy. It is not stored. */
  readonly ID: string;
  /** The name of the policy. */
  readonly Name: string;
  /** Where the policy comes from. */
  readonly Description: string;
  /** The rules. */
  readonly Rules: string;
  /** The datacenters in which it applies. */
  readonly Datacenters?: readonly string[];
  /** A hash of the content. */
  readonly Hash: string;
  /** Always 0. */
  readonly CreateIndex: number;
  /** Always 0. */
  readonly ModifyIndex: number;
}

/** The default settings of all proxies. */
export interface ProxyDefaults {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** Settings that proxies read by name, such as protocol. */
  readonly Config: Readonly<Record<string, unknown>> | null;
  /** How proxies receive the outbound connections of their services. */
  readonly Mode?: string;
  /** Settings for transparent mode. */
  readonly TransparentProxy: ProxyDefaultsTransparentProxy;
  /** Whether services accept connections without mutual TLS. */
  readonly MutualTLSMode?: string;
  /** How connections use mesh gateways. */
  readonly MeshGateway: ProxyDefaultsMeshGateway;
  /** Paths that proxies expose outside the mesh. */
  readonly Expose: ProxyDefaultsExpose;
  /** The logs of connections and requests. */
  readonly AccessLogs: ProxyDefaultsAccessLogs;
  /** Built-in extensions for all proxies. */
  readonly EnvoyExtensions?: readonly ProxyDefaultsEnvoyExtension[] | null;
  /** The order in which failover tries its targets. */
  readonly FailoverPolicy?: ProxyDefaultsFailoverPolicy;
  /** A preference for nearby instances. It is not supported. */
  readonly PrioritizeByLocality?: ProxyDefaultsPrioritizeByLocality;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The logs of connections and requests. */
export interface ProxyDefaultsAccessLogs {
  /** Whether proxies log connections and requests. */
  readonly Enabled?: boolean;
  /** Whether connections that no listener accepts are omitted. */
  readonly DisableListenerLogs?: boolean;
  /** Where the logs go. Defaults to standard output. */
  readonly Type?: string;
  /** The log file. Set only if the type is file. */
  readonly Path?: string;
  /** The format of a line, as a JSON object. */
  readonly JSONFormat?: string;
  /** The format of a line, as text. */
  readonly TextFormat?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ProxyDefaultsEnvoyExtension {
  /** The name of a built-in extension. */
  readonly Name: string;
  /** Whether a proxy that cannot use the extension refuses its configuration. */
  readonly Required: boolean;
  /** The arguments of the extension. */
  readonly Arguments: Readonly<Record<string, unknown>> | null;
  /** The server versions with which the extension is used, such as ">= 1.16". */
  readonly ConsulVersion: string;
  /** The Envoy versions with which the extension is used. */
  readonly EnvoyVersion: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Paths that proxies expose outside the mesh. */
export interface ProxyDefaultsExpose {
  /** Whether the paths of HTTP checks are exposed. */
  readonly Checks?: boolean;
  /** The paths that are exposed. */
  readonly Paths?: readonly ProxyDefaultsExposePath[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ProxyDefaultsExposePath {
  /** The port on which the proxy exposes the path. */
  readonly ListenerPort?: number;
  /** The path that is exposed. */
  readonly Path?: string;
  /** The port on which the service serves the path. */
  readonly LocalPathPort?: number;
  /** The protocol of the listener. */
  readonly Protocol?: string;
  /** Whether the path comes from a check of the service. */
  readonly ParsedFromCheck?: boolean;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The order in which failover tries its targets. */
export interface ProxyDefaultsFailoverPolicy {
  /** The order of targets. */
  readonly Mode?: string;
  /** The regions to try, in order. */
  readonly Regions?: readonly string[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** How connections to the upstream use mesh gateways. */
export interface ProxyDefaultsMeshGateway {
  /** Whether connections go through a mesh gateway, and whether it is the local or the remote one. */
  readonly Mode?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A preference for nearby instances. It is not supported. */
export interface ProxyDefaultsPrioritizeByLocality {
  /** The preference. It is not supported. */
  readonly Mode?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Settings for transparent mode. */
export interface ProxyDefaultsTransparentProxy {
  /** The port to which outbound connections are redirected. */
  readonly OutboundListenerPort?: number;
  /** Whether instances can also be reached at their own addresses. */
  readonly DialedDirectly?: boolean;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The node as a member. */
export interface ReadAgentMember {
  /** The name of the node. */
  readonly Name: string;
  /** Its address. */
  readonly Addr: string;
  /** The port on which members communicate with each other. */
  readonly Port: number;
  /** Labels such as the role and the release of the node. */
  readonly Tags: Readonly<Record<string, string>>;
  /** 1 if it is alive, 4 if it is not. */
  readonly Status: number;
  /** A version of the gossip protocol, which clients expect. */
  readonly ProtocolMin: number;
  /** A version of the gossip protocol, which clients expect. */
  readonly ProtocolMax: number;
  /** A version of the gossip protocol, which clients expect. */
  readonly ProtocolCur: number;
  /** A version of the gossip protocol, which clients expect. */
  readonly DelegateMin: number;
  /** A version of the gossip protocol, which clients expect. */
  readonly DelegateMax: number;
  /** A version of the gossip protocol, which clients expect. */
  readonly DelegateCur: number;
}

export interface ReadAgentResult {
  /** The node and its datacenter. */
  readonly Config: Readonly<Record<string, unknown>>;
  /** The settings in force, without secrets. */
  readonly DebugConfig: Readonly<Record<string, unknown>>;
  /** Network coordinates, which this server does not measure. */
  readonly Coord: Readonly<Record<string, unknown>>;
  /** The node as a member. */
  readonly Member: ReadAgentMember;
  /** Statistics by area and name, as text. */
  readonly Stats: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Labels of the node. */
  readonly Meta: Readonly<Record<string, string>>;
}

export interface ReadAuditSinksResult {
  /** The sinks of the node. */
  readonly Sinks: readonly ReadAuditSinksSink[];
}

export interface ReadAuditSinksSink {
  /** The name of the sink. */
  readonly Name: string;
  /** Its type. */
  readonly Type: string;
  /** The path of its file. */
  readonly Path: string;
  /** Whether requests are refused while it cannot be written. */
  readonly DeliveryGuarantee: string;
  /** Which requests it records. */
  readonly Scope: string;
  /** The number of the last record. */
  readonly Seq: number;
  /** The hash of the last record. */
  readonly Hash: string;
  /** How many records were lost since the node started. */
  readonly Dropped: number;
  /** Whether it cannot be written. */
  readonly Failing: boolean;
  /** Why it last could not be written. */
  readonly LastError: string;
  /** Its files: the present one and those that were rotated. */
  readonly Files: number;
  /** The bytes of the present file. */
  readonly Bytes: number;
}

export interface ReadAuditTailResult {
  /** The name of the node. */
  readonly Node: string;
  /** The records, newest first; docs/audit.md lists their members. */
  readonly Records: readonly (Readonly<Record<string, unknown>>)[];
  /** Whether there are older ones in memory. */
  readonly More: boolean;
}

export interface ReadAuthMethodUsageResult {
  /** The name of the auth method. */
  readonly Name: string;
  /** Its namespace. */
  readonly Namespace: string;
  /** The hour of the last login or renewal; null: none since Since. */
  readonly LastUsed: string | null;
  /** The time from which on uses are known. */
  readonly Since: string;
  /** Whether every member has recently reported its uses. */
  readonly Complete: boolean;
}

export interface ReadAutopilotConfigurationResult {
  /** Whether dead servers are removed. */
  readonly CleanupDeadServers: boolean;
  /** How long a healthy server may go without contact with the leader. */
  readonly LastContactThreshold: string;
  /** How many log entries a healthy server may be behind. */
  readonly MaxTrailingLogs: number;
  /** How many voters must remain. */
  readonly MinQuorum: number;
  /** How long a server must be healthy before it votes. */
  readonly ServerStabilizationTime: string;
  /** A setting of another edition. */
  readonly RedundancyZoneTag: string;
  /** A setting of another edition. */
  readonly DisableUpgradeMigration: boolean;
  /** A setting of another edition. */
  readonly UpgradeVersionTag: string;
  /** The index at which the configuration was created, or 0 if it never was. */
  readonly CreateIndex: number;
  /** The index at which it was last changed, or 0 if it never was. */
  readonly ModifyIndex: number;
}

export interface ReadAutopilotStateResult {
  /** Whether all members are healthy. */
  readonly Healthy: boolean;
  /** How many healthy voters the cluster can lose. */
  readonly FailureTolerance: number;
  /** The same as FailureTolerance. */
  readonly OptimisticFailureTolerance: number;
  /** The members by their IDs. */
  readonly Servers: Readonly<Record<string, ReadAutopilotStateServer>>;
  /** The ID of the leader. */
  readonly Leader: string;
  /** The IDs of the voters. */
  readonly Voters: readonly string[];
}

export interface ReadAutopilotStateServer {
  /** The ID of the server. */
  readonly ID: string;
  /** Its address. */
  readonly Address: string;
  /** Whether it is the leader. */
  readonly Leader: boolean;
  /** Whether it is a voter. */
  readonly Voter: boolean;
  /** The index of the last entry that it is known to have. */
  readonly LastIndex: number;
  /** The name of the server. */
  readonly Name: string;
  /** The release of the node that answers. */
  readonly Version: string;
  /** The time since the leader last heard from it. */
  readonly LastContact: string;
  /** The term of its last entry. */
  readonly LastTerm: number;
  /** Whether it is healthy. */
  readonly Healthy: boolean;
  /** When its health last changed. */
  readonly StableSince: string;
  /** alive or failed. */
  readonly NodeStatus: string;
  /** Its role. */
  readonly Status: string;
  /** Its type. */
  readonly NodeType: string;
  /** `problem`: why the server is not healthy although it answers. */
  readonly Meta: Readonly<Record<string, string>>;
}

export interface ReadChangesChange {
  /** The index of the entry. */
  readonly Index: number;
  /** create, update, delete, undo, restore or import; unknown from before the history; revoke, unblock or gc of login tokens. */
  readonly Operation: string;
  /** When it was done; null if it is not known. */
  readonly Time: string | null;
  /** Who did it; null if it is not known, or not for the caller. */
  readonly Author: ListIdentityBlocksAuthor | null;
  /** Why, in the words of the author. */
  readonly Reason: string;
  /** The type. */
  readonly Type: string;
  /** The ID, the AccessorID, the name, or the kind and name of a config entry. */
  readonly ID: string;
  /** The name. Of a token its description. */
  readonly Name: string;
  /** The namespace. */
  readonly Namespace: string;
  /** The name of the object across types. */
  readonly Ref: string;
  /** How many login tokens. */
  readonly Count?: number;
}

export interface ReadChangesResult {
  /** The index of the newest change. */
  readonly Index: number;
  /** The index of the oldest change that is kept. */
  readonly Oldest: number;
  /** When that was. */
  readonly OldestTime: string | null;
  /** The changes. */
  readonly Changes: readonly ReadChangesChange[];
  /** Whether there are more. */
  readonly More: boolean;
}

/** The login that was refused. */
export interface ReadDecisionLogin {
  /** The auth method. */
  readonly AuthMethod: string;
  /** Its namespace. */
  readonly Namespace: string;
  /** The reason, in one word. */
  readonly ReasonCode: string;
  /** The reason, in a sentence. */
  readonly Reason: string;
}

/** The explanation according to the current state. */
export interface ReadDecisionNow {
  /** The resource of the question. */
  readonly Resource: string;
  /** The access of the question. */
  readonly Access: string;
  /** The name of the resource. */
  readonly Segment: string;
  /** The namespace of the resource. */
  readonly Namespace: string;
  /** Whether the access is allowed. */
  readonly Allow: boolean;
  /** The reason, in one word. */
  readonly Reason: string;
  /** own, or namespace_default if the defaults of the namespace decide. */
  readonly Layer?: string;
  /** The level of the rule that decides. */
  readonly Level: string | null;
  /** The reason, in a sentence. */
  readonly Text: string;
  /** The rule that decides. */
  readonly Winner: ReadDecisionNowWinner | null;
  /** Other rules that concern the question. */
  readonly Candidates: readonly ReadDecisionNowCandidate[];
  /** How many rules are left out. */
  readonly MoreCandidates: number;
}

export interface ReadDecisionNowCandidate {
  /** The resource of the rule. */
  readonly Resource: string | null;
  /** exact, prefix or scalar. */
  readonly Match: string | null;
  /** The name of the rule. Omitted for scalar rules. */
  readonly Name?: string;
  /** The namespace block that contains the rule. */
  readonly NamespaceBlock?: ReadOwnRightsRightNamespace;
  /** The merged level of the rule. */
  readonly Level: string | null;
  /** The rule as written in policies. */
  readonly Rule: string | null;
  /** The texts from which the level comes. */
  readonly Sources: readonly ReadOwnRightsRightSource[];
  /** How many sources are left out. */
  readonly MoreSources: number;
  /** Why the rule does not decide. */
  readonly Why: string;
}

/** The rule that decides. */
export interface ReadDecisionNowWinner {
  /** The resource of the rule. */
  readonly Resource: string | null;
  /** exact, prefix or scalar. */
  readonly Match: string | null;
  /** The name of the rule. Omitted for scalar rules. */
  readonly Name?: string;
  /** The namespace block that contains the rule. */
  readonly NamespaceBlock?: ReadOwnRightsRightNamespace;
  /** The merged level of the rule. */
  readonly Level: string | null;
  /** The rule as written in policies. */
  readonly Rule: string | null;
  /** The texts from which the level comes. */
  readonly Sources: readonly ReadOwnRightsRightSource[];
  /** How many sources are left out. */
  readonly MoreSources: number;
}

export interface ReadDecisionResult {
  /** The ID of the decision. */
  readonly ID: string;
  /** When it was made. */
  readonly Time: string;
  /** The node that made it. */
  readonly Node: string;
  /** What was decided. */
  readonly Type: string;
  /** The HTTP method of the request. */
  readonly Method: string;
  /** The path of the request. */
  readonly Path: string;
  /** The address of the client. */
  readonly RemoteAddr: string;
  /** The token of the request. */
  readonly AccessorID: string | null;
  /** Who is behind that token, or who tried to log in. Null if nobody is known, or if the caller may not read the token. */
  readonly Identity: TokenIdentity | null;
  /** The namespace of the request. */
  readonly Namespace: string;
  /** The resource that was asked for. */
  readonly Resource: string | null;
  /** The access that was asked for. */
  readonly Access: string | null;
  /** The name of the resource. */
  readonly Segment: string | null;
  /** The message of the refusal. */
  readonly Message: string;
  /** Of an evaluation: the type of its subject. */
  readonly SubjectType?: string;
  /** Of an evaluation: the X-Request-ID of its request. May be empty. */
  readonly RequestID?: string;
  /** The trace of the request. Empty if its traceparent names none. */
  readonly TraceID: string;
  /** The index of the state on which the decision was based. */
  readonly AppliedIndex: number;
  /** Why it was refused. */
  readonly Then: ReadDecisionThen | null;
  /** The explanation according to the current state. */
  readonly Now: ReadDecisionNow | null;
  /** Whether the decision or its reason differs now. */
  readonly Changed: boolean;
  /** The login that was refused. */
  readonly Login: ReadDecisionLogin | null;
}

/** Why it was refused. */
export interface ReadDecisionThen {
  /** The reason, in one word. */
  readonly Reason: string;
  /** The level of the rule that decided. */
  readonly Level: string | null;
  /** The rule that decided. */
  readonly Rule: string | null;
}

/** The compiled chain. */
export interface ReadDiscoveryChainChain {
  /** The service. */
  readonly ServiceName: string;
  /** The namespace of the chain. */
  readonly Namespace: string;
  /** The datacenter. */
  readonly Datacenter: string;
  /** The protocol of the services of the chain. */
  readonly Protocol: string;
  /** The key of the first node. */
  readonly StartNode: string;
  /** The nodes by key, in the form type:name. */
  readonly Nodes: Readonly<Record<string, ReadDiscoveryChainChainNode>>;
  /** The targets by ID. */
  readonly Targets: Readonly<Record<string, ReadDiscoveryChainChainTarget>>;
}

export interface ReadDiscoveryChainChainNode {
  /** What the node is. */
  readonly Type: string;
  /** The name of the node. */
  readonly Name: string;
  /** The routes of a router. The first one that matches applies. */
  readonly Routes?: readonly ReadDiscoveryChainChainNodeRoute[];
  /** The parts of a splitter. */
  readonly Splits?: readonly ReadDiscoveryChainChainNodeSplit[];
  /** Where a resolver sends requests. */
  readonly Resolver?: ReadDiscoveryChainChainNodeResolver;
}

/** Where a resolver sends requests. */
export interface ReadDiscoveryChainChainNodeResolver {
  /** Whether the service has no resolver, or one that says nothing of its requests. */
  readonly Default: boolean;
  /** The time limit for establishing a connection. */
  readonly ConnectTimeout: string;
  /** The ID of the target. */
  readonly Target: string;
  /** What is tried if there are no healthy instances. */
  readonly Failover?: ReadDiscoveryChainChainNodeResolverFailover;
}

/** What is tried if there are no healthy instances. */
export interface ReadDiscoveryChainChainNodeResolverFailover {
  /** The IDs of targets, in order. */
  readonly Targets: readonly string[];
}

export interface ReadDiscoveryChainChainNodeRoute {
  /** The route as written in its entry. */
  readonly Definition: Readonly<Record<string, unknown>>;
  /** The key of the next node. */
  readonly NextNode: string;
}

export interface ReadDiscoveryChainChainNodeSplit {
  /** The share of requests, in percent. */
  readonly Weight: number;
  /** The key of the next node. */
  readonly NextNode: string;
}

export interface ReadDiscoveryChainChainTarget {
  /** The ID of the target. */
  readonly ID: string;
  /** The service. */
  readonly Service: string;
  /** The subset of the service. */
  readonly ServiceSubset?: string;
  /** The namespace of the service. */
  readonly Namespace: string;
  /** The datacenter. */
  readonly Datacenter: string;
  /** The peer from which the service is imported. */
  readonly Peer?: string;
  /** Which instances are in the subset. */
  readonly Subset: ReadDiscoveryChainChainTargetSubset;
  /** How connections use mesh gateways. */
  readonly MeshGateway: Readonly<Record<string, unknown>>;
}

/** Which instances are in the subset. */
export interface ReadDiscoveryChainChainTargetSubset {
  /** The filter of the subset. */
  readonly Filter?: string;
  /** Whether instances with a warning are also excluded. */
  readonly OnlyPassing?: boolean;
}

export interface ReadDiscoveryChainResult {
  /** The compiled chain. */
  readonly Chain: ReadDiscoveryChainChain;
}

export interface ReadFiguresCertificate {
  /** What the certificate is for. */
  readonly Use: string;
  /** When it expires. */
  readonly NotAfter: string;
}

export interface ReadFiguresResult {
  /** Milliseconds between two values. */
  readonly IntervalMs: number;
  /** When the interval of the first values began. */
  readonly From: string;
  /** The values of each figure in the last hour, oldest first; null where none is known. */
  readonly Series: Readonly<Record<string, readonly number[]>>;
  /** The node. */
  readonly Node: string;
  /** The certificates in use. */
  readonly Certificates: readonly ReadFiguresCertificate[];
  /** When this process sent its last whole archive; null if it sent none. */
  readonly LastBackup: string | null;
  /** The last warnings and errors of the log, newest first. */
  readonly Warnings: readonly ReadFiguresWarning[];
}

export interface ReadFiguresWarning {
  /** When it was logged last. */
  readonly Time: string;
  /** How severe it is. */
  readonly Level: string;
  /** The name of the event. */
  readonly Event: string;
  /** What happened. */
  readonly Message: string;
  /** How often it was logged. */
  readonly Count: number;
}

export interface ReadHealthResult {
  /** Whether all members are healthy. */
  readonly Healthy: boolean;
  /** How many healthy voters the cluster can lose. */
  readonly FailureTolerance: number;
  /** The members. */
  readonly Servers: readonly ReadHealthServer[];
}

export interface ReadHealthServer {
  /** The ID of the server. */
  readonly ID: string;
  /** Its address. */
  readonly Address: string;
  /** Whether it is the leader. */
  readonly Leader: boolean;
  /** Whether it is a voter. */
  readonly Voter: boolean;
  /** The index of the last entry that it is known to have. */
  readonly LastIndex: number;
  /** The name of the server. */
  readonly Name: string;
  /** The release of the node that answers. */
  readonly Version: string;
  /** The time since the leader last heard from it. */
  readonly LastContact: string;
  /** The term of its last entry. */
  readonly LastTerm: number;
  /** Whether it is healthy. */
  readonly Healthy: boolean;
  /** When its health last changed. */
  readonly StableSince: string;
  /** alive or failed. */
  readonly SerfStatus: string;
}

export interface ReadHistoryDiff {
  /** How the member changes. */
  readonly Type: string;
  /** A JSON pointer into the form of a PUT. */
  readonly Path: string;
  /** The value before. */
  readonly Old?: unknown;
  /** The value after. */
  readonly New?: unknown;
  /** Whether a value was cut. */
  readonly Cut?: boolean;
}

export interface ReadHistoryResult {
  /** The type. */
  readonly Type?: string;
  /** The ID, the AccessorID, the name, or the kind and name of a config entry. */
  readonly ID?: string;
  /** The name. Of a token its description. */
  readonly Name?: string;
  /** The namespace. */
  readonly Namespace?: string;
  /** Whether the object exists now. */
  readonly Exists?: boolean;
  /** Its versions, the newest first. */
  readonly Versions?: readonly ReadHistoryVersion[];
  /** Whether there are older versions. */
  readonly More?: boolean;
  /** The index of the entry. */
  readonly Index?: number;
  /** create, update, delete, undo, restore or import; unknown from before the history; revoke, unblock or gc of login tokens. */
  readonly Operation?: string;
  /** When it was done; null if it is not known. */
  readonly Time?: string | null;
  /** Who did it; null if it is not known, or not for the caller. */
  readonly Author?: ListIdentityBlocksAuthor | null;
  /** Why, in the words of the author. */
  readonly Reason?: string;
  /** With version: whether it is the present one. */
  readonly Current?: boolean;
  /** With version: the bytes of its content. */
  readonly Size?: number;
  /** With version: the object as it was; null if it was deleted. */
  readonly Object?: Readonly<Record<string, unknown>> | null;
  /** With from: the older version. */
  readonly From?: number;
  /** With from: the newer version. */
  readonly To?: number;
  /** With from: how they differ. */
  readonly Diff?: readonly ReadHistoryDiff[];
}

export interface ReadHistoryVersion {
  /** The index of the entry. */
  readonly Index: number;
  /** create, update, delete, undo, restore or import; unknown from before the history; revoke, unblock or gc of login tokens. */
  readonly Operation: string;
  /** When it was done; null if it is not known. */
  readonly Time: string | null;
  /** Who did it; null if it is not known, or not for the caller. */
  readonly Author: ListIdentityBlocksAuthor | null;
  /** Why, in the words of the author. */
  readonly Reason: string;
  /** Whether it is the present one. */
  readonly Current: boolean;
  /** The bytes of its content. */
  readonly Size: number;
}

export interface ReadLevelMember {
  /** The ID of the member. */
  readonly ID: string;
  /** The name of the member. */
  readonly Name: string;
  /** The level that it supports; null if it did not answer. */
  readonly Supported: number | null;
}

export interface ReadLevelResult {
  /** The level in force. */
  readonly Level: number;
  /** The level that this node supports. */
  readonly Supported: number;
  /** What each member supports. */
  readonly Members: readonly ReadLevelMember[];
  /** The members that keep the level from rising. */
  readonly Waiting: readonly string[];
}

export interface ReadLivenessResult {
  /** Always live. */
  readonly Status: string;
}

export interface ReadMetricsCounter {
  /** The name of the metric. */
  readonly Name: string;
  /** The labels. */
  readonly Labels: Readonly<Record<string, unknown>>;
  /** The value without its fraction. */
  readonly Count: number;
  /** The value. */
  readonly Sum: number;
}

export interface ReadMetricsGauge {
  /** The name of the metric. */
  readonly Name: string;
  /** The labels. */
  readonly Labels: Readonly<Record<string, unknown>>;
  /** The value. */
  readonly Value: number;
}

export interface ReadMetricsResult {
  /** When the metrics were collected. */
  readonly Timestamp: string;
  /** Gauges, by name and labels. */
  readonly Gauges: readonly ReadMetricsGauge[];
  /** Always empty. */
  readonly Points: readonly number[];
  /** Counters, which only increase. */
  readonly Counters: readonly ReadMetricsCounter[];
  /** Measured times. */
  readonly Samples: readonly ReadMetricsSample[];
}

export interface ReadMetricsSample {
  /** The name of the metric. */
  readonly Name: string;
  /** The labels. */
  readonly Labels: Readonly<Record<string, unknown>>;
  /** The number of measurements. */
  readonly Count: number;
  /** The sum of the times. */
  readonly Sum: number;
  /** The shortest time. */
  readonly Min: number;
  /** The longest time. */
  readonly Max: number;
  /** The mean time. */
  readonly Mean: number;
}

/** What decides about types of resources that are not in Resources. */
export interface ReadOwnFeedApplication {
  /** The resource. */
  readonly Resource: string;
  /** The action. */
  readonly Action: string;
}

export interface ReadOwnFeedLayer {
  /** own, or namespace_default. */
  readonly Layer: string;
  /** Exact namespaces by name, then prefixes, the longest first. */
  readonly Sets: readonly ReadOwnFeedLayerSet[];
}

export interface ReadOwnFeedLayerSet {
  /** exact or prefix. */
  readonly Match: string;
  /** The namespace, or the prefix of its name. */
  readonly Name: string;
  /** The level on the namespace. With sources an object: Level, From. */
  readonly Management?: unknown;
  /** Levels of resources without names. */
  readonly Scalars: Readonly<Record<string, unknown>>;
  /** Rules of resources with names. */
  readonly Named: Readonly<Record<string, ReadOwnFeedLayerSetNamed>>;
}

export interface ReadOwnFeedLayerSetNamed {
  /** Names by level. With sources an object: Name, From. */
  readonly Exact: Readonly<Record<string, readonly unknown[]>>;
  /** Prefixes of names by level. */
  readonly Prefix: Readonly<Record<string, readonly unknown[]>>;
  /** Levels of rules whose name is no Unicode text. */
  readonly Other: readonly string[];
}

export interface ReadOwnFeedOrigin {
  /** The type of the step. */
  readonly Type: string;
  /** The ID of the object. */
  readonly ID: string;
  /** The name of the object. */
  readonly Name: string;
}

export interface ReadOwnFeedResource {
  /** named, scalar or namespace: how rules about it are looked up. */
  readonly Form: string;
  /** Its actions. All others are denied. */
  readonly Actions: readonly string[];
  /** The namespace whose rules decide, whatever namespace is asked about. */
  readonly In?: string;
  /** The name that stands for every object. */
  readonly All?: string;
  /** The action that is about everything below a name. */
  readonly Below?: string;
  /** The resource whose rules decide if none is about this one. */
  readonly Else?: string;
  /** Actions that any right in the namespace gives. */
  readonly Any?: readonly string[];
  /** Actions that are denied whatever the rules say. */
  readonly Never?: readonly string[];
  /** allow or deny: the decision without any rule. */
  readonly Default: string;
}

export interface ReadOwnFeedResult {
  /** The version of the algorithm. A client that does not know it denies. */
  readonly Version: number;
  /** The token. */
  readonly AccessorID: string;
  /** The namespace of the token. */
  readonly Namespace: string;
  /** Who is behind the token, if a login made it. */
  readonly Identity?: TokenIdentity;
  /** Whether it is the anonymous token. */
  readonly Anonymous: boolean;
  /** The index of the state that was read. */
  readonly Index: number;
  /** When the token expires. */
  readonly ExpirationTime?: string;
  /** Milliseconds that were left of it when the answer was made. */
  readonly ExpiresInMs?: number;
  /** The actions that each level grants. */
  readonly Grants: Readonly<Record<string, readonly string[]>>;
  /** How rules about each resource decide. */
  readonly Resources: Readonly<Record<string, ReadOwnFeedResource>>;
  /** What decides about types of resources that are not in Resources. */
  readonly Application: ReadOwnFeedApplication;
  /** Whether any namespace counts as one with a right in it. */
  readonly AnyByDefault: boolean;
  /** With sources: the ways from the token to the texts. */
  readonly Origins?: readonly (readonly ReadOwnFeedOrigin[])[];
  /** The rules. The first layer that decides counts. */
  readonly Layers: readonly ReadOwnFeedLayer[];
}

/** With at: the moment that the answer is about. */
export interface ReadOwnRightsAt {
  /** The index. */
  readonly Index: number;
  /** The time of the newest change up to it. */
  readonly Time: string;
}

export interface ReadOwnRightsResult {
  /** With at: the moment that the answer is about. */
  readonly At?: ReadOwnRightsAt;
  /** The token. */
  readonly AccessorID: string;
  /** The namespace of the token. */
  readonly Namespace: string;
  /** Whether it is the anonymous token. */
  readonly Anonymous: boolean;
  /** The decision if no rule applies. */
  readonly DefaultPolicy: string;
  /** Who is behind the token, if a login made it. */
  readonly Identity?: TokenIdentity;
  /** When the token expires. */
  readonly ExpirationTime?: string;
  /** Whether rights are left out. */
  readonly Truncated: boolean;
  /** The merged rights. */
  readonly Rights: readonly ReadOwnRightsRight[];
}

export interface ReadOwnRightsRight {
  /** own, or namespace_default. */
  readonly Layer: string;
  /** The namespaces in which the right applies. */
  readonly Namespace: ReadOwnRightsRightNamespace;
  /** The resource. */
  readonly Resource: string;
  /** exact, prefix or scalar. */
  readonly Match: string;
  /** The name, or its prefix. Omitted for scalar rights. */
  readonly Name?: string;
  /** The merged level. */
  readonly Level: string;
  /** For services: the level for intentions. */
  readonly Intentions?: string;
  /** Whether a text specifies that level. */
  readonly IntentionsExplicit?: boolean;
  /** The texts from which the level comes. */
  readonly Sources: readonly ReadOwnRightsRightSource[];
  /** How many sources are left out. */
  readonly MoreSources: number;
}

/** The namespaces in which the right applies. */
export interface ReadOwnRightsRightNamespace {
  /** exact or prefix. */
  readonly Match: string;
  /** The namespace, or the prefix of its name. */
  readonly Name: string;
}

export interface ReadOwnRightsRightSource {
  /** The path from the token to the text. */
  readonly Path: readonly ReadOwnRightsRightSourcePath[];
  /** The line in the text. */
  readonly Line: number | null;
  /** The column in the line. */
  readonly Column: number | null;
  /** The level that the text specifies. */
  readonly Level: string | null;
  /** Whether the level counts, because no stronger level overrides it. */
  readonly Counts: boolean;
}

export interface ReadOwnRightsRightSourcePath {
  /** The type of the step. */
  readonly Type: string;
  /** The ID of the object. */
  readonly ID: string;
  /** The name of the object. */
  readonly Name: string;
  /** With at: the index of the version that was read. */
  readonly Version?: number;
}

export interface ReadRaftConfigurationResult {
  /** The members: voters and learners. */
  readonly Servers: readonly ReadRaftConfigurationServer[];
  /** The index of the configuration. */
  readonly Index: number;
}

export interface ReadRaftConfigurationServer {
  /** The ID of the server. */
  readonly ID: string;
  /** Its address. */
  readonly Address: string;
  /** Whether it is the leader. */
  readonly Leader: boolean;
  /** Whether it is a voter. */
  readonly Voter: boolean;
  /** The index of the last entry that it is known to have. */
  readonly LastIndex: number;
  /** The name of the server. */
  readonly Node: string;
  /** Always 3. */
  readonly ProtocolVersion: string;
}

export interface ReadReadinessResult {
  /** Always ready. */
  readonly Status: string;
  /** The address of the leader. */
  readonly Leader: string;
}

/** The effects of deleting the object now. */
export interface ReadReferencesIfDeleted {
  /** Why a deletion would be refused. Empty if it would not be. */
  readonly Refused: string;
  /** How many objects of each type would be removed too. */
  readonly Removed: Readonly<Record<string, number>>;
  /** How many objects of each type would lose a link. */
  readonly Unlinked: Readonly<Record<string, number>>;
  /** How many tokens would lose rights, or be removed. At most 10,000 are looked at. */
  readonly TokensThatLoseRights: number;
  /** Whether more tokens link to the object. */
  readonly Truncated: boolean;
}

export interface ReadReferencesResult {
  /** The type of the object. */
  readonly Type: string;
  /** The ID, AccessorID or name of the object; of a config entry <kind>/<name>. */
  readonly ID: string;
  /** The name of the object; of a token its description. */
  readonly Name: string;
  /** The namespace of the object. */
  readonly Namespace: string;
  /** The type, namespace and name of the object. */
  readonly Ref: string;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
  /** The owner of the object. Empty if it has none. */
  readonly Owner: string;
  /** The index of the state that was read. */
  readonly Index: number;
  /** Objects that name the object, at most 100 of each type. */
  readonly UsedBy: readonly ReadReferencesUsedBy[];
  /** How many objects of each type name the object. */
  readonly UsedByTotal: Readonly<Record<string, number>>;
  /** Objects that the object names, at most 100 of each type. */
  readonly Uses: readonly ReadReferencesUsedBy[];
  /** Whether objects that the caller may not read are left out. */
  readonly Filtered: boolean;
  /** The effects of deleting the object now. */
  readonly IfDeleted: ReadReferencesIfDeleted;
}

export interface ReadReferencesUsedBy {
  /** The type of the object. */
  readonly Type: string;
  /** The ID, AccessorID or name of the object; of a config entry <kind>/<name>. */
  readonly ID: string;
  /** The name of the object; of a token its description. */
  readonly Name: string;
  /** The namespace of the object. */
  readonly Namespace: string;
}

export interface ReadReplicationResult {
  /** Always false: there is one datacenter. */
  readonly Enabled: boolean;
  /** Always false: there is one datacenter. */
  readonly Running: boolean;
  /** Always empty. */
  readonly SourceDatacenter: string;
  /** Always empty. */
  readonly ReplicationType: string;
  /** Always 0. */
  readonly ReplicatedIndex: number;
  /** Always 0. */
  readonly ReplicatedRoleIndex: number;
  /** Always 0. */
  readonly ReplicatedTokenIndex: number;
  /** A time in the distant past. */
  readonly LastSuccess: string;
  /** A time in the distant past. */
  readonly LastError: string;
  /** Always empty. */
  readonly LastErrorMessage: string;
}

export interface ReadTokenUsageResult {
  /** The AccessorID of the token. */
  readonly AccessorID: string;
  /** Who is behind the token, if a login made it. */
  readonly Identity?: TokenIdentity;
  /** The hour of the last use; null: none since Since. */
  readonly LastUsed: string | null;
  /** The time from which on uses are known. */
  readonly Since: string;
  /** Whether every member has recently reported its uses. */
  readonly Complete: boolean;
}

export interface ReadVersionResult {
  /** The commit of the running build. */
  readonly SHA: string;
  /** When it was built. */
  readonly BuildDate: string;
  /** The version of the release. */
  readonly HumanVersion: string;
  /** Always empty. */
  readonly FIPS: string;
}

export interface ReleaseOwnerBody {
  /** The owner whose name is taken from all its objects. */
  readonly Owner?: string | null;
  /** Why, for the history. */
  readonly Reason?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ReleaseOwnerResult {
  /** How many objects and tokens had this owner. */
  readonly Released: number;
  /** The index of the last entry. 0 if there was nothing to do. */
  readonly Index: number;
}

export interface RevokeIdentityResult {
  /** Whether nothing was done. */
  readonly DryRun: boolean;
  /** How many tokens end. */
  readonly Total: number;
  /** The newest of them, at most 100. */
  readonly Tokens: readonly RevokeIdentityToken[];
  /** How many others. */
  readonly More: number;
  /** How many tokens of the auth method do not tell who is behind them. */
  readonly Unknown?: number;
  /** The ID of the block. Empty if there is none. */
  readonly BlockID: string;
  /** The index of the revocation, or of the state of a dry run. 0 if there was nothing to do. */
  readonly Index: number;
}

export interface RevokeIdentityToken {
  /** The AccessorID of the token. */
  readonly AccessorID: string;
  /** Its description. */
  readonly Description: string;
  /** Its namespace. */
  readonly Namespace: string;
  /** Who is behind it. */
  readonly Subject: string;
  /** When it was created. */
  readonly CreateTime: string;
}

/** Policies, identities and templated policies under one name. */
export interface Role {
  /** The ID of the role. */
  readonly ID: string;
  /** The name of the role. */
  readonly Name: string;
  /** A human-readable description of the role. */
  readonly Description: string;
  /** The policies of the role. */
  readonly Policies?: readonly Link[];
  /** Identities that grant the rights of a service, by its name. */
  readonly ServiceIdentities?: readonly ServiceIdentity[];
  /** Identities that grant the rights of a node, by its name. */
  readonly NodeIdentities?: readonly NodeIdentity[];
  /** Built-in templates with their variables. */
  readonly TemplatedPolicies?: readonly TemplatedPolicy[];
  /** The namespace of the role. */
  readonly Namespace: string;
  /** A hash of the content. */
  readonly Hash: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Policies, identities and templated policies under one name. */
export interface RoleItem {
  /** The ID of the role. */
  readonly ID: string;
  /** The name of the role. */
  readonly Name: string;
  /** A human-readable description of the role. */
  readonly Description: string;
  /** The policies of the role. */
  readonly Policies?: readonly Link[];
  /** Identities that grant the rights of a service, by its name. */
  readonly ServiceIdentities?: readonly ServiceIdentity[];
  /** Identities that grant the rights of a node, by its name. */
  readonly NodeIdentities?: readonly NodeIdentity[];
  /** Built-in templates with their variables. */
  readonly TemplatedPolicies?: readonly TemplatedPolicy[];
  /** The namespace of the role. */
  readonly Namespace: string;
  /** A hash of the content. */
  readonly Hash: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
}

export interface RotateOidcKeyResult {
  /** The index of the change. */
  readonly ModifyIndex: number;
}

export interface SearchActionsBody {
  readonly subject: EvaluateSubjectBody;
  readonly resource: EvaluateSubjectBody;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly page?: SearchSubjectsPageBody;
}

export interface SearchPage {
  readonly next_token?: string;
  readonly count?: number;
  readonly total?: number;
}

export interface SearchResourcesBody {
  readonly subject: EvaluateSubjectBody;
  readonly action: EvaluateActionBody;
  readonly resource: SearchSubjectsSubjectBody;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly page?: SearchSubjectsPageBody;
}

export interface SearchResult {
  readonly page: SearchPage;
  readonly results: readonly (Readonly<Record<string, unknown>>)[];
  readonly context?: Readonly<Record<string, unknown>>;
}

export interface SearchSubjectsBody {
  readonly subject: SearchSubjectsSubjectBody;
  readonly action: EvaluateActionBody;
  readonly resource: EvaluateSubjectBody;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly page?: SearchSubjectsPageBody;
}

export interface SearchSubjectsPageBody {
  readonly limit?: number;
  readonly token?: string;
}

export interface SearchSubjectsSubjectBody {
  readonly type: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Settings of a service that apply to all of its instances. */
export interface ServiceDefaults {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The protocol of the service. Routing by path or header requires an HTTP-based protocol. */
  readonly Protocol: string;
  /** How the proxies of the service receive its outbound connections. */
  readonly Mode?: string;
  /** Settings for transparent mode. */
  readonly TransparentProxy: ProxyDefaultsTransparentProxy;
  /** Whether the service accepts connections without mutual TLS. */
  readonly MutualTLSMode?: string;
  /** How connections of the service use mesh gateways. */
  readonly MeshGateway: ProxyDefaultsMeshGateway;
  /** Paths that proxies expose outside the mesh. */
  readonly Expose: ProxyDefaultsExpose;
  /** The TLS server name of a service outside the mesh. */
  readonly ExternalSNI?: string;
  /** Settings of the connections from this service to its upstreams. */
  readonly UpstreamConfig?: ServiceDefaultsUpstreamConfig;
  /** Where a service outside the mesh can be reached through a terminating gateway. */
  readonly Destination?: ServiceDefaultsDestination;
  /** The maximum number of concurrent connections to each instance. */
  readonly MaxInboundConnections?: number;
  /** The time limit for a proxy to connect to its own instance, in milliseconds. */
  readonly LocalConnectTimeoutMs?: number;
  /** The time limit for an instance to answer a request, in milliseconds. */
  readonly LocalRequestTimeoutMs?: number;
  /** How connections are distributed across the threads of the proxy. */
  readonly BalanceInboundConnections?: string;
  /** Request rate limits. They are not supported and are refused. */
  readonly RateLimits?: ServiceDefaultsRateLimits;
  /** Built-in extensions for the proxies of the service. */
  readonly EnvoyExtensions?: readonly ProxyDefaultsEnvoyExtension[] | null;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Where a service outside the mesh can be reached through a terminating gateway. */
export interface ServiceDefaultsDestination {
  /** The IP addresses and host names of the destination. */
  readonly Addresses?: readonly string[] | null;
  /** The port of the destination. */
  readonly Port?: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Request rate limits. They are not supported and are refused. */
export interface ServiceDefaultsRateLimits {
  /** Limits for each instance of the service. */
  readonly InstanceLevel: ServiceDefaultsRateLimitsInstanceLevel;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Limits for each instance of the service. */
export interface ServiceDefaultsRateLimitsInstanceLevel {
  /** The average number of requests per second. */
  readonly RequestsPerSecond?: number;
  /** How many requests may arrive at once. */
  readonly RequestsMaxBurst?: number;
  /** Separate limits for specific paths. */
  readonly Routes?: readonly ServiceDefaultsRateLimitsInstanceLevelRoute[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ServiceDefaultsRateLimitsInstanceLevelRoute {
  /** The exact path of the requests. */
  readonly PathExact?: string;
  /** The prefix of the path of the requests. */
  readonly PathPrefix?: string;
  /** A regular expression for the path of the requests. */
  readonly PathRegex?: string;
  /** The average number of requests per second. */
  readonly RequestsPerSecond?: number;
  /** How many requests may arrive at once. */
  readonly RequestsMaxBurst?: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Settings of the connections from this service to its upstreams. */
export interface ServiceDefaultsUpstreamConfig {
  /** Settings for individual upstreams. */
  readonly Overrides?: readonly ServiceDefaultsUpstreamConfigOverride[] | null;
  /** Settings for all other upstreams. */
  readonly Defaults?: ServiceDefaultsUpstreamConfigOverride;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Settings for all other upstreams. */
export interface ServiceDefaultsUpstreamConfigOverride {
  /** The upstream service. Only overrides have a name. */
  readonly Name?: string;
  /** The peer from which the upstream is imported. */
  readonly Peer: string;
  /** A complete Envoy listener as JSON, instead of the one that a proxy would generate. */
  readonly EnvoyListenerJSON?: string;
  /** A complete Envoy cluster as JSON, instead of the one that a proxy would generate. */
  readonly EnvoyClusterJSON?: string;
  /** The protocol of the upstream, instead of the one in its own service-defaults. */
  readonly Protocol?: string;
  /** The time limit for establishing a connection, in milliseconds. */
  readonly ConnectTimeoutMs?: number;
  /** Limits on concurrent connections and requests to the upstream. */
  readonly Limits?: ServiceDefaultsUpstreamConfigOverrideLimits;
  /** When a failing instance is temporarily ejected. */
  readonly PassiveHealthCheck?: IngressGatewayListenerServicePassiveHealthCheck;
  /** How connections to the upstream use mesh gateways. */
  readonly MeshGateway: ProxyDefaultsMeshGateway;
  /** How connections are distributed across the threads of the proxy. */
  readonly BalanceOutboundConnections?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Limits on concurrent connections and requests to the upstream. */
export interface ServiceDefaultsUpstreamConfigOverrideLimits {
  /** The maximum number of open connections. */
  readonly MaxConnections?: number;
  /** The maximum number of requests that wait for a connection. */
  readonly MaxPendingRequests?: number;
  /** The maximum number of concurrent requests. */
  readonly MaxConcurrentRequests?: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ServiceIdentity {
  /** The service whose rights are granted. */
  readonly ServiceName: string;
  /** The datacenters in which the rights are granted. Empty means all. */
  readonly Datacenters?: readonly string[];
}

/** Who may connect to a service. */
export interface ServiceIntentions {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The JSON Web Token that every request must carry. */
  readonly JWT?: ApiGatewayListenerOverrideJWT;
  /** Who may connect, and who may not. */
  readonly Sources: readonly ServiceIntentionsSource[] | null;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ServiceIntentionsSource {
  /** The name of the service that connects, or `*` for all services. */
  readonly Name: string;
  /** Whether connections are allowed or denied. Omitted for sources with permissions. */
  readonly Action?: string;
  /** What is allowed or denied for individual requests. The first match decides. */
  readonly Permissions?: readonly ServiceIntentionsSourcePermission[] | null;
  /** How specific the source is. The server computes it. */
  readonly Precedence: number;
  /** The type of the source. */
  readonly Type: string;
  /** A human-readable description of the source. */
  readonly Description?: string;
  /** Labels of an intention in older releases. They are refused. */
  readonly LegacyMeta?: Readonly<Record<string, string>> | null;
  /** The peer from which the source is imported. */
  readonly Peer?: string;
  /** A sameness group. Sameness groups are not supported. */
  readonly SamenessGroup?: string;
  /** The ID of an intention in older releases. It is accepted but not stored. */
  readonly LegacyID?: string | null;
  /** A time from older releases. It is accepted but not stored. */
  readonly LegacyCreateTime?: string | null;
  /** A time from older releases. It is accepted but not stored. */
  readonly LegacyUpdateTime?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ServiceIntentionsSourcePermission {
  /** Whether the requests are allowed or denied. */
  readonly Action?: string;
  /** The requests to which the permission applies. */
  readonly HTTP?: ServiceIntentionsSourcePermissionHTTP;
  /** The JSON Web Token that a request must carry. */
  readonly JWT?: ApiGatewayListenerOverrideJWT;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The requests to which the permission applies. */
export interface ServiceIntentionsSourcePermissionHTTP {
  /** The exact path of a request. */
  readonly PathExact?: string;
  /** The prefix of the path of a request. */
  readonly PathPrefix?: string;
  /** A regular expression for the path of a request. */
  readonly PathRegex?: string;
  /** Conditions on headers. All must be met. */
  readonly Header?: readonly ServiceIntentionsSourcePermissionHTTPHeader[] | null;
  /** The HTTP methods of the requests. Empty means all. */
  readonly Methods?: readonly string[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ServiceIntentionsSourcePermissionHTTPHeader {
  /** The name of the header. */
  readonly Name: string;
  /** Whether the header is present. */
  readonly Present?: boolean;
  /** The exact value. */
  readonly Exact?: string;
  /** The prefix of the value. */
  readonly Prefix?: string;
  /** The suffix of the value. */
  readonly Suffix?: string;
  /** A substring of the value. */
  readonly Contains?: string;
  /** A regular expression for the value. */
  readonly Regex?: string;
  /** Whether the condition is negated. */
  readonly Invert?: boolean;
  /** Whether letter case is ignored. */
  readonly IgnoreCase?: boolean;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Which instances receive the requests to a service: subsets, redirects and failover. */
export interface ServiceResolver {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The subset for requests that do not name one. */
  readonly DefaultSubset?: string;
  /** Subsets of the instances, by name. */
  readonly Subsets?: Readonly<Record<string, ServiceResolverSubset>> | null;
  /** Another service, or part of one, that receives all requests. */
  readonly Redirect?: ServiceResolverRedirect;
  /** What receives the requests to a subset without healthy instances, by subset. `*` means all subsets. */
  readonly Failover?: Readonly<Record<string, ServiceResolverFailover>> | null;
  /** A preference for nearby instances. It is not supported. */
  readonly PrioritizeByLocality?: ProxyDefaultsPrioritizeByLocality;
  /** The time limit for connecting to an instance. */
  readonly ConnectTimeout?: string;
  /** How long a response may take. */
  readonly RequestTimeout?: string;
  /** How an instance is chosen for a request. */
  readonly LoadBalancer?: ServiceResolverLoadBalancer;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ServiceResolverFailover {
  /** The service to try. Defaults to the service of the entry. */
  readonly Service?: string;
  /** A subset of the service. Defaults to the one that failed. */
  readonly ServiceSubset?: string;
  /** A namespace. It must not be set, because a resolver stays within its own namespace. */
  readonly Namespace?: string;
  /** The datacenters to try, in order. */
  readonly Datacenters?: readonly string[] | null;
  /** The targets to try, in order, instead of the service and datacenters in the other fields. */
  readonly Targets?: readonly ServiceResolverFailoverTarget[] | null;
  /** The order in which targets are tried. */
  readonly Policy?: ServiceResolverFailoverPolicy;
  /** A sameness group. Sameness groups are not supported. */
  readonly SamenessGroup?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The order in which targets are tried. */
export interface ServiceResolverFailoverPolicy {
  /** The order of targets. Only the given order is supported. */
  readonly Mode?: string;
  /** The regions to try, in order. */
  readonly Regions?: readonly string[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ServiceResolverFailoverTarget {
  /** The service to try. Defaults to the service of the entry. */
  readonly Service?: string;
  /** A subset of the service. */
  readonly ServiceSubset?: string;
  /** The admin partition. Only default is supported. */
  readonly Partition?: string;
  /** A namespace. It must not be set, because a resolver stays within its own namespace. */
  readonly Namespace?: string;
  /** The datacenter of the service. */
  readonly Datacenter?: string;
  /** The peer from which the service is imported. */
  readonly Peer?: string;
}

/** How an instance is chosen for a request. */
export interface ServiceResolverLoadBalancer {
  /** How an instance is chosen for a request. */
  readonly Policy?: string;
  /** Settings of ring_hash. */
  readonly RingHashConfig?: ServiceResolverLoadBalancerRingHashConfig;
  /** Settings of least_request. */
  readonly LeastRequestConfig?: ServiceResolverLoadBalancerLeastRequestConfig;
  /** What is hashed, for ring_hash and maglev. */
  readonly HashPolicies?: readonly ServiceResolverLoadBalancerHashPolicy[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ServiceResolverLoadBalancerHashPolicy {
  /** What is hashed. */
  readonly Field?: string;
  /** The name of the header, cookie or query parameter. */
  readonly FieldValue?: string;
  /** The cookie to set if a request has none. */
  readonly CookieConfig?: ServiceResolverLoadBalancerHashPolicyCookieConfig;
  /** Whether the address of the client is hashed. */
  readonly SourceIP?: boolean;
  /** Whether later policies are skipped once this one yields a hash. */
  readonly Terminal?: boolean;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** The cookie to set if a request has none. */
export interface ServiceResolverLoadBalancerHashPolicyCookieConfig {
  /** Whether the cookie expires with the session of the client. */
  readonly Session?: boolean;
  /** How long the cookie lasts. */
  readonly TTL?: number;
  /** The path of the cookie. */
  readonly Path?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Settings of least_request. */
export interface ServiceResolverLoadBalancerLeastRequestConfig {
  /** How many instances are compared for each request. */
  readonly ChoiceCount?: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Settings of ring_hash. */
export interface ServiceResolverLoadBalancerRingHashConfig {
  /** The minimum number of entries in the ring. */
  readonly MinimumRingSize?: number;
  /** The maximum number of entries in the ring. */
  readonly MaximumRingSize?: number;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Another service, or part of one, that receives all requests. */
export interface ServiceResolverRedirect {
  /** The other service. Defaults to the service of the entry. */
  readonly Service?: string;
  /** A subset of the service. */
  readonly ServiceSubset?: string;
  /** A namespace. It must not be set, because a resolver stays within its own namespace. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported. */
  readonly Partition?: string;
  /** The datacenter of the service. */
  readonly Datacenter?: string;
  /** The peer from which the service is imported. */
  readonly Peer?: string;
  /** A sameness group. Sameness groups are not supported. */
  readonly SamenessGroup?: string;
}

export interface ServiceResolverSubset {
  /** Which instances are in the subset. Empty means all. */
  readonly Filter?: string;
  /** Whether instances with a warning are also excluded. */
  readonly OnlyPassing?: boolean;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Routes for the requests to a service, by path, header, query and method. */
export interface ServiceRouter {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The routes. A request takes the first one that matches. */
  readonly Routes: readonly ServiceRouterRoute[] | null;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ServiceRouterRoute {
  /** Which requests take the route. Absent means all. */
  readonly Match?: ServiceRouterRouteMatch;
  /** Where the requests go. Defaults to the service of the entry. */
  readonly Destination?: ServiceRouterRouteDestination;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Where the requests go. Defaults to the service of the entry. */
export interface ServiceRouterRouteDestination {
  /** The service. Defaults to the service of the entry. */
  readonly Service?: string;
  /** A subset of the service. */
  readonly ServiceSubset?: string;
  /** The namespace of the entry. A chain stays within it. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported. */
  readonly Partition?: string;
  /** The path that replaces the matched path or prefix. */
  readonly PrefixRewrite?: string;
  /** How long a response may take. */
  readonly RequestTimeout?: string;
  /** How long a request may remain idle, with nothing sent. */
  readonly IdleTimeout?: string;
  /** How many times a failed request is retried. */
  readonly NumRetries?: number;
  /** Whether a request is retried if no connection could be established. */
  readonly RetryOnConnectFailure?: boolean;
  /** The conditions under which a request is retried. */
  readonly RetryOn?: readonly string[] | null;
  /** The response status codes on which a request is retried. */
  readonly RetryOnStatusCodes?: readonly number[] | null;
  /** Changes to the headers of requests. */
  readonly RequestHeaders?: IngressGatewayListenerServiceRequestHeaders;
  /** Changes to the headers of responses. */
  readonly ResponseHeaders?: IngressGatewayListenerServiceRequestHeaders;
}

/** Which requests take the route. Absent means all. */
export interface ServiceRouterRouteMatch {
  /** Conditions on HTTP requests. All must be met. */
  readonly HTTP?: ServiceRouterRouteMatchHTTP;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** Conditions on HTTP requests. All must be met. */
export interface ServiceRouterRouteMatchHTTP {
  /** The exact path of a request. */
  readonly PathExact?: string;
  /** The prefix of the path of a request. */
  readonly PathPrefix?: string;
  /** A regular expression for the path of a request. */
  readonly PathRegex?: string;
  /** Whether the letter case of the path is ignored. */
  readonly CaseInsensitive?: boolean;
  /** Conditions on headers. All must be met. */
  readonly Header?: readonly ServiceRouterRouteMatchHTTPHeader[] | null;
  /** Conditions on query parameters. All must be met. */
  readonly QueryParam?: readonly ServiceRouterRouteMatchHTTPQueryParam[] | null;
  /** The HTTP methods of the requests. Empty means all. */
  readonly Methods?: readonly string[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ServiceRouterRouteMatchHTTPHeader {
  /** The name of the header. */
  readonly Name: string;
  /** Whether the header is present. */
  readonly Present?: boolean;
  /** The exact value. */
  readonly Exact?: string;
  /** The prefix of the value. */
  readonly Prefix?: string;
  /** The suffix of the value. */
  readonly Suffix?: string;
  /** A regular expression for the value. */
  readonly Regex?: string;
  /** Whether the condition is negated. */
  readonly Invert?: boolean;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ServiceRouterRouteMatchHTTPQueryParam {
  /** The name of the query parameter. */
  readonly Name: string;
  /** Whether the parameter is present. */
  readonly Present?: boolean;
  /** The exact value. */
  readonly Exact?: string;
  /** A regular expression for the value. */
  readonly Regex?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** How the requests to a service are split. */
export interface ServiceSplitter {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The parts into which requests are split. */
  readonly Splits: readonly ServiceSplitterSplit[] | null;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface ServiceSplitterSplit {
  /** The share of requests, in percent. All shares must add up to 100. */
  readonly Weight: number;
  /** The service. Defaults to the service of the entry. */
  readonly Service?: string;
  /** A subset of the service. */
  readonly ServiceSubset?: string;
  /** The namespace of the entry. A chain stays within it. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported. */
  readonly Partition?: string;
  /** Changes to the headers of requests. */
  readonly RequestHeaders?: IngressGatewayListenerServiceRequestHeaders;
  /** Changes to the headers of responses. */
  readonly ResponseHeaders?: IngressGatewayListenerServiceRequestHeaders;
}

export interface SetAssert {
  /** The name of the assertion. */
  readonly Name?: string | null;
  /** Whose rights. */
  readonly Subject?: SetAssertSubject | null;
  /** The resource, such as service, key or namespace. */
  readonly Resource?: string | null;
  /** The access, such as read or write. */
  readonly Access?: string | null;
  /** The name of the resource. Omitted for resources without names. */
  readonly Segment?: string | null;
  /** The namespace of the resource. Defaults to that of the request. */
  readonly Namespace?: string | null;
  /** The answer: allow or deny. */
  readonly Expect?: string | null;
}

/** Whose rights. */
export interface SetAssertSubject {
  /** The AccessorID of a token. */
  readonly Token?: string | null;
  /** The name of a role: a token with this role alone. */
  readonly Role?: string | null;
  /** The name of a policy: a token with this policy alone. */
  readonly Policy?: string | null;
  /** Rules: a token with these alone. */
  readonly Rules?: string | null;
  /** A token that does not exist. */
  readonly Draft?: ExplainAuthorizationDraftBody | null;
  /** Whether the subject is the anonymous token. */
  readonly Anonymous?: boolean | null;
  /** Where the subject lives. Defaults to the namespace of the request. */
  readonly Namespace?: string | null;
}

/** What a plan compares, and an apply makes. */
export interface SetBody {
  /** Who owns the objects of the set, such as gitops/payments. */
  readonly Owner?: string | null;
  /** Whether objects of the owner that are not in the set are deleted. */
  readonly Prune?: boolean | null;
  /** Whether objects of another owner may be taken. */
  readonly TakeOver?: boolean | null;
  /** Why, for the history. */
  readonly Reason?: string | null;
  /** The namespace. Defaults to that of the request. */
  readonly Namespace?: string | null;
  /** The objects. */
  readonly Objects?: readonly Sent<SetObject>[] | null;
  /** What to delete. */
  readonly Delete?: readonly Sent<SetDelete>[] | null;
  /** Questions about the rights that result, with the answers that they must have. */
  readonly Assert?: readonly Sent<SetAssert>[] | null;
  /** The ModifyIndex that objects must have, by their Refs; 0: must not exist. */
  readonly Expected?: Readonly<Record<string, number>> | null;
  /** The digest of a plan. Anything else is refused. */
  readonly Digest?: string | null;
  /** Ignored. Exports have it. */
  readonly Index?: number | null;
  /** Ignored. Exports have it. */
  readonly At?: Readonly<Record<string, unknown>> | null;
  /** Ignored. Exports have it. */
  readonly Secrets?: number | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface SetDelete {
  /** The type: namespace, policy, role, auth-method, binding-rule, token or config. */
  readonly Type?: string | null;
  /** The namespace. Defaults to that of the request. */
  readonly Namespace?: string | null;
  /** The name; of a config entry, kind/name. */
  readonly Name?: string | null;
  /** The ID, instead of the name. */
  readonly ID?: string | null;
  /** A name for a binding rule, which is kept beside it. */
  readonly Handle?: string | null;
  /** Whether to refuse this if anything refers to it. */
  readonly IfUnused?: boolean | null;
}

export interface SetObject {
  /** The type: namespace, policy, role, auth-method, binding-rule, token or config. */
  readonly Type?: string | null;
  /** The namespace. Defaults to that of the request. */
  readonly Namespace?: string | null;
  /** A name for a binding rule, which is kept beside it. */
  readonly Handle?: string | null;
  /** The object, as in the body of a PUT. */
  readonly Object?: Readonly<Record<string, unknown>> | null;
}

/** A route for connections from an api-gateway to a service. */
export interface TcpRoute {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The gateways to which the route binds. */
  readonly Parents: readonly HttpRouteParent[] | null;
  /** The service that receives the connections. */
  readonly Services: readonly TcpRouteService[] | null;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The status that the server reports for the entry. */
  readonly Status?: ApiGatewayStatus;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface TcpRouteService {
  /** The name of the service. */
  readonly Name: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface TemplatedPolicy {
  /** The ID of the template. It is checked but not stored. */
  readonly TemplateID: string;
  /** The name of the template, such as builtin/service. */
  readonly TemplateName: string;
  /** The values of the template variables. */
  readonly TemplateVariables?: TemplatedPolicyTemplateVariables;
  /** The datacenters in which the rights are granted. Empty means all. */
  readonly Datacenters?: readonly string[];
}

/** The values of the template variables. */
export interface TemplatedPolicyTemplateVariables {
  /** The name that is inserted into the template. */
  readonly name?: string;
}

/** Services outside the mesh that the mesh can reach. */
export interface TerminatingGateway {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. For most kinds, it is the name of a service or gateway. */
  readonly Name: string;
  /** The services behind the gateway. */
  readonly Services: readonly TerminatingGatewayService[] | null;
  /** User-defined labels. They have no effect. */
  readonly Meta?: Readonly<Record<string, string>> | null;
  /** The index at which the entry was created. */
  readonly CreateIndex: number;
  /** The index at which the entry was last changed. */
  readonly ModifyIndex: number;
  /** A number that is equal for equal content. */
  readonly Hash?: number;
  /** The namespace of the entry. */
  readonly Namespace?: string;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface TerminatingGatewayService {
  /** The name of the service, or `*` for all services. */
  readonly Name?: string;
  /** The CA file used to verify the service. */
  readonly CAFile?: string;
  /** The file of the certificate that the gateway presents. */
  readonly CertFile?: string;
  /** The file of the private key of that certificate. */
  readonly KeyFile?: string;
  /** The TLS server name that the gateway sends. */
  readonly SNI?: string;
  /** Whether the host of requests is left unchanged. */
  readonly DisableAutoHostRewrite?: boolean;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

/** A secret that identifies its holder and determines what the holder may do. */
export interface Token {
  /** The public ID of the token. Clients may choose it on creation. */
  readonly AccessorID: string;
  /** The secret with which requests present the token. Clients may choose it on creation. */
  readonly SecretID: string;
  /** A human-readable description of the token. */
  readonly Description: string;
  /** The policies of the token. */
  readonly Policies?: readonly Link[];
  /** The roles of the token. */
  readonly Roles?: readonly Link[];
  /** Identities that grant the rights of a service, by its name. */
  readonly ServiceIdentities?: readonly ServiceIdentity[];
  /** Identities that grant the rights of a node, by its name. */
  readonly NodeIdentities?: readonly NodeIdentity[];
  /** Built-in templates with their variables. */
  readonly TemplatedPolicies?: readonly TemplatedPolicy[];
  /** Whether the token belongs to one datacenter. This has no other effect. */
  readonly Local: boolean;
  /** The name of the auth method whose login created the token, in its original spelling. */
  readonly AuthMethod?: string;
  /** The namespace of that auth method. */
  readonly AuthMethodNamespace?: string;
  /** When the token expires. It cannot be changed later. */
  readonly ExpirationTime?: string;
  /** When the token was created. */
  readonly CreateTime: string;
  /** The namespace of the token. */
  readonly Namespace: string;
  /** A hash of the content. */
  readonly Hash: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
  /** With expanded: who is behind the token, if a login made it. */
  readonly Identity?: TokenIdentity;
  /** With expanded: all policies that apply. */
  readonly ExpandedPolicies?: readonly TokenExpandedPolicy[] | null;
  /** With expanded: all roles that apply. */
  readonly ExpandedRoles?: readonly TokenExpandedRole[] | null;
  /** With expanded: policies of the namespace. */
  readonly NamespaceDefaultPolicyIDs?: readonly string[] | null;
  /** With expanded: roles of the namespace. */
  readonly NamespaceDefaultRoleIDs?: readonly string[] | null;
  /** With expanded: the decision if no rule applies. */
  readonly AgentACLDefaultPolicy?: string;
  /** With expanded: always extend-cache. */
  readonly AgentACLDownPolicy?: string;
  /** With expanded: the node that answers. */
  readonly ResolvedByAgent?: string;
  /** How long the token is valid, at least one minute. Set this instead of ExpirationTime. */
  readonly ExpirationTTL?: unknown;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface TokenExpandedPolicy {
  /** The ID of the policy. */
  readonly ID: string;
  /** The name of the policy. */
  readonly Name: string;
  /** A human-readable description of the policy. */
  readonly Description: string;
  /** The rules, in the policy language or as JSON. */
  readonly Rules: string;
  /** The datacenters in which the policy applies. Empty means all. */
  readonly Datacenters?: readonly string[];
  /** The namespace of the policy. */
  readonly Namespace?: string;
  /** A hash of the content. */
  readonly Hash?: string;
  /** The index at which the object was created. */
  readonly CreateIndex?: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex?: number;
}

export interface TokenExpandedRole {
  /** The ID of the role. */
  readonly ID: string;
  /** The name of the role. */
  readonly Name: string;
  /** A human-readable description of the role. */
  readonly Description: string;
  /** The policies of the role. */
  readonly Policies?: readonly Link[];
  /** Identities that grant the rights of a service, by its name. */
  readonly ServiceIdentities?: readonly ServiceIdentity[];
  /** Identities that grant the rights of a node, by its name. */
  readonly NodeIdentities?: readonly NodeIdentity[];
  /** Built-in templates with their variables. */
  readonly TemplatedPolicies?: readonly TemplatedPolicy[];
  /** The namespace of the role. */
  readonly Namespace: string;
  /** A hash of the content. */
  readonly Hash: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
}

/** With expanded: who is behind the token, if a login made it. */
export interface TokenIdentity {
  /** The auth method of the login. */
  readonly AuthMethod: string;
  /** The namespace of the auth method. */
  readonly Namespace: string;
  /** Whom the auth method names. Empty if it names nobody. */
  readonly Subject: string;
}

/** A secret that identifies its holder and determines what the holder may do. */
export interface TokenItem {
  /** The public ID of the token. Clients may choose it on creation. */
  readonly AccessorID: string;
  /** The secret with which requests present the token. Clients may choose it on creation. */
  readonly SecretID: string;
  /** A human-readable description of the token. */
  readonly Description: string;
  /** The policies of the token. */
  readonly Policies?: readonly Link[];
  /** The roles of the token. */
  readonly Roles?: readonly Link[];
  /** Identities that grant the rights of a service, by its name. */
  readonly ServiceIdentities?: readonly ServiceIdentity[];
  /** Identities that grant the rights of a node, by its name. */
  readonly NodeIdentities?: readonly NodeIdentity[];
  /** Built-in templates with their variables. */
  readonly TemplatedPolicies?: readonly TemplatedPolicy[];
  /** Whether the token belongs to one datacenter. This has no other effect. */
  readonly Local: boolean;
  /** The name of the auth method whose login created the token, in its original spelling. */
  readonly AuthMethod?: string;
  /** The namespace of that auth method. */
  readonly AuthMethodNamespace?: string;
  /** When the token expires. It cannot be changed later. */
  readonly ExpirationTime?: string;
  /** When the token was created. */
  readonly CreateTime: string;
  /** The namespace of the token. */
  readonly Namespace: string;
  /** A hash of the content. */
  readonly Hash: string;
  /** The index at which the object was created. */
  readonly CreateIndex: number;
  /** The index at which the object was last changed. */
  readonly ModifyIndex: number;
}

/** Tokens of another cluster, with secrets. */
export interface TokensImportBody {
  /** Where the tokens come from, such as dc1. Their owner is migrate/dc1. */
  readonly Source?: string | null;
  /** Whether only to judge the import. Nothing is written. */
  readonly DryRun?: boolean | null;
  /** Whether tokens that are not of this source may be taken. */
  readonly TakeOver?: boolean | null;
  /** Why, for the history. */
  readonly Reason?: string | null;
  /** The tokens. At most 500 with those of Delete. */
  readonly Tokens?: readonly Sent<TokensImportToken>[] | null;
  /** AccessorIDs of tokens of this source that end. */
  readonly Delete?: readonly string[] | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface TokensImportToken {
  /** The public ID of the token, a UUID. */
  readonly AccessorID?: string | null;
  /** Its secret: up to 256 printable characters without spaces. */
  readonly SecretID?: string | null;
  /** A human-readable description of the token. */
  readonly Description?: string | null;
  /** The policies of the token. */
  readonly Policies?: readonly ExplainAuthorizationDraftPolicyBody[] | null;
  /** The roles of the token. */
  readonly Roles?: readonly ExplainAuthorizationDraftPolicyBody[] | null;
  /** Identities that grant the rights of a service, by its name. */
  readonly ServiceIdentities?: readonly ExplainAuthorizationDraftServiceIdentityBody[] | null;
  /** Identities that grant the rights of a node, by its name. */
  readonly NodeIdentities?: readonly ExplainAuthorizationDraftNodeIdentityBody[] | null;
  /** Built-in templates with their variables. */
  readonly TemplatedPolicies?: readonly ExplainAuthorizationDraftTemplatedPolicyBody[] | null;
  /** Whether the token belongs to one datacenter. This has no other effect. */
  readonly Local?: boolean | null;
  /** The namespace of the token. */
  readonly Namespace?: string | null;
  /** The name of the auth method whose login created the token, in its original spelling. */
  readonly AuthMethod?: string | null;
  /** The namespace of that auth method. */
  readonly AuthMethodNamespace?: string | null;
  /** Who is behind the token, if a login created it. */
  readonly Identity?: TokensImportTokenIdentity | null;
  /** When the token expires. It cannot be changed later. */
  readonly ExpirationTime?: string | null;
  /** When the token was created. Defaults to now. */
  readonly CreateTime?: string | null;
}

/** Who is behind the token, if a login created it. */
export interface TokensImportTokenIdentity {
  /** Whom the auth method knows. */
  readonly Subject?: string | null;
}

/** Whose login tokens are revoked. */
export interface TokensRevokeBody {
  /** The auth method that knows the identity. */
  readonly AuthMethod?: string | null;
  /** The namespace of the auth method. */
  readonly Namespace?: string | null;
  /** Whose tokens end: the Subject of their Identity. */
  readonly Subject?: string | null;
  /** Instead of Subject: all whose Subject begins with this. Empty means everybody. */
  readonly SubjectPrefix?: string | null;
  /** Whether only to show what would end. True unless it is false. */
  readonly DryRun?: boolean | null;
  /** How long their logins are refused: a duration from 1m to 8760h, or forever. If absent, logins are not refused. */
  readonly BlockFor?: string | null;
  /** Why, for the history and the audit log. */
  readonly Reason?: string | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface TransferLeadershipResult {
  /** Always true. */
  readonly Success: boolean;
}

/** Which entry an undo takes back. */
export interface UndoBody {
  /** The index of the entry to take back. */
  readonly Index?: number | null;
  /** Why, for the history. */
  readonly Reason?: string | null;
  /** Whether to plan only. */
  readonly DryRun?: boolean | null;
  /** The ModifyIndex that objects must have, by their Refs. */
  readonly Expected?: Readonly<Record<string, number>> | null;
  /** The admin partition. Only default is supported, and naming it has no effect. */
  readonly Partition?: unknown;
}

export interface UndoChange {
  /** The object: its type, namespace and name. */
  readonly Ref: string;
  /** The type of the object. */
  readonly Type: string;
  /** The namespace of the object. */
  readonly Namespace: string;
  /** The name of the object. */
  readonly Name: string;
  /** The ID of the object. */
  readonly ID?: string;
  /** What became of it. */
  readonly Action: string;
  /** Its ModifyIndex. Absent if it was deleted. */
  readonly ModifyIndex?: number;
  /** In a plan: its present ModifyIndex; 0: it does not exist. */
  readonly ExpectedIndex?: number;
  /** In a plan: its owner. */
  readonly Owner?: string;
  /** In a plan: whether the token could do it. */
  readonly Allowed?: boolean;
  /** In a plan: how it changes. */
  readonly Diff?: readonly ReadHistoryDiff[];
  /** In a plan: none. */
  readonly Warnings?: readonly (Readonly<Record<string, unknown>>)[];
}

export interface UndoResult {
  /** The index of the undo, or of the state if nothing was to be done. */
  readonly Index: number;
  /** What was changed. */
  readonly Changes: readonly UndoChange[];
  /** In a plan: whether the undo would be accepted. */
  readonly Valid?: boolean;
  /** In a plan: empty. */
  readonly Digest?: string;
  /** In a plan: empty. */
  readonly Owner?: string;
  /** In a plan: how many objects. */
  readonly Summary?: Readonly<Record<string, unknown>>;
  /** In a plan: the ModifyIndex of what changes, by Ref. */
  readonly Expected?: Readonly<Record<string, unknown>>;
  /** In a plan: why the undo would be refused. */
  readonly Problems?: readonly (Readonly<Record<string, unknown>>)[];
  /** In a plan: none. */
  readonly Asserts?: readonly (Readonly<Record<string, unknown>>)[];
  /** In a plan: whose rights change. */
  readonly Impact?: Readonly<Record<string, unknown>>;
  /** In a plan: none. */
  readonly Parts?: readonly (Readonly<Record<string, unknown>>)[];
}

/** A config entry, or the member Entries with a list of them. */
export interface ValidateConfigEntriesBody {
  readonly Entries?: readonly unknown[];
}

export interface ValidateConfigEntriesResult {
  /** Whether all entries are valid. */
  readonly Valid: boolean;
  /** The index of the state that was read. */
  readonly Index: number;
  /** The results, in the order of the entries. */
  readonly Results: readonly ValidateConfigEntriesResultItem[];
}

export interface ValidateConfigEntriesResultItem {
  /** The kind of the entry. */
  readonly Kind: string;
  /** The name of the entry. */
  readonly Name: string;
  /** The type, namespace, kind and name. Empty for an unknown kind. */
  readonly Ref: string;
  /** Whether the entry is valid. */
  readonly Valid: boolean;
  /** What would be stored, without secrets. */
  readonly Normalised: Readonly<Record<string, unknown>> | null;
  /** Everything that is wrong with the entry. */
  readonly Problems: readonly ValidateConfigEntriesResultItemProblem[];
  /** all, or form if the caller may not write the entry: its form and the rules of its kind. */
  readonly Judged: string;
}

export interface ValidateConfigEntriesResultItemProblem {
  /** The code of the problem. A conflict is with another entry. */
  readonly Code: string;
  /** The problem, in a sentence. */
  readonly Message: string;
  /** The JSON pointer to the member. Empty for the whole entry. */
  readonly Pointer: string;
  /** What was expected of the value. May be empty. */
  readonly Expected: string;
  /** What the value is instead. May be empty. */
  readonly Got: string;
  /** A suggestion that may help. May be empty. */
  readonly Hint: string;
}

/** Parameters of a query. */
export interface CommonQuery {
  /** The datacenter. Only that of the cluster is accepted. */
  readonly dc?: string;
  /** The namespace of the request. In lists, `*` means all namespaces. */
  readonly ns?: string;
  /** The admin partition. Only default is supported. */
  readonly partition?: string;
  /** Indents the response. */
  readonly pretty?: boolean;
}

/** Parameters of a query. */
export interface WriteConfigEntryQuery extends CommonQuery {
  /** The ModifyIndex that the stored version must have, or 0 if there must be none. */
  readonly cas?: string;
}

/** Parameters of a query. */
export interface ReadQuery extends CommonQuery {
  /** Reads the state of this node as it is, without contacting a leader. */
  readonly stale?: boolean;
  /** Reads everything that was written before, regardless of clocks. */
  readonly consistent?: boolean;
  /** How old a stale response may be. Any value above 0 implies stale. */
  readonly max_stale?: string;
}

/** Parameters of a query. */
export interface BlockingQuery extends ReadQuery {
  /** Waits until the response has a greater index than this one. */
  readonly index?: string;
  /** How long to wait, such as 30s. At most 10m. */
  readonly wait?: string;
}

/** Parameters of a query. */
export interface DeleteConfigEntryQuery extends CommonQuery {
  /** The ModifyIndex that the stored version must have, or 0 if there must be none. */
  readonly cas?: string;
}

/** Parameters of a query. */
export interface ListConfigEntriesQuery extends BlockingQuery {
  /** An expression that items of the list must match. */
  readonly filter?: string;
  /** Words that each item of the list must contain, in any letter case. */
  readonly search?: string;
  /** What a list is sorted by: name (of a token or rule: its description), created, modified or expires; "-" before it reverses the order. */
  readonly sort?: string;
  /** The maximum number of items, from 1 to 1000. Changes after an index go on to the end of their last entry. */
  readonly limit?: string;
  /** Lists what comes after this: the header Next of the page before, or the ID or name of its last item; for changes an index, the oldest first. */
  readonly after?: string;
}

/** Parameters of a query. */
export interface ExportObjectsQuery extends ReadQuery {
  /** The types of objects, separated by commas. */
  readonly types?: string;
  /** Only objects of this owner are exported. */
  readonly owner?: string;
  /** The kinds of config entries to export, separated by commas. */
  readonly kind?: string;
  /** Exports the IDs of policies, roles and rules too: true or false. */
  readonly ids?: string;
  /** The index or the time (RFC 3339) of the state that the answer is about. */
  readonly at?: string;
  /** Leaves out objects of which nothing from then is kept: true or false. */
  readonly partial?: string;
}

/** Parameters of a query. */
export interface LintClusterQuery extends ReadQuery {
  /** The minimum severity of the findings. */
  readonly severity?: string;
}

/** Parameters of a query. */
export interface ReadOwnRightsQuery extends BlockingQuery {
  /** The index or the time (RFC 3339) of the state that the answer is about. */
  readonly at?: string;
}

/** Parameters of a query. */
export interface ReadRightsQuery extends BlockingQuery {
  /** The index or the time (RFC 3339) of the state that the answer is about. */
  readonly at?: string;
}

/** Parameters of a query. */
export interface ExplainAuthorizationQuery extends ReadQuery {
  /** The index or the time (RFC 3339) of the state that the answer is about. */
  readonly at?: string;
}

/** Parameters of a query. */
export interface FindWhoCanQuery extends ReadQuery {
  /** The index or the time (RFC 3339) of the state that the answer is about. */
  readonly at?: string;
}

/** Parameters of a query. */
export interface EvaluateQuery extends ReadQuery {
  /** all: allowed accesses are explained too. */
  readonly reasons?: string;
}

/** Parameters of a query. */
export interface EvaluateAllQuery extends ReadQuery {
  /** all: allowed accesses are explained too. */
  readonly reasons?: string;
}

/** Parameters of a query. */
export interface SearchSubjectsQuery extends ReadQuery {
  /** all: allowed accesses are explained too. */
  readonly reasons?: string;
}

/** Parameters of a query. */
export interface SearchResourcesQuery extends ReadQuery {
  /** all: allowed accesses are explained too. */
  readonly reasons?: string;
}

/** Parameters of a query. */
export interface SearchActionsQuery extends ReadQuery {
  /** all: allowed accesses are explained too. */
  readonly reasons?: string;
}

/** Parameters of a query. */
export interface ReadOwnFeedQuery extends BlockingQuery {
  /** Whether each rule says where it comes from. */
  readonly sources?: string;
}

/** Parameters of a query. */
export interface ReadFeedQuery extends BlockingQuery {
  /** Whether each rule says where it comes from. */
  readonly sources?: string;
}

/** Parameters of a query. */
export interface ListIdentityBlocksQuery extends BlockingQuery {
  /** An auth method. Only objects that belong to it are listed. */
  readonly authmethod?: string;
}

/** Parameters of a query. */
export interface ListTokenUsageQuery extends ReadQuery {
  /** Only tokens that were not used for this long, such as 720h. */
  readonly 'unused-for'?: string;
  /** An auth method. Only objects that belong to it are listed. */
  readonly authmethod?: string;
  /** The maximum number of items, from 1 to 1000. Changes after an index go on to the end of their last entry. */
  readonly limit?: string;
}

/** Parameters of a query. */
export interface ListImportedTokensQuery extends ReadQuery {
  /** Where tokens were imported from, such as dc1. */
  readonly source?: string;
}

/** Parameters of a query. */
export interface ReadAuditTailQuery extends ReadQuery {
  /** The maximum number of items, from 1 to 1000. Changes after an index go on to the end of their last entry. */
  readonly limit?: string;
  /** Only versions before this index, or audit records before the one with this ID. */
  readonly before?: string;
}

/** Parameters of a query. */
export interface RemoveServerQuery extends CommonQuery {
  /** The ID of a server. */
  readonly id?: string;
  /** The address of a server. */
  readonly address?: string;
}

/** Parameters of a query. */
export interface TransferLeadershipQuery extends CommonQuery {
  /** The ID of a server. */
  readonly id?: string;
}

/** Parameters of a query. */
export interface CreateJoinTokenQuery extends CommonQuery {
  /** How long the join token lasts, from 1s to 24h. By default 15m. */
  readonly ttl?: string;
}

/** Parameters of a query. */
export interface WriteAutopilotConfigurationQuery extends CommonQuery {
  /** The ModifyIndex that the stored version must have, or 0 if there must be none. */
  readonly cas?: string;
}

/** Parameters of a query. */
export interface ReadChangesQuery extends BlockingQuery {
  /** Lists what comes after this: the header Next of the page before, or the ID or name of its last item; for changes an index, the oldest first. */
  readonly after?: string;
  /** The maximum number of items, from 1 to 1000. Changes after an index go on to the end of their last entry. */
  readonly limit?: string;
  /** The types of objects, separated by commas. */
  readonly types?: string;
  /** The AccessorID of the author. */
  readonly author?: string;
  /** The identity behind the tokens, or the author: METHOD/SUBJECT. */
  readonly subject?: string;
  /** Whether the tokens of logins are listed too. */
  readonly logins?: string;
}

/** Parameters of a query. */
export interface StreamEventsQuery extends ReadQuery {
  /** The topics, separated by commas, each with or without a key: ACLPolicy:ops,ConfigEntry. */
  readonly topics?: string;
  /** Whether events contain the objects. */
  readonly payload?: string;
  /** Whether the tokens of logins are listed too. */
  readonly logins?: string;
  /** Waits until the response has a greater index than this one. */
  readonly index?: string;
}

/** Parameters of a query. */
export interface ReadHistoryQuery extends ReadQuery {
  /** The maximum number of items, from 1 to 1000. Changes after an index go on to the end of their last entry. */
  readonly limit?: string;
  /** Only versions before this index, or audit records before the one with this ID. */
  readonly before?: string;
  /** The index of a version, to read its content. */
  readonly version?: string;
  /** The index of the older version to compare. */
  readonly from?: string;
  /** The index of the newer version. By default the present one. */
  readonly to?: string;
}

/** Parameters of a query. */
export interface ListMembersQuery extends ReadQuery {
  /** An expression that items of the list must match. */
  readonly filter?: string;
}

/** Parameters of a query. */
export interface ReadMetricsQuery extends ReadQuery {
  /** The format: prometheus for the Prometheus text format, otherwise JSON. */
  readonly format?: string;
}

/** Parameters of a query. */
export interface ListTokensQuery extends BlockingQuery {
  /** An expression that items of the list must match. */
  readonly filter?: string;
  /** The ID of a policy. Only objects that link to it are listed. */
  readonly policy?: string;
  /** The ID of a role. Only objects that link to it are listed. */
  readonly role?: string;
  /** A service. Only tokens with its identity are listed. */
  readonly servicename?: string;
  /** An auth method. Only objects that belong to it are listed. */
  readonly authmethod?: string;
  /** The namespace of the auth method. */
  readonly 'authmethod-ns'?: string;
  /** The identity behind the tokens, or the author: METHOD/SUBJECT. */
  readonly subject?: string;
  /** Words that each item of the list must contain, in any letter case. */
  readonly search?: string;
  /** What a list is sorted by: name (of a token or rule: its description), created, modified or expires; "-" before it reverses the order. */
  readonly sort?: string;
  /** The maximum number of items, from 1 to 1000. Changes after an index go on to the end of their last entry. */
  readonly limit?: string;
  /** Lists what comes after this: the header Next of the page before, or the ID or name of its last item; for changes an index, the oldest first. */
  readonly after?: string;
}

/** Parameters of a query. */
export interface ReadTokenQuery extends BlockingQuery {
  /** Adds the policies and roles that apply. */
  readonly expanded?: boolean;
}

/** Parameters of a query. */
export interface ListBindingRulesQuery extends BlockingQuery {
  /** An expression that items of the list must match. */
  readonly filter?: string;
  /** An auth method. Only objects that belong to it are listed. */
  readonly authmethod?: string;
  /** Words that each item of the list must contain, in any letter case. */
  readonly search?: string;
  /** What a list is sorted by: name (of a token or rule: its description), created, modified or expires; "-" before it reverses the order. */
  readonly sort?: string;
  /** The maximum number of items, from 1 to 1000. Changes after an index go on to the end of their last entry. */
  readonly limit?: string;
  /** Lists what comes after this: the header Next of the page before, or the ID or name of its last item; for changes an index, the oldest first. */
  readonly after?: string;
}

/** Parameters of a query. */
export interface ListAuthMethodsQuery extends BlockingQuery {
  /** An expression that items of the list must match. */
  readonly filter?: string;
  /** Words that each item of the list must contain, in any letter case. */
  readonly search?: string;
  /** What a list is sorted by: name (of a token or rule: its description), created, modified or expires; "-" before it reverses the order. */
  readonly sort?: string;
  /** The maximum number of items, from 1 to 1000. Changes after an index go on to the end of their last entry. */
  readonly limit?: string;
  /** Lists what comes after this: the header Next of the page before, or the ID or name of its last item; for changes an index, the oldest first. */
  readonly after?: string;
}

/** Parameters of a query. */
export interface ListRolesQuery extends BlockingQuery {
  /** An expression that items of the list must match. */
  readonly filter?: string;
  /** The ID of a policy. Only objects that link to it are listed. */
  readonly policy?: string;
  /** Words that each item of the list must contain, in any letter case. */
  readonly search?: string;
  /** What a list is sorted by: name (of a token or rule: its description), created, modified or expires; "-" before it reverses the order. */
  readonly sort?: string;
  /** The maximum number of items, from 1 to 1000. Changes after an index go on to the end of their last entry. */
  readonly limit?: string;
  /** Lists what comes after this: the header Next of the page before, or the ID or name of its last item; for changes an index, the oldest first. */
  readonly after?: string;
}

/** Parameters of a query. */
export interface ListPoliciesQuery extends BlockingQuery {
  /** An expression that items of the list must match. */
  readonly filter?: string;
  /** Words that each item of the list must contain, in any letter case. */
  readonly search?: string;
  /** What a list is sorted by: name (of a token or rule: its description), created, modified or expires; "-" before it reverses the order. */
  readonly sort?: string;
  /** The maximum number of items, from 1 to 1000. Changes after an index go on to the end of their last entry. */
  readonly limit?: string;
  /** Lists what comes after this: the header Next of the page before, or the ID or name of its last item; for changes an index, the oldest first. */
  readonly after?: string;
}

/** Parameters of a query. */
export interface ListNamespacesQuery extends BlockingQuery {
  /** An expression that items of the list must match. */
  readonly filter?: string;
  /** Words that each item of the list must contain, in any letter case. */
  readonly search?: string;
  /** What a list is sorted by: name (of a token or rule: its description), created, modified or expires; "-" before it reverses the order. */
  readonly sort?: string;
  /** The maximum number of items, from 1 to 1000. Changes after an index go on to the end of their last entry. */
  readonly limit?: string;
  /** Lists what comes after this: the header Next of the page before, or the ID or name of its last item; for changes an index, the oldest first. */
  readonly after?: string;
}

/** Creates or replaces a config entry. */
export const writeConfigEntry = (to: Caller, given: { body: Sent<ConfigEntry> } & WriteConfigEntryQuery, options?: CallOptions): Promise<Answer<boolean>> =>
  to.call<boolean>({ method: 'PUT', path: '/v1/config' }, given, options);

/** Reads a config entry. */
export const readConfigEntry = (to: Caller, given: { kind: string; name: string } & BlockingQuery, options?: CallOptions): Promise<Answer<ConfigEntry>> =>
  to.call<ConfigEntry>({ method: 'GET', path: '/v1/config/{kind}/{name}' }, given, options);

/** Deletes a config entry, if it exists. */
export const deleteConfigEntry = (to: Caller, given: { kind: string; name: string } & DeleteConfigEntryQuery, options?: CallOptions): Promise<Answer<boolean | Readonly<Record<string, unknown>>>> =>
  to.call<boolean | Readonly<Record<string, unknown>>>({ method: 'DELETE', path: '/v1/config/{kind}/{name}' }, given, options);

/** Changes the given fields of a config entry. */
export const patchConfigEntry = (to: Caller, given: { kind: string; name: string; body: Readonly<Record<string, unknown>> } & CommonQuery, options?: CallOptions): Promise<Answer<ConfigEntry>> =>
  to.call<ConfigEntry>({ method: 'PATCH', path: '/v1/config/{kind}/{name}', type: 'application/merge-patch+json' }, given, options);

/** Lists the config entries of a kind that the caller may read, or of all kinds if none is given. */
export const listConfigEntries = (to: Caller, given: { kind: string } & ListConfigEntriesQuery, options?: CallOptions): Promise<Answer<readonly ConfigEntry[]>> =>
  to.call<readonly ConfigEntry[]>({ method: 'GET', path: '/v1/config/{kind}' }, given, options);

/** Compiles the discovery chain of a service. */
export const readDiscoveryChain = (to: Caller, given: { service: string } & BlockingQuery, options?: CallOptions): Promise<Answer<ReadDiscoveryChainResult>> =>
  to.call<ReadDiscoveryChainResult>({ method: 'GET', path: '/v1/discovery-chain/{service}' }, given, options);

/** Shows what an object names, what names it, and the effects of deleting it. */
export const readReferences = (to: Caller, given: { type: string; id: string } & ReadQuery, options?: CallOptions): Promise<Answer<ReadReferencesResult>> =>
  to.call<ReadReferencesResult>({ method: 'GET', path: '/v1/refs/{type}/{id}' }, given, options);

/** Judges one config entry, or up to 1,000 together, without writing them. */
export const validateConfigEntries = (to: Caller, given: { body: ValidateConfigEntriesBody } & ReadQuery, options?: CallOptions): Promise<Answer<ValidateConfigEntriesResult>> =>
  to.call<ValidateConfigEntriesResult>({ method: 'POST', path: '/v1/config/validate', isRead: true }, given, options);

/** Exports objects as a set that can be planned and applied. */
export const exportObjects = (to: Caller, given: ExportObjectsQuery = {}, options?: CallOptions): Promise<Answer<ExportObjectsResult>> =>
  to.call<ExportObjectsResult>({ method: 'GET', path: '/v1/export' }, given, options);

/** Lints rules, or a stored policy. */
export const lintPolicy = (to: Caller, given: { body: LintPolicyBody } & ReadQuery, options?: CallOptions): Promise<Answer<LintPolicyResult>> =>
  to.call<LintPolicyResult>({ method: 'POST', path: '/v1/acl/policy/lint', isRead: true }, given, options);

/** Lints a new or stored binding rule. */
export const lintBindingRule = (to: Caller, given: { body: LintBindingRuleBody } & ReadQuery, options?: CallOptions): Promise<Answer<LintPolicyResult>> =>
  to.call<LintPolicyResult>({ method: 'POST', path: '/v1/acl/binding-rule/lint', isRead: true }, given, options);

/** Lints everything that is stored, and the relationships between objects. */
export const lintCluster = (to: Caller, given: LintClusterQuery = {}, options?: CallOptions): Promise<Answer<LintClusterResult>> =>
  to.call<LintClusterResult>({ method: 'GET', path: '/v1/acl/lint' }, given, options);

/** Reads all rights of the token of the request, merged. */
export const readOwnRights = (to: Caller, given: ReadOwnRightsQuery = {}, options?: CallOptions): Promise<Answer<ReadOwnRightsResult>> =>
  to.call<ReadOwnRightsResult>({ method: 'GET', path: '/v1/acl/token/self/effective' }, given, options);

/** Reads all rights of a token, merged. */
export const readRights = (to: Caller, given: { accessor: string } & ReadRightsQuery, options?: CallOptions): Promise<Answer<ReadOwnRightsResult>> =>
  to.call<ReadOwnRightsResult>({ method: 'GET', path: '/v1/acl/token/{accessor}/effective' }, given, options);

/** Explains why a request was refused, by the decision ID in the header of the refusal. */
export const readDecision = (to: Caller, given: { id: string } & ReadQuery, options?: CallOptions): Promise<Answer<ReadDecisionResult>> =>
  to.call<ReadDecisionResult>({ method: 'GET', path: '/v1/acl/decision/{id}' }, given, options);

/** Explains what a token, or a draft of one, may do. */
export const explainAuthorization = (to: Caller, given: { body: ExplainAuthorizationBody } & ExplainAuthorizationQuery, options?: CallOptions): Promise<Answer<ExplainAuthorizationResult>> =>
  to.call<ExplainAuthorizationResult>({ method: 'POST', path: '/v1/acl/authorize/explain', isRead: true }, given, options);

/** Finds the tokens that are allowed a given access. */
export const findWhoCan = (to: Caller, given: { body: FindWhoCanBody } & FindWhoCanQuery, options?: CallOptions): Promise<Answer<FindWhoCanResult>> =>
  to.call<FindWhoCanResult>({ method: 'POST', path: '/v1/acl/who-can', isRead: true }, given, options);

/** Says where decisions are made. */
export const authzenConfiguration = (to: Caller, given: CommonQuery = {}, options?: CallOptions): Promise<Answer<AuthzenConfigurationResult>> =>
  to.call<AuthzenConfigurationResult>({ method: 'GET', path: '/.well-known/authzen-configuration' }, given, options);

/** Decides whether a subject may do something. */
export const evaluate = (to: Caller, given: { body: EvaluateBody } & EvaluateQuery, options?: CallOptions): Promise<Answer<EvaluateResult>> =>
  to.call<EvaluateResult>({ method: 'POST', path: '/access/v1/evaluation', isRead: true }, given, options);

/** Decides up to 256 questions on one state. */
export const evaluateAll = (to: Caller, given: { body: EvaluateAllBody } & EvaluateAllQuery, options?: CallOptions): Promise<Answer<EvaluateAllResult1 | EvaluateResult>> =>
  to.call<EvaluateAllResult1 | EvaluateResult>({ method: 'POST', path: '/access/v1/evaluations', isRead: true }, given, options);

/** Finds who may do something. */
export const searchSubjects = (to: Caller, given: { body: SearchSubjectsBody } & SearchSubjectsQuery, options?: CallOptions): Promise<Answer<SearchResult>> =>
  to.call<SearchResult>({ method: 'POST', path: '/access/v1/search/subject', isRead: true }, given, options);

/** Finds what a subject may do something to, as far as rules name it. */
export const searchResources = (to: Caller, given: { body: SearchResourcesBody } & SearchResourcesQuery, options?: CallOptions): Promise<Answer<SearchResult>> =>
  to.call<SearchResult>({ method: 'POST', path: '/access/v1/search/resource', isRead: true }, given, options);

/** Finds what a subject may do to a resource. */
export const searchActions = (to: Caller, given: { body: SearchActionsBody } & SearchActionsQuery, options?: CallOptions): Promise<Answer<SearchResult>> =>
  to.call<SearchResult>({ method: 'POST', path: '/access/v1/search/action', isRead: true }, given, options);

/** Reads all that decides for the token of the request, as data. */
export const readOwnFeed = (to: Caller, given: ReadOwnFeedQuery = {}, options?: CallOptions): Promise<Answer<ReadOwnFeedResult>> =>
  to.call<ReadOwnFeedResult>({ method: 'GET', path: '/v1/acl/token/self/rights' }, given, options);

/** Reads all that decides for a token, as data. */
export const readFeed = (to: Caller, given: { accessor: string } & ReadFeedQuery, options?: CallOptions): Promise<Answer<ReadOwnFeedResult>> =>
  to.call<ReadOwnFeedResult>({ method: 'GET', path: '/v1/acl/token/{accessor}/rights' }, given, options);

/** Explains the outcome of a login. Nothing is written. */
export const explainLogin = (to: Caller, given: { body: ExplainLoginBody } & ReadQuery, options?: CallOptions): Promise<Answer<ExplainLoginResult>> =>
  to.call<ExplainLoginResult>({ method: 'POST', path: '/v1/acl/login/explain', isRead: true }, given, options);

/** Checks what the token of the request may do. */
export const authorize = (to: Caller, given: { body: readonly AuthorizeBody[] } & ReadQuery, options?: CallOptions): Promise<Answer<readonly AuthorizeResult[]>> =>
  to.call<readonly AuthorizeResult[]>({ method: 'POST', path: '/v1/internal/acl/authorize', isRead: true }, given, options);

/** Creates the first management token, once. */
export const bootstrap = (to: Caller, given: { body: BootstrapBody } & CommonQuery, options?: CallOptions): Promise<Answer<BootstrapToken>> =>
  to.call<BootstrapToken>({ method: 'PUT', path: '/v1/acl/bootstrap' }, given, options);

/** Reads the token of the request. */
export const readOwnToken = (to: Caller, given: BlockingQuery = {}, options?: CallOptions): Promise<Answer<Token>> =>
  to.call<Token>({ method: 'GET', path: '/v1/acl/token/self' }, given, options);

/** Copies a token with new IDs. Only the description in the body is used. */
export const cloneToken = (to: Caller, given: { accessor: string; body: Sent<Token> } & CommonQuery, options?: CallOptions): Promise<Answer<Token>> =>
  to.call<Token>({ method: 'PUT', path: '/v1/acl/token/{accessor}/clone' }, given, options);

/** Logs in with an auth method, which creates a token. */
export const login = (to: Caller, given: { body: LoginBody } & CommonQuery, options?: CallOptions): Promise<Answer<Token>> =>
  to.call<Token>({ method: 'POST', path: '/v1/acl/login' }, given, options);

/** Deletes the token of the request, which must come from a login. */
export const logout = (to: Caller, given: CommonQuery = {}, options?: CallOptions): Promise<Answer<boolean>> =>
  to.call<boolean>({ method: 'POST', path: '/v1/acl/logout' }, given, options);

/** Lists the built-in templates. */
export const listTemplatedPolicies = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<Readonly<Record<string, ListTemplatedPoliciesResult>>>> =>
  to.call<Readonly<Record<string, ListTemplatedPoliciesResult>>>({ method: 'GET', path: '/v1/acl/templated-policies' }, given, options);

/** Reads a built-in template. */
export const readTemplatedPolicy = (to: Caller, given: { name: string } & ReadQuery, options?: CallOptions): Promise<Answer<ListTemplatedPoliciesResult>> =>
  to.call<ListTemplatedPoliciesResult>({ method: 'GET', path: '/v1/acl/templated-policy/name/{name}' }, given, options);

/** Fills in a template and returns the resulting policy. */
export const previewTemplatedPolicy = (to: Caller, given: { name: string; body: LintBindingRuleBindVarsBody } & ReadQuery, options?: CallOptions): Promise<Answer<PreviewTemplatedPolicyResult>> =>
  to.call<PreviewTemplatedPolicyResult>({ method: 'POST', path: '/v1/acl/templated-policy/preview/{name}', isRead: true }, given, options);

/** Ends all tokens of an identity, and may refuse its logins. Only shows what would end unless DryRun is false. */
export const revokeIdentity = (to: Caller, given: { body: TokensRevokeBody } & CommonQuery, options?: CallOptions): Promise<Answer<RevokeIdentityResult>> =>
  to.call<RevokeIdentityResult>({ method: 'POST', path: '/v1/acl/tokens/revoke' }, given, options);

/** Lists whose logins are refused. */
export const listIdentityBlocks = (to: Caller, given: ListIdentityBlocksQuery = {}, options?: CallOptions): Promise<Answer<readonly ListIdentityBlocksResult[]>> =>
  to.call<readonly ListIdentityBlocksResult[]>({ method: 'GET', path: '/v1/acl/identity-blocks' }, given, options);

/** Permits the logins of an identity again. */
export const liftIdentityBlock = (to: Caller, given: { id: string } & CommonQuery, options?: CallOptions): Promise<Answer<boolean>> =>
  to.call<boolean>({ method: 'DELETE', path: '/v1/acl/identity-block/{id}' }, given, options);

/** Returns the address at which a user logs in. Nothing is written. */
export const oidcAuthUrl = (to: Caller, given: { body: OidcAuthUrlBody } & ReadQuery, options?: CallOptions): Promise<Answer<OidcAuthUrlResult>> =>
  to.call<OidcAuthUrlResult>({ method: 'POST', path: '/v1/acl/oidc/auth-url', isRead: true }, given, options);

/** Completes a login, which creates a token. */
export const oidcCallback = (to: Caller, given: { body: OidcCallbackBody } & CommonQuery, options?: CallOptions): Promise<Answer<OidcToken>> =>
  to.call<OidcToken>({ method: 'POST', path: '/v1/acl/oidc/callback' }, given, options);

/** Replaces the token of the request by a new one, for which the provider is asked again who the user is. */
export const oidcRenew = (to: Caller, given: { body: OidcRenewBody } & CommonQuery, options?: CallOptions): Promise<Answer<OidcToken>> =>
  to.call<OidcToken>({ method: 'POST', path: '/v1/acl/oidc/renew' }, given, options);

/** Deletes the token of the request, which must come from an OIDC login. */
export const oidcLogout = (to: Caller, given: CommonQuery = {}, options?: CallOptions): Promise<Answer<OidcLogoutResult>> =>
  to.call<OidcLogoutResult>({ method: 'POST', path: '/v1/acl/oidc/logout' }, given, options);

/** Lists the auth methods of a namespace by which a browser can log in. */
export const listOidcAuthMethods = (to: Caller, given: BlockingQuery = {}, options?: CallOptions): Promise<Answer<readonly ListOidcAuthMethodsResult[]>> =>
  to.call<readonly ListOidcAuthMethodsResult[]>({ method: 'GET', path: '/v1/internal/ui/oidc-auth-methods' }, given, options);

/** Makes a new key for what clients keep of OIDC logins. What older keys than the one before it have encrypted is refused. */
export const rotateOidcKey = (to: Caller, given: CommonQuery = {}, options?: CallOptions): Promise<Answer<RotateOidcKeyResult>> =>
  to.call<RotateOidcKeyResult>({ method: 'POST', path: '/v1/operator/oidc/rotate' }, given, options);

/** Tells when a token was used last, to the hour. */
export const readTokenUsage = (to: Caller, given: { accessor: string } & ReadQuery, options?: CallOptions): Promise<Answer<ReadTokenUsageResult>> =>
  to.call<ReadTokenUsageResult>({ method: 'GET', path: '/v1/acl/token/{accessor}/usage' }, given, options);

/** Tells when a login by an auth method was accepted last, to the hour. */
export const readAuthMethodUsage = (to: Caller, given: { name: string } & ReadQuery, options?: CallOptions): Promise<Answer<ReadAuthMethodUsageResult>> =>
  to.call<ReadAuthMethodUsageResult>({ method: 'GET', path: '/v1/acl/auth-method/{name}/usage' }, given, options);

/** Lists tokens by their last use. */
export const listTokenUsage = (to: Caller, given: ListTokenUsageQuery = {}, options?: CallOptions): Promise<Answer<ListTokenUsageResult>> =>
  to.call<ListTokenUsageResult>({ method: 'GET', path: '/v1/acl/usage' }, given, options);

/** Deletes tokens that are not used. Only shows them unless DryRun is false. */
export const cleanUpTokens = (to: Caller, given: { body: CleanUpTokensBody } & CommonQuery, options?: CallOptions): Promise<Answer<CleanUpTokensResult>> =>
  to.call<CleanUpTokensResult>({ method: 'POST', path: '/v1/acl/tokens/gc' }, given, options);

/** Creates, changes and deletes tokens of a source with their IDs, secrets and times. */
export const importTokens = (to: Caller, given: { body: TokensImportBody } & CommonQuery, options?: CallOptions): Promise<Answer<ImportTokensResult>> =>
  to.call<ImportTokensResult>({ method: 'POST', path: '/v1/acl/tokens/import' }, given, options);

/** Lists the tokens that were imported from a source, without their secrets. */
export const listImportedTokens = (to: Caller, given: ListImportedTokensQuery = {}, options?: CallOptions): Promise<Answer<ListImportedTokensResult>> =>
  to.call<ListImportedTokensResult>({ method: 'GET', path: '/v1/acl/tokens/import' }, given, options);

/** Lists the owners of objects. */
export const listOwners = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<readonly ListOwnersResult[]>> =>
  to.call<readonly ListOwnersResult[]>({ method: 'GET', path: '/v1/owners' }, given, options);

/** Takes the name of an owner from all its objects, and changes nothing else. */
export const releaseOwner = (to: Caller, given: { body: ReleaseOwnerBody } & CommonQuery, options?: CallOptions): Promise<Answer<ReleaseOwnerResult>> =>
  to.call<ReleaseOwnerResult>({ method: 'POST', path: '/v1/owners/release' }, given, options);

/** Compares a set with the state. Nothing is written. */
export const planSet = (to: Caller, given: { body: SetBody } & ReadQuery, options?: CallOptions): Promise<Answer<PlanSetResult>> =>
  to.call<PlanSetResult>({ method: 'POST', path: '/v1/plan', isRead: true }, given, options);

/** Applies a set as one entry: all of its changes, or none. */
export const applySet = (to: Caller, given: { body: SetBody } & CommonQuery, options?: CallOptions): Promise<Answer<ApplySetResult>> =>
  to.call<ApplySetResult>({ method: 'POST', path: '/v1/apply' }, given, options);

/** Reads the level in force, and what each member supports. */
export const readLevel = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<ReadLevelResult>> =>
  to.call<ReadLevelResult>({ method: 'GET', path: '/v1/operator/level' }, given, options);

/** Reads the sinks of the audit log of the node that answers. */
export const readAuditSinks = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<ReadAuditSinksResult>> =>
  to.call<ReadAuditSinksResult>({ method: 'GET', path: '/v1/operator/audit' }, given, options);

/** Reads the newest records of the audit log of the node that answers. */
export const readAuditTail = (to: Caller, given: ReadAuditTailQuery = {}, options?: CallOptions): Promise<Answer<ReadAuditTailResult>> =>
  to.call<ReadAuditTailResult>({ method: 'GET', path: '/v1/operator/audit/tail' }, given, options);

/** Lists the members: voters and learners. */
export const readRaftConfiguration = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<ReadRaftConfigurationResult>> =>
  to.call<ReadRaftConfigurationResult>({ method: 'GET', path: '/v1/operator/raft/configuration' }, given, options);

/** Removes a server from the cluster, by its ID or address. */
export const removeServer = (to: Caller, given: RemoveServerQuery = {}, options?: CallOptions): Promise<Answer<string>> =>
  to.call<string>({ method: 'DELETE', path: '/v1/operator/raft/peer', answer: 'text' }, given, options);

/** Transfers leadership to a voter: the one with the given ID, or the most up-to-date one. */
export const transferLeadership = (to: Caller, given: TransferLeadershipQuery = {}, options?: CallOptions): Promise<Answer<TransferLeadershipResult>> =>
  to.call<TransferLeadershipResult>({ method: 'POST', path: '/v1/operator/raft/transfer-leader' }, given, options);

/** Lists the servers that are waiting to be admitted. */
export const listJoiningServers = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<readonly ListJoiningServersResult[]>> =>
  to.call<readonly ListJoiningServersResult[]>({ method: 'GET', path: '/v1/operator/raft/joining' }, given, options);

/** Admits a waiting server to the cluster. */
export const admitServer = (to: Caller, given: { id: string } & CommonQuery, options?: CallOptions): Promise<Answer<boolean>> =>
  to.call<boolean>({ method: 'PUT', path: '/v1/operator/raft/joining/{id}' }, given, options);

/** Creates a token with which one server may join. */
export const createJoinToken = (to: Caller, given: CreateJoinTokenQuery = {}, options?: CallOptions): Promise<Answer<CreateJoinTokenResult>> =>
  to.call<CreateJoinTokenResult>({ method: 'POST', path: '/v1/operator/raft/join-token' }, given, options);

/** Reads when a server is considered healthy, and what happens to dead servers. */
export const readAutopilotConfiguration = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<ReadAutopilotConfigurationResult>> =>
  to.call<ReadAutopilotConfigurationResult>({ method: 'GET', path: '/v1/operator/autopilot/configuration' }, given, options);

/** Replaces the autopilot configuration. Absent members take their defaults. */
export const writeAutopilotConfiguration = (to: Caller, given: { body: AutopilotConfigurationBody } & WriteAutopilotConfigurationQuery, options?: CallOptions): Promise<Answer<boolean>> =>
  to.call<boolean>({ method: 'PUT', path: '/v1/operator/autopilot/configuration' }, given, options);

/** Reads the health of each member as the leader sees it. */
export const readHealth = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<ReadHealthResult>> =>
  to.call<ReadHealthResult>({ method: 'GET', path: '/v1/operator/autopilot/health' }, given, options);

/** Reads the health of each member by server ID, with the leader and the voters. */
export const readAutopilotState = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<ReadAutopilotStateResult>> =>
  to.call<ReadAutopilotStateResult>({ method: 'GET', path: '/v1/operator/autopilot/state' }, given, options);

/** Reads how long login tokens are valid, and how many one identity may have. */
export const readAclConfiguration = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<AclConfiguration>> =>
  to.call<AclConfiguration>({ method: 'GET', path: '/v1/operator/acl/configuration' }, given, options);

/** Replaces the ACL configuration. Absent members take their defaults. */
export const writeAclConfiguration = (to: Caller, given: { body: Sent<AclConfiguration> } & CommonQuery, options?: CallOptions): Promise<Answer<AclConfiguration>> =>
  to.call<AclConfiguration>({ method: 'PUT', path: '/v1/operator/acl/configuration' }, given, options);

/** Lists the changes of all objects that the caller may read. */
export const readChanges = (to: Caller, given: ReadChangesQuery = {}, options?: CallOptions): Promise<Answer<ReadChangesResult>> =>
  to.call<ReadChangesResult>({ method: 'GET', path: '/v1/history' }, given, options);

/** Streams the changes of objects as they happen. */
export const streamEvents = (to: Caller, given: StreamEventsQuery = {}, options?: CallOptions): Promise<Answer<ReadableStream<Uint8Array>>> =>
  to.call<ReadableStream<Uint8Array>>({ method: 'GET', path: '/v1/events', answer: 'stream' }, given, options);

/** Lists the versions of an object, or reads or compares them. */
export const readHistory = (to: Caller, given: { type: string; id: string } & ReadHistoryQuery, options?: CallOptions): Promise<Answer<ReadHistoryResult>> =>
  to.call<ReadHistoryResult>({ method: 'GET', path: '/v1/history/{type}/{id}' }, given, options);

/** Takes back everything that one entry changed, or plans that. */
export const undo = (to: Caller, given: { body: UndoBody } & CommonQuery, options?: CallOptions): Promise<Answer<UndoResult>> =>
  to.call<UndoResult>({ method: 'POST', path: '/v1/undo' }, given, options);

/** Reads how much of the history is kept. */
export const readHistoryConfiguration = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<HistoryConfiguration>> =>
  to.call<HistoryConfiguration>({ method: 'GET', path: '/v1/operator/history/configuration' }, given, options);

/** Replaces the history configuration. Absent members take their defaults. */
export const writeHistoryConfiguration = (to: Caller, given: { body: Sent<HistoryConfiguration> } & CommonQuery, options?: CallOptions): Promise<Answer<HistoryConfiguration>> =>
  to.call<HistoryConfiguration>({ method: 'PUT', path: '/v1/operator/history/configuration' }, given, options);

/** Reads the address of the leader. */
export const readLeader = (to: Caller, given: CommonQuery = {}, options?: CallOptions): Promise<Answer<string>> =>
  to.call<string>({ method: 'GET', path: '/v1/status/leader' }, given, options);

/** Lists the addresses of the voters. */
export const listPeers = (to: Caller, given: CommonQuery = {}, options?: CallOptions): Promise<Answer<readonly string[]>> =>
  to.call<readonly string[]>({ method: 'GET', path: '/v1/status/peers' }, given, options);

/** Responds as long as the process is alive. */
export const readLiveness = (to: Caller, given: CommonQuery = {}, options?: CallOptions): Promise<Answer<ReadLivenessResult>> =>
  to.call<ReadLivenessResult>({ method: 'GET', path: '/v1/health/live' }, given, options);

/** Reports whether the node is ready to serve requests. */
export const readReadiness = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<ReadReadinessResult>> =>
  to.call<ReadReadinessResult>({ method: 'GET', path: '/v1/health/ready' }, given, options);

/** Reads the release that the node runs. */
export const readVersion = (to: Caller, given: CommonQuery = {}, options?: CallOptions): Promise<Answer<ReadVersionResult>> =>
  to.call<ReadVersionResult>({ method: 'GET', path: '/v1/agent/version' }, given, options);

/** Reads the settings and the state of the node. */
export const readAgent = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<ReadAgentResult>> =>
  to.call<ReadAgentResult>({ method: 'GET', path: '/v1/agent/self' }, given, options);

/** Lists the members that the caller may read. */
export const listMembers = (to: Caller, given: ListMembersQuery = {}, options?: CallOptions): Promise<Answer<readonly ReadAgentMember[]>> =>
  to.call<readonly ReadAgentMember[]>({ method: 'GET', path: '/v1/agent/members' }, given, options);

/** Reads the metrics of the node. */
export const readMetrics = (to: Caller, given: ReadMetricsQuery = {}, options?: CallOptions): Promise<Answer<ReadMetricsResult>> =>
  to.call<ReadMetricsResult>({ method: 'GET', path: '/v1/agent/metrics' }, given, options);

/** Reads figures of the node in the last hour, its last warnings, and its certificates. */
export const readFigures = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<ReadFiguresResult>> =>
  to.call<ReadFiguresResult>({ method: 'GET', path: '/v1/agent/history' }, given, options);

/** Reads the status of replication between datacenters, which this server does not support. */
export const readReplication = (to: Caller, given: CommonQuery = {}, options?: CallOptions): Promise<Answer<ReadReplicationResult>> =>
  to.call<ReadReplicationResult>({ method: 'GET', path: '/v1/acl/replication' }, given, options);

/** Saves the whole state as an archive. */
export const saveSnapshot = (to: Caller, given: ReadQuery = {}, options?: CallOptions): Promise<Answer<ReadableStream<Uint8Array>>> =>
  to.call<ReadableStream<Uint8Array>>({ method: 'GET', path: '/v1/snapshot', answer: 'stream' }, given, options);

/** Replaces the whole state with that of an archive. */
export const restoreSnapshot = (to: Caller, given: { body: ReadableStream<Uint8Array> | Uint8Array } & CommonQuery, options?: CallOptions): Promise<Answer<string>> =>
  to.call<string>({ method: 'PUT', path: '/v1/snapshot', type: 'application/x-gzip', answer: 'text' }, given, options);

/** Reads this document. */
export const readOpenApi = (to: Caller, given: CommonQuery = {}, options?: CallOptions): Promise<Answer<Readonly<Record<string, unknown>>>> =>
  to.call<Readonly<Record<string, unknown>>>({ method: 'GET', path: '/v1/openapi.json' }, given, options);

/** Reads the JSON Schema of a kind as clients write its entries. */
export const readConfigSchema = (to: Caller, given: { kind: string } & CommonQuery, options?: CallOptions): Promise<Answer<Readonly<Record<string, unknown>>>> =>
  to.call<Readonly<Record<string, unknown>>>({ method: 'GET', path: '/v1/schema/config/{kind}' }, given, options);

/** Reads the JSON Schema of an object as clients write it, or of problem details. */
export const readSchema = (to: Caller, given: { type: string } & CommonQuery, options?: CallOptions): Promise<Answer<Readonly<Record<string, unknown>>>> =>
  to.call<Readonly<Record<string, unknown>>>({ method: 'GET', path: '/v1/schema/{type}' }, given, options);

/** Creates a token. */
export const createToken = (to: Caller, given: { body: Sent<Token> } & CommonQuery, options?: CallOptions): Promise<Answer<Token>> =>
  to.call<Token>({ method: 'PUT', path: '/v1/acl/token' }, given, options);

/** Lists the tokens. */
export const listTokens = (to: Caller, given: ListTokensQuery = {}, options?: CallOptions): Promise<Answer<readonly TokenItem[]>> =>
  to.call<readonly TokenItem[]>({ method: 'GET', path: '/v1/acl/tokens' }, given, options);

/** Reads a token. */
export const readToken = (to: Caller, given: { accessor: string } & ReadTokenQuery, options?: CallOptions): Promise<Answer<Token>> =>
  to.call<Token>({ method: 'GET', path: '/v1/acl/token/{accessor}' }, given, options);

/** Replaces a token. */
export const updateToken = (to: Caller, given: { accessor: string; body: Sent<Token> } & CommonQuery, options?: CallOptions): Promise<Answer<Token>> =>
  to.call<Token>({ method: 'PUT', path: '/v1/acl/token/{accessor}' }, given, options);

/** Changes the given fields of a token. */
export const patchToken = (to: Caller, given: { accessor: string; body: Readonly<Record<string, unknown>> } & CommonQuery, options?: CallOptions): Promise<Answer<Token>> =>
  to.call<Token>({ method: 'PATCH', path: '/v1/acl/token/{accessor}', type: 'application/merge-patch+json' }, given, options);

/** Deletes a token. */
export const deleteToken = (to: Caller, given: { accessor: string } & CommonQuery, options?: CallOptions): Promise<Answer<boolean>> =>
  to.call<boolean>({ method: 'DELETE', path: '/v1/acl/token/{accessor}' }, given, options);

/** Creates a binding rule. */
export const createBindingRule = (to: Caller, given: { body: Sent<BindingRule> } & CommonQuery, options?: CallOptions): Promise<Answer<BindingRule>> =>
  to.call<BindingRule>({ method: 'PUT', path: '/v1/acl/binding-rule' }, given, options);

/** Lists the binding rules. */
export const listBindingRules = (to: Caller, given: ListBindingRulesQuery = {}, options?: CallOptions): Promise<Answer<readonly BindingRuleItem[]>> =>
  to.call<readonly BindingRuleItem[]>({ method: 'GET', path: '/v1/acl/binding-rules' }, given, options);

/** Reads a binding rule. */
export const readBindingRule = (to: Caller, given: { id: string } & BlockingQuery, options?: CallOptions): Promise<Answer<BindingRule>> =>
  to.call<BindingRule>({ method: 'GET', path: '/v1/acl/binding-rule/{id}' }, given, options);

/** Replaces a binding rule. */
export const updateBindingRule = (to: Caller, given: { id: string; body: Sent<BindingRule> } & CommonQuery, options?: CallOptions): Promise<Answer<BindingRule>> =>
  to.call<BindingRule>({ method: 'PUT', path: '/v1/acl/binding-rule/{id}' }, given, options);

/** Changes the given fields of a binding rule. */
export const patchBindingRule = (to: Caller, given: { id: string; body: Readonly<Record<string, unknown>> } & CommonQuery, options?: CallOptions): Promise<Answer<BindingRule>> =>
  to.call<BindingRule>({ method: 'PATCH', path: '/v1/acl/binding-rule/{id}', type: 'application/merge-patch+json' }, given, options);

/** Deletes a binding rule. */
export const deleteBindingRule = (to: Caller, given: { id: string } & CommonQuery, options?: CallOptions): Promise<Answer<boolean>> =>
  to.call<boolean>({ method: 'DELETE', path: '/v1/acl/binding-rule/{id}' }, given, options);

/** Creates or replaces an auth method. */
export const createAuthMethod = (to: Caller, given: { body: Sent<AuthMethod> } & CommonQuery, options?: CallOptions): Promise<Answer<AuthMethod>> =>
  to.call<AuthMethod>({ method: 'PUT', path: '/v1/acl/auth-method' }, given, options);

/** Lists the auth methods. */
export const listAuthMethods = (to: Caller, given: ListAuthMethodsQuery = {}, options?: CallOptions): Promise<Answer<readonly AuthMethodItem[]>> =>
  to.call<readonly AuthMethodItem[]>({ method: 'GET', path: '/v1/acl/auth-methods' }, given, options);

/** Reads an auth method. */
export const readAuthMethod = (to: Caller, given: { name: string } & BlockingQuery, options?: CallOptions): Promise<Answer<AuthMethod>> =>
  to.call<AuthMethod>({ method: 'GET', path: '/v1/acl/auth-method/{name}' }, given, options);

/** Replaces an auth method. */
export const updateAuthMethod = (to: Caller, given: { name: string; body: Sent<AuthMethod> } & CommonQuery, options?: CallOptions): Promise<Answer<AuthMethod>> =>
  to.call<AuthMethod>({ method: 'PUT', path: '/v1/acl/auth-method/{name}' }, given, options);

/** Changes the given fields of an auth method. */
export const patchAuthMethod = (to: Caller, given: { name: string; body: Readonly<Record<string, unknown>> } & CommonQuery, options?: CallOptions): Promise<Answer<AuthMethod>> =>
  to.call<AuthMethod>({ method: 'PATCH', path: '/v1/acl/auth-method/{name}', type: 'application/merge-patch+json' }, given, options);

/** Deletes an auth method. */
export const deleteAuthMethod = (to: Caller, given: { name: string } & CommonQuery, options?: CallOptions): Promise<Answer<boolean>> =>
  to.call<boolean>({ method: 'DELETE', path: '/v1/acl/auth-method/{name}' }, given, options);

/** Creates a role. */
export const createRole = (to: Caller, given: { body: Sent<Role> } & CommonQuery, options?: CallOptions): Promise<Answer<Role>> =>
  to.call<Role>({ method: 'PUT', path: '/v1/acl/role' }, given, options);

/** Lists the roles. */
export const listRoles = (to: Caller, given: ListRolesQuery = {}, options?: CallOptions): Promise<Answer<readonly RoleItem[]>> =>
  to.call<readonly RoleItem[]>({ method: 'GET', path: '/v1/acl/roles' }, given, options);

/** Reads a role by its name. */
export const readRoleByName = (to: Caller, given: { name: string } & BlockingQuery, options?: CallOptions): Promise<Answer<Role>> =>
  to.call<Role>({ method: 'GET', path: '/v1/acl/role/name/{name}' }, given, options);

/** Reads a role. */
export const readRole = (to: Caller, given: { id: string } & BlockingQuery, options?: CallOptions): Promise<Answer<Role>> =>
  to.call<Role>({ method: 'GET', path: '/v1/acl/role/{id}' }, given, options);

/** Replaces a role. */
export const updateRole = (to: Caller, given: { id: string; body: Sent<Role> } & CommonQuery, options?: CallOptions): Promise<Answer<Role>> =>
  to.call<Role>({ method: 'PUT', path: '/v1/acl/role/{id}' }, given, options);

/** Changes the given fields of a role. */
export const patchRole = (to: Caller, given: { id: string; body: Readonly<Record<string, unknown>> } & CommonQuery, options?: CallOptions): Promise<Answer<Role>> =>
  to.call<Role>({ method: 'PATCH', path: '/v1/acl/role/{id}', type: 'application/merge-patch+json' }, given, options);

/** Deletes a role. */
export const deleteRole = (to: Caller, given: { id: string } & CommonQuery, options?: CallOptions): Promise<Answer<boolean>> =>
  to.call<boolean>({ method: 'DELETE', path: '/v1/acl/role/{id}' }, given, options);

/** Creates a policy. */
export const createPolicy = (to: Caller, given: { body: Sent<Policy> } & CommonQuery, options?: CallOptions): Promise<Answer<Policy>> =>
  to.call<Policy>({ method: 'PUT', path: '/v1/acl/policy' }, given, options);

/** Lists the policies. */
export const listPolicies = (to: Caller, given: ListPoliciesQuery = {}, options?: CallOptions): Promise<Answer<readonly PolicyItem[]>> =>
  to.call<readonly PolicyItem[]>({ method: 'GET', path: '/v1/acl/policies' }, given, options);

/** Reads a policy by its name. */
export const readPolicyByName = (to: Caller, given: { name: string } & BlockingQuery, options?: CallOptions): Promise<Answer<Policy>> =>
  to.call<Policy>({ method: 'GET', path: '/v1/acl/policy/name/{name}' }, given, options);

/** Reads a policy. */
export const readPolicy = (to: Caller, given: { id: string } & BlockingQuery, options?: CallOptions): Promise<Answer<Policy>> =>
  to.call<Policy>({ method: 'GET', path: '/v1/acl/policy/{id}' }, given, options);

/** Replaces a policy. */
export const updatePolicy = (to: Caller, given: { id: string; body: Sent<Policy> } & CommonQuery, options?: CallOptions): Promise<Answer<Policy>> =>
  to.call<Policy>({ method: 'PUT', path: '/v1/acl/policy/{id}' }, given, options);

/** Changes the given fields of a policy. */
export const patchPolicy = (to: Caller, given: { id: string; body: Readonly<Record<string, unknown>> } & CommonQuery, options?: CallOptions): Promise<Answer<Policy>> =>
  to.call<Policy>({ method: 'PATCH', path: '/v1/acl/policy/{id}', type: 'application/merge-patch+json' }, given, options);

/** Deletes a policy. */
export const deletePolicy = (to: Caller, given: { id: string } & CommonQuery, options?: CallOptions): Promise<Answer<boolean>> =>
  to.call<boolean>({ method: 'DELETE', path: '/v1/acl/policy/{id}' }, given, options);

/** Creates or replaces a namespace. */
export const createNamespace = (to: Caller, given: { body: Sent<Namespace> } & CommonQuery, options?: CallOptions): Promise<Answer<Namespace>> =>
  to.call<Namespace>({ method: 'PUT', path: '/v1/namespace' }, given, options);

/** Lists the namespaces. */
export const listNamespaces = (to: Caller, given: ListNamespacesQuery = {}, options?: CallOptions): Promise<Answer<readonly NamespaceItem[]>> =>
  to.call<readonly NamespaceItem[]>({ method: 'GET', path: '/v1/namespaces' }, given, options);

/** Reads a namespace. */
export const readNamespace = (to: Caller, given: { name: string } & BlockingQuery, options?: CallOptions): Promise<Answer<Namespace>> =>
  to.call<Namespace>({ method: 'GET', path: '/v1/namespace/{name}' }, given, options);

/** Replaces a namespace. */
export const updateNamespace = (to: Caller, given: { name: string; body: Sent<Namespace> } & CommonQuery, options?: CallOptions): Promise<Answer<Namespace>> =>
  to.call<Namespace>({ method: 'PUT', path: '/v1/namespace/{name}' }, given, options);

/** Changes the given fields of a namespace. */
export const patchNamespace = (to: Caller, given: { name: string; body: Readonly<Record<string, unknown>> } & CommonQuery, options?: CallOptions): Promise<Answer<Namespace>> =>
  to.call<Namespace>({ method: 'PATCH', path: '/v1/namespace/{name}', type: 'application/merge-patch+json' }, given, options);

/** Deletes a namespace. */
export const deleteNamespace = (to: Caller, given: { name: string } & CommonQuery, options?: CallOptions): Promise<Answer<boolean>> =>
  to.call<boolean>({ method: 'DELETE', path: '/v1/namespace/{name}' }, given, options);
