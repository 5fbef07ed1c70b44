/** Use cases of operators: servers that ask to join, and join tokens. */
import { randomBytes } from 'node:crypto';
import { reject } from '../../base/errors.js';
import { JOIN_TOKENS_MAX, joinTokens, setJoinTokens } from '../../state/join-tokens.js';
import { secretKeyOf } from '../../state/tokens.js';
import type { Requester } from '../common/types.js';
import { type ClusterParts, type ClusterRead, mustReadAsOperator, mustWrite } from './cluster.js';

/** Returns the servers that wait to be admitted by an operator. Throws ApiError `no_leader`. */
export async function joiningServers(parts: ClusterParts, read: ClusterRead) {
  await mustReadAsOperator(parts, read);
  const servers = await parts.node.joining(read.timeoutMs);
  return servers.map(({ id, name, address, subject, publicKey }) => ({
    ID: id,
    Node: name,
    Address: address,
    ...(subject !== undefined && { CertificateSubject: subject }),
    ...(publicKey !== undefined && { PublicKey: publicKey }),
  }));
}

/** Makes a waiting server a member. Throws ApiError `not_found`, `conflict`, `no_leader`. */
export async function admitServer(
  { service, node }: ClusterParts,
  requester: Requester,
  id: string,
): Promise<void> {
  await mustWrite(service, requester, 'operator');
  await node.admit(id);
}

/** Creates join tokens, one at a time: all are one fact of the state. */
export class JoinTokens {
  readonly #parts: ClusterParts;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: ClusterParts) {
    this.#parts = parts;
  }

  /**
   * Creates a token that lasts for `ttlMs`. The state stores its hash alone. Throws ApiError
   * `conflict` if there are too many, or if other nodes change them until the deadline.
   */
  async create(requester: Requester, ttlMs: number) {
    await mustWrite(this.#parts.service, requester, 'operator');
    const until = performance.now() + requester.timeoutMs;
    const created = this.#last.then(() => this.#store(requester, ttlMs, until));
    this.#last = created.catch(() => undefined);
    return created;
  }

  async #store(requester: Requester, ttlMs: number, until: number) {
    const { service, node } = this.#parts;
    const secret = randomBytes(32).toString('base64url');
    do {
      const { tokens, cas } = joinTokens(node.view, Date.now());
      if (tokens.length >= JOIN_TOKENS_MAX)
        reject(
          'conflict',
          `There are ${tokens.length} join tokens already: wait until some expire`,
        );
      const ExpiresMs = Date.now() + ttlMs;
      const token = { Hash: secretKeyOf(secret), ExpiresMs };
      const command = setJoinTokens([...tokens, token], cas);
      const stored = await service.write(requester, command);
      if (stored === 'true')
        return { JoinToken: secret, ExpirationTime: new Date(ExpiresMs).toISOString() };
    } while (performance.now() < until);
    return reject('conflict', 'Other requests are changing the join tokens; try again');
  }
}
