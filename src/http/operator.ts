/** Raft membership and leadership, for operators. */
import { reject } from '../errors.js';
import type { NodeStatus } from '../node/types.js';
import { aclConfigurationRoutes } from './acl-configuration.js';
import { autopilotRoutes } from './autopilot.js';
import { type ClusterParts, mustHave, statusFor } from './cluster.js';
import { joiningRoutes } from './joining.js';
import type { ApiRequest, Route } from './types.js';

export function operatorRoutes(parts: ClusterParts): readonly Route[] {
  const { node } = parts;

  const configuration = async (request: ApiRequest): Promise<void> => {
    await mustHave(parts, request, 'operator', 'read');
    const status = await statusFor(parts, request);
    request.answerValue({
      Servers: status.peers.map((peer) => ({
        ID: peer.id,
        Node: peer.name,
        Address: peer.address,
        Leader: peer.leader,
        ProtocolVersion: '3',
        Voter: peer.voter,
        LastIndex: peer.id === status.id ? status.lastLogIndex : (peer.matchIndex ?? 0),
      })),
      Index: status.configurationIndex,
    });
  };

  const removePeer = async (request: ApiRequest): Promise<void> => {
    const id = request.query('id');
    const address = request.query('address');
    if (id === undefined && address === undefined)
      reject(
        'invalid',
        "Must specify either ?id with the server's ID or ?address with IP:port of peer to remove",
      );
    if (id !== undefined && address !== undefined)
      reject('invalid', 'Must specify only one of ?id or ?address');
    await mustHave(parts, request, 'operator', 'write');
    const { peers } = node.status();
    const peer = peers.find((p) => (id === undefined ? p.address === address : p.id === id));
    if (peer === undefined) {
      const named = id === undefined ? `address "${address}"` : `id "${id}"`;
      reject('not_found', `${named} was not found in the Raft configuration`);
    }
    if (peer.voter && peers.filter((p) => p.voter).length === 1)
      reject('conflict', 'need at least one voter in configuration: this is the last one');
    await node.removeServer(peer.id);
    request.answerText('');
  };

  const transfer = async (request: ApiRequest): Promise<void> => {
    await mustHave(parts, request, 'operator', 'write');
    await node.transfer(transferTarget(node.status(), request.query('id')));
    request.answerValue({ Success: true });
  };

  const level = async (request: ApiRequest): Promise<void> => {
    await mustHave(parts, request, 'operator', 'read');
    const { level: Level, supported: Supported, members } = await node.levels();
    request.answerValue({
      Level,
      Supported,
      Members: members.map(({ id, name, supported }) => ({
        ...{ ID: id, Name: name, Supported: supported },
      })),
      Waiting: members.filter(({ supported }) => supported < Supported).map(({ name }) => name),
    });
  };

  return [
    { path: '/v1/operator/level', GET: level },
    { path: '/v1/operator/raft/configuration', GET: configuration },
    { path: '/v1/operator/raft/peer', DELETE: removePeer },
    { path: '/v1/operator/raft/transfer-leader', POST: transfer },
    ...joiningRoutes(parts),
    ...autopilotRoutes(parts),
    ...aclConfigurationRoutes(parts.service),
  ];
}

/** Checks who is to lead; throws 404 for a stranger, 409 where there is nobody else. */
function transferTarget(status: NodeStatus, id: string | undefined): string | undefined {
  if (id !== undefined && !status.peers.some((peer) => peer.id === id))
    reject('not_found', `Could not find address for server id "${id}"`);
  if (!status.peers.some((peer) => peer.voter && !peer.leader))
    reject('conflict', 'cannot find peer: no other voter could lead this cluster');
  if (id !== undefined && !status.peers.some((peer) => peer.id === id && peer.voter))
    reject('conflict', `cannot find peer: server id "${id}" does not vote`);
  return id;
}
