/** Deliberate faults of what stands around the core, for `mutations.ts`. */
import { type Mutation, one } from './mutation.js';

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
        file: 'replica/writes/leader-writes.js',
        find: 'const result = this.#parts.machine.remembered(proposal.id);',
        replace: 'const result = undefined;',
      },
    ],
  },
  one(
    'a reader who shares a barrier whose request was sent before',
    'replica/reads/read-index.js',
    'const last = waiting.at(-1);',
    'const last = waiting.at(-1) ?? this.#lanes[mode].asking.at(-1);',
  ),
  one(
    'the applied index stored apart from the data',
    'state/machine.js',
    'changes.push(this.#recordAt(this.#position(), this.#sums));',
    'this.#store.commit([this.#recordAt(this.#position(), this.#sums)]);',
  ),
  one(
    'a replaced state counted by the sums of the one before',
    'state/machine.js',
    'this.#sums = sums;',
    '',
  ),
  one(
    'the log cut before the state is durable',
    'replica/log/compaction.js',
    'machine.flush((durable) => this.#cut(meta, durable));',
    'this.#cut(meta, machine.appliedIndex());',
  ),
  one(
    'a write called failed that may still happen',
    'replica/writes/client-writes.js',
    'refusal: held.open > 0 ? outcomeUnknown() : noLeader()',
    'refusal: noLeader()',
  ),
  {
    name: 'the result of another command at the same index',
    changes: [
      {
        file: 'replica/log/log-writer.js',
        find: 'if (first <= log.lastIndex())\n                truncates(first);',
        replace: '',
      },
      {
        file: 'replica/writes/pending-writes.js',
        find: 'const isOurs = own === term;',
        replace: 'const isOurs = true;',
      },
    ],
  },
];

