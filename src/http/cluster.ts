/** What the cluster's own endpoints need, and the figures they share. */
import type { Authorizer } from '../acl/types.js';
import type { ClusterNode, NodeStatus, PeerStatus } from '../node/types.js';
import type { Service } from '../service/types.js';
import type { ApiRequest } from './types.js';

export interface ClusterParts {
  readonly service: Service;
  readonly node: ClusterNode;
  readonly datacenter: string;
  readonly version: string;
  /**
   * Why this node does not serve, or cannot follow the leader, if so. A full disk does not count.
   */
  readonly fault: () => string | undefined;
  /** The settings in force, secrets hidden. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly metrics: {
    prometheus(): Promise<string>;
    json(): Promise<unknown>;
  };
}

/**
 * Lets the request pass only with a right; throws 403. Operators' rights are asked of the state
 * after a barrier, because no leader asks again what they do; those of an agent must be known while
 * there is no leader.
 */
export async function mustHave(
  { service }: ClusterParts,
  request: ApiRequest,
  resource: Parameters<Authorizer['denial']>[0],
  access: Parameters<Authorizer['denial']>[1],
  segment?: string,
): Promise<void> {
  const isLocal =
    resource === 'agent' || (access === 'read' && request.readOptions(false).mode === 'stale');
  if (!isLocal) await service.catchUp(request.timeoutMs);
  await service.permit(request.caller, request.timeoutMs, (authorizer) =>
    authorizer.denial(resource, access, segment),
  );
}

/** The leader's view of the cluster, waited for; with `stale` this node's own. */
export async function statusFor(
  { service, node }: ClusterParts,
  request: ApiRequest,
): Promise<NodeStatus> {
  const { mode, timeoutMs } = request.readOptions(false);
  if (mode === 'stale') return node.status();
  await service.catchUp(timeoutMs);
  return node.leaderStatus(timeoutMs);
}

/** Whether a member counts as alive: the leader's word, or what this node knows by itself. */
export function isAlive(status: NodeStatus, peer: PeerStatus): boolean {
  if (peer.id === status.id) return true;
  if (peer.leader) return status.leaderId === peer.id;
  return peer.healthy ?? true;
}
