/**
 * Admission of new servers, on the leader: a server with a join token, or one that an operator
 * admits, becomes a member. Any other server is told to wait. It asks again every second, so a new
 * leader soon knows who waits, and nothing is stored.
 */

import { type Refusal, refusal } from '../../base/errors.js';
import type { LogEvent } from '../../log/log-events.js';
import type { NodeId } from '../../raft/types.js';
import { joinTokens, setJoinTokens } from '../../state/join-tokens.js';
import { encodeProposal } from '../../state/proposal.js';
import { secretKeyOf } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import type { RaftLoop } from '../loop.js';
import type { ClockPort } from '../ports.js';
import type { JoinRequest, RpcResponse, ServerFacts } from '../rpc-codec.js';
import type { JoiningServer } from '../types.js';
import type { Levels } from './levels.js';
import type { Membership } from './membership.js';

type Done = (answer: RpcResponse) => void;

export interface AdmissionParts {
  readonly loop: RaftLoop;
  readonly clock: Pick<ClockPort, 'now' | 'wall'>;
  /** The applied state of this server. */
  readonly view: View;
  readonly membership: Membership;
  readonly levels: Levels;
  readonly newId: () => string;
  readonly log: (level: 'info' | 'warn', message: string, event: LogEvent) => void;
}

/** Milliseconds after which a server that does not ask again is forgotten. */
const WAITING_MS = 10_000;
/** Servers that may wait. Above that, the one that asked first is forgotten. */
const WAITING_MAX = 32;

/** Decides which servers become members, on the leader. */
export class Admission {
  readonly #parts: AdmissionParts;
  readonly #waiting = new Map<NodeId, { readonly server: JoiningServer; readonly atMs: number }>();

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** The servers that wait for an operator. */
  get waiting(): JoiningServer[] {
    const sinceMs = this.#parts.clock.now() - WAITING_MS;
    for (const [id, { atMs }] of this.#waiting) if (atMs < sinceMs) this.#waiting.delete(id);
    return [...this.#waiting.values()].map(({ server }) => server);
  }

  /** Makes a server a member, as an operator asks. */
  admit(server: ServerFacts, done: Done): void {
    const { levels, membership } = this.#parts;
    levels.admit(server, () => membership.add(server, done), done);
  }

  /**
   * Handles a server that asks to join, or a member that reports its new name and address. `from`
   * forwards the request.
   */
  ask(request: JoinRequest, from: NodeId, done: Done): void {
    const { loop, membership } = this.#parts;
    const { server, token } = request;
    if (loop.role.role !== 'leader') {
      done({ type: 'retry' });
      return;
    }
    const { members } = loop.status().configuration;
    const present = members.find(({ id }) => id === server.id);
    const why = membership.problem(server);
    if (why !== undefined) done({ type: 'refused', refusal: why });
    else if (present !== undefined && from === server.id) this.admit(server, done);
    else if (present?.address === server.address && present.name === server.name) {
      this.#waiting.delete(server.id);
      done({ type: 'done' });
    } else if (present !== undefined) {
      done(refused('conflict', `The server ${server.id} is a member already, ${here(present)}`));
    } else {
      const decide = (): void =>
        token === undefined ? this.#wait(request, done) : this.#redeem(request, token, done);
      this.#parts.levels.admit(server, decide, done);
    }
  }

  #wait({ server, subject }: JoinRequest, done: Done): void {
    const { clock, log } = this.#parts;
    const { id, name, address, level, publicKey } = server;
    const known = this.waiting.find((each) => each.id === id);
    if (known !== undefined && known.publicKey !== publicKey) {
      // An operator who has seen the one must not admit the other.
      done(
        refused('conflict', `A server with the id ${id} but another key is already asking to join`),
      );
      return;
    }
    if (known === undefined) {
      const key = publicKey === undefined ? '' : ` with the key ${publicKey}`;
      const who = `${name} (${id}) at ${address}${key}`;
      log('info', `${who} asks to join and is waiting for an operator`, 'join_waiting');
      const [oldest] = this.#waiting.keys();
      if (oldest !== undefined && this.#waiting.size >= WAITING_MAX) this.#waiting.delete(oldest);
    }
    const shown = {
      ...{ id, name, address, level },
      ...(subject !== undefined && { subject }),
      ...(publicKey !== undefined && { publicKey }),
    };
    this.#waiting.set(id, { server: shown, atMs: clock.now() });
    const hint =
      `An operator must admit it with PUT /v1/operator/raft/joining/${id} ` +
      'or give it a join token';
    done(refused('permission_denied', 'It is waiting for an operator', hint));
  }

  /** Binds the token to the server, durably, before it adds the server. */
  #redeem(request: JoinRequest, token: string, done: Done): void {
    const { clock, loop, log, newId, view } = this.#parts;
    const { server } = request;
    const { tokens, cas } = joinTokens(view, clock.wall());
    const hash = secretKeyOf(token);
    const found = tokens.find(({ Hash }) => Hash === hash);
    if (found?.Server === server.id) {
      this.admit(server, done);
      return;
    }
    if (found === undefined || found.Server !== undefined) {
      const { id, name, address } = server;
      const text = `${name} (${id}) at ${address} presented an invalid join token`;
      if (!this.#waiting.has(id)) log('warn', text, 'join_token_invalid');
      const why = 'The join token is unknown, was used by another server, or has expired';
      this.#wait(request, () => done(refused('permission_denied', why)));
      return;
    }
    const bound = tokens.map((each) => (each === found ? { ...each, Server: server.id } : each));
    const command = setJoinTokens(bound, cas);
    const since = loop.status().lastIndex;
    loop.propose(encodeProposal({ id: newId(), since, command }), (outcome) => {
      const result = outcome.kind === 'applied' ? outcome.result : undefined;
      if (result?.ok === true && result.value === 'true') this.admit(server, done);
      else done({ type: 'retry' });
    });
  }
}

const here = ({ name, address }: { name: string; address: string }): string =>
  `as ${name} at ${address}`;

const refused = (code: Refusal['code'], message: string, hint?: string): RpcResponse => ({
  type: 'refused',
  refusal: refusal(code, message, hint === undefined ? {} : { hint }),
});
