/** Leadership transfer (§3.10). */
import { becomeFollower } from './role-changes.js';
import type { LeaderState, Raft } from './state.js';
import type { Input, NodeId } from './types.js';

/**
 * Begins a transfer: the leader drops proposals, lets the target catch up, and makes it campaign.
 */
export function onTransfer(raft: Raft, input: Extract<Input, { type: 'transfer' }>): void {
  const leader = raft.state;
  if (leader.role !== 'leader') {
    raft.trace?.({ type: 'transferRefused', to: input.to, reason: 'not_leader' });
    return;
  }
  const to = input.to ?? mostAdvanced(raft, leader);
  if (to === undefined || to === raft.id || !raft.configurations.isVoter(to)) {
    const reason = to === undefined ? 'no_target' : to === raft.id ? 'self' : 'not_voter';
    raft.trace?.({ type: 'transferRefused', to, reason });
    return;
  }
  if (leader.transfer?.to === to) return;
  leader.transfer = { to, begunTick: leader.ticks, sent: false };
}

/** Sends TimeoutNow once the target has the whole log of this leader. */
export function continueTransfer(raft: Raft, leader: LeaderState): void {
  const { transfer } = leader;
  if (transfer === undefined || transfer.sent) return;
  if (leader.progress.get(transfer.to)?.match !== raft.log.last) return;
  transfer.sent = true;
  sendTimeoutNow(raft, leader, transfer.to);
}

/**
 * Aborts a transfer that has not succeeded within an election timeout, and accepts proposals again.
 */
export function tickTransfer(raft: Raft, leader: LeaderState): void {
  const { transfer } = leader;
  if (transfer === undefined) return;
  if (leader.ticks - transfer.begunTick < raft.options.electionTicks) return;
  leader.transfer = undefined;
  const { to } = transfer;
  const match = leader.progress.get(to)?.match;
  raft.trace?.({ type: 'transferAborted', to, match, last: raft.log.last });
}

/**
 * Steps down if a committed change has removed this leader or its vote (§4.2.2). Lets the most
 * advanced voter campaign at once, so that the cluster does not wait for an election timeout.
 */
export function leaveIfRemoved(raft: Raft, leader: LeaderState): void {
  const { configurations } = raft;
  if (configurations.isVoter(raft.id) || configurations.index > raft.commit) return;
  const successor = mostAdvanced(raft, leader);
  if (successor !== undefined) sendTimeoutNow(raft, leader, successor);
  becomeFollower(raft, raft.term, null, 'removed');
}

function sendTimeoutNow(raft: Raft, leader: LeaderState, to: NodeId): void {
  leader.reads.leaseRefused = true;
  raft.out.sendNow.push({ type: 'timeoutNow', from: raft.id, to, term: raft.term });
}

/** Returns the responsive voter with the highest match; undefined if there is none. */
function mostAdvanced(raft: Raft, leader: LeaderState): NodeId | undefined {
  let best: { id: NodeId; match: number } | undefined;
  for (const id of raft.configurations.voters) {
    const peer = leader.progress.get(id);
    if (peer === undefined || !peer.responsive) continue;
    if (best === undefined || peer.match > best.match) best = peer;
  }
  return best?.id;
}
