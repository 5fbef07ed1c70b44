/** Linearizable reads without log entries: ReadIndex rounds and the lease (§6.4). */
import type { Progress } from './progress.js';
import { quorumValue } from './quorum.js';
import type { LeaderState, Raft, Reads } from './state.js';
import type { Input, ReadId } from './types.js';

export function newReads(): Reads {
  return {
    round: 0,
    waiting: [],
    bound: [],
    begun: [],
    leaseStart: Number.NEGATIVE_INFINITY,
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
 * Binds all reads that wait to one new round. Only once an entry of the own term is committed does the leader know what
 * is committed (§6.4, step 1). The index is taken no earlier than the reads were asked for.
 */
export function bindReads(raft: Raft, leader: LeaderState): void {
  const { reads } = leader;
  if (reads.waiting.length === 0 || raft.commit < leader.termStart) return;
  beginRound(raft, leader);
  reads.bound.push({ round: reads.round, index: raft.commit, ids: reads.waiting });
  reads.waiting = [];
  settleReads(raft, leader);
}

/** Begins a round: everything sent from now on carries its number, and every peer is sent something in this step. */
export function beginRound(raft: Raft, leader: LeaderState): void {
  const { reads } = leader;
  const { leaseMs } = raft.options;
  reads.round++;
  leader.broadcast = true;
  while (reads.begun.length > 0 && reads.begun[0]!.at + leaseMs <= raft.now) reads.begun.shift();
  if (leaseMs > 0) reads.begun.push({ round: reads.round, at: raft.now });
}

/** Releases what a quorum has echoed, and extends the lease from when that round was begun. */
export function settleReads(raft: Raft, leader: LeaderState): void {
  const { reads } = leader;
  const round = quorumValue(voterValues(raft, leader, reads.round, (peer) => peer.round));
  while (reads.bound.length > 0 && reads.bound[0]!.round <= round) {
    const { ids, index } = reads.bound.shift()!;
    release(raft, ids, index);
  }
  while (reads.begun.length > 0 && reads.begun[0]!.round <= round) {
    reads.leaseStart = Math.max(reads.leaseStart, reads.begun.shift()!.at);
  }
}

/** Another quorum decides from now on: what the old one promised is not counted. */
export function forgetLease(leader: LeaderState): void {
  leader.reads.leaseStart = Number.NEGATIVE_INFINITY;
  leader.reads.begun = [];
}

/** Leadership is lost: whether reads may still be served here is unknown. */
export function dropReads(raft: Raft, leader: LeaderState): void {
  const { reads } = leader;
  for (const { ids } of reads.bound) for (const id of ids) raft.out.readsDropped.push(id);
  for (const id of reads.waiting) raft.out.readsDropped.push(id);
}

/** One value per voter: the leader's own, and what `theirs` takes from the progress of the others. */
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
 * Whether no other server can lead yet. Not during a transfer nor after one in this term, as a TimeoutNow may arrive at
 * any time and overrides the followers' silence; not when the leader itself is no voter, as a voter need not be silent
 * towards itself.
 */
function holdsLease(raft: Raft, leader: LeaderState): boolean {
  const { reads } = leader;
  return (
    raft.now < reads.leaseStart + raft.options.leaseMs &&
    raft.commit >= leader.termStart &&
    leader.transfer === undefined &&
    !reads.leaseRefused &&
    raft.configurations.isVoter(raft.id)
  );
}

function release(raft: Raft, ids: readonly ReadId[], index: number): void {
  for (const id of ids) raft.out.reads.push({ id, index });
}
