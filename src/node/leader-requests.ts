/** Requests to other members as promises. */
import { ApiError, reject } from '../base/errors.js';
import { CHANGE_MS } from '../replica/members/join.js';
import type { Rpc } from '../replica/rpc.js';
import type { RpcRequest, RpcResponse } from '../replica/rpc-codec.js';

function callLeader(rpc: Rpc, request: RpcRequest, timeoutMs: number): Promise<RpcResponse> {
  return new Promise((resolve) => rpc.callLeader(request, timeoutMs, resolve));
}

/**
 * Returns the leader's answer as JSON, about what only the leader knows. Throws ApiError no_leader
 * if no leader is known or none answers within `timeoutMs`.
 */
export async function askLeader(
  rpc: Rpc,
  type: 'status' | 'joining',
  timeoutMs: number,
): Promise<unknown> {
  const response = await callLeader(rpc, { type }, timeoutMs);
  if (response.type !== 'status') reject('no_leader', 'No cluster leader');
  return JSON.parse(response.text);
}

/**
 * Sends the leader a change of the cluster. Throws ApiError: the leader's refusal, no_leader (the
 * change did not happen) or outcome_unknown (it may still happen).
 */
export async function changeCluster(rpc: Rpc, request: RpcRequest): Promise<void> {
  const response = await callLeader(rpc, request, CHANGE_MS);
  if (response.type === 'done') return;
  if (response.type === 'refused') throw new ApiError(response.refusal);
  if (response.type === 'retry') {
    reject('no_leader', 'No cluster leader', { hint: 'The leader is changing; try again' });
  }
  const why = 'The change of the cluster may still happen: check the members before trying again';
  reject('outcome_unknown', why);
}

/** Asks a member for a text that it has; see `ClusterNode.decision` and `usage`. */
export function askMember(
  rpc: Rpc,
  member: string,
  request: Extract<RpcRequest, { readonly type: 'decision' | 'usage' }>,
  timeoutMs: number,
): Promise<string | undefined> {
  return new Promise((resolve) =>
    rpc.call(member, request, timeoutMs, (response) =>
      resolve(response.type === 'status' ? response.text : undefined),
    ),
  );
}
