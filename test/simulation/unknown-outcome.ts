/** When a server may say that it does not know whether a write took effect. */
import type { SimCluster } from './cluster.js';
import type { SimServer } from './server.js';

/**
 * Returns a function that tells whether the outcome of a write that begins now may be unknown to
 * its server: it has sent the write to a leader and has no answer, or it led itself, and a snapshot
 * that it has installed since covers the place in its log.
 */
export function mayBeUnknown(
  { network, invariants }: SimCluster,
  { id }: SimServer,
  value: string,
): () => boolean {
  const installs = invariants.installsOf(id);
  return () => network.isUnanswered(value) || invariants.installsOf(id) > installs;
}
