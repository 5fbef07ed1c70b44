/** Parameters that the reads of the cluster's status share. */
import type { ClusterRead } from '../../service/cluster/cluster.js';
import type { ApiRequest } from './types.js';

/** Returns who reads the status, and how current it must be. Throws 400. */
export const clusterRead = (request: ApiRequest): ClusterRead => {
  const { mode, timeoutMs } = request.readOptions(false);
  return { caller: request.caller, timeoutMs, mode };
};
