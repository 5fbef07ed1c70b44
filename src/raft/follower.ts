/** What a follower or learner does with the leader's messages (§3.5, §5.3). */
import { invariant } from './assert.js';
import { commitTo } from './commit.js';
import { applyConfiguration } from './membership.js';
import { silenceMsOf } from './options.js';
import { becomeFollower, resetElectionTimer } from './roles.js';
import type { FollowerState, MessageOf, Raft } from './state.js';
import type { Entry, Index, Input, NodeId, SnapshotMeta } from './types.js';

/** AppendEntries and heartbeat. */
export function onAppend(raft: Raft, message: MessageOf<'append'>): void {
  const state = hearLeader(raft, message.from, message.round);
  if (!isWellFormed(message)) return;
  const { prevIndex, prevTerm, entries } = message;
  // What is committed here is the same in every leader's log (§3.6.3): a late message is only read
  // beyond it.
  if (prevIndex >= raft.commit && raft.log.term(prevIndex) !== prevTerm) {
    reject(raft, message);
    return;
  }
  if (entries.length > 0) store(raft, entries);
  const matched = Math.max(prevIndex + entries.length, raft.commit);
  state.matched = Math.max(state.matched, matched);
  commitTo(raft, Math.min(message.commit, matched));
  acknowledge(raft, message.from);
}

/**
 * A snapshot is on its way, or has come that is not needed: then its entry is in the log, and known
 * to be committed. The answer is contact, and tells a leader that thought otherwise how far this
 * log is known to agree.
 */
export function onSnapshot(raft: Raft, message: MessageOf<'snapshot'>): void {
  const state = hearLeader(raft, message.from, message.round);
  const { index, term } = message.meta;
  if (raft.log.term(index) === term) commitTo(raft, index);
  state.matched = Math.max(state.matched, raft.commit);
  acknowledge(raft, message.from);
}

/**
 * The log view starts behind a snapshot that was received: everything before it is committed,
 * nothing is behind it.
 */
export function adoptSnapshot(raft: Raft, meta: SnapshotMeta): void {
  invariant(raft.state.role !== 'leader', 'a leader was given a snapshot', {
    snapshot: meta.index,
    commit: raft.commit,
  });
  if (meta.term > raft.term) becomeFollower(raft, meta.term, null);
  raft.log.restart(meta);
  raft.configurations.restart(meta);
  applyConfiguration(raft);
  commitTo(raft, meta.index);
}

/** Tells the leader that the snapshot is in; the core itself has seen it in the log view. */
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
 * More is durable: acknowledges what was heard of again, or from a new leader, while it was being
 * stored.
 */
export function acknowledgeStored(raft: Raft, state: FollowerState): void {
  if (raft.leader === null || state.acked >= Math.min(state.matched, raft.log.stored)) return;
  acknowledge(raft, raft.leader);
}

/**
 * The leader lives: the timer and the sticky period start again. Two leaders in one term cannot be
 * (§3.6.3).
 */
function hearLeader(raft: Raft, from: NodeId, round: number): FollowerState {
  invariant(raft.leader === null || raft.leader === from, 'two leaders in one term', {
    term: raft.term,
    known: raft.leader,
    heard: from,
  });
  if (raft.state.role === 'preCandidate' || raft.state.role === 'candidate') {
    becomeFollower(raft, raft.term, from);
  }
  const { state } = raft;
  invariant(state.role === 'follower' || state.role === 'learner', 'two leaders in one term', {
    term: raft.term,
    self: raft.id,
    heard: from,
  });
  raft.leader = from;
  if (raft.hastened) resetElectionTimer(raft);
  // A longer promise of an earlier run holds on.
  raft.leaderElapsed = Math.min(raft.leaderElapsed, 0);
  raft.electionElapsed = raft.leaderElapsed;
  state.round = Math.max(state.round, round);
  return state;
}

/**
 * Entries must follow `prevIndex` without a gap; what does not is a peer's mistake and is not
 * answered.
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
 * Takes what is new. Only a conflicting term truncates: a late or repeated append removes nothing
 * (§3.5).
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
  // Acknowledgements of this step for what will now never be stored.
  raft.out.sendAfterStore = raft.out.sendAfterStore.filter(
    (message) => message.type !== 'appendResponse' || !message.success || message.index < index,
  );
}

/**
 * Acknowledges what is known to match. An index that this step's batch makes durable is promised
 * with it, else only what is durable by now counts; the rest follows when it is confirmed. One
 * answer per step is enough: the last tells all.
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
 * Says where the logs may agree: the last entry here whose term is not above the one the leader
 * expected. With its term the leader skips a whole term at a time (§3.5).
 */
function reject(raft: Raft, { from, prevIndex, prevTerm, round }: MessageOf<'append'>): void {
  const found = raft.log.lastOfTerm(Math.min(prevIndex, raft.log.last), prevTerm);
  const index = Math.max(found, raft.commit);
  respond(raft, from, false, index, raft.log.term(index) ?? 0, round);
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
