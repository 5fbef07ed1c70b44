/**
 * Membership while everything else goes on: nodes leave and come back as new ones, leadership is
 * handed over.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../checker/random.js';
import type { LocalCluster, LocalNode } from '../local.js';
import { Connection } from './client.js';

const ANSWER_MS = 10_000;
const AGAIN_MS = 300;
/** So long a change may take while other faults are made; then the cluster does not recover. */
const CHANGE_MS = 180_000;

const DONE = Symbol('done');

interface Peer {
  readonly ID: string;
  readonly Node: string;
  readonly Leader: boolean;
  readonly Voter: boolean;
}

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
   * The node leaves, loses its data and joins as a new one. Its data goes only when its leaving was
   * acknowledged: what the cluster acknowledged before is then on a majority of the others.
   */
  async replace(node: LocalNode): Promise<void> {
    const others = this.#cluster.nodes.filter(({ name }) => name !== node.name);
    const isIn = (peers: readonly Peer[]): Peer | undefined =>
      peers.find((peer) => peer.Node === node.name);
    await this.#until(`${node.name} leaves`, async () => {
      const peers = await this.#peers(others);
      if (!peers) return 'nobody tells who is a member';
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
      return peer?.Voter === true ? DONE : `it is ${peer ? 'a learner' : 'no member'}`;
    });
  }

  /** Asks for another leader; it is fine if that fails. */
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

  /** Admits a server of this name, if one waits; it is asked for again until it is a member. */
  async #admit(name: string, others: readonly LocalNode[]): Promise<void> {
    const path = '/v1/operator/raft/joining';
    const reply = await this.#pick(others).ask('GET', path);
    if ('why' in reply || reply.status !== 200) return;
    const waiting = JSON.parse(reply.body.toString()) as readonly Omit<Peer, 'Voter'>[];
    for (const { ID, Node } of waiting)
      if (Node === name) await this.#pick(others).change('PUT', `${path}/${ID}`);
  }

  #pick(nodes: readonly LocalNode[]): Connection {
    return this.#connections.get(this.#random.pick(nodes).name)!;
  }

  async #peers(nodes: readonly LocalNode[]): Promise<readonly Peer[] | undefined> {
    const reply = await this.#pick(nodes).ask('GET', '/v1/operator/raft/configuration');
    if ('why' in reply || reply.status !== 200) return undefined;
    return (JSON.parse(reply.body.toString()) as { Servers: Peer[] }).Servers;
  }

  /** `attempt` gives `DONE`, or why it is not done yet. */
  async #until(what: string, attempt: () => Promise<string | typeof DONE>): Promise<void> {
    const end = performance.now() + CHANGE_MS;
    for (;;) {
      const why = await attempt();
      if (why === DONE) return;
      if (performance.now() > end)
        throw new Error(`not within ${CHANGE_MS / 1000} s: ${what} (${why})`);
      await sleep(AGAIN_MS);
    }
  }
}

/** From now on a node without data asks to be taken in, and never founds a cluster. */
export function joinFromNowOn(cluster: LocalCluster, addresses: readonly string[]): void {
  for (const { name } of cluster.nodes) {
    const path = join(cluster.dir, `${name}.json`);
    const settings = JSON.parse(readFileSync(path, 'utf8')) as Record<string, object>;
    writeFileSync(path, JSON.stringify({ ...settings, cluster: { join: addresses } }, null, 2));
  }
}
