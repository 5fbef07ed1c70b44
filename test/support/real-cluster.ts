/** Nodes in processes of their own, for tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '../../cluster/local.js';
import type { ClusterPlan, LocalCluster, LocalNode } from '../../src/dev/local.js';
import { Client } from './client.js';

/**
 * A cluster of processes in a folder of its own, with a client of the first node. A test calls it
 * as it calls a SoloClient, which is a node in the process of the test.
 */
export class RealCluster extends Client {
  readonly dir: string;
  readonly nodes: readonly LocalNode[];
  readonly urls: readonly string[];
  readonly #cluster: LocalCluster;

  constructor(cluster: LocalCluster) {
    super(cluster.urls[0]!, cluster.token);
    this.dir = cluster.dir;
    this.nodes = cluster.nodes;
    this.urls = cluster.urls;
    this.#cluster = cluster;
  }

  /** Starts the nodes. `start` may be that of another build. */
  static async open(
    nodes: number,
    plan: Partial<ClusterPlan> = {},
    start: typeof startCluster = startCluster,
  ): Promise<RealCluster> {
    const dir = mkdtempSync(join(tmpdir(), 'conclave-cluster-'));
    return new RealCluster(await start({ dir, ...plan, nodes }));
  }

  /** Stops the nodes and removes the folder. */
  async close(): Promise<void> {
    await this.#cluster.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
