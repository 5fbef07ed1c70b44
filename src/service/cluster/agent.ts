/** Use cases of the agent: what this node reports about itself and the members. */
import { availableParallelism } from 'node:os';
import { parseAddress } from '../../base/address.js';
import type { Release } from '../../base/release.js';
import type { NodeStatus, PeerStatus } from '../../node/types.js';
import type { FilterOf } from '../common/filters.js';
import type { Requester } from '../common/types.js';
import { type ClusterParts, isAlive, mustHaveRight, OPERATOR_READ } from './cluster.js';

/** Time for the leader to report its members. */
const MEMBERS_MS = 1000;
/** States of a member, as Serf numbers them. */
const ALIVE = 1;
const FAILED = 4;

/** Throws 403 unless the caller may read the agent. Needs no leader if this node grants it. */
const mustReadAgent = ({ service, node }: ClusterParts, requester: Requester): Promise<void> =>
  mustHaveRight(service, requester, { resource: 'agent', access: 'read', segment: node.name });

/** Returns what this node runs. It is for everyone. */
export const agentVersion = ({ release }: ClusterParts) => ({
  SHA: release.sha,
  BuildDate: release.date,
  HumanVersion: release.version,
  FIPS: '',
});

/**
 * Returns the settings, the Raft status and the membership of this node. Clients read every member
 * except `xDS` as an object; those for features that this server lacks are empty.
 */
export async function agentSelf(parts: ClusterParts, requester: Requester) {
  await mustReadAgent(parts, requester);
  const { release, datacenter } = parts;
  const status = parts.node.status();
  const own = status.peers.find((peer) => peer.id === status.id);
  const [version] = versionParts(release.version);
  return {
    Config: {
      Datacenter: datacenter,
      PrimaryDatacenter: datacenter,
      NodeName: status.name,
      NodeID: status.id,
      Revision: shortSha(release),
      Server: true,
      Version: version,
      BuildDate: release.date,
    },
    DebugConfig: { ...parts.settings, ACLsEnabled: true, EnableDebug: false, GRPCPort: NO_PORT },
    Coord: { Vec: NO_VECTOR, Error: 0, Adjustment: 0, Height: 0 },
    Member: memberOf(parts, status, own ?? asPeer(status)),
    Stats: statsOf(parts, status),
    Meta: { 'consul-version': release.version, 'consul-network-segment': '' },
  };
}

/** A port that is not open. */
const NO_PORT = -1;
/** Coordinates of the network, which this server does not measure: clients expect eight. */
const NO_VECTOR = [0, 0, 0, 0, 0, 0, 0, 0];

/** Returns the first characters of the commit, which identify it. */
const shortSha = ({ sha }: Release): string => sha.slice(0, 8);

/** Splits `1.2.3-rc1+x` into version, pre-release and metadata; what is missing is empty. */
function versionParts(version: string): readonly [string, string, string] {
  const [, main = version, pre = '', metadata = ''] =
    /^([^-+]*)(?:-([^+]*))?(?:\+(.*))?$/.exec(version) ?? [];
  return [main, pre, metadata];
}

/** Returns the members that the caller may read and the filter keeps, and if there are others. */
export async function agentMembers(parts: ClusterParts, requester: Requester, filter: FilterOf) {
  const { node, service } = parts;
  const matches = filter('member')?.() ?? (() => true);
  const authorizer = await service.permit(requester, () => undefined);
  // The leader knows which members respond. Without a leader, this node shows what it knows.
  const status = await node.leaderStatus(MEMBERS_MS).catch(() => node.status());
  const shown = status.peers.filter((peer) => authorizer.allowed('node', 'read', peer.name));
  return {
    members: shown.map((peer) => memberOf(parts, status, peer)).filter(matches),
    isFiltered: shown.length < status.peers.length,
  };
}

/** Returns the metrics of this node in the text format of Prometheus. */
export async function prometheusMetrics(
  parts: ClusterParts,
  requester: Requester,
): Promise<string> {
  await mustReadAgent(parts, requester);
  return parts.metrics.prometheus();
}

/** Returns the metrics of this node as JSON. */
export async function jsonMetrics(parts: ClusterParts, requester: Requester): Promise<unknown> {
  await mustReadAgent(parts, requester);
  return parts.metrics.json();
}

/** Returns the figures of this node in the last hour. Needs no leader if this node grants it. */
export async function agentHistory(parts: ClusterParts, requester: Requester) {
  await mustHaveRight(parts.service, requester, OPERATOR_READ);
  const { fromMs, stepMs, figures, certificates, savedMs } = parts.metrics.history();
  const time = (ms: number): string => new Date(ms).toISOString();
  return {
    IntervalMs: stepMs,
    From: time(fromMs),
    Series: figures,
    Node: parts.node.name,
    Certificates: certificates.map(({ use, notAfterMs }) => ({
      Use: use,
      NotAfter: time(notAfterMs),
    })),
    LastBackup: savedMs === 0 ? null : time(savedMs),
    Warnings: parts.recent().map(({ level, event, message, ms, count }) => ({
      Time: time(ms),
      Level: level,
      Event: event,
      Message: message,
      Count: count,
    })),
  };
}

/** Returns this node as a peer while no configuration contains it yet. */
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
      build: `${parts.release.version}:`,
      acls: '1',
      segment: '',
      vsn: '2',
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

/** Returns the statistics of this node by area, as text by name. */
function statsOf({ release, datacenter }: ClusterParts, status: NodeStatus) {
  const [version, prerelease, metadata] = versionParts(release.version);
  return {
    agent: {},
    build: {
      version,
      prerelease,
      version_metadata: metadata,
      revision: shortSha(release),
    },
    consul: {
      acl: 'enabled',
      bootstrap: 'false',
      datacenter,
      known_datacenters: '1',
      leader: String(status.role === 'leader'),
      leader_addr: status.leaderAddress,
      server: 'true',
    },
    raft: raftStats(status),
    runtime: {
      arch: process.arch,
      cpu_count: String(availableParallelism()),
      os: process.platform,
      version: process.version,
    },
    serf_lan: { members: String(status.peers.length) },
    serf_wan: {},
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
