/**
 * A cluster of real nodes whose members reach each other only through the proxies of a
 * `ProxyNetwork`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LocalCluster, type LocalNode, planCluster } from '../local.js';
import { Connection } from './client.js';
import { CONTROL_VARIABLE, ControlFile } from './control.js';
import { joinFromNowOn } from './members.js';
import { ProxyNetwork } from './proxy.js';

const PRELOAD = new URL('./preload.js', import.meta.url).href;

export interface Setting {
  readonly cluster: LocalCluster;
  readonly network: ProxyNetwork;
  /** What the node of this name is told to suffer. */
  control(name: string): ControlFile;
  /** Asks the nodes, in any state, who leads. */
  leader(): Promise<LocalNode | undefined>;
  close(): Promise<void>;
}

/** Starts it and waits until every node serves. */
export async function setUp(nodes: number, dir: string): Promise<Setting> {
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
    // the proxies read who connects, so the members speak in the clear
    const raft = { host, port, insecure: true, advertise: advertised.get(name) };
    writeFileSync(path, JSON.stringify({ ...settings, raft, cluster: { initial } }, null, 2));
  }
  const connections = cluster.nodes.map((node) => new Connection(node.url, cluster.token, 1_000));
  const setting: Setting = {
    cluster,
    network,
    control,
    async leader() {
      const said = await Promise.all(connections.map((connection) => connection.leader()));
      for (const node of cluster.nodes)
        if (said.some((address) => address === advertised.get(node.name))) return node;
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
    joinFromNowOn(cluster, [...advertised.values()]);
  } catch (error) {
    await setting.close();
    throw error;
  }
  return setting;
}
