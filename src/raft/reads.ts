/**
 * Linearizable reads without log entries: ReadIndex rounds and the lease (§6.4).
 *
 * A read waits until the leader has proved, after the read arrived, that it still leads:
 *
 *     read r  ->  bound to round 8 at commit index 120
 *     append {round 8} to all, a majority echoes round 8
 *     release r with index 120: serve it once 120 is applied
 *
 * While the lease holds, no round is needed, because no other server can have been elected. Nor is
 * one needed for a follower of three servers: that it asks in the leader's term is what its echo
 * would say.
 */
import type { Decision, ReadWait } from './decisions.js';
import { leaseMsOver } from './options.js';
import type { Progress } from './progress.js';
import { quorumValue } from './quorum.js';
import type { LeaderState, MessageOf, Raft, Reads } from './state.js';
import type { Asker, Input, ReadId } from './types.js';

const FOR_EVER = Number.POSITIVE_INFINITY;

/** Returns the reads of a new leader. */
export function newReads(): Reads {
  return {
    round: 0,
    waiting: [],
    bound: [],
    begun: [],
    leaseRefused: false,
  };
}

/** Handles requests for read barriers. A server that is not the leader drops them at once. */
export function onRead(raft: Raft, input: Extract<Input, { type: 'read' }>): void {
  const leader = raft.state;
  if (leader.role !== 'leader') {
    raft.trace?.({ type: 'readRefused', reads: input.ids.length, leader: raft.leader });
    for (const id of input.ids) raft.out.readsDropped.push(id);
  } else if (input.mode === 'lease' && holdsLease(raft, leader)) {
    raft.trace?.({ type: 'readByLease', reads: input.ids.length, index: raft.commit });
    release(raft, input.ids, raft.commit);
  } else if (isConfirmed(raft, leader, input.asker)) {
    const asker = input.asker!.id;
    raft.trace?.({ type: 'readByAsker', reads: input.ids.length, index: raft.commit, asker });
    release(raft, input.ids, raft.commit);
  } else {
    raft.trace?.(readWait(raft, leader, input));
    for (const id of input.ids) leader.reads.waiting.push(id);
  }
}

/**
 * Binds all waiting reads to one new round. Waits until an entry of the current term is committed,
 * because only then the leader knows the commit index (§6.4, step 1). The index is never older than
 * the requests.
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
 * Begins a round. All later messages carry its number, and every peer gets a message in this step.
 */
export function beginRound(raft: Raft, leader: LeaderState): void {
  const { reads } = leader;
  const { leaseMs } = raft.options;
  reads.round++;
  leader.broadcast = true;
  while (reads.begun.length > 0 && reads.begun[0]!.at + leaseMs <= raft.now) reads.begun.shift();
  if (leaseMs > 0) reads.begun.push({ round: reads.round, at: raft.now });
}

/** Releases the reads whose round a quorum has echoed. */
export function settleReads(raft: Raft, leader: LeaderState): void {
  const { reads } = leader;
  const round = quorumValue(voterValues(raft, leader, reads.round, (peer) => peer.round));
  while (reads.bound.length > 0 && reads.bound[0]!.round <= round) {
    const { ids, index } = reads.bound.shift()!;
    release(raft, ids, index);
  }
}

/**
 * Extends the lease when a peer echoes a round. The peer heard the round no earlier than the round
 * began, so its silence counts from that moment. The arrival of the answer says nothing about when
 * the peer heard the round. Earlier promises stay in force:
 *
 *     round 8 begins at 100, silenceMs 100   ->  a lease may rest on it until 190
 *     its answer arrives at 180              ->  10 ms are left
 */
export function extendLease(
  raft: Raft,
  { reads }: LeaderState,
  peer: Progress,
  { round, silenceMs }: Pick<MessageOf<'appendResponse'>, 'round' | 'silenceMs'>,
): void {
  const oldest = reads.begun[0];
  if (oldest === undefined || round < oldest.round) return;
  // Rounds are numbered without gaps.
  const { at } = reads.begun[round - oldest.round]!;
  const leaseMs = Math.min(raft.options.leaseMs, leaseMsOver(silenceMs));
  peer.silentUntil = Math.max(peer.silentUntil, at + leaseMs);
}

/**
 * Discards all promises so far, because another quorum decides from now on, or because the clock
 * was wrong.
 */
export function forgetLease(leader: LeaderState): void {
  leader.reads.begun = [];
  for (const peer of leader.progress.values()) peer.silentUntil = Number.NEGATIVE_INFINITY;
}

/** Drops all reads when leadership is lost: whether they may still be served is unknown. */
export function dropReads(raft: Raft, leader: LeaderState): void {
  const { reads } = leader;
  for (const { ids } of reads.bound) for (const id of ids) raft.out.readsDropped.push(id);
  for (const id of reads.waiting) raft.out.readsDropped.push(id);
}

/**
 * Returns one value per voter: `own` for the leader, and `theirs` of the progress for the others.
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
 * Whether no other server can lead yet, because a majority of the voters is silent. Every majority
 * that could elect another leader shares a voter with that one, and this voter refuses. Members may
 * have different timing, so each follower counts for as long as it promised itself. The lease ends
 * when the voters that are still silent are no longer a majority. The leader votes for no other
 * server while it leads, so its own silence never ends. (With an even number of voters, one silent
 * voter fewer would suffice.)
 *
 *     leader silent for ever, b until 190, c until 150   ->  the lease of three voters ends at 190
 *
 * There is no lease during a transfer or after one in this term, because a TimeoutNow may arrive at
 * any time and overrides the followers' silence. There is none either if the leader is not a voter,
 * because a voter is not bound to be silent towards itself.
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

/**
 * Whether the leader and the follower that asks for a read index are a quorum. The follower was in
 * this term when it asked, which was after the read began. So no majority can have committed
 * anything in a later term before that, and the commit index covers every write that the read must
 * see.
 */
function isConfirmed(raft: Raft, leader: LeaderState, asker: Asker | undefined): boolean {
  if (asker === undefined || asker.term !== raft.term) return false;
  if (raft.commit < leader.termStart) return false;
  return quorumValue(voterValues(raft, leader, 1, ({ id }) => (id === asker.id ? 1 : 0))) === 1;
}

/** Returns what a read waits for: the first condition of `holdsLease` that does not hold. */
function readWait(
  raft: Raft,
  leader: LeaderState,
  { ids, mode }: Extract<Input, { type: 'read' }>,
): Decision {
  const reason = (): ReadWait => {
    if (raft.commit < leader.termStart) return 'term_start';
    if (mode === 'quorum') return 'quorum';
    if (leader.transfer !== undefined || leader.reads.leaseRefused) return 'transferring';
    return raft.configurations.isVoter(raft.id) ? 'lease_expired' : 'not_voter';
  };
  return { type: 'readWaits', reads: ids.length, index: raft.commit, reason: reason() };
}

function release(raft: Raft, ids: readonly ReadId[], index: number): void {
  for (const id of ids) raft.out.reads.push({ id, index });
}
