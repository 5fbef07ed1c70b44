/** Routes of the agent: this node's settings, members and metrics. */
import {
  agentHistory,
  agentMembers,
  agentSelf,
  agentVersion,
  jsonMetrics,
  prometheusMetrics,
} from '../../service/cluster/agent.js';
import type { ClusterParts } from '../../service/cluster/cluster.js';
import { filterOf } from '../../service/common/filters.js';
import type { DeclaredRoute } from './types.js';

const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const NEVER = '0001-01-01T00:00:00Z';
/**
 * Replication between datacenters, which this server does not have: all members of one share their
 * state.
 */
const NO_REPLICATION = {
  Enabled: false,
  Running: false,
  SourceDatacenter: '',
  ReplicationType: '',
  ReplicatedIndex: 0,
  ReplicatedRoleIndex: 0,
  ReplicatedTokenIndex: 0,
  LastSuccess: NEVER,
  LastError: NEVER,
  LastErrorMessage: '',
};

/** The routes below `/v1/agent`, and that of ACL replication. */
export const agentRoutes = (parts: ClusterParts): readonly DeclaredRoute[] => [
  {
    path: '/v1/agent/version',
    everywhere: true,
    GET: (request) => request.answerValue(agentVersion(parts)),
  },
  {
    path: '/v1/agent/self',
    everywhere: true,
    GET: async (request) => request.answerValue(await agentSelf(parts, request)),
  },
  {
    path: '/v1/agent/members',
    GET: async (request) => {
      const filter = filterOf(request.query('filter'));
      const { members, isFiltered } = await agentMembers(parts, request, filter);
      request.answerFiltered(members, isFiltered);
    },
  },
  {
    path: '/v1/agent/metrics',
    GET: async (request) => {
      if (request.query('format') === 'prometheus') {
        const text = await prometheusMetrics(parts, request);
        request.answerText(text, { contentType: PROMETHEUS_TYPE });
      } else request.answerValue(await jsonMetrics(parts, request));
    },
  },
  {
    path: '/v1/agent/history',
    isNew: true,
    everywhere: true,
    GET: async (request) => request.answerValue(await agentHistory(parts, request)),
  },
  {
    path: '/v1/acl/replication',
    GET: (request) => request.answerValue(NO_REPLICATION),
  },
];
