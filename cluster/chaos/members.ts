/** Membership changes under load: nodes are replaced, and leadership is transferred. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalCluster, LocalNode } from '../../src/dev/local.js';
import type { Random } from '../checker/random.js';
import { Connection } from './client.js';

const ANSWER_MS = 10_000;
const AGAIN_MS = 300;
/** Time in which a change must succeed under faults; otherwise the cluster does not recover. */
const CHANGE_MS = 180_000;

/** The result of a successful attempt. */
const DONE = Symbol('done');

interface Peer {
  readonly ID: string;
  readonly Node: string;
  readonly Leader: boolean;
  readonly Voter: boolean;
}

/** Changes the members of a cluster through its API. */
export class Members {
  readonly #cluster: LocalCluster;
  readonly #random: Random;
  readonly #connections: ReadonlyMap<string, Connection>;

  constructor(cluster: LocalCluster, random: Random) {
    this.#cluster = cluster;
    this.#random = random;
    this.#connections = new Map(
      cluster.nodes.map(({ name, url }) => [name, new Connection(url, cluster.token, ANSWER_MS)]),
    );
  }

  /**
   * Removes a node, deletes its data and lets it join as a new one. The data is deleted only when
   * the removal is acknowledged: everything acknowledged before is then on a majority of the
   * others.
   */
  async replace(node: LocalNode): Promise<void> {
    const others = this.#cluster.nodes.filter(({ name }) => name !== node.name);
    const isIn = (peers: readonly Peer[]): Peer | undefined =>
      peers.find((peer) => peer.Node === node.name);
    await this.#until(`${node.name} leaves`, async () => {
      const peers = await this.#peers(others);
      if (!peers) return 'no node returns the configuration';
      const path = `/v1/operator/raft/peer?id=${isIn(peers)?.ID}`;
      if (!isIn(peers)) return DONE;
      const answer = await this.#pick(others).change('DELETE', path);
      return answer.outcome === 'ok' ? DONE : answer.why;
    });
    await sleep(this.#random.between(0, 1500));
    await node.kill('SIGKILL');
    rmSync(node.entry.dataDir, { recursive: true, force: true });
    await sleep(this.#random.between(0, 1500));
    node.start();
    await this.#until(`${node.name} joins`, async () => {
      if (node.pid === undefined) node.start();
      await this.#admit(node.name, others);
      const peer = isIn((await this.#peers(others)) ?? []);
      return peer?.Voter === true ? DONE : `it is ${peer ? 'a learner' : 'not a member'}`;
    });
  }

  /** Requests a leadership transfer, which may fail. */
  async transfer(): Promise<void> {
    const peers = await this.#peers(this.#cluster.nodes);
    if (!peers) return;
    const target = this.#random.pick(peers).ID;
    const path = `/v1/operator/raft/transfer-leader?id=${target}`;
    await this.#pick(this.#cluster.nodes).change('POST', path);
  }

  close(): void {
    for (const connection of this.#connections.values()) connection.close();
  }

  /** Admits a server of this name if one waits. The caller repeats this until it is a member. */
  async #admit(name: string, others: readonly LocalNode[]): Promise<void> {
    const path = '/v1/operator/raft/joining';
    const reply = await this.#pick(others).send('GET', path);
    if ('why' in reply || reply.status !== 200) return;
    const waiting = JSON.parse(reply.body.toString()) as readonly Omit<Peer, 'Voter'>[];
    for (const { ID, Node } of waiting)
      if (Node === name) await this.#pick(others).change('PUT', `${path}/${ID}`);
  }

  #pick(nodes: readonly LocalNode[]): Connection {
    return this.#connections.get(this.#random.pick(nodes).name)!;
  }

  async #peers(nodes: readonly LocalNode[]): Promise<readonly Peer[] | undefined> {
    const reply = await this.#pick(nodes).send('GET', '/v1/operator/raft/configuration');
    if ('why' in reply || reply.status !== 200) return undefined;
    return (JSON.parse(reply.body.toString()) as { Servers: Peer[] }).Servers;
  }

  /** Repeats `attempt` until it returns `DONE`. Otherwise it returns why it is not done yet. */
  async #until(what: string, attempt: () => Promise<string | typeof DONE>): Promise<void> {
    const end = performance.now() + CHANGE_MS;
    for (;;) {
      const why = await attempt();
      if (why === DONE) return;
      if (performance.now() > end)
        throw new Error(`${what}: not done within ${CHANGE_MS / 1000} s (${why})`);
      await sleep(AGAIN_MS);
    }
  }
}

/** Configures the nodes so that a node without data joins and never starts a new cluster. */
export function setJoin(cluster: LocalCluster, addresses: readonly string[]): void {
  for (const { name } of cluster.nodes) {
    const path = join(cluster.dir, `${name}.json`);
    const settings = JSON.parse(readFileSync(path, 'utf8')) as Record<string, object>;
    writeFileSync(path, JSON.stringify({ ...settings, cluster: { join: addresses } }, null, 2));
  }
}
