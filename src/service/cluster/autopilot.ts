/** Use cases of autopilot: its configuration, and the members' health as the leader sees it. */
import type { AUTOPILOT_CONFIGURATION } from '../../api/endpoints/operator.js';
import { formatDuration } from '../../languages/duration.js';
import type { NodeStatus, PeerStatus } from '../../node/types.js';
import { keys } from '../../state/keys.js';
import type { FactSet } from '../../state/system.js';
import { modifyIndexOf } from '../common/reading.js';
import type { ReadUseCase, Requester, Service } from '../common/types.js';
import { versionRefused } from '../common/writing.js';
import {
  type ClusterParts,
  type ClusterRead,
  isAlive,
  mustAllow,
  mustReadAsOperator,
  mustWrite,
  statusFor,
} from './cluster.js';

const DEFAULTS = {
  CleanupDeadServers: false,
  LastContactThreshold: '200ms',
  MaxTrailingLogs: 250,
  MinQuorum: 0,
  ServerStabilizationTime: '10s',
  RedundancyZoneTag: '',
  DisableUpgradeMigration: false,
  UpgradeVersionTag: '',
};

/** Reads the configuration in force, as JSON text. */
export const readAutopilot: ReadUseCase<string> = ({ view, authorizer }) => {
  mustAllow(authorizer, 'operator', 'read');
  const key = keys.fact('autopilot');
  const none = { ...DEFAULTS, CreateIndex: 0, ModifyIndex: 0 };
  return { value: view.get(key) ?? JSON.stringify(none), index: 1, keys: [key] };
};

/** Throws 403 unless the caller may write the configuration. Called before the body is read. */
export const mustWriteAutopilot = (service: Service, requester: Requester): Promise<void> =>
  mustWrite(service, requester, 'operator');

/**
 * Replaces the configuration; a field that was not sent takes its default. `cas` is the
 * ModifyIndex that the configuration must have, undefined for any. Returns the JSON text `true`, or
 * `false` if it has another; with `saysVersion` that is an ApiError 412 instead.
 */
export async function writeAutopilot(
  service: Service,
  requester: Requester,
  sent: ReturnType<typeof AUTOPILOT_CONFIGURATION.decode>,
  { cas, saysVersion }: { readonly cas: number | undefined; readonly saysVersion: boolean },
): Promise<string> {
  const { LastContactThreshold: contact, ServerStabilizationTime: stable } = sent;
  const { CreateIndex: _created, ModifyIndex: _modified, ...settings } = sent;
  const command: FactSet = {
    type: 'fact.set',
    v: 1,
    name: 'autopilot',
    value: {
      ...DEFAULTS,
      ...settings,
      ...(contact !== undefined && { LastContactThreshold: formatDuration(contact) }),
      ...(stable !== undefined && { ServerStabilizationTime: formatDuration(stable) }),
    },
    ...(cas !== undefined && { cas }),
  };
  const answer = await service.write(requester, command);
  if (answer !== 'false' || !saysVersion) return answer;
  const text = service.view.get(keys.fact('autopilot'));
  const index = text === undefined ? 0 : modifyIndexOf(text);
  return versionRefused('the autopilot configuration', index);
}

/** Returns the health of each member and how many voters the cluster can lose. */
export async function autopilotHealth(parts: ClusterParts, read: ClusterRead) {
  await mustReadAsOperator(parts, read);
  return healthOf(await statusFor(parts, read), parts.release.version);
}

/** Returns the same by server, with the leader and the voters. */
export async function autopilotState(parts: ClusterParts, read: ClusterRead) {
  await mustReadAsOperator(parts, read);
  const status = await statusFor(parts, read);
  const health = healthOf(status, parts.release.version);
  return {
    Healthy: health.Healthy,
    FailureTolerance: health.FailureTolerance,
    OptimisticFailureTolerance: health.FailureTolerance,
    Servers: Object.fromEntries(
      health.Servers.map(({ SerfStatus, ...server }) => [
        server.ID,
        {
          ...server,
          NodeStatus: SerfStatus,
          Status: server.Leader ? 'leader' : server.Voter ? 'voter' : 'non-voter',
          NodeType: server.Voter ? 'voter' : 'read-replica',
          Meta: metaOf(status, server.ID),
        },
      ]),
    ),
    Leader: status.leaderId ?? '',
    Voters: health.Servers.filter((server) => server.Voter).map((server) => server.ID),
  };
}

/** Returns the problem that a server reports about itself, if any. */
function metaOf({ peers }: NodeStatus, id: string): Readonly<Record<string, string>> {
  const problem = peers.find((peer) => peer.id === id)?.problem;
  return problem === undefined ? {} : { problem };
}

function healthOf(status: NodeStatus, version: string) {
  const servers = status.peers.map((peer) => serverOf(status, peer, version));
  const voters = servers.filter((server) => server.Voter);
  const quorum = Math.floor(voters.length / 2) + 1;
  return {
    Healthy: servers.length > 0 && servers.every((server) => server.Healthy),
    FailureTolerance: Math.max(0, voters.filter((server) => server.Healthy).length - quorum),
    Servers: servers,
  };
}

function serverOf(status: NodeStatus, peer: PeerStatus, version: string) {
  const self = peer.id === status.id;
  const alive = isAlive(status, peer);
  const contactMs = peer.leader ? 0 : self ? status.lastContactMs : (peer.lastContactMs ?? 0);
  return {
    ID: peer.id,
    Name: peer.name,
    Address: peer.address,
    SerfStatus: alive ? 'alive' : 'failed',
    Version: version,
    Leader: peer.leader,
    LastContact: formatDuration(Math.round(contactMs) * 1e6),
    LastTerm: peer.lastTerm ?? status.term,
    LastIndex: self ? status.lastLogIndex : (peer.matchIndex ?? 0),
    Healthy: alive && status.leaderId !== null && peer.problem === undefined,
    Voter: peer.voter,
    StableSince: new Date(peer.stableSinceMs ?? 0).toISOString(),
  };
}
