/** Handing leadership over (§3.10). */
import { becomeFollower } from './roles.js';
import type { LeaderState, Raft } from './state.js';
import type { Input, NodeId } from './types.js';

/** Begins a transfer: proposals stop, the target catches up, then it is told to campaign. */
export function onTransfer(raft: Raft, input: Extract<Input, { type: 'transfer' }>): void {
  const leader = raft.state;
  if (leader.role !== 'leader') return;
  const to = input.to ?? mostAdvanced(raft, leader);
  if (to === undefined || to === raft.id || !raft.configurations.isVoter(to)) return;
  if (leader.transfer?.to === to) return;
  leader.transfer = { to, begunTick: leader.ticks, sent: false };
}

/** Sends TimeoutNow once the target has everything that this leader has. */
export function continueTransfer(raft: Raft, leader: LeaderState): void {
  const { transfer } = leader;
  if (transfer === undefined || transfer.sent) return;
  if (leader.progress.get(transfer.to)?.match !== raft.log.last) return;
  transfer.sent = true;
  sendTimeoutNow(raft, leader, transfer.to);
}

/**
 * A transfer that did not succeed within an election timeout is given up, and proposals are taken
 * again.
 */
export function tickTransfer(raft: Raft, leader: LeaderState): void {
  const { transfer } = leader;
  if (transfer === undefined) return;
  if (leader.ticks - transfer.begunTick >= raft.options.electionTicks) leader.transfer = undefined;
}

/**
 * A leader that is no voter any more, by a change that is committed, leaves (§4.2.2). The best of
 * the others may campaign at once, so that the cluster need not wait for a timeout.
 */
export function leaveIfRemoved(raft: Raft, leader: LeaderState): void {
  const { configurations } = raft;
  if (configurations.isVoter(raft.id) || configurations.index > raft.commit) return;
  const heir = mostAdvanced(raft, leader);
  if (heir !== undefined) sendTimeoutNow(raft, leader, heir);
  becomeFollower(raft, raft.term, null);
}

function sendTimeoutNow(raft: Raft, leader: LeaderState, to: NodeId): void {
  leader.reads.leaseRefused = true;
  raft.out.sendNow.push({ type: 'timeoutNow', from: raft.id, to, term: raft.term });
}

/** The voter with the most of this log, among those that answer. */
function mostAdvanced(raft: Raft, leader: LeaderState): NodeId | undefined {
  let best: { id: NodeId; match: number } | undefined;
  for (const id of raft.configurations.voters) {
    const peer = leader.progress.get(id);
    if (peer === undefined || !peer.responsive) continue;
    if (best === undefined || peer.match > best.match) best = peer;
  }
  return best?.id;
}
