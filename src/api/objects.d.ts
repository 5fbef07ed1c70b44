/**
 * How people see the ACL objects, and which kinds of config entries there are: what clients print,
 * list, ask for and complete. The build writes it from the definitions in state/ and kinds/, see
 * scripts/object-tables.ts.
 */

/** A member of an object. */
export interface Member {
  /** The name in words: `Bind type`. */
  readonly label: string;
  /** `texts` and `objects` are lists, `pairs` maps names to texts, `json` is any other object. */
  readonly is: 'text' | 'time' | 'boolean' | 'texts' | 'objects' | 'links' | 'pairs' | 'json';
  readonly to?: ObjectName;
  /** The only values of a text. */
  readonly values?: readonly string[];
  /** Whether the server sets it, whatever a body has in its place. */
  readonly isComputed?: true;
}

/** A column of a list, or a line of one object. */
export interface Shown {
  readonly label: string;
  /** The names of the members, shown together. A dot leads into a member: `ACLs.RoleDefaults`. */
  readonly of: readonly string[];
  /** Whether a part of it has no use, because it names the object. */
  readonly isWhole?: true;
  /** Whether a narrow list leaves it out first. */
  readonly isMinor?: true;
}

/** What the objects of a type are called, where they are, and what they contain. */
export interface ObjectTable {
  /** `auth method` */
  readonly noun: string;
  /** `auth methods` */
  readonly plural: string;
  /** The last part of the path: `auth-method` */
  readonly slug: string;
  /** For new objects and, with the identity behind it, for each: `/v1/acl/auth-method` */
  readonly path: string;
  /** `/v1/acl/auth-methods` */
  readonly listPath: string;
  /** The member that identifies an object. */
  readonly identity: 'ID' | 'AccessorID' | 'Name';
  /** Whether its objects have a name besides their ID, and can be read at `PATH/name/NAME`. */
  readonly isReadByName?: true;
  /** Members that only those see who may change the object. */
  readonly secrets: readonly string[];
  /** All members, in the order of their declaration; those of objects with links by their path. */
  readonly members: Readonly<Record<string, Member>>;
  readonly columns: readonly Shown[];
  readonly lines: readonly Shown[];
  /** The member whose text stands below the lines. */
  readonly below?: string;
}

/** A type of ACL objects. */
export type ObjectName = 'policy' | 'role' | 'token' | 'method' | 'rule' | 'namespace';

/** A kind of config entries. */
export interface KindRow {
  readonly kind: string;
  /** The name of its only entry. Absent if there may be many. */
  readonly onlyName?: string;
  /** Whether its entries exist once for the whole cluster: in the namespace default. */
  readonly isClusterWide?: true;
  /** The right that a write needs: `service:write`. Absent if no token may write them. */
  readonly needs?: string;
  /** Whether it must be a right on the name of the entry. */
  readonly isOnName?: true;
}

/** The ACL objects. */
export const OBJECTS: Readonly<Record<ObjectName, ObjectTable>>;
/** The kinds of config entries, in alphabetical order. */
export const KINDS: readonly KindRow[];
