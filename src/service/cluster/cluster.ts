/** What the use cases of the cluster itself share: parts, rights and status. */
import type { Access, Authorizer, Resource } from '../../acl/types.js';
import type { AuditSink } from '../../api/endpoints/operator.js';
import { refuseIf } from '../../base/errors.js';
import type { Release } from '../../base/release.js';
import type { RecentLine } from '../../log/recent.js';
import type { ClusterNode, NodeStatus, PeerStatus, ReadMode } from '../../node/types.js';
import type { Requester, Service } from '../common/types.js';

/** The figures of the last hour, and what else people look at first. */
export interface FigureView {
  /** Unix milliseconds at which the step of the oldest values began. */
  readonly fromMs: number;
  readonly stepMs: number;
  readonly figures: Readonly<Record<string, readonly (number | null)[]>>;
  readonly certificates: readonly { readonly use: string; readonly notAfterMs: number }[];
  /** Unix milliseconds at which this process sent its last whole archive; 0 if it sent none. */
  readonly savedMs: number;
}

/** What the use cases of the audit log read. */
export interface AuditView {
  sinks(): readonly AuditSink[];
  /**
   * Returns the newest records as JSON, those before the record with the ID `before` if it is
   * given; undefined if there is no such record.
   */
  tail(
    limit: number,
    before?: string,
  ): { readonly records: readonly string[]; readonly more: boolean } | undefined;
}

export interface ClusterParts {
  readonly service: Service;
  readonly node: ClusterNode;
  readonly datacenter: string;
  readonly release: Release;
  /**
   * Returns why this node does not serve or cannot follow the leader; undefined if it does. A full
   * disk is not a reason.
   */
  readonly fault: () => string | undefined;
  /** The settings in force, secrets hidden. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly metrics: {
    /** The metrics in the text format of Prometheus. */
    prometheus(): string;
    json(): object;
    history(): FigureView;
  };
  readonly audit: AuditView;
  /** The last warnings and errors of the log, newest first. */
  readonly recent: () => readonly RecentLine[];
}

/** Who reads the status of the cluster. `stale` reads this node's view, otherwise the leader's. */
export interface ClusterRead extends Requester {
  readonly mode: ReadMode;
}

/** Throws 403 unless the authorizer grants the access. */
export function mustAllow(authorizer: Authorizer, resource: Resource, access: Access): void {
  refuseIf(authorizer.denial(resource, access));
}

/** A right to something of the cluster, or to one thing that a segment names. */
export interface Right {
  readonly resource: Resource;
  readonly access: Access;
  readonly segment?: string;
}

/** The right to read what concerns the cluster. */
export const OPERATOR_READ: Right = { resource: 'operator', access: 'read' };

/** Throws 403 unless the caller has a right. See `Service.permit`. */
export async function mustHaveRight(
  service: Service,
  requester: Requester,
  { resource, access, segment }: Right,
): Promise<void> {
  await service.permit(requester, (authorizer) => authorizer.denial(resource, access, segment));
}

/**
 * Throws 403 unless the caller may write. Waits for a barrier first: no leader authorizes again
 * what bypasses the log, so this node must know of rights that were taken away.
 */
export async function mustWrite(
  service: Service,
  requester: Requester,
  resource: Resource,
): Promise<void> {
  await service.catchUp(requester.timeoutMs);
  await mustHaveRight(service, requester, { resource, access: 'write' });
}

/**
 * Throws 403 unless the caller has `operator:read`. Waits for a barrier unless the read is stale.
 */
export async function mustReadAsOperator(
  { service }: ClusterParts,
  read: ClusterRead,
): Promise<void> {
  if (read.mode === 'stale') {
    return mustAllow(await service.authorize(read.caller), 'operator', 'read');
  }
  await service.catchUp(read.timeoutMs);
  await mustHaveRight(service, read, OPERATOR_READ);
}

/** Returns the leader's status, after a barrier; this node's own for a stale read. */
export async function statusFor(
  { service, node }: ClusterParts,
  { mode, timeoutMs }: ClusterRead,
): Promise<NodeStatus> {
  if (mode === 'stale') return node.status();
  await service.catchUp(timeoutMs);
  return node.leaderStatus(timeoutMs);
}

/** Whether a member is alive, as the leader reports it or as far as this node knows. */
export function isAlive(status: NodeStatus, peer: PeerStatus): boolean {
  if (peer.id === status.id) return true;
  if (peer.leader) return status.leaderId === peer.id;
  // Releases before 0.4.0 tell `healthy` alone.
  return peer.alive ?? peer.healthy ?? true;
}
