/** Whom the wire reaches, and whether this server still belongs to the cluster. */
import type { Configuration, Entry, Index, Member, NodeId } from '../../raft/types.js';
import type { AppliedLog } from '../log/applied-log.js';
import type { RaftLoop } from '../loop.js';
import type { ClockPort, WirePort } from '../ports.js';
import { encodeRequest } from '../rpc.js';

export interface PeersParts {
  readonly id: NodeId;
  readonly loop: RaftLoop;
  readonly wire: WirePort;
  readonly clock: ClockPort;
  readonly appliedLog: AppliedLog;
  readonly askMs: number;
  /** This server was removed; it stops serving. */
  readonly removed: () => void;
  /** Another configuration is applied that no longer holds these servers. */
  readonly gone: (ids: readonly NodeId[]) => void;
  /** What a configuration has changed, in words, one line for each server. */
  readonly changed: (what: string) => void;
}

/** How long servers that left are still spoken to, in question times. */
const LEAVING_ASKS = 5;

export class Peers {
  readonly #parts: PeersParts;
  /** The members, and for a while those who left. */
  #reached: readonly Member[] = [];
  #members: ReadonlySet<NodeId> = new Set();
  #isRemoved = false;

  constructor(parts: PeersParts) {
    this.#parts = parts;
  }

  /** True from the moment this server knows of its removal until it is in a configuration again. */
  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  /** Whether the configuration in force holds the server. */
  isMember(id: NodeId): boolean {
    return this.#members.has(id);
  }

  /** Another configuration is in force. Who left is spoken to a little longer: a leader must hear that its own removal is stored. */
  inForce({ members }: Configuration): void {
    const { id: self, clock, wire, loop, askMs } = this.#parts;
    this.#members = new Set(members.map(({ id }) => id));
    if (this.#members.has(self)) this.#isRemoved = false;
    const left = this.#reached.filter(({ id }) => !members.some((member) => member.id === id));
    this.#reached = [...members, ...left];
    wire.setMembers(this.#reached);
    if (left.length === 0) return;
    clock.after(askMs * LEAVING_ASKS, () => {
      this.#reached = loop.status().configuration.members;
      wire.setMembers(this.#reached);
    });
  }

  /** A configuration was applied: its word is final. */
  applied({ index, configuration }: Entry & { kind: 'configuration' }): void {
    const { id: self, loop, appliedLog, changed } = this.#parts;
    const before = appliedLog.configurationAt(index - 1);
    for (const what of changesOf(before, configuration)) changed(`${what}, by entry ${index}`);
    const gone = goneOf(before, configuration);
    if (loop.role.role === 'leader') for (const id of gone) this.#tell(id, index);
    if (gone.length > 0) this.#parts.gone(gone);
    if (gone.includes(self)) this.told(index);
  }

  /** The state was replaced, and with it the configuration: those between the two were not seen. */
  replaced(before: Configuration, after: Configuration): void {
    const gone = goneOf(before, after);
    if (gone.length > 0) this.#parts.gone(gone);
  }

  /** By the configuration at `index` this server is no member. It may have been added again since. */
  told(index: Index): void {
    const { configuration, configurationIndex } = this.#parts.loop.status();
    const isMember = configuration.members.some(({ id }) => id === this.#parts.id);
    if (this.#isRemoved || (isMember && configurationIndex > index)) return;
    this.#isRemoved = true;
    this.#parts.removed();
  }

  /** The leader sends nothing any more to who is no member; so it says so once. */
  #tell(id: NodeId, index: Index): void {
    if (id === this.#parts.id) return;
    const { wire, askMs } = this.#parts;
    wire.request(id, encodeRequest({ type: 'removed', index }), askMs, () => {});
  }
}

/** The servers that the later configuration no longer holds. */
const goneOf = (before: Configuration, after: Configuration): NodeId[] =>
  before.members
    .map(({ id }) => id)
    .filter((id) => !after.members.some((member) => member.id === id));

/** What is different in a configuration, for people. */
function* changesOf(before: Configuration, after: Configuration): Generator<string> {
  for (const member of after.members) {
    const was = before.members.find(({ id }) => id === member.id);
    const who = `${member.name} (${member.id})`;
    const votes = member.voter ? 'votes' : 'is a learner';
    if (was === undefined) yield `${who} at ${member.address} is a member now and ${votes}`;
    else if (was.voter !== member.voter) yield `${who} ${votes} now`;
    if (was !== undefined && was.address !== member.address)
      yield `${who} moved from ${was.address} to ${member.address}`;
  }
  for (const { id, name } of before.members)
    if (!after.members.some((member) => member.id === id))
      yield `${name} (${id}) is no member any more`;
}
