/** The list of all routes of the API. Making it calls no handler and reads nothing of the parts. */

import type { SnapshotParts } from '../../service/archives/snapshot.js';
import type { ClusterParts } from '../../service/cluster/cluster.js';
import { aclRoutes } from './acl.js';
import { agentRoutes } from './agent.js';
import { authorizeRoutes } from './authorize.js';
import { authzenRoutes } from './authzen.js';
import { changeRoutes } from './change.js';
import type { AclParts } from './common.js';
import { configRoutes } from './config-entries.js';
import { documentRoutes } from './documents.js';
import { eventRoutes } from './events.js';
import { historyRoutes } from './history.js';
import { operatorRoutes } from './operator.js';
import { snapshotRoutes } from './snapshot.js';
import { statusRoutes } from './status.js';
import type { DeclaredRoute } from './types.js';

export interface RouteParts {
  readonly acl: AclParts;
  readonly cluster: ClusterParts;
  readonly snapshot: SnapshotParts;
}

export const allRoutes = ({ acl, cluster, snapshot }: RouteParts): readonly DeclaredRoute[] => [
  ...changeRoutes(acl),
  ...configRoutes(acl),
  ...aclRoutes(acl),
  ...statusRoutes(cluster),
  ...operatorRoutes(cluster),
  ...historyRoutes(acl),
  ...eventRoutes(acl),
  ...agentRoutes(cluster),
  ...authorizeRoutes(acl.service),
  ...authzenRoutes(acl),
  ...snapshotRoutes(snapshot),
  ...documentRoutes,
];
