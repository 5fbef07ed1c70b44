/** Deliberate faults of the core and of its log, for `mutations.ts`. */
import { type Mutation, one, unit } from './mutation.js';

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
    'often it is asked for.\n        storeHardState(raft);',
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
    "if (role !== 'follower' || !isSticky(raft))\n        startPreVote(raft);",
    "if (role !== 'follower' || !isSticky(raft))\n        startElection(raft, 'pre_vote_won');",
  ),
  one(
    'followers that vote while they hear a leader',
    'raft/role-changes.js',
    "return raft.state.role === 'leader' || raft.leaderElapsed < raft.options.electionTicks;",
    'return false;',
  ),
  one(
    'a restart that forgets the silence promised to a leader',
    'raft/raft.js',
    'leaderElapsed: term > 0 ? options.electionTicks - ticksPromised(options) : options.electionTicks',
    'leaderElapsed: options.electionTicks',
  ),
  {
    ...one(
      'a start that forgets a longer silence promised by the one before',
      'raft/raft.js',
      'return Math.max(electionTicks, promisedTicks);',
      'return electionTicks;',
    ),
    fault: 'skewTiming',
  },
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

/** What happens so seldom to a whole cluster that hundreds of worlds do not find it. */
const rare: readonly Mutation[] = [
  // The configuration must be the very first entry that is replaced, and decide an election.
  unit(
    one(
      'a configuration that stays in force although its entry was truncated',
      'raft/configuration.js',
      'while (this.#placed.length > 1 && this.index >= index)',
      'while (this.#placed.length > 1 && this.index > index)',
    ),
    'raft/membership',
  ),
  // A batch must be done between two that replace each other, and the server must lead before the
  // second one is.
  unit(
    one(
      'durable although a pending batch replaces it',
      'replica/log/log-writer.js',
      'durable = Math.min(durable, first - 1);',
      ';',
    ),
    'replica/loop',
  ),
  // An abandoned question and a new one must be under way at once, with a write between them.
  unit(
    one(
      'the answer to an abandoned question for a read index is taken',
      'replica/reads/read-index.js',
      'round !== lane.round || lane.asking.length === 0',
      'lane.asking.length === 0',
    ),
    'replica/reads',
  ),
  // The lost entry must hold a configuration, and the log must be sent from its new beginning.
  unit(
    one(
      'the log cut while the bar stands',
      'replica/log/compaction.js',
      'if (this.#cutting || loop.elections.votingSuspended)',
      'if (this.#cutting)',
    ),
    'replica/compaction',
  ),
  // A flush of the state must take as long as a snapshot to arrive.
  unit(
    one(
      'a cut decided before a snapshot replaced the log',
      'replica/log/compaction.js',
      'durable < meta.index || !isThere',
      'durable < meta.index',
    ),
    'replica/compaction',
  ),
  // A snapshot must be made while a configuration is on its way that is rolled back later.
  unit(
    one(
      'a snapshot with a configuration that is later than it',
      'replica/log/applied-log.js',
      'known.findLast((each) => each.index <= index) ?? known[0]',
      'known.at(-1)',
    ),
    'replica/replica',
  ),
  // It does no harm to data: the vote waits for the disk, and another server may lead sooner.
  unit(
    one(
      'a server that votes although the disk of its log hangs',
      'replica/election-guard.js',
      'return this.votingSuspended || this.#disks.logHangs;',
      'return this.votingSuspended;',
    ),
    'replica/election-guard',
  ),
];

const logs: readonly Mutation[] = [
  one(
    'answers before the fsync',
    'replica/log/log-writer.js',
    'const storing = { first, last, send: [...sendAfterStore] };',
    'const storing = { first, last, send: [] };\n for (const m of sendAfterStore) wire.send(m);',
  ),
  {
    name: 'an acknowledgement of what is not durable',
    changes: [
      {
        file: 'raft/follower.js',
        find: 'log.tail.length > 0 ? state.matched : Math.min(state.matched, log.stored)',
        replace: 'state.matched',
      },
      // alone it does no harm: the loop holds messages back until all that was handed over before is stored
      {
        file: 'replica/log/log-writer.js',
        find: 'if (last !== undefined)',
        replace: 'if (last === null)',
      },
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
    'replica/loop.js',
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
  {
    name: 'a read index that the follower who asks confirms alone',
    by: 'worlds',
    changes: [
      {
        file: 'raft/reads.js',
        find: '(id === asker.id ? 1 : 0))) === 1',
        replace: '(id === asker.id ? 1 : 0))) >= 0',
      },
    ],
  },
  one(
    'a read answered before its index is applied',
    'replica/reads/applied-index.js',
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
      // the loop does not even ask for one
      { file: 'replica/members/membership.js', find: 'this.#changing = true;', replace: '' },
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
    'replica/log/applied-log.js',
    'known.findLast((each) => each.index <= index) ?? known[0]',
    'known[0]',
  ),
  one(
    'a snapshot that takes the vote with it',
    'replica/log/log-writer.js',
    'const hardState = hard.term >= meta.term ? hard : { term',
    'const hardState = { term',
  ),
];

export const raftMutations: readonly Mutation[] = [
  ...elections,
  ...rare,
  ...logs,
  ...reads,
  ...membership,
];
