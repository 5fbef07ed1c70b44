/** Routes of the cluster's status and of probes: open to everyone. */
import type { ClusterParts } from '../../service/cluster/cluster.js';
import { leaderAddress, readiness, voterAddresses } from '../../service/cluster/status.js';
import type { DeclaredRoute } from './types.js';

export const statusRoutes = (parts: ClusterParts): readonly DeclaredRoute[] => [
  {
    path: '/v1/status/leader',
    GET: (request) => {
      request.singleReadOptions();
      request.answerValue(leaderAddress(parts));
    },
  },
  {
    path: '/v1/status/peers',
    GET: (request) => {
      request.singleReadOptions();
      request.answerValue(voterAddresses(parts));
    },
  },
  // probes of an orchestrator: the process answers; the node would serve a request
  {
    path: '/v1/health/live',
    counts: 'probe',
    GET: (request) => request.answerValue({ Status: 'live' }),
  },
  {
    path: '/v1/health/ready',
    counts: 'probe',
    GET: (request) => request.answerValue(readiness(parts)),
  },
];
