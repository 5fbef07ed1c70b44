/** Configuration changes, one server at a time (§4.1 to §4.2). */
import { isSingleChange } from './configuration.js';
import { Progress } from './progress.js';
import { appendOwn } from './propose.js';
import { forgetLease } from './reads.js';
import { becomeFollower } from './role-changes.js';
import type { LeaderState, Raft } from './state.js';
import type { Configuration, DropReason, Input } from './types.js';

/**
 * Appends a new configuration, if this server is the leader and no other change is in progress. The
 * configuration takes effect immediately (§4.1).
 */
export function onChangeConfiguration(
  raft: Raft,
  { id, configuration }: Extract<Input, { type: 'changeConfiguration' }>,
): void {
  const leader = raft.state;
  if (leader.role !== 'leader') {
    refuseChange(raft, id, 'not_leader');
    return;
  }
  const reason = obstacle(raft, leader, configuration);
  if (reason !== undefined) {
    refuseChange(raft, id, reason);
    return;
  }
  const { term } = raft;
  const index = raft.log.last + 1;
  appendOwn(raft, leader, { kind: 'configuration', index, term, configuration });
  raft.out.appended.push({ id, index, term });
  raft.configurations.append(index, configuration);
  applyConfiguration(raft);
}

/**
 * Adapts the role to the configuration. It runs when an append, a truncation or a snapshot changes
 * the configuration in force, and when that configuration is committed.
 */
export function applyConfiguration(raft: Raft): void {
  const { state } = raft;
  const eligible = raft.configurations.mayCampaign(raft.id);
  switch (state.role) {
    case 'leader':
      followProgress(raft, state);
      forgetLease(state);
      break;
    case 'preCandidate':
    case 'candidate':
      if (!eligible) becomeFollower(raft, raft.term, null, 'removed');
      break;
    case 'follower':
    case 'learner':
      state.role = eligible ? 'follower' : 'learner';
  }
}

/** Tracks the progress of every other member. Voters and learners keep what is already tracked. */
export function followProgress(raft: Raft, leader: LeaderState): void {
  const members = new Set(raft.configurations.current.members.map((member) => member.id));
  for (const id of leader.progress.keys()) if (!members.has(id)) leader.progress.delete(id);
  for (const id of members) {
    if (id === raft.id || leader.progress.has(id)) continue;
    leader.progress.set(id, new Progress(id, raft.log.last + 1, leader.ticks, raft.now));
    leader.broadcast = true;
  }
}

function refuseChange(raft: Raft, id: number, reason: DropReason): void {
  const { commit } = raft;
  const { index: configurationIndex } = raft.configurations;
  raft.trace?.({ type: 'changeRefused', reason, commit, configurationIndex });
  raft.out.dropped.push({ id, reason });
}

/**
 * Returns why a change is not possible now. Only one change may be in progress, and none before an
 * entry of the current term is committed. Otherwise two changes of different terms could be decided
 * by majorities that do not overlap (the correction of 2015 to §4.1).
 */
function obstacle(
  raft: Raft,
  leader: LeaderState,
  configuration: Configuration,
): DropReason | undefined {
  if (leader.transfer !== undefined) return 'transferring';
  const settled = raft.commit >= leader.termStart && raft.configurations.index <= raft.commit;
  if (!settled) return 'change_in_flight';
  return isSingleChange(raft.configurations.current, configuration) ? undefined : 'invalid_change';
}
