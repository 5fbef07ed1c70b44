/** Appends to the leader's own log. The end of the step sends and stores the entries. */
import { entryBytes } from './log.js';
import type { LeaderState, Raft } from './state.js';
import type { DropReason, Entry, Input } from './types.js';

/** Appends clients' commands. A dropped command was certainly not appended. */
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

/** Appends an entry of the current term. */
export function appendOwn(raft: Raft, leader: LeaderState, entry: Entry): void {
  raft.log.append(entry);
  const bytes = entryBytes(entry);
  leader.uncommittedBytes += bytes;
  const run = leader.uncommitted.at(-1);
  // One run for all entries of a step, since they are usually committed together.
  if (run !== undefined && run.step === raft.steps) {
    run.last = entry.index;
    run.bytes += bytes;
  } else leader.uncommitted.push({ step: raft.steps, last: entry.index, bytes });
}

/**
 * Whether the entry exceeds the limit. A single entry of any size fits if nothing is uncommitted.
 */
function isOverloaded(raft: Raft, leader: LeaderState, entry: Entry): boolean {
  const { uncommittedBytes } = leader;
  const total = uncommittedBytes + entryBytes(entry);
  return uncommittedBytes > 0 && total > raft.options.maxUncommittedBytes;
}
