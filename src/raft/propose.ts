/** The leader appends to its own log; sending and storing follow at the end of the step. */
import { entryBytes } from './log.js';
import type { LeaderState, Raft } from './state.js';
import type { DropReason, Entry, Input } from './types.js';

/** Commands of clients. What is dropped was certainly not appended. */
export function onPropose(raft: Raft, { commands }: Extract<Input, { type: 'propose' }>): void {
  const leader = raft.state;
  const { out, term, log } = raft;
  if (leader.role !== 'leader' || leader.transfer !== undefined) {
    const reason: DropReason = leader.role === 'leader' ? 'transferring' : 'not_leader';
    for (const { id } of commands) out.dropped.push({ id, reason });
    return;
  }
  for (const { id, data } of commands) {
    const index = log.last + 1;
    const entry: Entry = { kind: 'command', index, term, data };
    if (isOverloaded(raft, leader, entry)) {
      out.dropped.push({ id, reason: 'overloaded' });
      continue;
    }
    appendOwn(raft, leader, entry);
    out.appended.push({ id, index, term });
  }
}

/** Appends an entry of the own term. */
export function appendOwn(raft: Raft, leader: LeaderState, entry: Entry): void {
  raft.log.append(entry);
  const bytes = entryBytes(entry);
  leader.uncommittedBytes += bytes;
  const run = leader.uncommitted.at(-1);
  // One run for all entries of a step: they are committed together, as a rule.
  if (run !== undefined && run.step === raft.steps) {
    run.last = entry.index;
    run.bytes += bytes;
  } else leader.uncommitted.push({ step: raft.steps, last: entry.index, bytes });
}

/**
 * The limit holds once something is under way: a single entry of any size can always be proposed.
 */
function isOverloaded(raft: Raft, leader: LeaderState, entry: Entry): boolean {
  const { uncommittedBytes } = leader;
  const total = uncommittedBytes + entryBytes(entry);
  return uncommittedBytes > 0 && total > raft.options.maxUncommittedBytes;
}
