/** What the invariants see of a server's log and disk. */
import type { Entry } from '../../src/raft/types.js';
import type { Server } from './cluster.js';
import type { DiskSight, LogSight } from './invariants.js';

/** A log with the entries of an output stored. */
export function withTail(log: LogSight, entries: readonly Entry[]): LogSight {
  const first = entries[0]?.index;
  if (first === undefined) return log;
  const last = entries.at(-1)!.index;
  return {
    hard: log.hard,
    first: () => log.first(),
    last: () => last,
    at: (index) => (index < first ? log.at(index) : entries[index - first]),
    term: (index) => (index < first ? log.term(index) : entries[index - first]?.term),
  };
}

/** What a crash of `server` would leave at any moment. */
export function diskOf(server: Server): DiskSight {
  return {
    get durable() {
      return server.disk;
    },
    votes: {
      get: (term) => {
        const { hard } = server.disk;
        return hard.term === term ? (hard.votedFor ?? undefined) : undefined;
      },
    },
  };
}
