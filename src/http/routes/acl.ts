/** The routes of ACL objects: those that all have, and those of one. */
import { allUseCases } from '../../service/acl/object-list.js';
import type { AclParts } from './acl-common.js';
import { loginRoutes } from './acl-login.js';
import { objectRoutes } from './acl-objects.js';
import { templateRoutes } from './acl-templates.js';
import { tokenRoutes } from './acl-tokens.js';
import { explainRoutes } from './explain.js';
import { lintRoutes } from './lint.js';
import type { DeclaredRoute } from './types.js';

/** The routes under /v1/acl, and of namespaces. Fixed paths stand before those with parameters. */
export const aclRoutes = (parts: AclParts): readonly DeclaredRoute[] => [
  ...lintRoutes(parts),
  ...explainRoutes(parts),
  ...tokenRoutes(parts),
  ...allUseCases(parts).flatMap((useCases) => objectRoutes(parts.service, useCases)),
  ...templateRoutes(parts),
  ...loginRoutes(parts),
];
