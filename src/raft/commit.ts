/** When an entry counts as committed, and what follows from it. */
import { invariant } from './assert.js';
import { applyConfiguration } from './membership.js';
import { quorumValue } from './quorum.js';
import { voterValues } from './reads.js';
import type { LeaderState, Raft } from './state.js';
import type { Index } from './types.js';

/** Moves the commit index forward to `index`. */
export function commitTo(raft: Raft, index: Index): void {
  if (index <= raft.commit) return;
  invariant(index <= raft.log.last, 'commit beyond the end of the log', {
    commit: index,
    last: raft.log.last,
  });
  raft.commit = index;
  raft.out.commit = index;
  const settled = raft.configurations.settle(index);
  if (raft.state.role === 'leader') forgetUncommitted(raft.state, index);
  else if (settled) applyConfiguration(raft);
}

/**
 * Commits what a majority holds durably (§3.5). Only entries of the own term are counted; older
 * ones are committed with them (§3.6.2). The leader counts itself up to what its own disk
 * confirmed, and only if it is a voter (§4.2.2).
 */
export function maybeCommit(raft: Raft, leader: LeaderState): void {
  const index = quorumValue(voterValues(raft, leader, raft.log.stored, (peer) => peer.match));
  if (index >= leader.termStart) commitTo(raft, index);
}

function forgetUncommitted(leader: LeaderState, commit: Index): void {
  let done = 0;
  for (const run of leader.uncommitted) {
    if (run.last > commit) break;
    leader.uncommittedBytes -= run.bytes;
    done++;
  }
  if (done > 0) leader.uncommitted.splice(0, done);
}
