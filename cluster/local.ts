/** Real clusters for tests and measurements. */
import { type ClusterPlan, type LocalCluster, planCluster } from '../src/dev/local.js';
import { freePorts } from '../src/dev/ports.js';

/** Plans a cluster, starts it and waits until every node is ready. */
export async function startCluster(plan: ClusterPlan): Promise<LocalCluster> {
  const cluster = await planCluster(plan);
  for (const node of cluster.nodes) node.start();
  try {
    await Promise.all(cluster.nodes.map((node) => node.ready()));
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

/** Returns the first of `count` free ports in a row that no other call returns. */
export async function freePortsInARow(count: number): Promise<number> {
  for (;;) {
    const ports = await freePorts(count);
    if (ports.at(-1)! - ports[0]! === count - 1) return ports[0]!;
  }
}
