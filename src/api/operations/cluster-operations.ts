/** The operations on the cluster, its nodes and the documents about the API. */
import {
  AUTOPILOT,
  AUTOPILOT_STATE,
  HEALTH,
  JOIN_TOKEN,
  JOINING,
  LEVEL,
  LIVE,
  MEMBER,
  METRICS,
  RAFT_CONFIGURATION,
  READY,
  REPLICATION,
  SELF,
  SUCCESS,
  VERSION,
} from '../answers/cluster-answers.js';
import { listOf } from '../answers/shapes.js';
import { DONE } from './common.js';
import type { Operations } from './types.js';

const TRUE = { says: 'The operation succeeded.', content: { schema: { const: true } } } as const;
const ADDRESS = { schema: { type: 'string' } } as const;

/** The operations of operators. */
export const OPERATOR_OPERATIONS = {
  '/v1/operator/level': {
    GET: {
      id: 'readLevel',
      tag: 'operator',
      says: 'Reads the level in force, and what each member supports.',
      does: 'read',
      answers: { 200: { says: 'The level.', content: { type: LEVEL } } },
      rights: ['operator:read'],
    },
  },
  '/v1/operator/raft/configuration': {
    GET: {
      id: 'readRaftConfiguration',
      tag: 'operator',
      says: 'Lists the members: voters and learners.',
      does: 'read',
      answers: { 200: { says: 'The members.', content: { type: RAFT_CONFIGURATION } } },
      rights: ['operator:read'],
    },
  },
  '/v1/operator/raft/peer': {
    DELETE: {
      id: 'removeServer',
      tag: 'operator',
      says: 'Removes a server from the cluster, by its ID or address.',
      does: 'write',
      query: ['id', 'address'],
      answers: DONE,
      refuses: [404, 409],
      rights: ['operator:write'],
    },
  },
  '/v1/operator/raft/transfer-leader': {
    POST: {
      id: 'transferLeadership',
      tag: 'operator',
      says:
        'Transfers leadership to a voter: the one with the given ID, or the most ' +
        'up-to-date one.',
      does: 'write',
      query: ['id'],
      answers: { 200: { says: 'The operation succeeded.', content: { type: SUCCESS } } },
      refuses: [404, 409],
      rights: ['operator:write'],
    },
  },
  '/v1/operator/raft/joining': {
    GET: {
      id: 'listJoiningServers',
      tag: 'operator',
      says: 'Lists the servers that are waiting to be admitted.',
      does: 'read',
      answers: { 200: { says: 'The servers.', content: { type: listOf(JOINING) } } },
      rights: ['operator:read'],
    },
  },
  '/v1/operator/raft/joining/:id': {
    PUT: {
      id: 'admitServer',
      tag: 'operator',
      says: 'Admits a waiting server to the cluster.',
      does: 'write',
      answers: { 200: TRUE },
      refuses: [404, 409],
      rights: ['operator:write'],
    },
  },
  '/v1/operator/raft/join-token': {
    POST: {
      id: 'createJoinToken',
      tag: 'operator',
      says: 'Creates a token with which one server may join.',
      does: 'write',
      query: ['ttl'],
      answers: { 200: { says: 'The join token.', content: { type: JOIN_TOKEN } } },
      refuses: [409],
      rights: ['operator:write'],
    },
  },
  '/v1/operator/autopilot/configuration': {
    GET: {
      id: 'readAutopilotConfiguration',
      tag: 'operator',
      says: 'Reads when a server is considered healthy, and what happens to dead servers.',
      does: 'read',
      answers: { 200: { says: 'The configuration.', content: { type: AUTOPILOT } } },
      rights: ['operator:read'],
    },
    PUT: {
      id: 'writeAutopilotConfiguration',
      tag: 'operator',
      says: 'Replaces the autopilot configuration. Absent members take their defaults.',
      does: 'write',
      query: ['cas'],
      body: { content: { ref: 'AutopilotConfigurationBody' } },
      answers: {
        200: {
          says: 'Whether it was written: false if its index differs from cas.',
          content: { schema: { type: 'boolean' } },
        },
      },
      refuses: [412],
      rights: ['operator:write'],
    },
  },
  '/v1/operator/autopilot/health': {
    GET: {
      id: 'readHealth',
      tag: 'operator',
      says: 'Reads the health of each member as the leader sees it.',
      does: 'read',
      answers: {
        200: { says: 'All members are healthy.', content: { type: HEALTH } },
        429: { says: 'A member is not healthy.', content: { type: HEALTH } },
      },
      rights: ['operator:read'],
    },
  },
  '/v1/operator/autopilot/state': {
    GET: {
      id: 'readAutopilotState',
      tag: 'operator',
      says: 'Reads the health of each member by server ID, with the leader and the voters.',
      does: 'read',
      answers: { 200: { says: 'The members.', content: { type: AUTOPILOT_STATE } } },
      rights: ['operator:read'],
    },
  },
  '/v1/operator/acl/configuration': {
    GET: {
      id: 'readAclConfiguration',
      tag: 'operator',
      says: 'Reads how long login tokens are valid, and how many one identity may have.',
      does: 'read',
      answers: {
        200: {
          says: 'The configuration.',
          content: { ref: 'AclConfiguration' },
          headers: ['index', 'etag'],
        },
      },
      rights: ['operator:read'],
    },
    PUT: {
      id: 'writeAclConfiguration',
      tag: 'operator',
      says: 'Replaces the ACL configuration. Absent members take their defaults.',
      does: 'write',
      body: { content: { ref: 'AclConfigurationBody' } },
      answers: {
        200: {
          says: 'The configuration.',
          content: { ref: 'AclConfiguration' },
          headers: ['etag'],
        },
      },
      refuses: [412],
      rights: ['operator:write', 'acl:write'],
    },
  },
} as const satisfies Operations;

