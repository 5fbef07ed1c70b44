/**
 * The leader brings every follower's log in line with its own (§3.5), and installs a snapshot if
 * the entries that a follower needs are compacted (§5).
 */
import { invariant } from './assert.js';
import { maybeCommit } from './commit.js';
import type { Progress } from './progress.js';
import { extendLease, settleReads } from './reads.js';
import type { LeaderState, MessageOf, Raft } from './state.js';
import type { Index, Input, NodeId } from './types.js';

/** Handles a follower's answer to an append, a heartbeat or a snapshot. */
export function onAppendResponse(raft: Raft, message: MessageOf<'appendResponse'>): void {
  const leader = raft.state as LeaderState;
  const peer = leader.progress.get(message.from);
  if (peer === undefined) return;
  // A follower cannot hold more than was sent to it. Such an answer is faulty and is ignored.
  if (message.round > leader.reads.round) return;
  if (message.success && message.index > raft.log.last) return;
  peer.contactTick = leader.ticks;
  peer.lastContact = raft.now;
  peer.hasAnswered = true;
  peer.responsive = true;
  if (message.success) advance(raft, leader, peer, message.index);
  else backtrack(raft, peer, message);
  extendLease(raft, leader, peer, message);
  if (message.round > peer.round) {
    peer.round = message.round;
    settleReads(raft, leader);
  }
}

/**
 * Sends what each peer needs next: entries, a heartbeat if one is due, or a higher commit index.
 */
export function replicate(raft: Raft, leader: LeaderState): void {
  for (const peer of leader.progress.values()) replicateTo(raft, leader, peer);
  leader.broadcast = false;
}

/** Handles the outcome of sending a snapshot. */
export function onSnapshotSent(raft: Raft, input: Extract<Input, { type: 'snapshotSent' }>): void {
  if (raft.state.role !== 'leader') return;
  const peer = raft.state.progress.get(input.to);
  if (peer?.state !== 'snapshot') return;
  if (input.ok) {
    peer.snapshotSentTick = raft.state.ticks;
    return;
  }
  // The next attempt waits until the peer answers a heartbeat.
  peer.responsive = false;
  peer.probe(peer.match + 1);
}

/** Handles an unreachable peer. What is in flight is lost, and streaming would lose more. */
export function onUnreachable(leader: LeaderState, id: NodeId): void {
  const peer = leader.progress.get(id);
  if (peer === undefined) return;
  peer.responsive = false;
  if (peer.state !== 'replicate') return;
  peer.probe(peer.match + 1);
  peer.waiting = true;
}

/**
 * Runs once per tick. A peer that has not answered for an election timeout is no longer responsive.
 * A peer that got a whole snapshot that long ago without acknowledging it is probed again.
 */
export function tickProgress(raft: Raft, leader: LeaderState): void {
  const { electionTicks } = raft.options;
  for (const peer of leader.progress.values()) {
    if (leader.ticks - peer.contactTick >= electionTicks) peer.responsive = false;
    const since = peer.snapshotSentTick;
    if (since !== undefined && leader.ticks - since >= electionTicks) peer.probe(peer.match + 1);
  }
}

/** Records that the follower durably holds the same log up to `index`. */
function advance(raft: Raft, leader: LeaderState, peer: Progress, index: Index): void {
  const grown = index > peer.match;
  if (grown) {
    peer.match = index;
    peer.next = Math.max(peer.next, index + 1);
  }
  peer.inflight.free(index);
  // Stays in `snapshot` until this log holds the entry that the follower needs next.
  const waits = peer.state === 'snapshot' && peer.match + 1 < raft.log.firstIndex();
  if (peer.state !== 'replicate' && !waits) peer.replicate();
  if (grown) maybeCommit(raft, leader);
}

/**
 * Handles a rejection: the follower lacks the entry before those sent. The hint, the follower's
 * last possible match, skips a whole term at a time (§3.5). The logs can agree at most where the
 * term in this log is not above the follower's:
 *
 *     index      1 2 3 4 5 6 7 8 9
 *     leader     1 1 1 3 3 3 5 5 5     sends from 10 on, prevIndex 9, prevTerm 5
 *     follower   1 1 1 2 2 2 2 2       rejects: its last entry has index 8 and term 2
 *
 * In the leader's log the last index with a term of at most 2 is 3, so it sends from 4 on next.
 * Without the hint it would have to probe 8, 7, 6, 5 and 4 first.
 */
