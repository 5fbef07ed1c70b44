/** Deliberate faults, each a change of the compiled text, that the simulation must find. See `scripts/mutate.ts`. */
import type { Fault } from './fault-kinds.js';

export interface Change {
  /** Below `src/` of the build. */
  readonly file: string;
  /** Must be there exactly once. */
  readonly find: string;
  readonly replace: string;
}
export interface Mutation {
  readonly name: string;
  /** What plays the worlds: whole clusters, or the random orders of Raft cores, where elections are far more frequent. */
  readonly by?: 'simulate' | 'worlds';
  /** A kind that each world is to have: else it would be found too, but late. */
  readonly fault?: Fault;
  readonly changes: readonly Change[];
}

const one = (name: string, file: string, find: string, replace: string): Mutation => ({
  name,
  changes: [{ file, find, replace }],
});

const elections: readonly Mutation[] = [
  {
    name: 'a vote without comparing the logs',
    changes: [
      {
        file: 'raft/election.js',
        find: 'free && willing && raft.log.isUpToDate(message.lastTerm, message.lastIndex)',
        replace: 'free && willing',
      },
      {
        file: 'raft/election.js',
        find: 'fits && !isSticky(raft) && !isBehind',
        replace: 'fits && !isSticky(raft)',
      },
    ],
  },
  one(
    'a vote that is not stored',
    'raft/election.js',
    'however often it is asked for.\n        storeHardState(raft);',
    '\n',
  ),
  one(
    'two votes in a term',
    'raft/election.js',
    'const free = raft.votedFor === null || raft.votedFor === message.from;\n    const willing',
    'const free = true;\n    const willing',
  ),
  {
    name: 'a vote of the own term within the promised silence',
    by: 'worlds',
    changes: [
      {
        file: 'raft/election.js',
        find: 'raft.leader === null && (message.transfer === true || !isSticky(raft));',
        replace: 'raft.leader === null;',
      },
    ],
  },
  one(
    'a pre-vote counted as a vote',
    'raft/raft.js',
    'voteResponse: onVoteResponse, timeoutNow: ignore',
    'voteResponse: onVoteResponse, preVoteResponse: onVoteResponse, timeoutNow: ignore',
  ),
  one(
    'no vote before the vote',
    'raft/election.js',
    'else\n        startPreVote(raft);',
    'else\n        startElection(raft, false);',
  ),
  one(
    'followers that vote while they hear a leader',
    'raft/roles.js',
    "return raft.state.role === 'leader' || raft.leaderElapsed < raft.options.electionTicks;",
    'return false;',
  ),
  one(
    'a restart that forgets the silence promised to a leader',
    'raft/raft.js',
    'leaderElapsed: term > 0 ? options.electionTicks - ticksPromised(options) : options.electionTicks',
    'leaderElapsed: options.electionTicks',
  ),
  one(
    'a leader that never notices that nobody answers',
    'raft/leader.js',
    'if (leader.ticks - contact >= raft.options.electionTicks) {',
    'if (contact === -1) {',
  ),
  one(
    'half of an even number is a majority',
    'raft/quorum.js',
    'Math.floor(voters / 2) + 1',
    'Math.ceil(voters / 2)',
  ),
];

