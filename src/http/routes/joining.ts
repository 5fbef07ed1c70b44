/** Routes of operators: servers that ask to join, and join tokens. */
import { reject } from '../../base/errors.js';
import { parseDuration } from '../../languages/duration.js';
import type { ClusterParts } from '../../service/cluster/cluster.js';
import { admitServer, JoinTokens, joiningServers } from '../../service/cluster/joining.js';
import { clusterRead } from './cluster-read.js';
import type { DeclaredRoute } from './types.js';

/**
 * How long a join token lasts: long enough to bring it to a server and start that; and at most a
 * day.
 */
const TTL_MS = 15 * 60_000;
const TTL_MS_MAX = 24 * 3_600_000;

/** The routes of `/v1/operator/raft/joining` and `join-token`. */
export function joiningRoutes(parts: ClusterParts): readonly DeclaredRoute[] {
  const tokens = new JoinTokens(parts);
  return [
    {
      path: '/v1/operator/raft/joining',
      isNew: true,
      GET: async (request) =>
        request.answerValue(await joiningServers(parts, clusterRead(request))),
    },
    {
      path: '/v1/operator/raft/joining/:id',
      isNew: true,
      PUT: async (request) => {
        await admitServer(parts, request, request.param('id'));
        request.answerValue(true);
      },
    },
    {
      path: '/v1/operator/raft/join-token',
      isNew: true,
      POST: async (request) => {
        const ttlMs = ttlOf(request.query('ttl'));
        request.answerValue(await tokens.create(request, ttlMs));
      },
    },
  ];
}

/** Milliseconds of `?ttl=`. Throws 400. */
function ttlOf(text: string | undefined): number {
  if (text === undefined) return TTL_MS;
  const parsed = parseDuration(text);
  if (!parsed.ok) reject('invalid', `?ttl: ${parsed.message}`);
  const ms = parsed.nanoseconds / 1e6;
  if (ms < 1000 || ms > TTL_MS_MAX) reject('invalid', '?ttl: must be from 1s to 24h');
  return Math.round(ms);
}
