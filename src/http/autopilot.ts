/** Autopilot: its configuration, and the health of the members as the leader sees it. */
import { reject } from '../errors.js';
import { formatDuration } from '../languages/duration.js';
import {
  bodyOf,
  boolean,
  computed,
  given,
  text,
  timeToLive,
  whole64,
} from '../languages/fields.js';
import type { NodeStatus, PeerStatus } from '../node/types.js';
import { decodeBody } from '../service/decode.js';
import { keys } from '../state/keys.js';
import { admit } from './admit.js';
import { type ClusterParts, isAlive, mustHave, statusFor } from './cluster.js';
import { parseIndex } from './parameters.js';
import type { ApiRequest, Route } from './types.js';

const FAILURE = 'Error parsing autopilot config';
const CONFIGURATION = bodyOf({
  CleanupDeadServers: given(boolean),
  LastContactThreshold: given(timeToLive),
  MaxTrailingLogs: given(whole64),
  MinQuorum: given(whole64),
  ServerStabilizationTime: given(timeToLive),
  RedundancyZoneTag: given(text()),
  DisableUpgradeMigration: given(boolean),
  UpgradeVersionTag: given(text()),
  CreateIndex: given(computed(whole64)),
  ModifyIndex: given(computed(whole64)),
});
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

export function autopilotRoutes(parts: ClusterParts): readonly Route[] {
  const { service } = parts;

  const readConfiguration = async (request: ApiRequest): Promise<void> => {
    const { value } = await service.read(
      request.caller,
      request.readOptions(false),
      ({ view, authorizer }) => {
        const denial = authorizer.denial('operator', 'read');
        if (denial !== undefined) reject('permission_denied', denial);
        const key = keys.fact('autopilot');
        return { value: view.get(key), index: 1, keys: [key] };
      },
    );
    request.answerJson(value ?? JSON.stringify({ ...DEFAULTS, CreateIndex: 0, ModifyIndex: 0 }));
  };

  const writeConfiguration = async (request: ApiRequest): Promise<void> => {
    const casText = request.query('cas');
    const cas = casText === undefined ? undefined : parseIndex(casText);
    if (casText !== undefined && cas === undefined)
      reject(
        'invalid',
        `Error parsing cas value: ${JSON.stringify(casText.slice(0, 60))} is no index`,
      );
    await admit(request, FAILURE, mustHave(parts, request, 'operator', 'write'));
    const sent = decodeBody(FAILURE, await request.body(FAILURE), CONFIGURATION);
    const { LastContactThreshold: contact, ServerStabilizationTime: stable } = sent;
    const { CreateIndex: _created, ModifyIndex: _modified, ...settings } = sent;
    const value = {
      ...DEFAULTS,
      ...settings,
      ...(contact !== undefined && { LastContactThreshold: formatDuration(contact) }),
      ...(stable !== undefined && { ServerStabilizationTime: formatDuration(stable) }),
    };
    const command = {
      type: 'fact.set',
      v: 1,
      name: 'autopilot',
      value,
      ...(cas !== undefined && { cas }),
    } as const;
    request.answerJson((await service.write(request.caller, command, request.timeoutMs)) ?? 'true');
  };

  const status = async (request: ApiRequest): Promise<NodeStatus> => {
    await mustHave(parts, request, 'operator', 'read');
    return statusFor(parts, request);
  };

  return [
    {
      path: '/v1/operator/autopilot/configuration',
      GET: readConfiguration,
      PUT: writeConfiguration,
    },
    {
      path: '/v1/operator/autopilot/health',
      GET: async (request) => {
        const health = healthOf(await status(request), parts.version);
        request.answerValue(health, health.Healthy ? 200 : 429);
      },
    },
    {
      path: '/v1/operator/autopilot/state',
      GET: async (request) => request.answerValue(stateOf(await status(request), parts.version)),
    },
  ];
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
    Healthy: alive && status.leaderId !== null,
    Voter: peer.voter,
    StableSince: new Date(peer.stableSinceMs ?? 0).toISOString(),
  };
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

function stateOf(status: NodeStatus, version: string) {
  const health = healthOf(status, version);
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
          Meta: {},
        },
      ]),
    ),
    Leader: status.leaderId ?? '',
    Voters: health.Servers.filter((server) => server.Voter).map((server) => server.ID),
  };
}
