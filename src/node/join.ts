/**
 * Whom a server lets speak, and how it comes into a cluster: it asks members until one has taken it in, passes on what others
 * ask that way, remembers who was removed, and asks about servers it does not know.
 */
import type { NodeId } from '../raft/types.js';
import type { ClockPort } from '../replica/ports.js';
import type { Replica } from '../replica/replica.js';
import type { RpcResponse, ServerFacts } from '../replica/rpc.js';
import {
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
} from '../replica/rpc-codec.js';
import { checkRecord } from '../transport/handshake.js';
import type { Joiner, PeerRecords } from '../transport/types.js';
import type { Wire } from '../transport/wire.js';
import { type Identity, introduced, introductions, withRemoved } from './identity.js';

export interface JoinParts {
  readonly name: string;
  readonly address: string;
  readonly clock: ClockPort;
  readonly log: (level: 'info' | 'warn', message: string) => void;
  readonly identity: () => Identity;
  readonly save: (change: Partial<Identity>) => Promise<void>;
  /** Both are made after this. */
  readonly wire: () => Wire;
  readonly replica: () => Replica;
  /** Asked for at each attempt; undefined: it waits for an operator. */
  readonly token: () => string | undefined;
}

/** Time for an operator's change of the membership. */
export const CHANGE_MS = 10_000;
/** Pause between attempts. */
const AGAIN_MS = 1000;
/** Servers about which the members are asked at one time. */
const ASKED_MAX = 32;

export class Join {
  readonly #parts: JoinParts;
  readonly #asked = new Set<NodeId>();
  /** Servers that a member has vouched for. */
  readonly #vouched = new Set<NodeId>();
  #stopped = false;

  constructor(parts: JoinParts) {
    this.#parts = parts;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** What the wire looks up and remembers of other servers. */
  get records(): Required<PeerRecords> {
    const { identity, save } = this.#parts;
    return {
      get: (id) => identity().seen[id],
      set: (id, record) => void save({ seen: { ...identity().seen, [id]: record } }),
      isRemoved: (id) => identity().removed.includes(id),
      isKnown: (id) => this.#vouched.has(id) || identity().seen[id] !== undefined,
    };
  }

  /** Servers have left the cluster for good. */
  gone(ids: readonly NodeId[]): void {
    const { identity, save } = this.#parts;
    for (const id of ids) this.#vouched.delete(id);
    void save({ removed: withRemoved(identity().removed, ids) });
  }

  /** A server wants to speak that the configuration here does not hold. It may be old: the members are asked. */
  vouch(id: NodeId): void {
    if (this.#asked.has(id) || this.#asked.size >= ASKED_MAX) return;
    const { members } = this.#parts.replica().loop.status().configuration;
    const own = this.#parts.identity().nodeId;
    const others = members.filter((member) => member.id !== own);
    let open = others.length;
    if (open === 0) return;
    this.#asked.add(id);
    for (const member of others) {
      this.#parts.replica().rpc.call(member.id, { type: 'member', id }, AGAIN_MS, ({ type }) => {
        open -= 1;
        if (open === 0) this.#asked.delete(id);
        if (type === 'done') this.#vouched.add(id);
      });
    }
  }

  /** A server that was moved asks every member, one of which leads, until the configuration says where it is now. */
  announceAddress(): void {
    const { name, address, clock, log } = this.#parts;
    const { rpc, loop } = this.#parts.replica();
    const { members } = loop.status().configuration;
    const own = this.#parts.identity().nodeId;
    const known = members.find(({ id }) => id === own);
    if (this.#stopped || known === undefined) return;
    if (known.address === address && known.name === name) return;
    log('info', `moved from ${known.address} to ${address}: telling the others`);
    const server = this.#facts();
    const request = { type: 'add' as const, server };
    for (const { id } of members) if (id !== own) rpc.notify(id, request, AGAIN_MS);
    rpc.callLeader(request, AGAIN_MS, () => {});
    clock.after(AGAIN_MS, () => this.announceAddress());
  }

  #facts(): ServerFacts {
    const { name, address } = this.#parts;
    const { nodeId: id } = this.#parts.identity();
    return { id, name, address, level: this.#parts.replica().levels.supported };
  }

  /** A server asks to join: the leader, whoever that is, decides, and the server is told which cluster this is. */
  pass(joiner: Joiner, payload: Uint8Array, reply: (payload: Uint8Array) => void): void {
    const answer = (what: RpcResponse): void => reply(encodeResponse(what));
    const ask = decodeRequest(payload);
    const { clusterId } = this.#parts.identity();
    if (ask?.type !== 'add' || ask.server.id !== joiner.nodeId || clusterId === null) {
      answer({ type: 'retry' });
      return;
    }
    const { server, token } = ask;
    const { subject } = joiner;
    const request = {
      ...{ type: 'add' as const, server },
      ...(token !== undefined && { token }),
      ...(subject !== undefined && { subject }),
    };
    this.#parts.replica().rpc.callLeader(request, CHANGE_MS, (decision) => {
      if (decision.type !== 'done') {
        answer(decision);
        return;
      }
      // Who takes the id of a member that was met must not learn what proves the others.
      if (checkRecord(this.records, joiner, subject) !== undefined) {
        answer({ type: 'retry' });
        return;
      }
      const identity = this.#parts.identity();
      const { removed } = identity;
      answer({ type: 'joined', clusterId, seen: introductions(identity), removed });
    });
  }

  /** Asks the given members in turn until one has taken this node into its cluster. */
  async join(addresses: readonly string[]): Promise<void> {
    const { identity, log, token } = this.#parts;
    const others = addresses.filter((address) => address !== this.#parts.address);
    for (let attempt = 0; !this.#stopped && identity().clusterId === null; attempt++) {
      const address = others[attempt % others.length];
      if (address === undefined) return;
      const given = token();
      const server = this.#facts();
      const ask = encodeRequest({
        type: 'add',
        server,
        ...(given !== undefined && { token: given }),
      });
      const [answer, fate] = await new Promise<[RpcResponse | undefined, 'unsent' | undefined]>(
        (resolve) =>
          this.#parts
            .wire()
            .requestJoin(address, ask, CHANGE_MS, (bytes, how) =>
              resolve([bytes === undefined ? undefined : decodeResponse(bytes), how]),
            ),
      );
      if (answer?.type === 'joined') {
        log('info', `joined the cluster ${answer.clusterId} through ${address}`);
        const { clusterId } = answer;
        const seen = introduced(identity(), answer.seen);
        void this.#parts.save({ clusterId, seen, removed: withRemoved([], answer.removed) });
        return;
      }
      // that it could not be asked, and why, was said already
      if (fate !== 'unsent')
        log('warn', `${address} did not take this node into its cluster: ${reasonOf(answer)}`);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

function reasonOf(answer: RpcResponse | undefined): string {
  if (answer?.type !== 'refused') return 'no answer';
  const { message, hint } = answer.refusal;
  return hint === undefined ? message : `${message}. ${hint}`;
}