/** The operations of one node, of archives, and of documents. */
export const NODE_OPERATIONS = {
  '/v1/status/leader': {
    GET: {
      id: 'readLeader',
      tag: 'agent',
      says: 'Reads the address of the leader.',
      does: 'open',
      answers: {
        200: { says: 'The address, or an empty text if none is known.', content: ADDRESS },
      },
    },
  },
  '/v1/status/peers': {
    GET: {
      id: 'listPeers',
      tag: 'agent',
      says: 'Lists the addresses of the voters.',
      does: 'open',
      answers: {
        200: {
          says: 'The addresses.',
          content: { schema: { type: 'array', items: { type: 'string' } } },
        },
      },
    },
  },
  '/v1/health/live': {
    GET: {
      id: 'readLiveness',
      tag: 'agent',
      says: 'Responds as long as the process is alive.',
      does: 'open',
      answers: { 200: { says: 'The process is alive.', content: { type: LIVE } } },
    },
  },
  '/v1/health/ready': {
    GET: {
      id: 'readReadiness',
      tag: 'agent',
      says: 'Reports whether the node is ready to serve requests.',
      does: 'read',
      answers: { 200: { says: 'The node is ready.', content: { type: READY } } },
    },
  },
  '/v1/agent/version': {
    GET: {
      id: 'readVersion',
      tag: 'agent',
      says: 'Reads the release that the node runs.',
      does: 'open',
      answers: { 200: { says: 'The release.', content: { type: VERSION } } },
    },
  },
  '/v1/agent/self': {
    GET: {
      id: 'readAgent',
      tag: 'agent',
      says: 'Reads the settings and the state of the node.',
      does: 'read',
      answers: { 200: { says: 'The node.', content: { type: SELF } } },
      rights: ['agent:read'],
    },
  },
  '/v1/agent/members': {
    GET: {
      id: 'listMembers',
      tag: 'agent',
      says: 'Lists the members that the caller may read.',
      does: 'read',
      query: ['filter'],
      answers: { 200: { says: 'The members.', content: { type: listOf(MEMBER) } } },
      rights: ['node:read'],
    },
  },
  '/v1/agent/metrics': {
    GET: {
      id: 'readMetrics',
      tag: 'agent',
      says: 'Reads the metrics of the node.',
      does: 'read',
      query: ['format'],
      answers: {
        200: { says: 'The metrics.', content: { type: METRICS }, text: true },
      },
      rights: ['agent:read'],
    },
  },
  '/v1/acl/replication': {
    GET: {
      id: 'readReplication',
      tag: 'agent',
      says:
        'Reads the status of replication between datacenters, which this server does not ' +
        'support.',
      does: 'open',
      answers: { 200: { says: 'A status without replication.', content: { type: REPLICATION } } },
    },
  },
  '/v1/snapshot': {
    GET: {
      id: 'saveSnapshot',
      tag: 'operator',
      says: 'Saves the whole state as an archive.',
      does: 'read',
      answers: {
        200: { says: 'The archive.', media: 'application/x-gzip', headers: ['index'] },
      },
      rights: ['acl:write'],
    },
    PUT: {
      id: 'restoreSnapshot',
      tag: 'operator',
      says: 'Replaces the whole state with that of an archive.',
      does: 'write',
      body: { content: { schema: {} }, media: 'application/x-gzip' },
      answers: DONE,
      rights: ['acl:write'],
    },
  },
  '/v1/openapi.json': {
    GET: {
      id: 'readOpenApi',
      tag: 'documents',
      says: 'Reads this document.',
      does: 'open',
      answers: {
        200: {
          says: 'The document.',
          content: { schema: { type: 'object' } },
          headers: ['etag'],
        },
        304: { says: 'The client already has this version.', headers: ['etag'] },
      },
    },
  },
  '/v1/schema/config/:kind': {
    GET: {
      id: 'readConfigSchema',
      tag: 'documents',
      says: 'Reads the JSON Schema of a kind as clients write its entries.',
      does: 'open',
      answers: {
        200: { says: 'The schema.', content: { schema: { type: 'object' } }, headers: ['etag'] },
        304: { says: 'The client already has this version.', headers: ['etag'] },
      },
      refuses: [404],
    },
  },
  '/v1/schema/:type': {
    GET: {
      id: 'readSchema',
      tag: 'documents',
      says: 'Reads the JSON Schema of an object as clients write it, or of problem details.',
      does: 'open',
      answers: {
        200: { says: 'The schema.', content: { schema: { type: 'object' } }, headers: ['etag'] },
        304: { says: 'The client already has this version.', headers: ['etag'] },
      },
      refuses: [404],
    },
  },
} as const satisfies Operations;
