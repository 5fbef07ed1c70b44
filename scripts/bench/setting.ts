/**
 * A cluster to measure, in a temporary folder, and the figures that its nodes report.
 */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startCluster } from '../../cluster/local.js';
import type { ClusterPlan, LocalCluster, LocalNode, NodeRun } from '../../src/dev/local.js';
import { type Ask, askOnce, type Reply, type Target } from './line.js';
import { type LoopReading, loopReading } from './loop-delay.js';

/** Runs a node with what the image and the systemd unit set: see docs/performance.md. */
export const AS_DEPLOYED: NodeRun = {
  preload: [],
  env: { MALLOC_ARENA_MAX: '2', NODE_OPTIONS: '--max-semi-space-size=16' },
};

export class Setting {
  readonly cluster: LocalCluster;
  readonly targets: readonly Target[];

  constructor(cluster: LocalCluster) {
    this.cluster = cluster;
    this.targets = cluster.urls.map((url) => ({ url, token: cluster.token }));
  }

  /** One request; throws unless the response has status 200. */
  ask(ask: Ask, node = 0): Promise<Reply> {
    return askOnce(this.targets[node]!, ask);
  }

  put(path: string, body: unknown): Promise<Reply> {
    return this.ask({ method: 'PUT', path, body: JSON.stringify(body) });
  }

  /** The position of the leader. */
  async leader(): Promise<number> {
    const { body } = await this.ask({ method: 'GET', path: '/v1/status/leader' });
    const address = JSON.parse(body.toString()) as string;
    return this.cluster.nodes.findIndex(({ entry }) => entry.raft === address);
  }

  /** A node's metrics as text. */
  async metricsText(node = 0): Promise<string> {
    const path = '/v1/agent/metrics?format=prometheus';
    return (await this.ask({ method: 'GET', path }, node)).body.toString();
  }

  /** Figures of a node's metrics. */
  async metrics(names: readonly string[], node = 0): Promise<number[]> {
    const text = await this.metricsText(node);
    return names.map((name) => {
      const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
      if (value === undefined) throw new Error(`there is no metric ${name}`);
      return Number(value);
    });
  }

  async metric(name: string, node = 0): Promise<number> {
    return (await this.metrics([name], node))[0]!;
  }

  /** How late a node's event loop has been so far, for `loopDelay`. */
  async loopReading(node = 0): Promise<LoopReading> {
    return loopReading(await this.metricsText(node));
  }

  /** The blocking queries that a node holds. */
  held(node: number): Promise<number> {
    return this.metric('conclave_http_held', node);
  }

  /** Seconds of CPU time that all nodes have used. */
  async cpuSeconds(): Promise<number> {
    const all = this.targets.map((_, node) => this.metric('process_cpu_seconds_total', node));
    return (await Promise.all(all)).reduce((sum, seconds) => sum + seconds, 0);
  }

  /** Resident megabytes of a node. */
  async residentMb(node = 0): Promise<number> {
    return (await this.metric('process_resident_memory_bytes', node)) / 2 ** 20;
  }

  /** Microseconds of CPU time of all nodes for each of the operations that `run` counts. */
  cpuPerOp<T extends { readonly answered: number }>(
    run: () => Promise<T>,
  ): Promise<T & { readonly cpuUs: number }> {
    return cpuPerOp(this, run);
  }
}

/** Microseconds of CPU time of all servers for each of the operations that `run` counts. */
export async function cpuPerOp<T extends { readonly answered: number }>(
  servers: { readonly cpuSeconds: () => Promise<number> },
  run: () => Promise<T>,
): Promise<T & { readonly cpuUs: number }> {
  const before = await servers.cpuSeconds();
  const result = await run();
  const used = (await servers.cpuSeconds()) - before;
  return { ...result, cpuUs: (used * 1e6) / result.answered };
}

/** Runs `measure` on a new cluster of `count` nodes; stops and removes it in any case. */
export async function withCluster(
  nodes: number,
  measure: (setting: Setting) => Promise<void>,
  plan: Pick<ClusterPlan, 'settings' | 'run'> = {},
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'conclave-bench-'));
  try {
    const cluster = await startCluster({ nodes, dir, ...plan });
    try {
      await measure(new Setting(cluster));
    } finally {
      await cluster.stop();
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The configuration file of a node. */
export const configOf = ({ name, entry }: LocalNode): string =>
  join(dirname(entry.dataDir), `${name}.json`);

/** Bytes of all files of a node, or of one folder of it. */
export async function diskBytes({ entry }: LocalNode, folder = ''): Promise<number> {
  const dir = join(entry.dataDir, folder);
  const files = await readdir(dir, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map((file) => stat(join(file.parentPath, file.name)).catch(() => ({ size: 0 })));
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0);
}

/** A service-defaults entry of about 250 bytes. */
const entry = (kind: string, name: string, n: number | string): string =>
  JSON.stringify({
    Kind: kind,
    Name: name,
    ...(kind === 'service-defaults' ? { Protocol: 'http', MeshGateway: { Mode: 'local' } } : {}),
    Meta: { owner: 'team-a', n: String(n), note: 'x'.repeat(100) },
  });

export const putEntry = (name: string, n: number | string, kind = 'service-defaults'): Ask => ({
  method: 'PUT',
  path: '/v1/config',
  body: entry(kind, name, n),
});
