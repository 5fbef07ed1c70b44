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

export type Access = 'read' | 'list' | 'write' | 'write-prefix';

/**
 * Decides for one token. Resources are those of the rules plus `intention`; `namespace` is where the object lives. Cheap:
 * a few map look-ups and a longest-prefix search.
 */
export interface Authorizer {
  readonly accessor: string;
  readonly anonymous: boolean;
  allowed(
    resource: Scalar | Named | 'intention',
    access: Access,
    segment?: string,
    namespace?: string,
  ): boolean;
  /** Any right inside the namespace. */
  anyIn(namespace: string): boolean;
  /**
   * Undefined when allowed, else the 403 text: `Permission denied: token with AccessorID '…' lacks permission
   * 'service:write' on "web"`.
   */
  denial(
    resource: Scalar | Named | 'intention',
    access: Access,
    segment?: string,
    namespace?: string,
  ): string | undefined;
}
