/**
 * The Raft core: `output = step(inputs)`. It only decides. It has no clock, disk, socket or
 * randomness of its own. The rules are in the files named after them; this file dispatches inputs
 * and messages to them.
 *
 * Its driver stores, sends and applies. This is a whole driver, in the order that safety needs
 * (`replica/loop.ts` is the one of this product; `test/raft/driver.test.ts` runs the lines below):
 *
 *     const core = createRaft(options, log, log.hardState(), now());
 *     const inbox = machine.applied > 0 ? [{ type: 'applied', index: machine.applied }] : [];
 *     let storing = []; // batches on their way to the disk, oldest first
 *     let durable = log.lastIndex();
 *     let commit = machine.applied;
 *     let isReplacing = false;
 *
 *     function take(input) {
 *       inbox.push(input);
 *       soon(turn);
 *     }
 *     function turn() {
 *       if (inbox.length === 0 || isReplacing) return;
 *       const output = core.step(inbox.splice(0), now());
 *       output.sendNow.forEach(send);
 *       store(output);
 *       output.sendSnapshots.forEach(sendSnapshot); // at last: take({ type: 'snapshotSent', … })
 *       commit = Math.max(commit, output.commit ?? 0);
 *       report(output); // to callers: appended, dropped, reads, readsDropped, role
 *       // What a crash could take from the log is not applied.
 *       const upTo = Math.min(commit, durable);
 *       log.entries(machine.applied + 1, upTo, Infinity).forEach(machine.apply);
 *     }
 *     function store({ hardState, entries, sendAfterStore }) {
 *       if (hardState === undefined && entries.length === 0) {
 *         // They promise what an earlier batch still stores, such as the term.
 *         if (storing.length === 0) sendAfterStore.forEach(send);
 *         else storing.at(-1).send.push(...sendAfterStore);
 *         return;
 *       }
 *       const first = entries[0]?.index ?? log.lastIndex() + 1;
 *       const batch = { first, last: first + entries.length - 1, send: [...sendAfterStore] };
 *       storing.push(batch);
 *       durable = Math.min(durable, first - 1); // what is about to be replaced does not count
 *       log.append({ hardState, entries }, () => stored(batch)); // one synced batch, in order
 *     }
 *     function stored(batch) {
 *       if (storing[0] !== batch) return; // a snapshot has replaced the log
 *       storing.shift();
 *       durable = Math.min(batch.last, ...storing.map(({ first }) => first - 1));
 *       batch.send.forEach(send);
 *       take({ type: 'stored', index: durable, term: log.term(durable) });
 *     }
 *     function install(meta, state, from) {
 *       if (isReplacing || !core.accepts(meta)) return;
 *       isReplacing = true; // no step, until the log begins after the snapshot
 *       machine.replace(meta.index, state);
 *       const hard = log.hardState();
 *       const hardState = hard.term < meta.term ? { term: meta.term, votedFor: null } : hard;
 *       log.reset(meta, hardState, () => {
 *         isReplacing = false;
 *         inbox.unshift({ type: 'snapshotStored', meta, from });
 *         take({ type: 'applied', index: meta.index });
 *       });
 *       storing = [];
 *       [durable, commit] = [meta.index, Math.max(commit, meta.index)];
 *     }
 *
 * `take` gets a `tick` every `tickMs`, each message that arrives, proposals and reads. The log
 * shows at once what it was given; `done` is called later, in order. A failed write ends the
 * process. A proposal succeeded when the entry of its index and term is applied, and a read may be
 * served when its index is.
 */
import { invariant } from './assert.js';
import { commitTo, maybeCommit } from './commit.js';
import { Configurations } from './configuration.js';
import {
  onLeaderUnreachable,
  onPreVote,
  onPreVoteResponse,
  onTimeoutNow,
  onVote,
  onVoteResponse,
  tickElection,
  voteDecision,
} from './election.js';
import {
  acknowledgeStored,
  adoptSnapshot,
  appendRefusal,
  onAppend,
  onSnapshot,
  onSnapshotStored,
} from './follower.js';
import { tickLeader } from './leader.js';
import { Log } from './log.js';
import { onChangeConfiguration } from './membership.js';
import { checkOptions, type RaftOptions } from './options.js';
import { onPropose } from './propose.js';
import { bindReads, forgetLease, onRead } from './reads.js';
import { onAppendResponse, onSnapshotSent, onUnreachable, replicate } from './replication.js';
import { becomeFollower, isSticky, resetElectionTimer } from './role-changes.js';
import { type MessageOf, newOutbox, type Raft, statusOf, takeOutput } from './state.js';
import { continueTransfer, leaveIfRemoved, onTransfer } from './transfer.js';
import type {
  HardState,
  Input,
  LogView,
  Message,
  Output,
  RaftCore,
  Role,
  SnapshotMeta,
} from './types.js';

