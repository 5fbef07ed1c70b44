/** This node about itself: settings, members, metrics, replication. */
import type { NodeStatus, PeerStatus } from '../node/types.js';
import { filterOf } from '../service/filters.js';
import { parseAddress } from '../transport/security.js';
import { type ClusterParts, isAlive, mustHave } from './cluster.js';
import type { ApiRequest, Route } from './types.js';

/** Time for the leader to say how its members are. */
const MEMBERS_MS = 1000;
const ALIVE = 1;
const FAILED = 4;
const NEVER = '0001-01-01T00:00:00Z';

export function agentRoutes(parts: ClusterParts): readonly Route[] {
  const { node, service } = parts;

  const self = async (request: ApiRequest): Promise<void> => {
    await mustHave(parts, request, 'agent', 'read', node.name);
    const status = node.status();
    const own = status.peers.find((peer) => peer.id === status.id);
    request.answerValue({
      Config: {
        Datacenter: parts.datacenter,
        PrimaryDatacenter: parts.datacenter,
        NodeName: status.name,
        NodeID: status.id,
        Revision: '',
        Server: true,
        Version: parts.version,
      },
      DebugConfig: parts.settings,
      Coord: null,
      Member: memberOf(parts, status, own ?? asPeer(status)),
      Stats: { raft: raftStats(status) },
      Meta: {},
    });
  };

  const members = async (request: ApiRequest): Promise<void> => {
    const matches = filterOf(request.query('filter'))('member');
    await service.permit(request.caller, request.timeoutMs, () => undefined);
    const authorizer = service.authorize(request.caller);
    // the leader knows who answers; without one, what this node knows
    const status = await node.leaderStatus(MEMBERS_MS).catch(() => node.status());
    const shown = status.peers.filter((peer) => authorizer.allowed('node', 'read', peer.name));
    request.answerValue(shown.map((peer) => memberOf(parts, status, peer)).filter(matches));
  };

  const metrics = async (request: ApiRequest): Promise<void> => {
    await mustHave(parts, request, 'agent', 'read', node.name);
    if (request.query('format') === 'prometheus')
      request.answerText(await parts.metrics.prometheus(), {
        contentType: 'text/plain; version=0.0.4; charset=utf-8',
      });
    else request.answerValue(await parts.metrics.json());
  };

  return [
    { path: '/v1/agent/self', GET: self },
    { path: '/v1/agent/members', GET: members },
    { path: '/v1/agent/metrics', GET: metrics },
    {
      // replication between datacenters, which this server does not have; all members of one share
      // their state
      path: '/v1/acl/replication',
      GET: (request) =>
        request.answerValue({
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
        }),
    },
  ];
}

/** A node that is in no configuration yet, as a peer. */
const asPeer = ({ id, name, address }: NodeStatus): PeerStatus => ({
  id,
  name,
  address,
  voter: false,
  leader: false,
});

function memberOf(parts: ClusterParts, status: NodeStatus, peer: PeerStatus) {
  const { host, port } = parseAddress(peer.address);
  return {
    Name: peer.name,
    Addr: host,
    Port: port,
    Tags: {
      role: 'consul',
      dc: parts.datacenter,
      id: peer.id,
      port: String(port),
      build: parts.version,
      raft_vsn: '3',
      ...(!peer.voter && { nonvoter: '1' }),
    },
    Status: isAlive(status, peer) ? ALIVE : FAILED,
    ProtocolMin: 1,
    ProtocolMax: 5,
    ProtocolCur: 2,
    DelegateMin: 2,
    DelegateMax: 5,
    DelegateCur: 4,
  };
}

function raftStats(status: NodeStatus): Record<string, string> {
  return {
    state:
      status.role === 'leader' ? 'Leader' : status.role === 'follower' ? 'Follower' : status.role,
    term: String(status.term),
    commit_index: String(status.commitIndex),
    applied_index: String(status.appliedIndex),
    last_log_index: String(status.lastLogIndex),
    last_contact: `${Math.round(status.lastContactMs)}ms`,
    num_peers: String(Math.max(0, status.peers.filter((peer) => peer.voter).length - 1)),
    latest_configuration_index: String(status.configurationIndex),
  };
}
