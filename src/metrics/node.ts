/** Metrics that are read from the node and its front end at each scrape. */

import type { Release } from '../base/release.js';
import type { NodeStatus } from '../node/types.js';
import type { DecisionCounts } from './decisions.js';
import { byLabel, counter, type Family, gauge, type Sample } from './families.js';
import { peerLabels, type Replication } from './replication.js';

/** Where the values come from. */
export interface Sources {
  readonly release: Release;
  readonly datacenter: string;
  readonly status: () => NodeStatus;
  /** Blocking queries that are waiting, and open connections, with their limits. */
  readonly held: () => number;
  /** Those of them that wait for a feed of rights to change. */
  readonly rightsFeeds: () => number;
  readonly eventStreams: () => number;
  readonly connections: () => number;
  readonly limits: {
    readonly held: number;
    readonly eventStreams: number;
    readonly connections: number;
  };
  readonly level: () => number;
  /** Requests and connections refused with 429, by the name of the limit. */
  readonly refused: () => Readonly<Record<string, number>>;
  /** Counters of the Raft loop, and the longest stall in milliseconds. */
  readonly loop: () => {
    readonly appends: number;
    readonly entriesAppended: number;
    readonly stalls: number;
    readonly stallMsMax: number;
  };
  readonly replication: Pick<Replication, 'leaderChanges'>;
  /**
   * How long the disks have made no progress while something is waiting for them, in milliseconds.
   */
  readonly disks: () => { readonly logWaitMs: number; readonly stateWaitMs: number };
  /**
   * Comparisons of the members' states that this node has made as leader, and the members in them
   * that could not be compared or differed.
   */
  readonly comparison: () => {
    readonly rounds: number;
    readonly incomparable: number;
    readonly differing: number;
  };
  readonly rights: () => {
    readonly tokens: number;
    readonly rights: number;
    readonly bytes: number;
  };
  /** Logins refused so far, by cause. */
  readonly refusedLogins: () => ReadonlyMap<string, number>;
  readonly decisions: Pick<DecisionCounts, 'families'>;
  /** The ACL objects by type, and the config entries by kind. */
  readonly objects: () => {
    readonly byType: ReadonlyMap<string, number>;
    readonly byKind: ReadonlyMap<string, number>;
  };
  /** What the newest plan or apply of each owner found, and how long ago. */
  readonly sets: () => readonly {
    readonly owner: string;
    readonly unapplied: number;
    readonly seconds: number;
  }[];
  readonly audit: () => readonly { readonly Name: string; readonly Dropped: number }[];
  /** When certificates expire, in Unix milliseconds, by their use. */
  readonly certificates: () => readonly { readonly use: string; readonly notAfterMs: number }[];
}

/** Returns all metrics of this file. `status` is of one instant, and so is all that is in it. */
export function nodeFamilies(status: NodeStatus, sources: Sources): readonly Family[] {
  return [
    ...aboutFamilies(status, sources),
    ...httpFamilies(sources),
    ...raftFamilies(status),
    ...peerFamilies(status),
    ...loopFamilies(sources),
    ...stateFamilies(sources),
    ...accessFamilies(sources),
    ...sources.decisions.families,
    ...setFamilies(sources.sets()),
    ...auditFamilies(sources.audit()),
  ];
}

function setFamilies(sets: ReturnType<Sources['sets']>): readonly Family[] {
  return [
    gauge(
      'conclave_set_unapplied',
      'changes that the newest plan or apply of an owner on this node found and did not make',
      byLabel(
        'owner',
        sets.map(({ owner, unapplied }) => [owner, unapplied]),
      ),
    ),
    gauge(
      'conclave_set_seconds',
      'seconds since the newest plan or apply of an owner on this node',
      byLabel(
        'owner',
        sets.map(({ owner, seconds }) => [owner, seconds]),
      ),
    ),
  ];
}

function auditFamilies(sinks: ReturnType<Sources['audit']>): readonly Family[] {
  return [
    counter(
      'conclave_audit_dropped_total',
      'audit records of a sink that were lost',
      byLabel(
        'sink',
        sinks.map(({ Name, Dropped }) => [Name, Dropped]),
      ),
    ),
  ];
}

function aboutFamilies(status: NodeStatus, sources: Sources): readonly Family[] {
  const { version, sha } = sources.release;
  const info = (labels: Sample['labels']): readonly Sample[] => [{ labels, value: 1 }];
  const ends = sources.certificates();
  return [
    gauge(
      'conclave_build_info',
      'release that this node runs; always 1',
      info({ version, revision: sha, node_version: process.version }),
    ),
    gauge(
      'conclave_node_info',
      'identity of this node; always 1',
      info({ node: status.name, node_id: status.id, datacenter: sources.datacenter }),
    ),
    gauge('conclave_level', 'cluster level in force on this node', sources.level()),
    gauge('conclave_faulted', '1 while this node has a fault', Number(status.fault !== undefined)),
    gauge(
      'conclave_tls_not_after_timestamp_seconds',
      'when the certificate in use expires, in Unix time',
      byLabel(
        'use',
        ends.map(({ use, notAfterMs }) => [use, notAfterMs / 1000]),
      ),
    ),
  ];
}