/**
 * Returns a Raft server in its state after a start: it knows the durable log and hard state, and
 * has forgotten everything else. Throws Error for inconsistent options. `now` is the monotonic
 * clock of `step`, in milliseconds.
 */
export function createRaft(
  options: RaftOptions,
  view: LogView,
  hardState: HardState,
  now: number,
): RaftCore {
  const problem = checkOptions(options);
  if (problem !== undefined) throw new Error(`raft options: ${problem}`);
  const raft = restart(options, view, hardState, now);
  return {
    step: (inputs, at) => {
      begin(raft, view, at);
      for (const input of inputs) take(raft, input);
      return finish(raft);
    },
    accepts: (meta) => accepts(raft, meta),
    restTicks: () => Math.max(1, restTicks(raft)),
    status: () => statusOf(raft),
  };
}

function restart(options: RaftOptions, view: LogView, hardState: HardState, now: number): Raft {
  const log = new Log(view);
  const configurations = new Configurations(view);
  const { term, votedFor } = hardState;
  invariant(log.lastTerm <= term, 'the log is ahead of the hard state', {
    lastTerm: log.lastTerm,
    term,
  });
  const role = configurations.mayCampaign(options.id) ? 'follower' : 'learner';
  const raft: Raft = {
    options,
    trace: options.trace,
    id: options.id,
    log,
    configurations,
    steps: 0,
    now,
    term,
    votedFor,
    leader: null,
    commit: view.snapshot()?.index ?? 0,
    announced: 0,
    state: { role, matched: 0, acked: 0, round: 0 },
    electionElapsed: 0,
    electionTimeout: 0,
    hastened: false,
    // It may have promised silence to a leader just before the restart. A new server has not.
    leaderElapsed:
      term > 0 ? options.electionTicks - ticksPromised(options) : options.electionTicks,
    out: newOutbox(),
    lastReported: { role: { role, term, leader: null }, configuration: configurations.current },
  };
  resetElectionTimer(raft);
  raft.electionElapsed = Math.min(0, raft.leaderElapsed);
  // No other server can lead, so there is no leader to disturb.
  if (configurations.isLoneVoter(options.id)) raft.electionTimeout = raft.electionElapsed + 1;
  return raft;
}

/**
 * Returns the silence to keep after a start, in ticks: the longest that this run or an earlier one
 * may have promised.
 */
function ticksPromised({ electionTicks, promisedTicks = 0 }: RaftOptions): number {
  return Math.max(electionTicks, promisedTicks);
}

function begin(raft: Raft, view: LogView, now: number): void {
  invariant(now >= raft.now, 'the clock runs backwards', { from: raft.now, to: now });
  raft.now = now;
  raft.steps++;
  const meta = view.snapshot();
  if (meta !== undefined && meta.index > raft.commit) {
    // Either the log was reset to a received snapshot, or compacted up to what an earlier run had
    // applied.
    if (view.lastIndex() === meta.index) adoptSnapshot(raft, meta);
    else commitTo(raft, meta.index);
  }
  raft.log.begin();
}

function finish(raft: Raft): Output {
  const { state } = raft;
  if (state.role === 'leader') {
    bindReads(raft, state);
    if (state.established) {
      replicate(raft, state);
      continueTransfer(raft, state);
      leaveIfRemoved(raft, state);
    }
  }
  const { commit, log, term } = raft;
  invariant(commit <= log.last, 'commit beyond the end of the log', { commit, last: log.last });
  invariant(log.stored <= log.last, 'stored beyond the end of the log', {
    stored: log.stored,
    last: log.last,
  });
  invariant(log.lastTerm <= term, 'an entry of a future term', { lastTerm: log.lastTerm, term });
  return takeOutput(raft);
}

function accepts(raft: Raft, meta: SnapshotMeta): boolean {
  return meta.index > raft.commit && raft.log.term(meta.index) !== meta.term;
}

function restTicks({ state, options, electionTimeout, electionElapsed }: Raft): number {
  if (state.role === 'leader') return state.heartbeatTick + options.heartbeatTicks - state.ticks;
  return state.role === 'learner' ? Infinity : electionTimeout - electionElapsed;
}

