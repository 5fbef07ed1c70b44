/**
 * Every key of the state. NUL joins the parts (see keyOf). Names match in any letter case, so keys
 * contain them in lower case. Ids are lower-case UUIDs, and names of namespaces are lower case.
 */
import { keyOf } from './types.js';

const lower = (text: string): string => text.toLowerCase();
/** Keys sort by an index in this form. */
const hex = (index: number): string => index.toString(16).padStart(16, '0');

/** The tables whose objects the API lists. Each has a list index. */
export type Table = 'policy' | 'role' | 'token' | 'method' | 'rule' | 'namespace' | 'config';
/** Those, and a list of what is no object. */
export type ListTable = Table | 'identity-block';

/** The keys of all records, and what their values are where it is not an object as JSON. */
export const keys = {
  /**
   * The last index that changed a list: `index/<table>/<ns>[/<kind>]`. Blocking queries of lists
   * watch it. Value: decimal text.
   */
  index: (table: ListTable, ns: string, kind?: string): string =>
    kind === undefined ? keyOf('index', table, ns) : keyOf('index', table, ns, kind),
  /** The last index at which an object was deleted from a table. A 404 carries it. */
  deleted: (table: Table, ns: string, kind?: string): string =>
    kind === undefined ? keyOf('deleted', table, ns) : keyOf('deleted', table, ns, kind),

  policy: (ns: string, id: string): string => keyOf('policy', ns, id),
  policyName: (ns: string, name: string): string => keyOf('policy-name', ns, lower(name)),
  /**
   * What links show of a policy or role: `{"Name":…,"Index":n}`, without Name once it is deleted.
   * Only a rename or a deletion changes it.
   */
  policyLink: (id: string): string => keyOf('policy-link', id),
  roleLink: (id: string): string => keyOf('role-link', id),

  role: (ns: string, id: string): string => keyOf('role', ns, id),
  roleName: (ns: string, name: string): string => keyOf('role-name', ns, lower(name)),
  roleByPolicy: (policyId: string, ns: string, id: string): string =>
    keyOf('role-by-policy', policyId, ns, id),
  /** A namespace that grants a policy or role to all its tokens. No value. */
  namespaceByPolicy: (policyId: string, name: string): string =>
    keyOf('namespace-by-policy', policyId, name),
  namespaceByRole: (roleId: string, name: string): string =>
    keyOf('namespace-by-role', roleId, name),

  token: (ns: string, accessor: string): string => keyOf('token', ns, accessor),
  /**
   * Finds a token. `secretKey` is the SHA-256 of its SecretID in hex: secrets match exactly, and no
   * key contains one. Value: `<ns> NUL <accessor>`.
   */
  tokenSecret: (secretKey: string): string => keyOf('token-secret', secretKey),
  /** Value: the namespace of a token. Accessors are unique in the whole cluster. */
  tokenAccessor: (accessor: string): string => keyOf('token-accessor', accessor),
  tokenByPolicy: (policyId: string, ns: string, accessor: string): string =>
    keyOf('token-by-policy', policyId, ns, accessor),
  tokenByRole: (roleId: string, ns: string, accessor: string): string =>
    keyOf('token-by-role', roleId, ns, accessor),
  /**
   * A token that a login created. Value: the identity (SHA-256 in hex), empty if unknown; from
   * level 3 on `<identity> NUL <subject>`, with ` NUL <n>` after `n` revocations of identities of
   * the method.
   */
  tokenByMethod: (ns: string, method: string, tokenNs: string, accessor: string): string =>
    keyOf('token-by-method', ns, lower(method), tokenNs, accessor),
  /** The tokens that an identity got from a method, ordered by CreateTime. No value. */
  tokenIdentity: (
    method: { readonly ns: string; readonly name: string },
    identity: string,
    createdMs: number,
    token: { readonly ns: string; readonly accessor: string },
  ): string =>
    keyOf(
      ...['token-identity', method.ns, lower(method.name), identity],
      ...[String(createdMs).padStart(15, '0'), token.ns, token.accessor],
    ),
  /** The tokens that the logins of a subject created. No value. */
  subject: (
    method: { readonly ns: string; readonly name: string },
    subject: string,
    token: { readonly ns: string; readonly accessor: string },
  ): string => keyOf('subject', method.ns, lower(method.name), subject, token.ns, token.accessor),
  /** The tokens that expire. `atMs` has 15 digits, so that keys sort by time. No value. */
  tokenByExpiry: (atMs: number, ns: string, accessor: string): string =>
    keyOf('token-by-expiry', String(atMs).padStart(15, '0'), ns, accessor),

  method: (ns: string, name: string): string => keyOf('method', ns, lower(name)),
  /**
   * A deleted auth method that still has tokens and rules. They have no effect, and its name stays
   * in use until they are removed. No value.
   */
  methodRemains: (ns: string, name: string): string => keyOf('method-remains', ns, lower(name)),
  /** The revocations and blocks of identities of a method; see identity-blocks.ts. */
  identityBlock: (ns: string, method: string, ...more: string[]): string =>
    keyOf('identity-block', ns, lower(method), ...more),
  rule: (ns: string, id: string): string => keyOf('rule', ns, id),
  ruleByMethod: (ns: string, method: string, id: string): string =>
    keyOf('rule-by-method', ns, lower(method), id),

  /** A State or Renewal that was used, by the end of its life. No value. */
  oidcUsed: (untilMs: number, hash: string): string =>
    keyOf('oidc-used', String(untilMs).padStart(15, '0'), hash),

  namespace: (name: string): string => keyOf('namespace', name),
  /** Marks a namespace that is being deleted, so that the leader empties it. No value. */
  namespaceDying: (name: string): string => keyOf('namespace-dying', name),
  config: (ns: string, kind: string, name: string): string =>
    keyOf('config', ns, kind, lower(name)),
  /** Records that a config entry names a target (kinds/targets.ts). No value. */
  configRef: (ns: string, target: string, kind: string, name: string): string =>
    keyOf('config-ref', ns, target, kind, lower(name)),

  /**
   * Whose set an object is in (owners.ts). `id` is that of the key of the object, of a config entry
   * `<kind>/<name>`, and `ns` that under which it is listed.
   */
  owner: (type: string, ns: string, id: string): string => keyOf('owner', type, ns, lower(id)),
  /** Value: the ID of the binding rule that sets know by a handle. */
  ruleHandle: (ns: string, handle: string): string => keyOf('rule-handle', ns, handle),

  /** A single replicated record by name, such as the autopilot configuration. */
  fact: (name: string): string => keyOf('fact', name),
  /**
   * A page of remembered results (request-records.ts), by the index of the first one, and by how
   * many pages before it begin with that index.
   */
  requestPage: (index: number, more: number): string =>
    more === 0 ? keyOf('request', hex(index)) : keyOf('request', hex(index), hex(more)),
  /** A single remembered result, as at level 1. */
  request: (index: number, size: number, id: string): string =>
    keyOf('request', hex(index), String(size), id),
  /** The machine's own record: applied index and term, and the checksum of each table. */
  machine: keyOf('machine'),
} as const;

/**
 * Prefix of the records of a state that is being restored, before their own keys. A store keeps
 * them where they can become the state without being written again (see StateStore).
 */
export const NEXT = keyOf('next', '');

/** Prefix of the records that belong to one server. No snapshot contains them. */
const LOCAL = keyOf('local', '');
/** Whether a record belongs to this server alone. */
export const isLocal = (key: string): boolean => key.startsWith(LOCAL);
/**
 * The log position of an installed state. With it a start completes an installation that a crash
 * interrupted.
 */
export const POSITION_KEY = keyOf('local', 'position');
/** Why this server's state cannot be trusted. The installation of another state removes it. */
export const DIVERGED_KEY = keyOf('local', 'wrong');