function backtrack(raft: Raft, peer: Progress, message: MessageOf<'appendResponse'>): void {
  // Expected while the snapshot is in flight.
  if (peer.state === 'snapshot') return;
  const lost = message.index < peer.match;
  if (lost) {
    // An outdated answer: it echoes no later round than the one that set `match`.
    if (message.round <= peer.round) return;
    // It has lost entries that it acknowledged (its disk was damaged), and an old acknowledgement
    // may even arrive after this. Entries that its acknowledgements committed stay committed. The
    // driver keeps the peer from voting until it has everything again.
    peer.match = 0;
  }
  const agreed = raft.log.lastOfTerm(Math.min(message.index, raft.log.last), message.hintTerm);
  const next = Math.max(peer.match, agreed) + 1;
  // A new rejection lowers `next`; a repeated one does not.
  if (next >= peer.next) return;
  raft.trace?.({
    type: 'backtracked',
    follower: peer.id,
    hint: { index: message.index, term: message.hintTerm },
    before: peer.next,
    next,
    lost,
  });
  peer.probe(next);
}

function replicateTo(raft: Raft, leader: LeaderState, peer: Progress): void {
  const { log, options } = raft;
  let sent = false;
  if (peer.state !== 'snapshot' && peer.next < log.firstIndex()) {
    // The entry before `next` is compacted, and even its term is unknown, so the logs cannot be
    // compared there.
    if (peer.responsive) startSnapshot(raft, leader, peer);
  } else if (peer.state === 'probe' && !peer.waiting && peer.next <= log.last) {
    sendEntries(raft, leader, peer);
    peer.waiting = true;
    sent = true;
  }
  while (
    peer.state === 'replicate' &&
    peer.next >= log.firstIndex() &&
    peer.next <= log.last &&
    peer.inflight.bytes < options.maxInflightBytes
  ) {
    sendEntries(raft, leader, peer);
    sent = true;
  }
  const news = peer.state === 'replicate' && Math.min(raft.commit, peer.next - 1) > peer.commitSent;
  if (!sent && (leader.broadcast || news)) sendHeartbeat(raft, leader, peer);
}

function sendEntries(raft: Raft, leader: LeaderState, peer: Progress): void {
  const prevIndex = peer.next - 1;
  const prevTerm = raft.log.term(prevIndex)!;
  const { entries, bytes } = raft.log.runFrom(peer.next, raft.options.maxAppendBytes);
  const last = prevIndex + entries.length;
  push(raft, leader, peer, { prevIndex, prevTerm, entries });
  if (peer.state !== 'replicate') return;
  peer.next = last + 1;
  peer.inflight.add(last, bytes);
}

const NO_ENTRIES: MessageOf<'append'>['entries'] = [];

/**
 * Sends an append without entries. It checks that the logs agree before `next`, which reveals a
 * lost append. If the follower's next entry is compacted, it checks the position of the snapshot,
 * the oldest one known.
 */
function sendHeartbeat(raft: Raft, leader: LeaderState, peer: Progress): void {
  let prevIndex = peer.snapshot?.index ?? peer.next - 1;
  let prevTerm = peer.snapshot?.term ?? raft.log.term(prevIndex);
  if (prevTerm === undefined) {
    prevIndex = raft.log.firstIndex() - 1;
    prevTerm = raft.log.term(prevIndex)!;
  }
  push(raft, leader, peer, { prevIndex, prevTerm, entries: NO_ENTRIES });
}

function push(
  raft: Raft,
  leader: LeaderState,
  peer: Progress,
  log: Pick<MessageOf<'append'>, 'prevIndex' | 'prevTerm' | 'entries'>,
): void {
  const { id: from, term, commit } = raft;
  peer.commitSent = Math.min(commit, log.prevIndex + log.entries.length);
  const { round } = leader.reads;
  const { prevIndex, prevTerm, entries } = log;
  raft.out.sendNow.push({
    type: 'append',
    from,
    to: peer.id,
    term,
    prevIndex,
    prevTerm,
    entries,
    commit,
    round,
  });
}

function startSnapshot(raft: Raft, leader: LeaderState, peer: Progress): void {
  const meta = raft.log.snapshot();
  invariant(meta !== undefined, 'entries are gone but there is no snapshot', {
    next: peer.next,
    first: raft.log.firstIndex(),
  });
  peer.awaitSnapshot(meta);
  const { id: from, term } = raft;
  const { round } = leader.reads;
  const message = { type: 'snapshot', from, to: peer.id, term, meta, round } as const;
  raft.out.sendSnapshots.push({ to: peer.id, message });
}
