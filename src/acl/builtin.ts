/** The ACL objects that every cluster has from its first start. */

/** The id of the policy `global-management`. */
export const GLOBAL_MANAGEMENT_ID = '00000000-0000-0000-0000-000000000001';
const GLOBAL_READ_ONLY_ID = '00000000-0000-0000-0000-000000000002';
/** The accessor of the anonymous token. */
export const ANONYMOUS_ACCESSOR = '00000000-0000-0000-0000-000000000002';
/** The secret of the anonymous token, which a request without a token uses. */
export const ANONYMOUS_SECRET = 'anonymous';

/** Whether an id is reserved for built-in objects: its first 120 bits are zero. */
export const isReservedId = (id: string): boolean =>
  id.startsWith('00000000-0000-0000-0000-0000000000');

function everything(level: 'read' | 'write'): string {
  const scalar = (resource: string): string => `${resource} = "${level}"`;
  const all = (resource: string): string =>
    resource === 'service'
      ? `service_prefix "" {\n\tpolicy = "${level}"\n\tintentions = "${level}"\n}`
      : `${resource}_prefix "" {\n\tpolicy = "${level}"\n}`;
  // Rules that a created namespace cannot have (operator, event, keyring, query, write on nodes)
  // are cluster-wide already.
  const inside = [
    scalar('policy'),
    scalar('acl'),
    scalar('mesh'),
    scalar('peering'),
    ...['agent', 'key', 'service', 'session'].map(all),
    'node_prefix "" {\n\tpolicy = "read"\n}',
  ].join('\n');
  return [
    ...['acl', 'keyring', 'operator', 'mesh', 'peering'].map(scalar),
    ...['agent', 'event', 'key', 'node', 'query', 'service', 'session'].map(all),
    `namespace_prefix "" {\n${inside.replace(/^/gm, '\t')}\n}`,
  ].join('\n');
}

/** The two built-in policies, in the namespace `default`. */
export const BUILT_IN_POLICIES = [
  {
    ID: GLOBAL_MANAGEMENT_ID,
    Name: 'global-management',
    Description: 'Builtin Policy that grants unlimited access',
    Rules: everything('write'),
  },
  {
    ID: GLOBAL_READ_ONLY_ID,
    Name: 'builtin/global-read-only',
    Description: 'Builtin Policy that grants unlimited read-only access to all components',
    Rules: everything('read'),
  },
] as const;
