/** The list of all routes of the API. Making it calls no handler and reads nothing of the parts. */
import type { ClusterParts } from '../service/cluster.js';
import type { SnapshotParts } from '../service/snapshot.js';
import { aclRoutes } from './acl.js';
import type { AclParts } from './acl-common.js';
import { agentRoutes } from './agent.js';
import { authorizeRoutes } from './authorize.js';
import { configRoutes } from './config.js';
import { namespaceRoutes } from './namespaces.js';
import { operatorRoutes } from './operator.js';
import { snapshotRoutes } from './snapshot.js';
import { statusRoutes } from './status.js';
import type { Route } from './types.js';

export interface RouteParts {
  readonly acl: AclParts;
  readonly cluster: ClusterParts;
  readonly snapshot: SnapshotParts;
}

export const allRoutes = ({ acl, cluster, snapshot }: RouteParts): readonly Route[] => [
  ...aclRoutes(acl),
  ...namespaceRoutes(acl),
  ...configRoutes(acl),
  ...statusRoutes(cluster),
  ...operatorRoutes(cluster),
  ...agentRoutes(cluster),
  ...authorizeRoutes(acl.service),
  ...snapshotRoutes(snapshot),
];
