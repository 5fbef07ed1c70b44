/** Routes of operators: members, leadership, levels, joining, autopilot, the ACL configuration. */
import { AUTOPILOT_CONFIGURATION } from '../../api/endpoints/operator.js';
import { reject } from '../../base/errors.js';
import { parseDuration } from '../../languages/duration.js';
import {
  CONFIGURATION_BODY,
  decodeConfiguration,
  mayConfigure,
  readConfiguration,
  writeConfiguration,
} from '../../service/acl/acl-configuration.js';
import { auditSinks, auditTail } from '../../service/cluster/audit.js';
import {
  autopilotHealth,
  autopilotState,
  mustWriteAutopilot,
  readAutopilot,
  writeAutopilot,
} from '../../service/cluster/autopilot.js';
import type { ClusterParts, ClusterRead } from '../../service/cluster/cluster.js';
import { admitServer, JoinTokens, joiningServers } from '../../service/cluster/joining.js';
import {
  clusterLevel,
  type PeerName,
  raftConfiguration,
  removePeer,
  transferLeadership,
} from '../../service/cluster/operator.js';
import type { Service } from '../../service/common/types.js';
import { parseIndex } from '../request/parameters.js';
import { ifMatchOf } from '../request/preconditions.js';
import { asksForProblem } from '../response/refusal-body.js';
import { admit, etagOf } from './common.js';
import { limitOf } from './pages.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

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
  {
    path: '/v1/operator/audit',
    isNew: true,
    everywhere: true,
    GET: async (request) => request.answerValue(await auditSinks(parts, request)),
  },
  {
    path: '/v1/operator/audit/tail',
    isNew: true,
    everywhere: true,
    GET: async (request) => {
      const limit = limitOf(request, TAIL_LIMIT);
      request.answerJson(
        await auditTail(parts, request, { limit, before: request.query('before') }),
      );
    },
  },
  ...joiningRoutes(parts),
  ...autopilotRoutes(parts),
  ...aclConfigurationRoutes(parts.service),
];

/** The number of records in an answer without `limit`. */
const TAIL_LIMIT = 100;

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

/** Returns who reads the status, and how current it must be. Throws 400. */
const clusterRead = (request: ApiRequest): ClusterRead => {
  const { mode, timeoutMs } = request.singleReadOptions();
  return { caller: request.caller, timeoutMs, mode };
};

/**
 * How long a join token lasts: long enough to bring it to a server and start that; and at most a
 * day.
 */
const TTL_MS = 15 * 60_000;
const TTL_MS_MAX = 24 * 3_600_000;

/** The routes of `/v1/operator/raft/joining` and `join-token`. */
function joiningRoutes(parts: ClusterParts): readonly DeclaredRoute[] {
  const tokens = new JoinTokens(parts);
  return [
    {
      path: '/v1/operator/raft/joining',
      isNew: true,
      GET: async (request) =>
        request.answerValue(await joiningServers(parts, clusterRead(request))),
    },
    {
      path: '/v1/operator/raft/joining/:id',
      isNew: true,
      PUT: async (request) => {
        await admitServer(parts, request, request.param('id'));
        request.answerValue(true);
      },
    },
    {
      path: '/v1/operator/raft/join-token',
      isNew: true,
      POST: async (request) => {
        const ttlMs = ttlOf(request.query('ttl'));
        request.answerValue(await tokens.create(request, ttlMs));
      },
    },
  ];
}

/** Milliseconds of `?ttl=`. Throws 400. */
function ttlOf(text: string | undefined): number {
  if (text === undefined) return TTL_MS;
  const parsed = parseDuration(text);
  if (!parsed.ok) reject('invalid', `?ttl: ${parsed.message}`);
  const ms = parsed.nanoseconds / 1e6;
  if (ms < 1000 || ms > TTL_MS_MAX) reject('invalid', '?ttl: must be from 1s to 24h');
  return Math.round(ms);
}

const AUTOPILOT_FAILURE = 'Error parsing autopilot config';

const autopilotRoutes = (parts: ClusterParts): readonly DeclaredRoute[] => [
  {
    path: '/v1/operator/autopilot/configuration',
    GET: async (request) => {
      const options = request.singleReadOptions();
      const { value } = await parts.service.read(request.caller, options, readAutopilot);
      request.answerJson(value);
    },
    PUT: async (request) => {
      const { service } = parts;
      const cas = casOf(request);
      await admit(request, AUTOPILOT_FAILURE, mustWriteAutopilot(service, request));
      const sent = await request.decoded(AUTOPILOT_FAILURE, AUTOPILOT_CONFIGURATION);
      const condition = { cas, saysVersion: asksForProblem(request.incoming) };
      request.answerJson(await writeAutopilot(service, request, sent, condition));
    },
  },
  {
    path: '/v1/operator/autopilot/health',
    GET: async (request) => {
      const health = await autopilotHealth(parts, clusterRead(request));
      request.answerValue(health, health.Healthy ? 200 : 429);
    },
  },
  {
    path: '/v1/operator/autopilot/state',
    GET: async (request) => request.answerValue(await autopilotState(parts, clusterRead(request))),
  },
];

/** The ModifyIndex of `?cas=`; undefined if there is none. Throws 400. */
function casOf(request: ApiRequest): number | undefined {
  const text = request.query('cas');
  if (text === undefined) return undefined;
  const shown = JSON.stringify(text.slice(0, 60));
  return parseIndex(text) ?? reject('invalid', `Error parsing cas value: ${shown} is not an index`);
}

const ACL_FAILURE = 'Error parsing ACL configuration';

export function aclConfigurationRoutes(service: Service): readonly DeclaredRoute[] {
  const read = async (request: ApiRequest): Promise<void> => {
    const options = request.singleReadOptions();
    const outcome = await service.read(request.caller, options, readConfiguration);
    request.answerRead(outcome, undefined, { ETag: etagOf(outcome.value) });
  };

  const write = async (request: ApiRequest): Promise<void> => {
    await admit(request, ACL_FAILURE, mayConfigure(service, request));
    const ifMatch = ifMatchOf(request.incoming);
    const configuration = decodeConfiguration(
      ACL_FAILURE,
      await request.body(ACL_FAILURE, CONFIGURATION_BODY),
    );
    const text = await writeConfiguration(service, request, configuration, ifMatch);
    request.answerJson(text, 200, { ETag: etagOf(text) });
  };

  return [
    { path: '/v1/operator/acl/configuration', isNew: true, ifMatch: true, GET: read, PUT: write },
  ];
}
