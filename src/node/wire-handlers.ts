/** The handlers of a node's wire, and the records of other members that the wire uses. */
import type { Replica } from '../replica/replica.js';
import type { DurableState } from '../storage/types.js';
import type { PeerRecords, WireHandlers } from '../transport/types.js';
import { StateSource, snapshotSink } from './snapshots.js';

/** What the handlers need. The wire is created before the replica, so `replica` is a function. */
export interface WireHandlerParts {
  readonly replica: () => Replica;
  readonly store: Pick<DurableState, 'pin' | 'install'>;
  /**
   * Runs a handler, unless the node has stopped. Never throws: an error in the handler stops the
   * process.
   */
  readonly take: (run: () => void) => void;
  readonly hasStopped: () => boolean;
  /** Returns a new id for a transfer, unique in the cluster. */
  readonly newId: () => string;
  /** Approximate bytes of keys and values in a chunk of a snapshot. Absent: see `StateSource`. */
  readonly chunkBytes?: number | undefined;
}

/** Returns the handlers that pass what arrives to the replica. */
export function wireHandlers(parts: WireHandlerParts): Required<WireHandlers> {
  const { replica, store, take, hasStopped, newId, chunkBytes } = parts;
  return {
    onMessage: (message) => take(() => replica().receive(message)),
    onRequest: (from, payload, reply) => take(() => replica().rpc.receive(from, payload, reply)),
    onJoinRequest: (joiner, payload, reply) =>
      take(() => replica().join.receive(joiner, payload, reply)),
    onStranger: (id) => take(() => replica().knownServers.askAbout(id)),
    onReachable: () => take(() => replica().retry()),
    onUnreachable: (peer) => take(() => replica().loop.unreachable(peer)),
    snapshotSource: (_to, message) =>
      message.type === 'snapshot'
        ? new StateSource({ id: newId(), view: store.pin(), meta: message.meta, chunkBytes })
        : undefined,
    snapshotSink: async (message, id) => {
      if (message.type !== 'snapshot' || hasStopped()) return undefined;
      const { incomingSnapshot: incoming } = replica();
      return snapshotSink(message, id, { incoming, store, guard: take });
    },
  };
}

/**
 * Returns the records that the wire reads and writes about other members. `areBound`: whether
 * connections are protected, so that a proof of a key can be bound to one.
 */
export function peerRecords(
  replica: () => Replica,
  areBound: () => boolean,
): Required<PeerRecords> {
  return {
    get: (id) => replica().knownServers.get(id),
    set: (id, record) => replica().knownServers.set(id, record),
    isRemoved: (id) => replica().knownServers.isRemoved(id),
    isKnown: (id) => replica().knownServers.isKnown(id),
    keyOf: (id) => (areBound() ? replica().knownServers.keyOf(id) : undefined),
  };
}
