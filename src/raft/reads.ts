/** Linearizable reads without log entries: ReadIndex rounds and the lease (§6.4). */
import { leaseMsOver } from './options.js';
import type { Progress } from './progress.js';
import { quorumValue } from './quorum.js';
import type { LeaderState, MessageOf, Raft, Reads } from './state.js';
import type { Input, ReadId } from './types.js';

const FOR_EVER = Number.POSITIVE_INFINITY;

export function newReads(): Reads {
  return {
    round: 0,
    waiting: [],
    bound: [],
    begun: [],
    leaseRefused: false,
  };
}

/** Read barriers asked for here. Without leadership they are dropped at once. */
export function onRead(raft: Raft, input: Extract<Input, { type: 'read' }>): void {
  const leader = raft.state;
  if (leader.role !== 'leader') {
    for (const id of input.ids) raft.out.readsDropped.push(id);
  } else if (input.mode === 'lease' && holdsLease(raft, leader)) {
    release(raft, input.ids, raft.commit);
  } else {
    for (const id of input.ids) leader.reads.waiting.push(id);
  }
}

/**
 * Binds all reads that wait to one new round. Only once an entry of the own term is committed does
 * the leader know what is committed (§6.4, step 1). The index is taken no earlier than the reads
 * were asked for.
 */
export function bindReads(raft: Raft, leader: LeaderState): void {
  const { reads } = leader;
  if (reads.waiting.length === 0 || raft.commit < leader.termStart) return;
  beginRound(raft, leader);
  reads.bound.push({ round: reads.round, index: raft.commit, ids: reads.waiting });
  reads.waiting = [];
  settleReads(raft, leader);
}

/**
 * Begins a round: everything sent from now on carries its number, and every peer is sent something
 * in this step.
 */
export function beginRound(raft: Raft, leader: LeaderState): void {
  const { reads } = leader;
  const { leaseMs } = raft.options;
  reads.round++;
  leader.broadcast = true;
  while (reads.begun.length > 0 && reads.begun[0]!.at + leaseMs <= raft.now) reads.begun.shift();
  if (leaseMs > 0) reads.begun.push({ round: reads.round, at: raft.now });
}

/** Releases what a quorum has echoed. */
export function settleReads(raft: Raft, leader: LeaderState): void {
  const { reads } = leader;
  const round = quorumValue(voterValues(raft, leader, reads.round, (peer) => peer.round));
  while (reads.bound.length > 0 && reads.bound[0]!.round <= round) {
    const { ids, index } = reads.bound.shift()!;
    release(raft, ids, index);
  }
}

/**
 * A peer echoes a round. It heard that round no earlier than the round was begun, so from there its
 * silence counts: not from the answer, which says nothing about when it was heard. What it promised
 * before holds on.
 */
export function extendLease(
  raft: Raft,
  { reads }: LeaderState,
  peer: Progress,
  { round, silenceMs }: Pick<MessageOf<'appendResponse'>, 'round' | 'silenceMs'>,
): void {
  const oldest = reads.begun[0];
  if (oldest === undefined || round < oldest.round) return;
  // Rounds are numbered without a gap.
  const { at } = reads.begun[round - oldest.round]!;
  const leaseMs = Math.min(raft.options.leaseMs, leaseMsOver(silenceMs));
  peer.silentUntil = Math.max(peer.silentUntil, at + leaseMs);
}

/**
 * What was promised so far is not counted: another quorum decides from now on, or the clock has not
 * told the truth.
 */
export function forgetLease(leader: LeaderState): void {
  leader.reads.begun = [];
  for (const peer of leader.progress.values()) peer.silentUntil = Number.NEGATIVE_INFINITY;
}

/** Leadership is lost: whether reads may still be served here is unknown. */
export function dropReads(raft: Raft, leader: LeaderState): void {
  const { reads } = leader;
  for (const { ids } of reads.bound) for (const id of ids) raft.out.readsDropped.push(id);
  for (const id of reads.waiting) raft.out.readsDropped.push(id);
}

/**
 * One value per voter: the leader's own, and what `theirs` takes from the progress of the others.
 */
export function voterValues(
  raft: Raft,
  leader: LeaderState,
  own: number,
  theirs: (peer: Progress) => number,
): number[] {
  const values: number[] = [];
  for (const voter of raft.configurations.voters) {
    values.push(voter === raft.id ? own : theirs(leader.progress.get(voter)!));
  }
  return values;
}

/**
 * Whether no other server can lead yet: a majority of the voters is silent. Every majority that
 * could elect another shares a voter with it, and that voter refuses. Each follower counts for as
 * long as it said itself, for members may have different timing: the lease ends when so many
 * silences have run out that the rest is no majority. The leader votes for nobody else while it
 * leads, so it counts for ever. (Of an even number of voters, one silent voter less would do.)
 *
 * Not during a transfer nor after one in this term, as a TimeoutNow may arrive at any time and
 * overrides the followers' silence; not when the leader itself is no voter, as a voter need not be
 * silent towards itself.
 */
function holdsLease(raft: Raft, leader: LeaderState): boolean {
  const { reads } = leader;
  return (
    raft.now < quorumValue(voterValues(raft, leader, FOR_EVER, (peer) => peer.silentUntil)) &&
    raft.commit >= leader.termStart &&
    leader.transfer === undefined &&
    !reads.leaseRefused &&
    raft.configurations.isVoter(raft.id)
  );
}

function release(raft: Raft, ids: readonly ReadId[], index: number): void {
  for (const id of ids) raft.out.reads.push({ id, index });
}
