/** How a follower or learner handles the leader's messages (§3.5, §5.3). */
import { invariant } from './assert.js';
import { commitTo } from './commit.js';
import type { Decision, LogEnd } from './decisions.js';
import { applyConfiguration } from './membership.js';
import { silenceMsOf } from './options.js';
import { becomeFollower, resetElectionTimer } from './role-changes.js';
import type { FollowerState, MessageOf, Raft } from './state.js';
import type { Entry, Index, Input, NodeId, SnapshotMeta } from './types.js';

/** Handles AppendEntries, which is also the heartbeat. */
export function onAppend(raft: Raft, message: MessageOf<'append'>): void {
  const { prevIndex, prevTerm, entries } = message;
  const { state: before } = raft;
  const echoed = 'round' in before ? before.round : 0;
  const state = hearLeader(raft, message.from, message.round);
  if (!isWellFormed(message)) {
    raft.trace?.(appendRefusal(raft, message, 'malformed'));
    return;
  }
  noteAnnounced(raft, message.commit);
  // Committed entries are the same in every leader's log (§3.6.3), so the consistency check of a
  // late message only matters after them.
  if (prevIndex >= raft.commit && raft.log.term(prevIndex) !== prevTerm) {
    reject(raft, message);
    return;
  }
  if (entries.length > 0) store(raft, entries);
  const matched = Math.max(prevIndex + entries.length, raft.commit);
  state.matched = Math.max(state.matched, matched);
  commitTo(raft, Math.min(message.commit, matched));
  // A higher commit index alone asks for no answer: the round and the index are acknowledged.
  if (entries.length > 0 || message.round > echoed || matched > state.acked) {
    acknowledge(raft, message.from);
  }
}

/**
 * Handles the announcement of a snapshot. If its entry is in the log, the snapshot is not needed
 * and the entry is committed. The answer counts as contact, and tells the leader up to where the
 * logs agree.
 */
export function onSnapshot(raft: Raft, message: MessageOf<'snapshot'>): void {
  const state = hearLeader(raft, message.from, message.round);
  const { index, term } = message.meta;
  noteAnnounced(raft, index);
  if (raft.log.term(index) === term) commitTo(raft, index);
  state.matched = Math.max(state.matched, raft.commit);
  acknowledge(raft, message.from);
}

/**
 * Adopts a received snapshot, after which the log view starts. Everything up to it is committed,
 * and no entry follows it.
 */
export function adoptSnapshot(raft: Raft, meta: SnapshotMeta): void {
  invariant(raft.state.role !== 'leader', 'a leader was given a snapshot', {
    snapshot: meta.index,
    commit: raft.commit,
  });
  if (meta.term > raft.term) becomeFollower(raft, meta.term, null, 'higher_term');
  raft.log.restart(meta);
  raft.configurations.restart(meta);
  applyConfiguration(raft);
  commitTo(raft, meta.index);
}

/** Acknowledges a stored snapshot to the leader. `adoptSnapshot` has run already. */
export function onSnapshotStored(
  raft: Raft,
  input: Extract<Input, { type: 'snapshotStored' }>,
): void {
  const { state } = raft;
  if (state.role !== 'follower' && state.role !== 'learner') return;
  state.matched = Math.max(state.matched, raft.commit);
  acknowledge(raft, raft.leader ?? input.from);
}

/**
 * Acknowledges entries that have become durable since the leader, or a new one, sent them again.
 */
export function acknowledgeStored(raft: Raft, state: FollowerState): void {
  if (raft.leader === null || state.acked >= Math.min(state.matched, raft.log.stored)) return;
  acknowledge(raft, raft.leader);
}

/**
 * Records contact with the leader: restarts the election timer and the sticky period. Two leaders
 * in one term are impossible (§3.6.3).
 */
function hearLeader(raft: Raft, from: NodeId, round: number): FollowerState {
  invariant(raft.leader === null || raft.leader === from, 'two leaders in one term', {
    term: raft.term,
    known: raft.leader,
    heard: from,
  });
  if (raft.state.role === 'preCandidate' || raft.state.role === 'candidate') {
    becomeFollower(raft, raft.term, from, 'leader_found');
  }
  const { state } = raft;
  invariant(state.role === 'follower' || state.role === 'learner', 'two leaders in one term', {
    term: raft.term,
    self: raft.id,
    heard: from,
  });
  raft.leader = from;
  if (raft.hastened) resetElectionTimer(raft);
  // A longer promise of an earlier run stays in force.
  raft.leaderElapsed = Math.min(raft.leaderElapsed, 0);
  raft.electionElapsed = raft.leaderElapsed;
  state.round = Math.max(state.round, round);
  return state;
}

