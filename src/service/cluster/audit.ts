/** Use cases that read the audit log of this node. */
import type { AuditSinks } from '../../api/endpoints/operator.js';
import { reject } from '../../base/errors.js';
import type { Requester } from '../common/types.js';
import { type ClusterParts, mustHaveRight, OPERATOR_READ } from './cluster.js';

/** Returns the sinks of this node. Throws ApiError 403. */
export async function auditSinks(
  { service, audit }: ClusterParts,
  requester: Requester,
): Promise<AuditSinks> {
  await mustHaveRight(service, requester, OPERATOR_READ);
  return { Sinks: audit.sinks() };
}

/**
 * Returns the newest records of this node as JSON, the newest first. Throws ApiError 403, and 404
 * if the record `before` is not in memory any more.
 */
export async function auditTail(
  { service, audit, node }: ClusterParts,
  requester: Requester,
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): Promise<string> {
  await mustHaveRight(service, requester, OPERATOR_READ);
  await service.permit(requester, (authorizer) => authorizer.denial('acl', 'read'));
  const tail = audit.tail(limit, before);
  if (tail === undefined)
    return reject('not_found', 'The record that "before" names is no longer in memory');
  const { records, more } = tail;
  return `{"Node":${JSON.stringify(node.name)},"Records":[${records.join(',')}],"More":${more}}`;
}
