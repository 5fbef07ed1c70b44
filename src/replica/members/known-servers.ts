/**
 * The servers that may speak to this one: those it has met, and strangers that a member vouches
 * for.
 */
import type { PeerRecord } from '../../base/peer-record.js';
import type { NodeId } from '../../raft/types.js';
import type { RaftLoop } from '../loop.js';
import type { Rpc } from '../rpc.js';
import { type IdentityPort, withRemoved } from './identity.js';

export interface KnownServersParts {
  readonly id: NodeId;
  readonly identity: IdentityPort;
  readonly loop: RaftLoop;
  readonly rpc: Rpc;
}

/** Strangers about which the members are asked at one time. */
const ASKED_MAX = 32;
/** Milliseconds that a member has to respond. */
const ASK_MS = 1000;

/** What the network looks up and records about other servers. */
export class KnownServers {
  readonly #parts: KnownServersParts;
  /** Strangers about which the members are being asked. */
  readonly #asked = new Set<NodeId>();
  /** Strangers that a member has vouched for, with their public keys as far as it knows them. */
  readonly #vouched = new Map<NodeId, string | undefined>();

  constructor(parts: KnownServersParts) {
    this.#parts = parts;
  }

  /** What is remembered of a server; undefined if it was never met. */
  get(id: NodeId): PeerRecord | undefined {
    return this.#parts.identity.get().seen[id];
  }

  /**
   * The public key whose private half a server must prove to have; undefined while none is known.
   * The configuration's comes first: the members agree on it.
   */
  keyOf(id: NodeId): string | undefined {
    const { members } = this.#parts.loop.status().configuration;
    const agreed = members.find((member) => member.id === id)?.publicKey;
    return agreed ?? this.#vouched.get(id) ?? this.get(id)?.publicKey;
  }

  /** Remembers a server. */
  set(id: NodeId, record: PeerRecord): void {
    const { identity } = this.#parts;
    identity.save({ seen: { ...identity.get().seen, [id]: record } });
  }

  /** Whether a server was removed from the cluster. */
  isRemoved(id: NodeId): boolean {
    return this.#parts.identity.get().removed.includes(id);
  }

  /**
   * Whether a server that the configuration does not contain may speak: the configuration may be
   * old. Every server of the cluster may while this one has no configuration and knows no member
   * that it could ask. One that is alone in its configuration knows all members.
   */
  isKnown(id: NodeId): boolean {
    if (this.#vouched.has(id) || this.get(id) !== undefined) return true;
    const { members } = this.#parts.loop.status().configuration;
    return members.length === 0 && this.#members.length === 0;
  }

  /**
   * The other members. A server that has just joined has no configuration, but was told of the
   * members, and they connect to it. Its leader may have joined after that.
   */
  get #members(): readonly NodeId[] {
    const { id: self, identity, loop } = this.#parts;
    const { members } = loop.status().configuration;
    if (members.length === 0) return Object.keys(identity.get().seen);
    return members.map(({ id }) => id).filter((id) => id !== self);
  }

  /** These servers were removed from the cluster. */
  removed(ids: readonly NodeId[]): void {
    const { identity } = this.#parts;
    for (const id of ids) this.#vouched.delete(id);
    identity.save({ removed: withRemoved(identity.get().removed, ids) });
  }

  /**
   * A server connected that is neither known nor in this configuration, which may be old. Asks the
   * members about it.
   */
  askAbout(id: NodeId): void {
    if (this.#asked.has(id) || this.#asked.size >= ASKED_MAX) return;
    const members = this.#members;
    let open = members.length;
    if (open === 0) return;
    this.#asked.add(id);
    for (const member of members) {
      this.#parts.rpc.call(member, { type: 'member', id }, ASK_MS, (response) => {
        open -= 1;
        if (open === 0) this.#asked.delete(id);
        if (response.type !== 'done') return;
        this.#vouched.set(id, this.#vouched.get(id) ?? response.publicKey);
      });
    }
  }
}
