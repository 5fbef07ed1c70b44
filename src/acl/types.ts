/** Access control as data: rules in, decisions out. Pure. */

export type Level = 'deny' | 'read' | 'list' | 'write';
/** Resources without a name. */
export const SCALARS = ['acl', 'keyring', 'operator', 'mesh', 'peering'] as const;
/** Resources whose rules name an object exactly or by prefix. */
export const NAMED = ['agent', 'event', 'key', 'node', 'query', 'service', 'session'] as const;
export type Scalar = (typeof SCALARS)[number];
export type Named = (typeof NAMED)[number];

export interface NamedRule {
  readonly resource: Named;
  readonly prefix: boolean;
  readonly name: string;
  readonly level: Level;
  /** service only: explicit intention level. */
  readonly intentions?: Level;
}
/** Rules of one policy text, never changed after parsing. */
export interface Rules {
  readonly scalars: Readonly<Partial<Record<Scalar, Level>>>;
  readonly named: readonly NamedRule[];
  /** `namespace "x" { … }` and `namespace_prefix "x" { … }` of a policy in `default`. */
  readonly namespaces: readonly {
    readonly name: string;
    readonly prefix: boolean;
    readonly level?: Level;
    readonly rules: Rules;
  }[];
}

/** Rules and the namespace of the policy they come from. */
export interface Grant {
  readonly rules: Rules;
  readonly namespace: string;
}

export type Access = 'read' | 'list' | 'write' | 'write-prefix';
/**
 * What can be asked for: the resources of the rules, intentions (which follow from services), and
 * namespaces by name.
 */
export type Resource = Scalar | Named | 'intention' | 'namespace';

/**
 * Decides for one token. `segment` is the object's name, `namespace` where it lives (default:
 * `default`). Cheap: a few map look-ups and a longest-prefix search.
 */
export interface Authorizer {
  readonly accessor: string;
  readonly anonymous: boolean;
  allowed(resource: Resource, access: Access, segment?: string, namespace?: string): boolean;
  /**
   * Whether something of the resource may be accessed in some namespace: asked before it is known
   * what. Says yes too often rather than too rarely.
   */
  anywhere(resource: Scalar | 'service' | 'intention' | 'namespace', access: Access): boolean;
  /** Any right inside the namespace. */
  anyIn(namespace: string): boolean;
  /**
   * Undefined when allowed, else the 403 text: `Permission denied: token with AccessorID '…' lacks
   * permission 'service:write' on "web"`.
   */
  denial(
    resource: Resource,
    access: Access,
    segment?: string,
    namespace?: string,
  ): string | undefined;
}
