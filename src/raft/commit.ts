/** When an entry is committed, and what follows from that. */
import { invariant } from './assert.js';
import { applyConfiguration } from './membership.js';
import { quorumValue } from './quorum.js';
import { voterValues } from './reads.js';
import type { LeaderState, Raft } from './state.js';
import type { Index } from './types.js';

/** Advances the commit index to `index`. Never moves it back. */
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
 * Commits what a majority holds durably (§3.5). Only an entry of the current term is committed by
 * counting; older ones are committed with it (§3.6.2). The leader counts itself up to what its own
 * disk has confirmed, and only if it is a voter (§4.2.2).
 *
 * Why older entries are not counted (thesis figure 3.7): a leader of term 4 replicates index 2,
 * which is of term 2, to a majority. If it committed it by counting, this server could still win a
 * later election by its newer last entry, and overwrite index 2:
 *
 *     leader   1 2          index 2 of term 2 is on three of five servers
 *     other    1 3          its last term 3 beats 2: it can be elected and overwrite index 2
 *
 * Once an entry of term 4 follows on a majority, the other server cannot win.
 */
export function maybeCommit(raft: Raft, leader: LeaderState): void {
  const index = quorumValue(voterValues(raft, leader, raft.log.stored, (peer) => peer.match));
  if (index >= leader.termStart) commitTo(raft, index);
  else if (index > raft.commit) {
    raft.trace?.({ type: 'commitWaits', index, termStart: leader.termStart });
  }
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
