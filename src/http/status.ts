/** Who leads, who is a member, and whether this node serves: open to all. */
import { reject } from '../errors.js';
import { INIT_FACT } from '../state/system.js';
import type { ClusterParts } from './cluster.js';
import type { ApiRequest, Route } from './types.js';

/**
 * Entries a node may be behind its commit index and still count as ready: less than a client would
 * notice.
 */
const BEHIND_MAX = 1000;

export function statusRoutes({ node, service, fault }: ClusterParts): readonly Route[] {
  const ready = (request: ApiRequest): void => {
    const status = node.status();
    const behind = status.commitIndex - status.appliedIndex;
    const why = fault();
    if (why !== undefined) reject('unavailable', `Not ready: ${why}`);
    if (status.leaderId === null) reject('unavailable', 'Not ready: No cluster leader');
    if (service.view.get(INIT_FACT) === undefined)
      reject('unavailable', 'Not ready: the cluster has not begun yet, there are no tokens');
    if (behind > BEHIND_MAX)
      reject('unavailable', `Not ready: ${behind} entries are still to be applied`);
    request.answerValue({ Status: 'ready', Leader: status.leaderAddress });
  };
  return [
    {
      path: '/v1/status/leader',
      GET: (request) => {
        request.readOptions(false);
        request.answerValue(node.status().leaderAddress);
      },
    },
    {
      path: '/v1/status/peers',
      GET: (request) => {
        request.readOptions(false);
        const voters = node.status().peers.filter((peer) => peer.voter);
        request.answerValue(voters.map((peer) => peer.address));
      },
    },
    // probes of an orchestrator: the process answers; the node would serve a request
    {
      path: '/v1/health/live',
      counts: 'probe',
      GET: (request) => request.answerValue({ Status: 'live' }),
    },
    { path: '/v1/health/ready', counts: 'probe', GET: ready },
  ];
}
