/** The types of access control: rules, grants and the authorizer. */
import type { Refusal } from '../base/errors.js';

/** The level that a rule grants. `list` exists for keys only. */
export type Level = 'deny' | 'read' | 'list' | 'write';
/** Resources without names. */
export const SCALARS = ['acl', 'keyring', 'operator', 'mesh', 'peering'] as const;
/** Resources whose rules match the name of an object exactly or by prefix. */
export const NAMED = ['agent', 'event', 'key', 'node', 'query', 'service', 'session'] as const;
export type Scalar = (typeof SCALARS)[number];
export type Named = (typeof NAMED)[number];
export const isScalar = (resource: string): resource is Scalar =>
  (SCALARS as readonly string[]).includes(resource);

/** A rule for one name or prefix. */
export interface NamedRule {
  readonly resource: Named;
  readonly prefix: boolean;
  readonly name: string;
  readonly level: Level;
  /** The explicit level on intentions, for services only. */
  readonly intentions?: Level;
  /** Its offset in the text; see `Rules`. */
  readonly at?: number;
}
/**
 * The rules of one policy. They never change. Offsets are there only if the text was parsed for an
 * explanation: authorizers do not need them.
 */
export interface Rules {
  readonly scalars: Readonly<Partial<Record<Scalar, Level>>>;
  /** The offsets of the scalars. */
  readonly scalarsAt?: Readonly<Partial<Record<Scalar, number>>>;
  readonly named: readonly NamedRule[];
  /** The blocks `namespace "x" { … }` and `namespace_prefix "x" { … }` of a policy in `default`. */
  readonly namespaces: readonly {
    readonly name: string;
    readonly prefix: boolean;
    readonly level?: Level;
    readonly at?: number;
    readonly rules: Rules;
  }[];
}

/** Rules with the namespace of their policy. */
export interface Grant {
  readonly rules: Rules;
  readonly namespace: string;
}

/** The accesses to decide. `list` and `write-prefix` exist for keys only. */
export const ACCESSES = ['read', 'list', 'write', 'write-prefix'] as const;
export type Access = (typeof ACCESSES)[number];
/**
 * The resources to decide about: those of the rules, intentions (derived from services) and
 * namespaces by name.
 */
export const RESOURCES = [...SCALARS, ...NAMED, 'intention', 'namespace'] as const;
export type Resource = (typeof RESOURCES)[number];

/** The stored name of an object, and another spelling of it, which the request has. */
export interface Spelled {
  readonly stored: string;
  readonly sent: string;
}

/** A namespace, or the namespaces of a prefix, in which rules hold. */
export interface Place {
  readonly match: 'exact' | 'prefix';
  readonly name: string;
}

/** What identifies a rule: rules of several policies with one key merge. */
export interface RuleKey {
  readonly place: Place;
  readonly resource: Scalar | Named | 'namespace';
  readonly match: 'exact' | 'prefix' | 'scalar';
  /** Empty for scalars. */
  readonly name: string;
}

/** The layers of a token's rights, the first that decides counts. */
export const LAYERS = ['own', 'namespace_default'] as const;
export type LayerName = (typeof LAYERS)[number];

/** A merged rule that matches a question. */
export interface SpeakingRule extends RuleKey {
  readonly layer: LayerName;
  /** The merged level: for questions about intentions, that of the intentions. */
  readonly level: Level;
  /** For questions about intentions: the merged level of the service. */
  readonly service?: Level;
}

/**
 * Why a decision is as it is. `service_rule`: an intention level that equals what follows from the
 * service's level. `operator_or_any`: a namespace without a rule of its own.
 */
export type Reason =
  | 'rule'
  | 'operator_rule'
  | 'service_rule'
  | 'any_service'
  | 'every_service'
  | 'key_prefix'
  | 'operator_or_any'
  | 'default_policy'
  | 'never_by_default';

/** A decision with its reason. */
export interface Why {
  readonly allow: boolean;
  readonly reason: Reason;
  /** The rule that decided; absent if none did. */
  readonly rule?: SpeakingRule;
}

/**
 * Decides the accesses of one token. `segment` is the name of the object, `namespace` its
 * namespace, `default` if absent. A decision takes a few map look-ups and a longest-prefix search.
 */
export interface Authorizer {
  /** The one that decides, if this one only notes what it is asked. */
  readonly of?: Authorizer;
  readonly accessor: string;
  readonly anonymous: boolean;
  allowed(resource: Resource, access: Access, segment?: string, namespace?: string): boolean;
  /** Returns the decision of `allowed` with its reason. Slower: for refusals and explanations. */
  why(resource: Resource, access: Access, segment?: string, namespace?: string): Why;
  /**
   * Whether the token may access any object of the resource in any namespace. For checks before the
   * object is known: may return true if no object exists that the token can access.
   */
  anywhere(resource: Scalar | 'service' | 'intention' | 'namespace', access: Access): boolean;
  /** Whether the token has any right in the namespace. */
  anyIn(namespace: string): boolean;
  /**
   * Returns undefined if the access is allowed, otherwise the 403: `Permission denied: token with
   * AccessorID '…' lacks permission 'service:write' on "web"`. `segment` may be a stored name of
   * which only the spelling of the request may be told.
   */
  denial(
    resource: Resource,
    access: Access,
    segment?: string | Spelled,
    namespace?: string,
  ): Refusal | undefined;
}