const logs: readonly Mutation[] = [
  one(
    'answers before the fsync',
    'node/driver.js',
    'const storing = { first, last, send: [...sendAfterStore] };',
    'const storing = { first, last, send: [] };\n for (const m of sendAfterStore) this.#wire.send(m);',
  ),
  {
    name: 'an acknowledgement of what is not durable',
    changes: [
      {
        file: 'raft/follower.js',
        find: 'log.tail.length > 0 ? state.matched : Math.min(state.matched, log.stored)',
        replace: 'state.matched',
      },
      // alone it does no harm: the driver holds messages back until all that was handed over before is stored
      { file: 'node/driver.js', find: 'if (last !== undefined)', replace: 'if (last === null)' },
    ],
  },
  one(
    'a leader that counts itself before its fsync',
    'raft/commit.js',
    'voterValues(raft, leader, raft.log.stored,',
    'voterValues(raft, leader, raft.log.last,',
  ),
  one(
    'an older term committed by counting',
    'raft/commit.js',
    'if (index >= leader.termStart)',
    'if (index > 0)',
  ),
  one(
    'truncation at entries that match',
    'raft/follower.js',
    'if (own === entry.term || (own === undefined && entry.index <= raft.commit))',
    'if (entry.index <= raft.commit)',
  ),
  one(
    'entries taken without looking at the one before',
    'raft/follower.js',
    'if (prevIndex >= raft.commit && raft.log.term(prevIndex) !== prevTerm) {',
    'if (prevIndex > raft.log.last) {',
  ),
  one(
    'a heartbeat that commits what was not compared',
    'raft/follower.js',
    'commitTo(raft, Math.min(message.commit, matched));',
    'commitTo(raft, Math.min(message.commit, raft.log.last));',
  ),
];

const reads: readonly Mutation[] = [
  one(
    'a lease counted from the answer',
    'raft/reads.js',
    'peer.silentUntil = Math.max(peer.silentUntil, at + leaseMs);',
    'peer.silentUntil = raft.now + leaseMs;',
  ),
  one(
    'a lease that outlives its leader',
    'raft/reads.js',
    'raft.now < quorumValue(',
    'raft.now - 2 * raft.options.leaseMs < quorumValue(',
  ),
  one(
    'a lease before the own term has committed',
    'raft/reads.js',
    'raft.commit >= leader.termStart &&',
    '',
  ),
  {
    name: 'a lease that goes on while leadership is handed over',
    changes: [
      { file: 'raft/reads.js', find: 'leader.transfer === undefined &&', replace: '' },
      { file: 'raft/reads.js', find: '!reads.leaseRefused &&', replace: '' },
    ],
  },
  one(
    'a lease read by the time of before a stall',
    'node/driver.js',
    'const now = this.#clock.now();\n        if (inputs',
    'const now = this.before ?? this.#clock.now(); this.before = this.#clock.now();\n        if (inputs',
  ),
  one(
    'a read index before the own term has committed',
    'raft/reads.js',
    '|| raft.commit < leader.termStart)',
    ')',
  ),
  one(
    'a read index that nobody confirmed',
    'raft/reads.js',
    'reads.bound.push({ round: reads.round, index: raft.commit, ids: reads.waiting });',
    'release(raft, reads.waiting, raft.commit);',
  ),
  one(
    'a read answered before its index is applied',
    'node/applied.js',
    'if (this.#applied() >= index) {',
    'if (index > 0) {',
  ),
];

const membership: readonly Mutation[] = [
  {
    name: 'a second change of members before the first is committed',
    changes: [
      {
        file: 'raft/membership.js',
        find: 'raft.commit >= leader.termStart && raft.configurations.index <= raft.commit',
        replace: 'leader !== undefined',
      },
      // the driver does not even ask for one
      { file: 'node/membership.js', find: 'this.#changing = true;', replace: '' },
    ],
  },
  one(
    'learners counted as voters',
    'raft/configuration.js',
    'this.current.members.filter((member) => member.voter)',
    'this.current.members',
  ),
  one(
    'a snapshot with the first configuration',
    'node/positions.js',
    'known.findLast((each) => each.index <= index) ?? known[0]',
    'known[0]',
  ),
  one(
    'a snapshot that takes the vote with it',
    'node/driver.js',
    'const hardState = hard.term >= meta.term ? hard : { term',
    'const hardState = { term',
  ),
];