function take(raft: Raft, input: Input): void {
  switch (input.type) {
    case 'tick':
      if (raft.state.role === 'leader') tickLeader(raft, raft.state);
      else tickElection(raft);
      return;
    case 'message':
      onMessage(raft, input.message);
      return;
    case 'propose':
      onPropose(raft, input);
      return;
    case 'changeConfiguration':
      onChangeConfiguration(raft, input);
      return;
    case 'read':
      onRead(raft, input);
      return;
    case 'stored':
      onStored(raft, input);
      return;
    case 'snapshotStored':
      onSnapshotStored(raft, input);
      return;
    case 'snapshotSent':
      onSnapshotSent(raft, input);
      return;
    case 'unreachable':
      if (raft.state.role === 'leader') onUnreachable(raft.state, input.peer);
      else onLeaderUnreachable(raft, input.peer);
      return;
    case 'clockSuspect':
      if (raft.state.role === 'leader') forgetLease(raft.state);
      return;
    case 'transfer':
      onTransfer(raft, input);
      return;
    case 'applied':
      commitTo(raft, Math.min(input.index, raft.log.last));
      return;
    default:
      input satisfies never;
  }
}

function onStored(raft: Raft, { index, term }: Extract<Input, { type: 'stored' }>): void {
  if (!raft.log.confirm(index, term)) return;
  const { state } = raft;
  if (state.role === 'leader') {
    if (!state.established && index >= state.termStart) {
      state.established = true;
      state.broadcast = true;
    }
    maybeCommit(raft, state);
  } else if (state.role === 'follower' || state.role === 'learner') acknowledgeStored(raft, state);
}

type Handlers = { readonly [T in Message['type']]: (raft: Raft, message: MessageOf<T>) => void };
const ignore = (): void => {};
const twoLeaders = (raft: Raft, { from }: Message): void =>
  invariant(false, 'two leaders in one term', { term: raft.term, self: raft.id, heard: from });

const FOLLOWER: Handlers = {
  preVote: onPreVote,
  preVoteResponse: ignore,
  vote: onVote,
  voteResponse: ignore,
  append: onAppend,
  appendResponse: ignore,
  snapshot: onSnapshot,
  timeoutNow: onTimeoutNow,
};

/** The rule for each message of the current term, per role. Pre-votes arrive here in any term. */
const RULES: Readonly<Record<Role, Handlers>> = {
  follower: FOLLOWER,
  learner: FOLLOWER,
  preCandidate: { ...FOLLOWER, preVoteResponse: onPreVoteResponse },
  candidate: { ...FOLLOWER, voteResponse: onVoteResponse, timeoutNow: ignore },
  leader: {
    preVote: onPreVote,
    preVoteResponse: ignore,
    vote: onVote,
    voteResponse: ignore,
    append: twoLeaders,
    appendResponse: onAppendResponse,
    snapshot: twoLeaders,
    timeoutNow: ignore,
  },
};

function onMessage(raft: Raft, message: Message): void {
  if (message.to !== raft.id || message.from === raft.id) return;
  if (!isProspective(message)) {
    if (message.term < raft.term) {
      refuseStale(raft, message);
      return;
    }
    if (message.term > raft.term) {
      // A server that hears a leader ignores a candidate (§4.2.3), unless the leader has started
      // the election itself by a transfer.
      if (message.type === 'vote' && message.transfer !== true && isSticky(raft)) {
        raft.trace?.(voteDecision(raft, message as MessageOf<'vote'>, false));
        return;
      }
      const leads = message.type === 'append' || message.type === 'snapshot';
      becomeFollower(raft, message.term, leads ? message.from : null, 'higher_term');
    }
  }
  const rule = RULES[raft.state.role][message.type] as (raft: Raft, message: Message) => void;
  rule(raft, message);
}

/** Whether the message carries a term that no server has entered yet. It changes no term (§9.6). */
function isProspective(message: Message): boolean {
  return message.type === 'preVote' || (message.type === 'preVoteResponse' && message.granted);
}

/**
 * Answers a message of an older term, so that its sender learns the newer one and steps down
 * (§3.3).
 */
function refuseStale(raft: Raft, message: Message): void {
  const { id: from, term, out } = raft;
  const to = message.from;
  if (message.type === 'append') raft.trace?.(appendRefusal(raft, message, 'stale_term'));
  if (message.type === 'append' || message.type === 'snapshot') {
    const answer = { from, to, term, success: false, index: 0, hintTerm: 0, round: 0 };
    out.sendAfterStore.push({ type: 'appendResponse', ...answer, silenceMs: 0 });
  } else if (message.type === 'vote') {
    raft.trace?.(voteDecision(raft, message as MessageOf<'vote'>, false));
    out.sendAfterStore.push({ type: 'voteResponse', from, to, term, granted: false });
  }
}
