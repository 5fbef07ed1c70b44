/**
 * The leader brings every follower's log to its own (§3.5), and installs snapshots where entries
 * are gone (§5).
 */
import { invariant } from './assert.js';
import { maybeCommit } from './commit.js';
import type { Progress } from './progress.js';
import { extendLease, settleReads } from './reads.js';
import type { LeaderState, MessageOf, Raft } from './state.js';
import type { Index, Input, NodeId } from './types.js';

export function onAppendResponse(raft: Raft, message: MessageOf<'appendResponse'>): void {
  const leader = raft.state as LeaderState;
  const peer = leader.progress.get(message.from);
  if (peer === undefined) return;
  // No follower can hold more than was sent to it: such an answer is a mistake, and counts for
  // nothing.
  if (message.round > leader.reads.round) return;
  if (message.success && message.index > raft.log.last) return;
  peer.contactTick = leader.ticks;
  peer.lastContact = raft.now;
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
 * Sends what each peer needs next: entries, a heartbeat if one is due, or the news of a higher
 * commit index.
 */
export function replicate(raft: Raft, leader: LeaderState): void {
  for (const peer of leader.progress.values()) replicateTo(raft, leader, peer);
  leader.broadcast = false;
}

/** The driver has finished sending a snapshot, or could not. */
export function onSnapshotSent(raft: Raft, input: Extract<Input, { type: 'snapshotSent' }>): void {
  if (raft.state.role !== 'leader') return;
  const peer = raft.state.progress.get(input.to);
  if (peer?.state !== 'snapshot') return;
  if (input.ok) {
    peer.snapshotSentTick = raft.state.ticks;
    return;
  }
  // Not at once again: it has to answer a heartbeat first.
  peer.responsive = false;
  peer.probe(peer.match + 1);
}

/** The peer cannot be reached: what is in flight is lost, streaming would lose more. */
export function onUnreachable(leader: LeaderState, id: NodeId): void {
  const peer = leader.progress.get(id);
  if (peer === undefined) return;
  peer.responsive = false;
  if (peer.state !== 'replicate') return;
  peer.probe(peer.match + 1);
  peer.waiting = true;
}

/**
 * Once per tick: who has not answered for an election timeout does not count as responsive, and who
 * took a whole snapshot that long ago without saying so is probed again.
 */
export function tickProgress(raft: Raft, leader: LeaderState): void {
  const { electionTicks } = raft.options;
  for (const peer of leader.progress.values()) {
    if (leader.ticks - peer.contactTick >= electionTicks) peer.responsive = false;
    const since = peer.snapshotSentTick;
    if (since !== undefined && leader.ticks - since >= electionTicks) peer.probe(peer.match + 1);
  }
}

/** The follower's log equals this one up to `index`, durably. */
function advance(raft: Raft, leader: LeaderState, peer: Progress, index: Index): void {
  const grown = index > peer.match;
  if (grown) {
    peer.match = index;
    peer.next = Math.max(peer.next, index + 1);
  }
  peer.inflight.free(index);
  // Behind a snapshot it stays until it is past it, or until the log still holds what comes next.
  const waits = peer.state === 'snapshot' && peer.match + 1 < raft.log.firstIndex();
  if (peer.state !== 'replicate' && !waits) peer.replicate();
  if (grown) maybeCommit(raft, leader);
}

/**
 * The follower does not have the entry before those sent. The hint skips a whole term (§3.5): the
 * logs can agree at most where this log's term is not above the follower's.
 */
function backtrack(raft: Raft, peer: Progress, message: MessageOf<'appendResponse'>): void {
  // No wonder while the snapshot is under way.
  if (peer.state === 'snapshot') return;
  if (message.index < peer.match) {
    // Older than what is known since: it echoes no later round than what set `match` did.
    if (message.round <= peer.round) return;
    // It has lost what it acknowledged (its disk was damaged), and an old acknowledgement may even
    // arrive after this. What is committed by its former word stays so; the peer has no vote until
    // it has everything again (the driver's part).
    peer.match = 0;
  }
  const agreed = raft.log.lastOfTerm(Math.min(message.index, raft.log.last), message.hintTerm);
  const next = Math.max(peer.match, agreed) + 1;
  // Each true rejection lowers it; a repeated one does not.
  if (next < peer.next) peer.probe(next);
}

function replicateTo(raft: Raft, leader: LeaderState, peer: Progress): void {
  const { log, options } = raft;
  let sent = false;
  if (peer.state !== 'snapshot' && peer.next < log.firstIndex()) {
    // The entry before the next is gone, and even its term: the logs cannot be compared there any
    // more.
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
 * An append without entries. It asks whether the logs agree before `next`, so a lost append is
 * noticed at the next heartbeat. A follower whose next entry is compacted is asked about the
 * snapshot's position, the oldest still known.
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