const machine: readonly Mutation[] = [
  {
    name: 'a request sent twice takes effect twice',
    changes: [
      {
        file: 'state/requests.js',
        find: 'const known = this.find(view, proposal.id);',
        replace: 'const known = undefined;',
      },
      // alone it does no harm: a leader that has applied all of its log sees the first one
      {
        file: 'node/lead.js',
        find: 'const result = this.#parts.machine.remembered(proposal.id);',
        replace: 'const result = undefined;',
      },
    ],
  },
  one(
    'the applied index stored apart from the data',
    'state/machine.js',
    'this.#store.commit([...changes, this.#recordAt(entry, this.#sums)]);',
    'this.#store.commit([this.#recordAt(entry, this.#sums)]); this.#store.commit(changes);',
  ),
  one(
    'a replaced state counted by the sums of the one before',
    'state/machine.js',
    'this.#sums = sums;',
    '',
  ),
  one(
    'the log cut before the state is durable',
    'node/compaction.js',
    'machine.flush((durable) => this.#cut(meta, durable));',
    'this.#cut(meta, machine.appliedIndex());',
  ),
  one(
    'a write called failed that may still happen',
    'node/forward.js',
    'refusal: held.open > 0 ? outcomeUnknown() : noLeader()',
    'refusal: noLeader()',
  ),
  {
    name: 'the result of another command at the same index',
    changes: [
      {
        file: 'node/driver.js',
        find: 'if (first <= this.#log.lastIndex())\n                this.#proposals.truncatedFrom(first);',
        replace: '',
      },
      {
        file: 'node/proposals.js',
        find: 'const isOurs = appended.term === term;',
        replace: 'const isOurs = true;',
      },
    ],
  },
];

const disks: readonly Mutation[] = [
  one(
    'a server on a full disk that refuses a write and takes it all the same',
    'node/lead.js',
    "else if (closed !== undefined)\n            done({ type: 'refused', refusal: closed });",
    "else if (closed !== undefined) { done({ type: 'refused', refusal: closed }); this.#propose(proposal, write, done); }",
  ),
  one(
    'a wiped server believed under its old name',
    'transport/handshake.js',
    'if (known !== undefined && known !== hello.incarnation) {',
    'if (known === null) {',
  ),
  one(
    'a damaged log without a bar on the vote',
    'node/lost-entries.js',
    'driver.barred = log.bar?.() !== undefined;',
    'driver.barred = false;',
  ),
  one(
    'a bar lifted before what was lost is here again',
    'node/lost-entries.js',
    'settledIndex >= bar.index || ',
    'settledIndex > 0 || ',
  ),
  one(
    'a loss that the leader does not see',
    'raft/replication.js',
    'if (message.round <= peer.round)',
    'if (true)',
  ),
  one('a state that is lost and not asked for', 'node/lost-state.js', 'replica.askForState();', ''),
  one(
    'entries applied to a state that is lost',
    'node/lost-state.js',
    'replica.driver.pauseApply();',
    '',
  ),
  one(
    'a wrong state that nobody is told of',
    'node/agreement.js',
    'if (table === undefined)',
    'if (table !== null)',
  ),
  one(
    'a right state taken for the wrong one',
    'node/agreement.js',
    'const right = majority(sums, members) ??',
    'const right = [...sums.values()].at(-1) ??',
  ),
  one(
    'a server that serves on with a wrong state',
    'node/replica.js',
    'this.#parts.onDiffers?.(why);',
    '',
  ),
  one(
    'a wrong state replaced only by a newer one',
    'node/driver.js',
    'return applied <= meta.index &&',
    'return applied < meta.index &&',
  ),
];

