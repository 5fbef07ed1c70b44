/** The members that the wire connects to, and whether this server still is one. */
import type { Configuration, Entry, Index, Member, NodeId } from '../../raft/types.js';
import type { AppliedLog } from '../log/applied-log.js';
import type { RaftLoop } from '../loop.js';
import type { ReplicaLimits } from '../options.js';
import type { ClockPort, WirePort } from '../ports.js';
import type { Rpc } from '../rpc.js';
import type { IdentityPort } from './identity.js';

export interface PeersParts {
  readonly id: NodeId;
  readonly identity: IdentityPort;
  readonly loop: RaftLoop;
  readonly rpc: Rpc;
  readonly wire: Pick<WirePort, 'setMembers'>;
  readonly clock: ClockPort;
  readonly appliedLog: AppliedLog;
  readonly limits: Pick<ReplicaLimits, 'askMs'>;
  /** This server learned of its removal. */
  readonly removed: () => void;
  /** A configuration was applied that no longer holds these servers. */
  readonly gone: (ids: readonly NodeId[]) => void;
  /** Gets a line for the log about each change that a configuration makes. */
  readonly onMembers?: ((what: string) => void) | undefined;
}

/** How long removed servers stay connected, as a multiple of `askMs`. */
const LEAVING_ASKS = 5;

/** The members as this server knows them. */
export class Peers {
  readonly #parts: PeersParts;
  /** The members, and for a while those that were removed. */
  #reached: readonly Member[] = [];
  #members: ReadonlySet<NodeId> = new Set();
  #isRemoved = false;

  constructor(parts: PeersParts) {
    this.#parts = parts;
  }

  /** Begins with the configuration in the log, and with what an earlier run knew of a removal. */
  start(): void {
    const { identity, loop } = this.#parts;
    this.inForce(loop.status().configuration);
    const { removedBy } = identity.get();
    if (removedBy !== undefined) this.removedBy(removedBy);
  }

  /** Whether this server knows that it was removed, and no later configuration holds it. */
  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  /** Whether the configuration in force holds a server. */
  isMember(id: NodeId): boolean {
    return this.#members.has(id);
  }

  /**
   * Another configuration is in force. Removed servers stay connected a little longer: a leader
   * that removes itself must learn that the configuration is stored.
   */
  inForce({ members }: Configuration): void {
    const { id: self, clock, wire, loop, limits } = this.#parts;
    this.#members = new Set(members.map(({ id }) => id));
    if (this.#members.has(self)) this.#isRemoved = false;
    const left = this.#reached.filter(({ id }) => !members.some((member) => member.id === id));
    this.#reached = [...members, ...left];
    wire.setMembers(this.#reached);
    if (left.length === 0) return;
    clock.after(limits.askMs * LEAVING_ASKS, () => {
      this.#reached = loop.status().configuration.members;
      wire.setMembers(this.#reached);
    });
  }

  /** A configuration was applied: it is committed, so removals in it are final. */
  applied({ index, configuration }: Entry & { kind: 'configuration' }): void {
    const { id: self, loop, appliedLog, onMembers } = this.#parts;
    const before = appliedLog.configurationAt(index - 1);
    for (const what of changesOf(before, configuration)) onMembers?.(`${what}, by entry ${index}`);
    const gone = goneOf(before, configuration);
    if (loop.role.role === 'leader') for (const id of gone) this.#tellRemoved(id, index);
    if (gone.length > 0) this.#parts.gone(gone);
    if (gone.includes(self)) this.removedBy(index);
  }

  /**
   * The state was replaced, and the configuration with it. This server did not see the
   * configurations in between.
   */
  replaced(before: Configuration, after: Configuration): void {
    const gone = goneOf(before, after);
    if (gone.length > 0) this.#parts.gone(gone);
  }

  /**
   * The configuration at `index` does not hold this server, which may have been added again since.
   */
  removedBy(index: Index): void {
    const { id: self, identity, loop, removed } = this.#parts;
    const { configuration, configurationIndex } = loop.status();
    const isMember = configuration.members.some(({ id }) => id === self);
    if (this.#isRemoved || (isMember && configurationIndex > index)) return;
    this.#isRemoved = true;
    if (identity.get().removedBy !== index) identity.save({ removedBy: index });
    removed();
  }

  /** A leader sends nothing to a server that is no member, so it tells it once. */
  #tellRemoved(id: NodeId, index: Index): void {
    if (id === this.#parts.id) return;
    const { rpc, limits } = this.#parts;
    rpc.notify(id, { type: 'removed', index }, limits.askMs);
  }
}

/** The servers that `before` holds and `after` does not. */
const goneOf = (before: Configuration, after: Configuration): NodeId[] =>
  before.members
    .map(({ id }) => id)
    .filter((id) => !after.members.some((member) => member.id === id));

/** What `after` changes, as text for the log. */
function* changesOf(before: Configuration, after: Configuration): Generator<string> {
  for (const member of after.members) {
    const was = before.members.find(({ id }) => id === member.id);
    const who = `${member.name} (${member.id})`;
    const votes = member.voter ? 'votes' : 'is a learner';
    if (was === undefined) yield `${who} at ${member.address} is now a member and ${votes}`;
    else if (was.voter !== member.voter) yield `${who} ${votes} now`;
    if (member.publicKey !== was?.publicKey) yield `${who} has the key ${member.publicKey}`;
    if (was !== undefined && was.address !== member.address)
      yield `${who} moved from ${was.address} to ${member.address}`;
  }
  for (const { id, name } of before.members)
    if (!after.members.some((member) => member.id === id))
      yield `${name} (${id}) is no longer a member`;
}
