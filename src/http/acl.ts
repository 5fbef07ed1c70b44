/** The routes under /v1/acl, by object. */
import type { AclParts } from './acl-common.js';
import { loginRoutes, methodRoutes, ruleRoutes } from './acl-login.js';
import { policyRoutes } from './acl-policies.js';
import { roleRoutes } from './acl-roles.js';
import { templateRoutes } from './acl-templates.js';
import { tokenRoutes } from './acl-tokens.js';
import type { Route } from './types.js';

export const aclRoutes = (parts: AclParts): readonly Route[] => [
  ...policyRoutes(parts),
  ...roleRoutes(parts),
  ...templateRoutes(parts),
  ...tokenRoutes(parts),
  ...methodRoutes(parts),
  ...ruleRoutes(parts),
  ...loginRoutes(parts),
];
