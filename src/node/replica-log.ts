/** The log lines about the replica of a node. */
import type { Trace } from '../raft/decisions.js';
import type { Configuration, RoleChange } from '../raft/types.js';
import { decisionText } from '../replica/decision-text.js';
import type { Leaderless } from '../replica/leader-watch.js';
import type { ReplicaReports } from '../replica/options.js';
import type { NodeOptions } from './options.js';

/** The callbacks of a replica that only feed the log. */
type Reports = Required<Omit<ReplicaReports, 'onDiffers' | 'onRole'>>;

/** Returns the callbacks of a replica that write to the log and do nothing else. */
export function loggedReports(log: NodeOptions['log']): Reports {
  return {
    onFault: (why) =>
      why === undefined
        ? log('info', 'this node is serving requests again', 'node_serving')
        : log('error', `this node is not serving requests: ${why}`, 'node_not_serving'),
    onHang: (why) =>
      why === undefined
        ? log('info', 'the disks make progress again', 'disk_progress')
        : log('error', `${why}: another server should lead`, 'disk_hangs'),
    onUndecided: (why) => log('error', why, 'states_differ'),
    onWhole: () => log('info', 'this node has all its entries again, and votes', 'log_whole'),
    onMembers: (what) => log('info', what, 'members_changed'),
    onJoining: log,
    onLeaderless: (leaderless) => logLeaderless(log, leaderless),
  };
}

function logLeaderless(log: NodeOptions['log'], { ms, unreachable, isOver }: Leaderless): void {
  if (isOver) {
    log('info', `there is a leader again, after ${Math.round(ms / 1000)} s`, 'leader_known');
    return;
  }
  const since = new Date(Date.now() - ms).toISOString().slice(0, 19);
  const who =
    unreachable.length === 0
      ? 'all members are connected: their logs show why none is elected'
      : `not connected to ${unreachable.join(', ')}`;
  const what = `there has been no leader since ${since}Z: writes and default reads are refused`;
  log('error', `${what}; ${who}`, 'no_leader');
}

/** Returns the line about a change of role, with the leader's name if the leader is a member. */
export function roleLine({ role, term, leader }: RoleChange, { members }: Configuration): string {
  if (role === 'leader') return `leader in term ${term}`;
  const name = members.find(({ id }) => id === leader)?.name;
  const led = name === undefined ? (leader ?? 'unknown') : `${name} (${leader})`;
  return `${role} in term ${term}, leader ${led}`;
}

/**
 * Returns the hook that passes each decision of Raft to `line`, with the names of members. Without
 * `line` it returns undefined, so that decisions cost nothing.
 */
export function traceTo(
  line: ((message: string) => void) | undefined,
  configuration: () => Configuration,
): Trace | undefined {
  if (line === undefined) return undefined;
  return (decision) => {
    const { members } = configuration();
    line(decisionText(decision, (of) => members.find(({ id }) => id === of)?.name ?? of));
  };
}
