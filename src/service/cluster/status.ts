/** Use cases of status, which need no token: the leader, the voters, and readiness. */
import { reject } from '../../base/errors.js';
import { INIT_FACT } from '../../state/system.js';
import type { ClusterParts } from './cluster.js';

/** How many committed entries a ready node may be behind: too few for a client to notice. */
const BEHIND_MAX = 1000;

/** Returns `host:port` of the leader's Raft listener; "" if no leader is known. */
export const leaderAddress = ({ node }: ClusterParts): string => node.status().leaderAddress;

/** Returns `host:port` of the Raft listeners of all voters. */
export const voterAddresses = ({ node }: ClusterParts): readonly string[] =>
  node
    .status()
    .peers.filter((peer) => peer.voter)
    .map((peer) => peer.address);

/** Returns the leader that this node follows. Throws 503 with the reason if it is not ready. */
export function readiness({ node, service, fault }: ClusterParts) {
  const status = node.status();
  // The node's own commit index says nothing about entries that it has not received.
  const behind = (status.announcedIndex ?? status.commitIndex) - status.appliedIndex;
  const why = fault();
  if (why !== undefined) reject('unavailable', `Not ready: ${why}`);
  if (status.leaderId === null) reject('unavailable', 'Not ready: No cluster leader');
  if (service.view.get(INIT_FACT) === undefined)
    reject('unavailable', 'Not ready: the cluster is not initialized yet, there are no tokens');
  if (behind > BEHIND_MAX)
    reject('unavailable', `Not ready: ${behind} entries are still to be applied`);
  return { Status: 'ready', Leader: status.leaderAddress };
}
