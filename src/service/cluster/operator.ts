/** Use cases of operators: Raft membership, leadership and levels. */
import { reject } from '../../base/errors.js';
import type { NodeStatus } from '../../node/types.js';
import type { Requester } from '../common/types.js';
import {
  type ClusterParts,
  type ClusterRead,
  mustReadAsOperator,
  mustWrite,
  statusFor,
} from './cluster.js';

/** Names a server of the configuration by its id or address. */
export type PeerName = { readonly id: string } | { readonly address: string };

/** Returns the newest Raft configuration that the leader knows. */
export async function raftConfiguration(parts: ClusterParts, read: ClusterRead) {
  await mustReadAsOperator(parts, read);
  const status = await statusFor(parts, read);
  return {
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
  };
}

/** Removes a server. Throws ApiError `not_found`, `conflict` for the last voter, `no_leader`. */
export async function removePeer(
  { service, node }: ClusterParts,
  requester: Requester,
  name: PeerName,
): Promise<void> {
  await mustWrite(service, requester, 'operator');
  const { peers } = node.status();
  const peer = peers.find((each) =>
    'id' in name ? each.id === name.id : each.address === name.address,
  );
  if (peer === undefined) {
    const named = 'id' in name ? `id "${name.id}"` : `address "${name.address}"`;
    reject('not_found', `${named} was not found in the Raft configuration`);
  }
  if (peer.voter && peers.filter((each) => each.voter).length === 1)
    reject('conflict', 'need at least one voter in configuration: this is the last one');
  await node.removeServer(peer.id);
}

/** Transfers leadership to a voter: that of `id`, or the most advanced one. Throws ApiError. */
export async function transferLeadership(
  { service, node }: ClusterParts,
  requester: Requester,
  id: string | undefined,
): Promise<void> {
  await mustWrite(service, requester, 'operator');
  mustBeTransferable(node.status(), id);
  await node.transfer(id);
}

/** Throws 404 unless the successor is a member, and 409 unless it, or any other member, votes. */
function mustBeTransferable({ peers }: NodeStatus, id: string | undefined): void {
  if (id !== undefined && !peers.some((peer) => peer.id === id))
    reject('not_found', `Could not find address for server id "${id}"`);
  if (!peers.some((peer) => peer.voter && !peer.leader))
    reject('conflict', 'cannot find peer: no other voter could lead this cluster');
  if (id !== undefined && !peers.some((peer) => peer.id === id && peer.voter))
    reject('conflict', `cannot find peer: server id "${id}" does not vote`);
}

/** Returns the level in force and what each member supports. */
export async function clusterLevel(parts: ClusterParts, read: ClusterRead) {
  await mustReadAsOperator(parts, read);
  const { level: Level, supported: Supported, members } = await parts.node.levels();
  return {
    Level,
    Supported,
    Members: members.map(({ id, name, supported }) => ({
      ID: id,
      Name: name,
      Supported: supported ?? null,
    })),
    // Once the level is in force, no server keeps it from rising.
    Waiting:
      Level >= Supported
        ? []
        : members.filter(({ supported = 0 }) => supported < Supported).map(({ name }) => name),
  };
}
