/** What the invariants see of a server's log and disk. */
import type { Entry, HardState, SnapshotMeta } from '../../src/raft/types.js';
import type { Server } from './cluster.js';
import type { DiskSight, LogSight } from './invariants.js';

/** A log that begins after `meta`. */
export function sightOf(
  entries: readonly Entry[],
  meta: SnapshotMeta | undefined,
  hard: HardState,
): LogSight {
  const first = (meta?.index ?? 0) + 1;
  return {
    hard,
    first: () => first,
    last: () => first - 1 + entries.length,
    at: (index) => entries[index - first],
    term: (index) => (index === first - 1 ? (meta?.term ?? 0) : entries[index - first]?.term),
  };
}

/** What a crash of `server` would leave at any moment. */
export function diskOf(server: Server): DiskSight {
  return {
    get durable() {
      const { entries, meta, hardState } = server.log.durable;
      return sightOf(entries, meta, hardState);
    },
    votes: {
      get: (term) => {
        const { hardState } = server.log.durable;
        return hardState.term === term ? (hardState.votedFor ?? undefined) : undefined;
      },
    },
  };
}
