/** The routes under /v1/acl, by object. */
import type { Service } from '../service/types.js';
import { policyRoutes } from './acl-policies.js';
import { roleRoutes } from './acl-roles.js';
import type { Route } from './types.js';

export const aclRoutes = (service: Service): readonly Route[] => [
  ...policyRoutes(service),
  ...roleRoutes(service),
];
