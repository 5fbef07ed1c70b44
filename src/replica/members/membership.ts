/**
 * Membership changes, on the leader: one server at a time (§4.1). A new server is a learner first
 * (§4.2.1) and becomes a voter once it has caught up. No server is removed unless an operator asks
 * for it.
 */
import { type Refusal, refusal } from '../../base/errors.js';
import { TEXT_MAX } from '../../base/wire-limits.js';
import { quorumSize } from '../../raft/quorum.js';
import type { Configuration, Index, Member, NodeId } from '../../raft/types.js';
import type { RaftLoop } from '../loop.js';
import type { ReplicaLimits } from '../options.js';
import type { ClockPort } from '../ports.js';
import type { RpcResponse, ServerFacts } from '../rpc-codec.js';

type Done = (answer: RpcResponse) => void;

export interface MembershipParts {
  readonly id: NodeId;
  readonly loop: RaftLoop;
  readonly limits: Pick<ReplicaLimits, 'promoteLagMax' | 'askMs' | 'electionMs'>;
  readonly clock: Pick<ClockPort, 'now'>;
  /**
   * Asks a member how far it has applied the log. `Infinity`: its release does not say; undefined:
   * it did not respond.
   */
  readonly askApplied: (id: NodeId, done: (applied: Index | undefined) => void) => void;
  /** The public key that a server, maybe this one, has proved here; undefined if it has not. */
  readonly keyOf: (id: NodeId) => string | undefined;
  /** Whether the level in force permits keys in the configuration. */
  readonly hasKeys: () => boolean;
}

/** Ticks that a leadership transfer may take before it counts as failed. */
const TRANSFER_TICKS = 60;

/** Changes the configuration, on the leader. */
export class Membership {
  readonly #parts: MembershipParts;
  #changing = false;
  /** Changes that wait until this leader has added a key to the configuration. */
  #waiting: (() => void)[] | undefined;
  /** A learner is being asked how far it has applied the log, and the one that was asked last. */
  #asking = false;
  #asked: NodeId | undefined;
  #transfers: { readonly to: NodeId | null; readonly done: Done; ticksLeft: number }[] = [];

  constructor(parts: MembershipParts) {
    this.#parts = parts;
  }

  /** Whether a change is under way. It may not be in the log yet. */
  get isChanging(): boolean {
    return this.#changing;
  }

