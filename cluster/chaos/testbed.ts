/** A cluster of real nodes that reach each other only through the proxies of a `ProxyNetwork`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LocalCluster, type LocalNode, planCluster } from '../../src/dev/local.js';
import { Connection } from './client.js';
import { CONTROL_VARIABLE, ControlFile } from './control.js';
import { setJoin } from './members.js';
import { ProxyNetwork } from './proxy.js';

const PRELOAD = new URL('./preload.js', import.meta.url).href;

/** A running cluster with the means to inject faults. */
export interface Testbed {
  readonly cluster: LocalCluster;
  readonly network: ProxyNetwork;
  /** Returns the control file of a node. */
  control(name: string): ControlFile;
  /** Asks the nodes for the leader. Returns undefined if none knows one. */
  leader(): Promise<LocalNode | undefined>;
  close(): Promise<void>;
}

/** Starts a cluster in `dir` and waits until every node is ready. */
export async function startTestbed(nodes: number, dir: string): Promise<Testbed> {
  const controls = new Map<string, ControlFile>();
  const control = (name: string): ControlFile => {
    const file = controls.get(name) ?? new ControlFile(join(dir, `${name}.control.json`));
    controls.set(name, file);
    return file;
  };
  const cluster = await planCluster({
    nodes,
    dir,
    run: (name) => ({ preload: [PRELOAD], env: { [CONTROL_VARIABLE]: control(name).path } }),
  });
  const network = new ProxyNetwork(cluster.nodes.map((node) => node.name));
  const advertised = new Map<string, string>();
  for (const { name, entry } of cluster.nodes) {
    advertised.set(name, await network.listen(name, Number(entry.raft.split(':')[1])));
  }
  const initial = [...advertised].map(([name, address]) => `${name}=${address}`);
  for (const { name } of cluster.nodes) {
    const path = join(dir, `${name}.json`);
    const settings = JSON.parse(readFileSync(path, 'utf8')) as Record<string, object>;
    const { host, port } = settings['raft'] as { readonly host: string; readonly port: number };
    // The proxies read the hello, so the members do not encrypt.
    const raft = { host, port, insecure: true, advertise: advertised.get(name) };
    writeFileSync(path, JSON.stringify({ ...settings, raft, cluster: { initial } }, null, 2));
  }
  const connections = cluster.nodes.map((node) => new Connection(node.url, cluster.token, 1_000));
  const testbed: Testbed = {
    cluster,
    network,
    control,
    async leader() {
      const leaders = await Promise.all(connections.map((connection) => connection.leader()));
      for (const node of cluster.nodes)
        if (leaders.some((address) => address === advertised.get(node.name))) return node;
      return undefined;
    },
    async close() {
      for (const connection of connections) connection.close();
      network.heal();
      await cluster.stop();
      await network.close();
    },
  };
  try {
    for (const node of cluster.nodes) node.start();
    await Promise.all(cluster.nodes.map((node) => node.ready()));
    // one node has nobody to join
    if (nodes > 1) setJoin(cluster, [...advertised.values()]);
  } catch (error) {
    await testbed.close();
    throw error;
  }
  return testbed;
}