/** Never goes down: what was committed in an earlier term stays committed. */
function noteAnnounced(raft: Raft, index: Index): void {
  raft.announced = Math.max(raft.announced, index);
}

/**
 * Whether the entries follow `prevIndex` without a gap, with terms that never decrease. Any other
 * message is a fault of the peer and is ignored.
 */
function isWellFormed({ prevIndex, prevTerm, entries }: MessageOf<'append'>): boolean {
  let index = prevIndex;
  let term = prevTerm;
  for (const entry of entries) {
    index++;
    if (entry.index !== index || entry.term < term) return false;
    term = entry.term;
  }
  return true;
}

/**
 * Appends the new entries. Truncates the log only at a conflicting term, so a late or repeated
 * append removes nothing (§3.5).
 */
function store(raft: Raft, entries: readonly Entry[]): void {
  const { log } = raft;
  let at = 0;
  for (; at < entries.length; at++) {
    const entry = entries[at]!;
    if (entry.index > log.last) break;
    const own = log.term(entry.index);
    if (own === entry.term || (own === undefined && entry.index <= raft.commit)) continue;
    invariant(entry.index > raft.commit, 'a committed entry would be overwritten', {
      index: entry.index,
      commit: raft.commit,
      own,
      sent: entry.term,
    });
    truncate(raft, entry.index);
    break;
  }
  for (; at < entries.length; at++) {
    const entry = entries[at]!;
    log.append(entry);
    if (entry.kind !== 'configuration') continue;
    raft.configurations.append(entry.index, entry.configuration);
    applyConfiguration(raft);
  }
}

function truncate(raft: Raft, index: Index): void {
  raft.log.truncate(index);
  if (raft.configurations.truncate(index)) applyConfiguration(raft);
  // Drops acknowledgements of this step for entries that will not be stored.
  raft.out.sendAfterStore = raft.out.sendAfterStore.filter(
    (message) => message.type !== 'appendResponse' || !message.success || message.index < index,
  );
}

/**
 * Acknowledges the entries known to match. If this step stores a batch, the answer leaves after it
 * and covers everything that matches. Otherwise it covers only what is durable now;
 * `acknowledgeStored` sends the rest. One answer per step suffices, because the last one covers
 * all.
 */
function acknowledge(raft: Raft, to: NodeId): void {
  const state = raft.state as FollowerState;
  const { log, out } = raft;
  const index = log.tail.length > 0 ? state.matched : Math.min(state.matched, log.stored);
  state.acked = Math.max(state.acked, index);
  const earlier = out.sendAfterStore.at(-1);
  if (earlier?.type === 'appendResponse' && earlier.to === to && earlier.term === raft.term) {
    if (earlier.success) out.sendAfterStore.pop();
  }
  respond(raft, to, true, index, 0, state.round);
}

/**
 * Rejects an append with a hint where the logs may agree: the last entry here, up to `prevIndex`,
 * whose term is at most `prevTerm`. With the term of that entry the leader skips a whole term at a
 * time (§3.5). `backtrack` shows an example.
 */
function reject(raft: Raft, message: MessageOf<'append'>): void {
  const { from, prevIndex, prevTerm, round } = message;
  const found = raft.log.lastOfTerm(Math.min(prevIndex, raft.log.last), prevTerm);
  const index = Math.max(found, raft.commit);
  const term = raft.log.term(index) ?? 0;
  raft.trace?.(appendRefusal(raft, message, 'no_match', { index, term }));
  respond(raft, from, false, index, term, round);
}

function respond(
  raft: Raft,
  to: NodeId,
  success: boolean,
  index: Index,
  hintTerm: number,
  round: number,
): void {
  const { id: from, term } = raft;
  raft.out.sendAfterStore.push({
    type: 'appendResponse',
    from,
    to,
    term,
    success,
    index,
    hintTerm,
    round,
    silenceMs: silenceMsOf(raft.options),
  });
}

/** Returns the refusal of an append. `hint`: where the leader is sent back to. */
export function appendRefusal(
  raft: Raft,
  { from: leader, term, prevIndex, prevTerm }: MessageOf<'append'>,
  reason: 'stale_term' | 'malformed' | 'no_match',
  hint?: LogEnd,
): Decision {
  const ownTerm = raft.log.term(prevIndex);
  return { type: 'appendRefused', reason, leader, term, prevIndex, prevTerm, ownTerm, hint };
}
