/** Servers that ask to join, and join tokens, for operators. */
import { randomBytes } from 'node:crypto';
import { reject } from '../errors.js';
import { parseDuration } from '../languages/duration.js';
import { JOIN_TOKENS_MAX, joinTokens, setJoinTokens } from '../state/join-tokens.js';
import { secretKeyOf } from '../state/tokens.js';
import { type ClusterParts, mustHave } from './cluster.js';
import type { ApiRequest, Route } from './types.js';

/**
 * How long a join token lasts: long enough to bring it to a server and start that; and at most a
 * day.
 */
const TTL_MS = 15 * 60_000;
const TTL_MS_MAX = 24 * 3_600_000;
/** Attempts to store a token while others are stored or used. */
const ATTEMPTS = 5;

export function joiningRoutes(parts: ClusterParts): readonly Route[] {
  const { node, service } = parts;

  const list = async (request: ApiRequest): Promise<void> => {
    await mustHave(parts, request, 'operator', 'read');
    const servers = await node.joining(request.timeoutMs);
    request.answerValue(
      servers.map(({ id, name, address, subject }) => ({
        ...{ ID: id, Node: name, Address: address },
        ...(subject !== undefined && { CertificateSubject: subject }),
      })),
    );
  };

  const admit = async (request: ApiRequest): Promise<void> => {
    await mustHave(parts, request, 'operator', 'write');
    await node.admit(request.param('id'));
    request.answerValue(true);
  };

  const makeToken = async (request: ApiRequest): Promise<void> => {
    const ttlMs = ttlOf(request.query('ttl'));
    await mustHave(parts, request, 'operator', 'write');
    const secret = randomBytes(32).toString('base64url');
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { tokens, cas } = joinTokens(node.view, Date.now());
      if (tokens.length >= JOIN_TOKENS_MAX)
        reject('conflict', `There are ${tokens.length} join tokens already: let some expire`);
      const ExpiresMs = Date.now() + ttlMs;
      const token = { Hash: secretKeyOf(secret), ExpiresMs };
      const command = setJoinTokens([...tokens, token], cas);
      const stored = await service.write(request.caller, command, request.timeoutMs);
      if (stored !== 'true') continue;
      request.answerValue({
        JoinToken: secret,
        ExpirationTime: new Date(ExpiresMs).toISOString(),
      });
      return;
    }
    reject('conflict', 'The join tokens are being changed by others; try again');
  };

  return [
    { path: '/v1/operator/raft/joining', GET: list },
    { path: '/v1/operator/raft/joining/:id', PUT: admit },
    { path: '/v1/operator/raft/join-token', POST: makeToken },
  ];
}

/** Milliseconds of `?ttl=`. */
function ttlOf(text: string | undefined): number {
  if (text === undefined) return TTL_MS;
  const parsed = parseDuration(text);
  if (!parsed.ok) reject('invalid', `?ttl: ${parsed.message}`);
  const ms = parsed.nanoseconds / 1e6;
  if (ms < 1000 || ms > TTL_MS_MAX) reject('invalid', '?ttl: must be from 1s to 24h');
  return Math.round(ms);
}
