/** The list of everything that the API answers. To make it calls no handler and asks nothing of the parts. */
import { aclRoutes } from './acl.js';
import type { AclParts } from './acl-common.js';
import { agentRoutes } from './agent.js';
import { authorizeRoutes } from './authorize.js';
import type { ClusterParts } from './cluster.js';
import { configRoutes } from './config.js';
import { operatorRoutes } from './operator.js';
import { type SnapshotParts, snapshotRoutes } from './snapshot.js';
import { statusRoutes } from './status.js';
import type { Route } from './types.js';

export interface RouteParts {
  readonly acl: AclParts;
  readonly cluster: ClusterParts;
  readonly snapshot: SnapshotParts;
}

export const allRoutes = ({ acl, cluster, snapshot }: RouteParts): readonly Route[] => [
  ...aclRoutes(acl),
  ...configRoutes(acl),
  ...statusRoutes(cluster),
  ...operatorRoutes(cluster),
  ...agentRoutes(cluster),
  ...authorizeRoutes(acl.service),
  ...snapshotRoutes(snapshot),
];
