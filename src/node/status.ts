/** The status of a node and its peers for the operator endpoints. */
import type { NodeId, RaftStatus } from '../raft/types.js';
import type { Problems } from '../replica/members/health.js';
import type { NodeStatus, PeerStatus } from './types.js';

/** What the status of a node is computed from. */
export interface StatusFacts {
  readonly raft: RaftStatus;
  readonly appliedIndex: number;
  readonly name: string;
  readonly address: string;
  /** Milliseconds since this node heard from the leader. */
  readonly leaderSilenceMs: number;
  /** Why this node does not serve; undefined if it does. */
  readonly fault: string | undefined;
  /** The members to which this node is connected. */
  readonly reachable: readonly NodeId[];
  /** What is wrong with other members, as they said. */
  readonly problems: Problems;
  /** The present time on the monotonic clock of `progress[].lastContact`. */
  readonly nowMs: number;
  /** Milliseconds without contact after which a peer is not healthy. */
  readonly contactMsMax: number;
}

/** Remembers since when the health of each server has not changed, in Unix milliseconds. */
export class Stability {
  readonly #since = new Map<NodeId, { healthy: boolean; sinceMs: number }>();

  /** Records the health of a server. Returns since when it has been the same. */
  note(id: NodeId, healthy: boolean): number {
    const known = this.#since.get(id);
    if (known?.healthy === healthy) return known.sinceMs;
    const sinceMs = Date.now();
    this.#since.set(id, { healthy, sinceMs });
    return sinceMs;
  }

  /** Forgets all servers but these. */
  keep(ids: readonly NodeId[]): void {
    for (const id of [...this.#since.keys()]) if (!ids.includes(id)) this.#since.delete(id);
  }
}

/** Returns the status of a node. */
export function statusOf(facts: StatusFacts, stability: Stability): NodeStatus {
  const { raft, fault } = facts;
  const { members } = raft.configuration;
  const leader = members.find(({ id }) => id === raft.leader);
  stability.keep(members.map(({ id }) => id));
  return {
    id: raft.id,
    name: facts.name,
    address: facts.address,
    role: raft.role,
    term: raft.term,
    leaderId: raft.leader,
    leaderAddress: leader?.address ?? '',
    commitIndex: raft.commit,
    ...(raft.announced > raft.commit && { announcedIndex: raft.announced }),
    appliedIndex: facts.appliedIndex,
    lastLogIndex: raft.lastIndex,
    lastContactMs: Math.round(facts.leaderSilenceMs),
    configurationIndex: raft.configurationIndex,
    peers: members.map((member) => ({
      ...member,
      leader: member.id === raft.leader,
      ...contactOf(member.id, facts, stability),
    })),
    ...(fault !== undefined && { fault }),
  };
}

/**
 * Returns what the leader knows about a member; on another node, whether it is connected to the
 * member, and what is wrong with itself.
 */
function contactOf(
  id: NodeId,
  { raft, fault, reachable, problems, nowMs, contactMsMax }: StatusFacts,
  stability: Stability,
): Partial<PeerStatus> {
  const isSelf = id === raft.id;
  const problem = isSelf ? fault : problems.get(id);
  const told = problem === undefined ? {} : { problem };
  if (raft.role !== 'leader') return { alive: isSelf || reachable.includes(id), ...told };
  const progress = raft.progress.find((each) => each.id === id);
  const lastContactMs = isSelf ? 0 : nowMs - (progress?.lastContact ?? Number.NEGATIVE_INFINITY);
  // One that has not answered this leader yet may have been dead for long.
  const alive = isSelf || (progress?.hasAnswered === true && lastContactMs <= contactMsMax);
  const healthy = alive && problem === undefined;
  return {
    matchIndex: isSelf ? raft.lastIndex : (progress?.match ?? 0),
    ...(Number.isFinite(lastContactMs) && { lastContactMs: Math.round(lastContactMs) }),
    lastTerm: raft.lastTerm,
    alive,
    healthy,
    ...told,
    stableSinceMs: stability.note(id, healthy),
  };
}
