/** Reads and what they rest on: leases, and the silence that followers promise (thesis §6.4). */

import { type RaftOptions, silenceMsOf } from '../../src/raft/options.js';
import { quorumSize } from '../../src/raft/quorum.js';
import type {
  Index,
  Input,
  Message,
  NodeId,
  Output,
  RaftStatus,
  ReadId,
  Term,
} from '../../src/raft/types.js';
import { Violation } from './violation.js';

export interface LeaseStep {
  readonly inputs: readonly Input[];
  readonly output: Output;
  readonly after: RaftStatus;
  /** The options that the server was started with. */
  readonly options: Pick<RaftOptions, 'electionTicks' | 'tickMs'>;
  /** Its clocks stood still without a trace: what it reads by its lease may be stale. */
  readonly isLeaseInDoubt?: boolean;
  /** Milliseconds of true time. */
  readonly now: number;
}

/**
 * The part of a silence that is checked: more than a lease may last, less than the whole, since
 * clocks may differ by 3 %.
 */
const CHECKED_SHARE = 0.95;

interface Silence {
  readonly leader: NodeId;
  readonly term: Term;
  readonly until: number;
}

export class LeaseInvariants {
  /** The newest promise of each server to the leader it last answered; it outlasts the process. */
  readonly #silences = new Map<NodeId, Silence>();
  /** Reads requested since a server's start: what was committed anywhere at that moment. */
  readonly #reads = new Map<NodeId, Map<ReadId, Index>>();
  /** Reads that a follower asks for, by id: what was committed anywhere when it asked. */
  readonly #asked = new Map<ReadId, Index>();
  /** Campaigns that a leader requested, as `candidate term`. */
  readonly #transfers = new Set<string>();

  restarted(id: NodeId): void {
    this.#reads.delete(id);
  }

  asked(read: ReadId, committed: Index): void {
    this.#asked.set(read, committed);
  }

  sent(message: Message): void {
    if (message.type !== 'vote' || message.transfer !== true) return;
    this.#transfers.add(`${message.from} ${message.term}`);
  }

  /** `committed` is the highest index known to be committed anywhere before this step. */
  stepped(id: NodeId, step: LeaseStep, committed: Index): void {
    this.#checkSilence(id, step);
    if (step.isLeaseInDoubt !== true) this.#checkLease(id, step);
    this.#checkReads(id, step, committed);
  }

  /**
   * The lease promise (§6.4.1): a server that answered a leader's append grants no vote to another
   * server in a higher term, nor to itself, for as long as a lease may rest on the answer, unless a
   * leader requested that campaign.
   */
  #checkSilence(id: NodeId, { inputs, output, after, options, now }: LeaseStep): void {
    let handsOver: NodeId | undefined;
    for (const input of inputs) {
      if (input.type !== 'message') continue;
      const { type, from: leader, term } = input.message;
      // A leader that transfers leadership reads by no lease any more: what it sends after that
      // in the same step comes too late.
      if (type === 'timeoutNow') {
        handsOver = leader;
        if (this.#silences.get(id)?.leader === leader) this.#silences.delete(id);
      }
      if ((type !== 'append' && type !== 'snapshot') || leader === handsOver) continue;
      const isAnswered = output.sendAfterStore.some(
        (answer) =>
          answer.type === 'appendResponse' && answer.to === leader && answer.term === term,
      );
      const until = now + CHECKED_SHARE * silenceMsOf(options);
      if (isAnswered) this.#promise(id, { leader, term, until });
    }
    const silence = this.#silences.get(id);
    if (silence === undefined || now >= silence.until) return;
    const isLone = after.configuration.members.filter(({ voter }) => voter).length < 2;
    if (output.hardState?.votedFor === id && after.term > silence.term && !isLone)
      throw new Violation(
        'lease promise',
        `${id} votes for itself in term ${after.term} at ${now}, having promised ${silence.leader} of term ${silence.term} silence until ${silence.until}`,
      );
    for (const answer of output.sendAfterStore) {
      if (answer.type !== 'voteResponse' || !answer.granted) continue;
      const { to, term } = answer;
      if (to === silence.leader || term <= silence.term) continue;
      if (this.#transfers.has(`${to} ${term}`)) continue;
      throw new Violation(
        'lease promise',
        `${id} votes for ${to} in term ${term} at ${now}, having promised ${silence.leader} of term ${silence.term} silence until ${silence.until}`,
      );
    }
  }

  /** An earlier promise to the same leader still holds if the server's timing is shorter now. */
  #promise(id: NodeId, silence: Silence): void {
    const before = this.#silences.get(id);
    const isSame = before?.leader === silence.leader && before.term === silence.term;
    const until = isSame ? Math.max(before.until, silence.until) : silence.until;
    this.#silences.set(id, { ...silence, until });
  }

  /** A read released without a round needs a quorum that is silent for its leader now. */
  #checkLease(id: NodeId, { inputs, output, after, now }: LeaseStep): void {
    const released = new Set(output.reads.map((read) => read.id));
    const isByLease = inputs.some(
      (input) =>
        input.type === 'read' &&
        input.mode === 'lease' &&
        input.asker === undefined &&
        input.ids.some((read) => released.has(read)),
    );
    if (!isByLease) return;
    const voters = after.configuration.members.filter(({ voter }) => voter);
    const silent = voters.filter((voter) => {
      const silence = this.#silences.get(voter.id);
      return voter.id === id || (silence?.leader === id && now < silence.until);
    });
    if (silent.length >= quorumSize(voters.length)) return;
    throw new Violation(
      'lease is promised',
      `${id} in term ${after.term} reads by its lease at ${now}, with ${silent.length} of ${voters.length} voters silent`,
    );
  }

  /** §6.4: a read shows at least what was committed anywhere when it was requested. */
  #checkReads(id: NodeId, { inputs, output, isLeaseInDoubt }: LeaseStep, committed: Index): void {
    const reads = this.#reads.get(id) ?? new Map<ReadId, Index>();
    this.#reads.set(id, reads);
    for (const input of inputs) {
      if (input.type !== 'read' || (input.mode === 'lease' && isLeaseInDoubt)) continue;
      for (const read of input.ids) {
        // For a follower, that is when it asked; the request took time.
        const floor = input.asker === undefined ? committed : this.#asked.get(read);
        if (floor !== undefined) reads.set(read, floor);
      }
    }
    for (const read of output.readsDropped) reads.delete(read);
    for (const { id: read, index } of output.reads) {
      const floor = reads.get(read);
      reads.delete(read);
      if (floor !== undefined && index < floor)
        throw new Violation(
          'no stale read',
          `${id} releases read ${read} at index ${index}, but ${floor} was committed before it was asked for`,
        );
    }
  }
}