const outcomes: readonly Mutation[] = [
  one(
    'a floor that is ignored',
    'state/requests.js',
    'if (proposal.since >= this.#floor)',
    'if (this.#floor >= 0)',
  ),
  one(
    'a start that forgets the remembered requests',
    'state/machine.js',
    'RequestMemory.load(this.#store, record?.floor ?? 0, this.#limits.requestsMax)',
    'new RequestMemory(record?.floor ?? 0, this.#limits.requestsMax)',
  ),
  one(
    'a start that takes a state which ends where its log begins for lost',
    'node/agree.js',
    'if (applied < log.firstIndex() - 1)',
    'if (applied <= log.firstIndex() - 1)',
  ),
  {
    name: 'a write answered, and again at its deadline',
    changes: [
      {
        file: 'node/forward.js',
        find: 'if (!this.#held.delete(held))\n            return;\n        held.cancelDeadline();',
        replace: 'this.#held.delete(held);',
      },
    ],
  },
  one(
    'a question of another server answered twice',
    'node/lead.js',
    'each(attempt);\n        });',
    'each(attempt), each(attempt);\n        });',
  ),
  one(
    'a turn that applies nothing and asks for the next',
    'node/driver.js',
    'if (from > upTo)',
    'if (from > upTo + 1)',
  ),
  one(
    'a leader that asks its followers again at each of their answers',
    'raft/reads.js',
    'reads.waiting.length === 0 || ',
    '',
  ),
  one(
    'as many proposals at once as anyone likes',
    'node/lead.js',
    'this.#parts.driver.pending >= this.#parts.pendingMax',
    'this.#parts.driver.pending < 0',
  ),
  one(
    'as many held writes as anyone likes',
    'node/forward.js',
    'if (this.#held.size >= heldMax)',
    'if (this.#held.size < 0)',
  ),
  one(
    'a change that wakes no reader',
    'state/machine.js',
    'for (const listener of this.#changeListeners)',
    'for (const listener of this.#index % 10 === 0 ? [] : this.#changeListeners)',
  ),
  one(
    'readers woken by each entry that is applied',
    'node/replica.js',
    'this.#applied.reached(index);',
    'this.#applied.reached(index);\n        this.watches.wakeAll();',
  ),
  one(
    'a lost state that is asked for once only',
    'node/lost-state.js',
    'clock.after(againMs, () => this.#ask());',
    '',
  ),
];

const machines: readonly Mutation[] = [
  one(
    'a lease that takes all followers for as silent as oneself',
    'raft/reads.js',
    'Math.min(raft.options.leaseMs, leaseMsOver(silenceMs))',
    'raft.options.leaseMs',
  ),
  one(
    'a lease that outlasts the sleep of its machine',
    'node/driver.js',
    'if (this.#clockWatch.hasDrifted())',
    'if (this.#clockWatch === undefined)',
  ),
  {
    ...one(
      'a leader that keeps its office while its disk hangs',
      'node/replica.js',
      'const HANG_TIMEOUTS = 5;',
      'const HANG_TIMEOUTS = Infinity;',
    ),
    fault: 'hangLeader',
  },
  one(
    'a leader that keeps its office while its disk alone is at its reserve',
    'node/handover.js',
    'else\n            this.#lookForRoom();',
    '',
  ),
  one(
    'an older copy of a disk believed',
    'transport/handshake.js',
    '(starts <= known.starts || isCopy)',
    'false',
  ),
  {
    ...one(
      'an older copy of a disk believed once it was started often enough',
      'transport/handshake.js',
      '(starts <= known.starts || isCopy)',
      'starts <= known.starts',
    ),
    fault: 'rollback',
  },
  one('a command below its level', 'node/levels.js', 'if (needed === 1)', 'if (needed > 0)'),
  one(
    'a level raised before all members support it',
    'node/levels.js',
    'const next = Math.min(all, this.supported);',
    'const next = this.supported;',
  ),
  one('a level that is never raised', 'node/levels.js', 'if (next <= level)', 'if (next > 0)'),
  {
    ...one(
      'an old release taken into a cluster beyond its level',
      'node/levels.js',
      'if (its >= level) {',
      'if (its > 0) {',
    ),
    fault: 'newRelease',
  },
];

export const mutations: readonly Mutation[] = [
  ...elections,
  ...logs,
  ...reads,
  ...membership,
  ...machine,
  ...disks,
  ...outcomes,
  ...machines,
];