function httpFamilies({
  held,
  rightsFeeds,
  eventStreams,
  connections,
  limits,
  refused,
}: Sources): readonly Family[] {
  return [
    gauge('conclave_http_connections', 'open HTTP connections', connections()),
    gauge(
      'conclave_http_connections_limit',
      'maximum number of open HTTP connections (limits.connections)',
      limits.connections,
    ),
    gauge('conclave_http_held', 'blocking queries held', held()),
    gauge(
      'conclave_http_held_limit',
      'maximum number of blocking queries held (limits.held)',
      limits.held,
    ),
    gauge('conclave_rights_feeds', 'feeds of rights held by blocking queries', rightsFeeds()),
    gauge('conclave_http_event_streams', 'event streams open', eventStreams()),
    gauge(
      'conclave_http_event_streams_limit',
      'maximum number of open event streams (limits.eventStreams)',
      limits.eventStreams,
    ),
    counter(
      'conclave_http_refused_total',
      'requests and connections refused with 429',
      byLabel('limit', Object.entries(refused())),
    ),
  ];
}

function raftFamilies(status: NodeStatus): readonly Family[] {
  const voters = status.peers.filter(({ voter }) => voter).length;
  return [
    gauge('conclave_raft_term', 'Raft term', status.term),
    gauge('conclave_raft_leader', '1 while this node leads', Number(status.role === 'leader')),
    gauge(
      'conclave_raft_has_leader',
      '1 while a leader is known',
      Number(status.leaderId !== null),
    ),
    gauge('conclave_raft_commit_index', 'last committed log index', status.commitIndex),
    gauge('conclave_raft_applied_index', 'last applied log index', status.appliedIndex),
    gauge('conclave_raft_last_log_index', 'last log index', status.lastLogIndex),
    gauge(
      'conclave_raft_last_contact_seconds',
      'time since the leader was last heard from',
      status.lastContactMs / 1000,
    ),
    gauge('conclave_raft_peers', 'members of the configuration', status.peers.length),
    gauge('conclave_raft_voters', 'voting members of the configuration', voters),
  ];
}

/** What only the leader knows. On other nodes the families have no samples. */
function peerFamilies({ id, role, lastLogIndex, peers }: NodeStatus): readonly Family[] {
  const labels = peerLabels(peers);
  const others = role === 'leader' ? peers.filter((peer) => peer.id !== id) : [];
  const labelled = (values: readonly (readonly [id: string, value: number])[]) =>
    byLabel(
      'peer',
      values.map(([peer, value]) => [labels.get(peer)!, value]),
    );
  return [
    gauge(
      'conclave_raft_peer_lag_entries',
      'log entries that a peer is not known to hold; on the leader',
      labelled(others.map((peer) => [peer.id, lastLogIndex - (peer.matchIndex ?? 0)])),
    ),
    gauge(
      'conclave_raft_peer_last_contact_seconds',
      'time since a peer was last heard from; on the leader',
      labelled(
        others.flatMap((peer) =>
          peer.lastContactMs === undefined ? [] : [[peer.id, peer.lastContactMs / 1000] as const],
        ),
      ),
    ),
  ];
}

function loopFamilies({ loop, disks, replication }: Sources): readonly Family[] {
  const { appends, entriesAppended, stalls, stallMsMax } = loop();
  const { logWaitMs, stateWaitMs } = disks();
  return [
    counter('conclave_raft_appends_total', 'batches appended to the log', appends),
    counter('conclave_raft_entries_total', 'log entries appended in batches', entriesAppended),
    counter(
      'conclave_raft_leader_changes_total',
      'leaders that this node has followed or been',
      replication.leaderChanges,
    ),
    counter('conclave_raft_stalls_total', 'ticks that came late', stalls),
    gauge('conclave_raft_stall_max_seconds', 'longest delay of a tick', stallMsMax / 1000),
    gauge(
      'conclave_raft_log_wait_seconds',
      'time for which the disk of the log has completed no write; 0 while none is pending',
      logWaitMs / 1000,
    ),
    gauge(
      'conclave_state_wait_seconds',
      'time for which apply has waited for the disk of the state',
      stateWaitMs / 1000,
    ),
  ];
}

function stateFamilies({ comparison, objects }: Sources): readonly Family[] {
  const { rounds, incomparable, differing } = comparison();
  const { byType, byKind } = objects();
  return [
    counter(
      'conclave_state_comparisons_total',
      'comparisons of all members’ states led by this node',
      rounds,
    ),
    counter(
      'conclave_state_not_compared_total',
      'members that a comparison led by this node could not include',
      incomparable,
    ),
    counter(
      'conclave_state_differing_total',
      'members whose state differed in a comparison led by this node',
      differing,
    ),
    gauge('conclave_objects', 'ACL objects and namespaces', byLabel('type', byType)),
    gauge('conclave_config_entries', 'config entries', byLabel('kind', byKind)),
  ];
}

function accessFamilies({ rights, refusedLogins }: Sources): readonly Family[] {
  const cached = rights();
  return [
    gauge('conclave_acl_tokens_cached', 'tokens whose rights are cached', cached.tokens),
    gauge(
      'conclave_acl_rights_cached',
      'distinct sets of rights of the cached tokens',
      cached.rights,
    ),
    gauge(
      'conclave_acl_rights_bytes',
      'approximate memory of compiled rights and parsed policies',
      cached.bytes,
    ),
    counter('conclave_login_refused_total', 'logins refused', byLabel('cause', refusedLogins())),
  ];
}