const disks: readonly Mutation[] = [
  one(
    'a server on a full disk that refuses a write and takes it all the same',
    'replica/writes/leader-writes.js',
    "else if (closed !== undefined)\n            done({ type: 'refused', refusal: closed });",
    "else if (closed !== undefined) { done({ type: 'refused', refusal: closed }); this.#propose(proposal, write, done); }",
  ),
  {
    name: 'a wiped server believed under its old name',
    fault: 'wipe',
    changes: [
      {
        file: 'transport/hello-checks.js',
        find: 'if (known.incarnation !== incarnation) {',
        replace: 'if (known === null) {',
      },
      // alone it does no harm: an empty disk has neither the starts that were seen nor the key
      {
        file: 'transport/hello-checks.js',
        find: 'if (starts > known.starts && !isCopy)',
        replace: 'if (true)',
      },
      {
        file: 'transport/hello-checks.js',
        find: 'if (pinned === undefined || publicKey === pinned)',
        replace: 'if (true)',
      },
    ],
  },
  one(
    'a damaged log without a bar on the vote',
    'replica/log/voting-suspension.js',
    'loop.elections.votingSuspended = log.bar?.() !== undefined;',
    'loop.elections.votingSuspended = false;',
  ),
  {
    ...one(
      'a bar lifted before what was lost is here again',
      'replica/log/voting-suspension.js',
      'settledIndex >= bar.index || ',
      'settledIndex > 0 || ',
    ),
    fault: 'damage',
  },
  one(
    'a loss that the leader does not see',
    'raft/replication.js',
    'if (message.round <= peer.round)',
    'if (true)',
  ),
  one(
    'a state that is lost and not asked for',
    'replica/state/recovery.js',
    'this.#askLeader();',
    '',
  ),
  one(
    'entries applied to a state that is lost',
    'replica/state/recovery.js',
    'loop.pauseApply();',
    '',
  ),
  one(
    'a wrong state that nobody is told of',
    'replica/state/comparison.js',
    'if (table === undefined)',
    'if (table !== null)',
  ),
  one(
    'a right state taken for the wrong one',
    'replica/state/comparison.js',
    'const right = majority(sums, members) ??',
    'const right = [...sums.values()].at(-1) ??',
  ),
  one(
    'a server that serves on with a wrong state',
    'replica/state/divergence.js',
    'onDiffers?.(why);',
    '',
  ),
  one(
    'a wrong state replaced only by a newer one',
    'replica/loop.js',
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
    'RequestMemory.load(this.#store, record?.floor ?? 0, this.#limits)',
    'new RequestMemory(record?.floor ?? 0, this.#limits)',
  ),
  one(
    'a page of results that ends with each commit',
    'state/requests.js',
    'if (record.isFull)',
    'record.isFull = true;\n            if (record.isFull)',
  ),
  one(
    'a start that begins another page of results',
    'state/requests.js',
    'this.#openLast(view);',
    '',
  ),
  one(
    'a start that takes a state which ends where its log begins for lost',
    'replica/state/reconcile.js',
    'if (applied < log.firstIndex() - 1)',
    'if (applied <= log.firstIndex() - 1)',
  ),
  {
    name: 'a write answered, and again at its deadline',
    changes: [
      {
        file: 'replica/writes/client-writes.js',
        find: 'if (!this.#held.delete(held))\n            return;\n        held.cancelDeadline();',
        replace: 'this.#held.delete(held);',
      },
    ],
  },
  one(
    'a question of another server answered twice',
    'replica/writes/pending-writes.js',
    'settle(outcome);',
    'settle(outcome), settle(outcome);',
  ),
  one(
    'a turn that applies nothing and asks for the next',
    'replica/state/applier.js',
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
    'replica/writes/leader-writes.js',
    'this.#parts.loop.pending >= this.#parts.pendingWrites',
    'this.#parts.loop.pending < 0',
  ),
  one(
    'as many held writes as anyone likes',
    'replica/writes/client-writes.js',
    'if (this.#held.size >= waitingWrites)',
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
    'replica/replica.js',
    'applied.reached(index);',
    'applied.reached(index);\n        this.#components.watches.wakeAll();',
  ),
  one(
    'a lost state that is asked for once only',
    'replica/state/recovery.js',
    'clock.after(AGAIN_MS, () => this.#request());',
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
    'replica/loop.js',
    'if (this.#clockWatch.hasDrifted())',
    'if (this.#clockWatch === undefined)',
  ),
  {
    ...one(
      'a leader that keeps its office while its disk hangs',
      'replica/components.js',
      'const HANG_TIMEOUTS = 5;',
      'const HANG_TIMEOUTS = Infinity;',
    ),
    fault: 'hangLeader',
  },
  {
    ...one(
      'a leader whose disk hangs while an entry replaces the state keeps its office',
      'replica/state/applier.js',
      'machine.replacingTurns !== this.#turns',
      'true',
    ),
    fault: 'hangLeader',
  },
  one(
    'a leader that keeps its office while its disk alone is at its reserve',
    'replica/members/handover.js',
    '(this.#hasRoom && !isLate)',
    '!isLate',
  ),
  one(
    'an older copy of a disk believed',
    'transport/hello-checks.js',
    'if (starts > known.starts && !isCopy)',
    'if (true)',
  ),
  {
    ...one(
      'an older copy of a disk believed once it was started often enough',
      'transport/hello-checks.js',
      'if (starts > known.starts && !isCopy)',
      'if (starts > known.starts)',
    ),
    fault: 'rollback',
  },
  one(
    'a command below its level',
    'replica/members/levels.js',
    'if (needed === 1)',
    'if (needed > 0)',
  ),
  one(
    'a level raised before all members support it',
    'replica/members/levels.js',
    'const next = Math.min(all, this.supported);',
    'const next = this.supported;',
  ),
  one(
    'a level that is never raised',
    'replica/members/levels.js',
    'if (next <= level)',
    'if (next > 0)',
  ),
  {
    ...one(
      'an old release taken into a cluster beyond its level',
      'replica/members/levels.js',
      'if (its >= level) {',
      'if (its > 0) {',
    ),
    fault: 'newRelease',
  },
];

export const nodeMutations: readonly Mutation[] = [...machine, ...disks, ...outcomes, ...machines];