  /** Adds a server as a learner, or updates the name and address of a member. */
  add(facts: ServerFacts, done: Done): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push(() => this.add(facts, done));
      return;
    }
    const { level: _level, publicKey, ...server } = facts;
    const wrong = this.problem(server);
    if (wrong !== undefined) {
      done({ type: 'refused', refusal: wrong });
      return;
    }
    const { members } = this.#configuration();
    const present = members.find(({ id }) => id === server.id);
    // A member keeps its key: with another one it is another server.
    const key = present === undefined && this.#parts.hasKeys() ? publicKey : present?.publicKey;
    const next: Member = {
      ...server,
      voter: present?.voter ?? false,
      ...(key !== undefined && { publicKey: key }),
    };
    if (present !== undefined && sameMember(present, next)) {
      done({ type: 'done' });
      return;
    }
    this.#change([...members.filter(({ id }) => id !== server.id), next], done);
  }

  /** Why a server cannot be in the configuration; undefined if it can. */
  problem(server: Omit<ServerFacts, 'publicKey' | 'level'>): Refusal | undefined {
    const wrong = unreadable(server);
    if (wrong !== undefined) return refusal('invalid', wrong);
    const { id, address } = server;
    const { members } = this.#configuration();
    const holder = members.find((member) => member.address === address && member.id !== id);
    if (holder === undefined) return undefined;
    return refusal('conflict', `The address ${address} belongs to the server ${holder.id}`);
  }

  /** Removes a server. Refused when the remaining voters could not commit anything. */
  remove(id: NodeId, done: Done): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push(() => this.remove(id, done));
      return;
    }
    const { members } = this.#configuration();
    const left = members.filter((member) => member.id !== id);
    if (left.length === members.length) {
      done(refused('not_found', `No server with id "${id}" in the cluster`));
    } else if (!left.some(({ voter }) => voter)) {
      done(refused('conflict', 'The last voting server cannot be removed'));
    } else {
      const why = this.#wouldStop(left);
      if (why === undefined) this.#change(left, done);
      else done({ type: 'refused', refusal: why });
    }
  }

  /**
   * A configuration is in force as soon as it is in the log (§4.1). If too few of its voters
   * respond, the leader steps down at once, and nothing can be committed until a silent server is
   * back, not even its removal.
   */
  #wouldStop(left: readonly Member[]): Refusal | undefined {
    const { id: self, loop, clock, limits } = this.#parts;
    if (loop.role.role !== 'leader') return undefined;
    const now = clock.now();
    const heard = new Set(
      loop
        .status()
        .progress.filter(
          ({ hasAnswered, lastContact }) => hasAnswered && now - lastContact <= limits.electionMs,
        )
        .map(({ id }) => id),
    );
    const voters = left.filter(({ voter }) => voter);
    const silent = voters.filter(({ id }) => id !== self && !heard.has(id));
    if (voters.length - silent.length >= quorumSize(voters.length)) return undefined;
    const names = silent.map(({ id, name }) => `${name} (${id})`).join(', ');
    const count = `${voters.length - silent.length} of ${voters.length}`;
    return refusal('conflict', `Too few of the remaining voting servers would answer: ${count}`, {
      hint: `No more writes would be possible. First bring back or remove: ${names}`,
    });
  }

  /**
   * Transfers leadership (§3.10). `done` is called when this server no longer leads, or with the
   * reason it still does.
   */
  transfer(to: NodeId | null, done: Done): void {
    const why = this.#cannotTransfer(to);
    if (why !== undefined || to === this.#parts.id) {
      done(why ?? { type: 'done' });
      return;
    }
    this.#transfers.push({ to, done, ticksLeft: TRANSFER_TICKS });
    this.#parts.loop.transfer(to ?? undefined);
  }

  #cannotTransfer(to: NodeId | null): RpcResponse | undefined {
    const { id, loop } = this.#parts;
    if (loop.role.role !== 'leader') return { type: 'retry' };
    const voters = this.#configuration().members.filter(({ voter }) => voter);
    if (to !== null && !voters.some((member) => member.id === to)) {
      return refused('not_found', `No voting server with id "${to}" in the cluster`);
    }
    if (to !== id && voters.every((member) => member.id === id)) {
      return refused('conflict', 'There is no other voting server to hand leadership to');
    }
    return undefined;
  }

  /** The role changed: transfers are complete if this server no longer leads. */
  role(): void {
    if (this.#parts.loop.role.role === 'leader') return;
    for (const { done } of this.#transfers.splice(0)) done({ type: 'done' });
  }

  /** Repeats transfers, and promotes a learner that has caught up. */
  tick(now: number): void {
    for (const transfer of [...this.#transfers]) {
      transfer.ticksLeft -= 1;
      if (transfer.ticksLeft > 0) {
        // At first no voter may have responded. The core ignores a transfer that is already under
        // way.
        this.#parts.loop.transfer(transfer.to ?? undefined);
        continue;
      }
      this.#transfers.splice(this.#transfers.indexOf(transfer), 1);
      transfer.done(refused('unavailable', 'Leadership could not be handed over in time'));
    }
    this.#addKey();
    this.#promote(now);
  }

  /**
   * Adds the key of one member to the configuration, so that every member knows by whom it is
   * proved, even one that has never met it. The members of a new cluster, and those of releases
   * before 0.4.0, are in the configuration before their keys are known.
   */
  #addKey(): void {
    const { loop, keyOf, hasKeys } = this.#parts;
    if (loop.role.role !== 'leader' || this.#changing) return;
    const { members } = this.#configuration();
    const member = members.find(({ id, publicKey }) => !publicKey && keyOf(id) !== undefined);
    // A server that is alone has nobody to prove anything to.
    if (member === undefined || members.length === 1 || !hasKeys()) return;
    const publicKey = keyOf(member.id)!;
    this.#waiting = [];
    this.#change(
      members.map((each) => (each === member ? { ...each, publicKey } : each)),
      () => {
        const waiting = this.#waiting ?? [];
        this.#waiting = undefined;
        for (const change of waiting) change();
      },
    );
  }

  /**
   * Promotes one learner that has caught up; the next one follows once this change is committed. It
   * must have applied the log, not only received it: any voter may be elected, and a leader serves
   * nobody before it has applied its log.
   */
  #promote(now: number): void {
    const { loop, limits } = this.#parts;
    const { promoteLagMax, askMs: contactMsMax } = limits;
    if (loop.role.role !== 'leader' || this.#changing) return;
    const { members } = this.#configuration();
    if (members.every(({ voter }) => voter)) return;
    const { progress, commit } = loop.status();
    const isCaughtUp = (match: Index, lastContact: number): boolean =>
      match > 0 && commit - match <= promoteLagMax && now - lastContact <= contactMsMax;
    const learners = members.filter(({ id, voter }) => {
      if (voter) return false;
      const of = progress.find((each) => each.id === id);
      return of !== undefined && isCaughtUp(of.match, of.lastContact);
    });
    // In turn: one that never applies the log must not keep the others from being promoted.
    const last = learners.findIndex(({ id }) => id === this.#asked);
    const learner = learners[last + 1] ?? learners[0];
    if (learner === undefined || this.#asking) return;
    this.#asking = true;
    this.#asked = learner.id;
    this.#parts.askApplied(learner.id, (applied) => {
      this.#asking = false;
      if (applied !== undefined && commit - applied <= promoteLagMax) this.#makeVoter(learner.id);
    });
  }

  #makeVoter(id: NodeId): void {
    const { members } = this.#configuration();
    if (this.#parts.loop.role.role !== 'leader' || this.#changing) return;
    if (!members.some((member) => member.id === id && !member.voter)) return;
    const promoted = members.map((member) =>
      member.id === id ? { ...member, voter: true } : member,
    );
    this.#change(promoted, () => {});
  }

  #change(members: readonly Member[], done: Done): void {
    const { loop } = this.#parts;
    if (loop.role.role !== 'leader' || this.#changing) {
      const busy = refused('conflict', 'Another change of the cluster is in progress; try again');
      done(this.#changing ? busy : { type: 'retry' });
      return;
    }
    this.#changing = true;
    loop.changeConfiguration({ members }, (outcome) => {
      this.#changing = false;
      if (outcome.kind === 'applied') done({ type: 'done' });
      else if (outcome.kind === 'unknown') done({ type: 'unknown' });
      else if (outcome.reason === 'not_leader') done({ type: 'retry' });
      else
        done(refused('conflict', `The change of the cluster was not accepted (${outcome.reason})`));
    });
  }

  #configuration(): Configuration {
    return this.#parts.loop.status().configuration;
  }
}

/** Why members could not decode a configuration with this server in it. */
function unreadable(server: Parameters<Membership['problem']>[0]): string | undefined {
  if (server.id === '') return 'The server has no id';
  for (const field of ['id', 'name', 'address'] as const) {
    if (server[field].length > TEXT_MAX)
      return `The ${field} of the server is longer than ${TEXT_MAX} characters`;
  }
  return undefined;
}

const refused = (code: Refusal['code'], message: string): RpcResponse => ({
  type: 'refused',
  refusal: refusal(code, message),
});

const sameMember = (a: Member, b: Member): boolean =>
  (['id', 'name', 'address', 'voter', 'publicKey'] as const).every((key) => a[key] === b[key]);
