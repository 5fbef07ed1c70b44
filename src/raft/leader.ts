/** What a leader does on each tick. */
import { quorumValue } from './quorum.js';
import { beginRound, settleReads, voterValues } from './reads.js';
import { tickProgress } from './replication.js';
import { becomeFollower } from './role-changes.js';
import type { LeaderState, Raft } from './state.js';
import { tickTransfer } from './transfer.js';

/**
 * Steps down if no quorum has answered for an election timeout (§6.2), because another server may
 * lead by then and clients should not wait here. Otherwise sends heartbeats when they are due. Each
 * heartbeat begins a new round for reads and the lease.
 */
export function tickLeader(raft: Raft, leader: LeaderState): void {
  leader.ticks++;
  const contact = quorumValue(voterValues(raft, leader, leader.ticks, (peer) => peer.contactTick));
  if (leader.ticks - contact >= raft.options.electionTicks) {
    becomeFollower(raft, raft.term, null, 'no_quorum');
    return;
  }
  tickTransfer(raft, leader);
  tickProgress(raft, leader);
  if (leader.ticks - leader.heartbeatTick < raft.options.heartbeatTicks) return;
  leader.heartbeatTick = leader.ticks;
  beginRound(raft, leader);
  settleReads(raft, leader);
}
