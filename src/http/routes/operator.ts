/** Routes of operators: Raft membership and leadership, levels. */
import { reject } from '../../base/errors.js';
import type { ClusterParts } from '../../service/cluster/cluster.js';
import {
  clusterLevel,
  type PeerName,
  raftConfiguration,
  removePeer,
  transferLeadership,
} from '../../service/cluster/operator.js';
import { aclConfigurationRoutes } from './acl-configuration.js';
import { autopilotRoutes } from './autopilot.js';
import { clusterRead } from './cluster-read.js';
import { joiningRoutes } from './joining.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

/** The routes below `/v1/operator`. */
export const operatorRoutes = (parts: ClusterParts): readonly DeclaredRoute[] => [
  {
    path: '/v1/operator/level',
    isNew: true,
    GET: async (request) => request.answerValue(await clusterLevel(parts, clusterRead(request))),
  },
  {
    path: '/v1/operator/raft/configuration',
    GET: async (request) =>
      request.answerValue(await raftConfiguration(parts, clusterRead(request))),
  },
  {
    path: '/v1/operator/raft/peer',
    DELETE: async (request) => {
      await removePeer(parts, request, peerName(request));
      request.answerText('');
    },
  },
  {
    path: '/v1/operator/raft/transfer-leader',
    POST: async (request) => {
      await transferLeadership(parts, request, request.query('id'));
      request.answerValue({ Success: true });
    },
  },
  ...joiningRoutes(parts),
  ...autopilotRoutes(parts),
  ...aclConfigurationRoutes(parts.service),
];

/** The server that a request names. Throws 400 unless it names it in one way. */
function peerName(request: ApiRequest): PeerName {
  const id = request.query('id');
  const address = request.query('address');
  if (id !== undefined && address !== undefined)
    reject('invalid', 'Must specify only one of ?id or ?address');
  if (id !== undefined) return { id };
  if (address !== undefined) return { address };
  return reject(
    'invalid',
    "Must specify either ?id with the server's ID or ?address with IP:port of peer to remove",
  );
}
