/** The paths of ACL objects. */

/** By table: one path each for writes of new objects, lists, and single objects. */
export const OBJECT_PATHS = {
  token: { one: '/v1/acl/token', all: '/v1/acl/tokens', each: '/v1/acl/token/:accessor' },
  rule: {
    one: '/v1/acl/binding-rule',
    all: '/v1/acl/binding-rules',
    each: '/v1/acl/binding-rule/:id',
  },
  method: {
    one: '/v1/acl/auth-method',
    all: '/v1/acl/auth-methods',
    each: '/v1/acl/auth-method/:name',
  },
  role: { one: '/v1/acl/role', all: '/v1/acl/roles', each: '/v1/acl/role/:id' },
  policy: { one: '/v1/acl/policy', all: '/v1/acl/policies', each: '/v1/acl/policy/:id' },
  namespace: { one: '/v1/namespace', all: '/v1/namespaces', each: '/v1/namespace/:name' },
} as const;

/** The paths of objects that are read by name too. */
export const NAMED_PATHS = {
  role: '/v1/acl/role/name/:name',
  policy: '/v1/acl/policy/name/:name',
} as const;
