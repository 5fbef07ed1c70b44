/** An operator's tools for tests: shell commands, and load with keep-alive. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startCluster } from '../../cluster/local.js';
import {
  type ClusterPlan,
  type LocalCluster,
  type LocalNode,
  planCluster,
} from '../../src/dev/local.js';
import { type Reply, send } from '../support/client.js';

const MAIN = fileURLToPath(new URL('../../program/main.js', import.meta.url));
const AGAIN_MS = 25;
/** Ample for a busy machine: only a failure waits for it. */
const UNTIL_MS = 120_000;
/** After so many failures a client stops, since more say nothing new. */
const FAILURES_MAX = 5;

/** A server as `GET /v1/operator/raft/configuration` shows it. */
export interface Peer {
  readonly ID: string;
  readonly Node: string;
  readonly Address: string;
  readonly Leader: boolean;
  readonly Voter: boolean;
}

/** Polls until the value is as wanted; rejects with the last one after two minutes. */
export async function until<T>(look: () => Promise<T>, wanted: (value: T) => boolean): Promise<T> {
  const end = performance.now() + UNTIL_MS;
  for (;;) {
    const value = await look().catch((error: Error) => error);
    if (!(value instanceof Error) && wanted(value)) return value;
    if (performance.now() > end)
      throw new Error(
        `not so after ${UNTIL_MS} ms: ${value instanceof Error ? value : JSON.stringify(value)}`,
      );
    await sleep(AGAIN_MS);
  }
}

/** The bytes of a file, if it still exists: LevelDB removes files in the meantime. */
export function bytesOf(path: string): Buffer {
  try {
    return statSync(path).isFile() ? readFileSync(path) : Buffer.alloc(0);
  } catch {
    return Buffer.alloc(0);
  }
}

/** Runs `conclave …`. */
export async function conclave(
  arguments_: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [MAIN, ...arguments_], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => {
      output += part.toString();
    });
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

/** The clusters of one suite, each in its own folder; `end` stops them and removes the folders. */
export class Field {
  readonly #clusters: LocalCluster[] = [];
  readonly #dirs: string[] = [];

  dir(): string {
    const dir = mkdtempSync(join(tmpdir(), 'conclave-operations-'));
    this.#dirs.push(dir);
    return dir;
  }

  async start(nodes: number, plan: Partial<ClusterPlan> = {}): Promise<LocalCluster> {
    const cluster = await startCluster({ dir: this.dir(), ...plan, nodes });
    this.#clusters.push(cluster);
    return cluster;
  }

  /** A node, not started yet, that will ask a cluster's members to join; an operator admits it. */
  async joiner(
    cluster: LocalCluster,
    name: string,
    run: ClusterPlan['run'] = undefined,
  ): Promise<LocalNode> {
    const { token } = cluster;
    const plan = await planCluster({ dir: this.dir(), nodes: 1, token, ...(run && { run }) });
    this.#clusters.push(plan);
    const [node] = plan.nodes;
    configure(node!, { nodeName: name, cluster: { join: addressesOf(cluster) } });
    copyFileSync(keyOf(cluster.nodes[0]!), keyOf(node!));
    return node!;
  }

  async end(): Promise<void> {
    for (const cluster of this.#clusters.splice(0))
      await Promise.all(cluster.nodes.map((node) => node.kill('SIGKILL')));
    for (const dir of this.#dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
  }
}

export const addressesOf = ({ nodes }: Pick<LocalCluster, 'nodes'>): string[] =>
  nodes.map(({ entry }) => entry.raft);

const keyOf = ({ entry }: LocalNode): string => join(dirname(entry.dataDir), 'shared.key');

/** Admits a server once it asks to join. */
export async function admit(
  { token }: { token: string },
  url: string,
  name: string,
): Promise<void> {
  const path = '/v1/operator/raft/joining';
  const servers = await until(
    async () =>
      JSON.parse((await send(url, `GET ${path}`, { token })).text) as Omit<Peer, 'Voter'>[],
    (waiting) => waiting.some(({ Node }) => Node === name),
  );
  const { ID } = servers.find(({ Node }) => Node === name)!;
  const answer = await send(url, `PUT ${path}/${ID}`, { token });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
}

/** The configuration file of a node. */
export const configOf = ({ name, entry }: LocalNode): string =>
  join(dirname(entry.dataDir), `${name}.json`);

/** Changes settings in a node's configuration file, for its next start. */
export function configure(node: LocalNode, change: Record<string, unknown>): void {
  writeFileSync(configOf(node), JSON.stringify({ ...settingsOf(node), ...change }));
}

/** The settings in a node's configuration file. */
export const settingsOf = (node: LocalNode): Record<string, unknown> =>
  JSON.parse(readFileSync(configOf(node), 'utf8'));

/** The response of a node's readiness probe. */
export const readiness = ({ url }: LocalNode): Promise<Reply> => send(url, 'GET /v1/health/ready');

/** The servers as the cluster's leader lists them. */
export async function peersOf({ token }: { token: string }, url: string): Promise<Peer[]> {
  const reply = await send(url, 'GET /v1/operator/raft/configuration', { token });
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
  return (JSON.parse(reply.text) as { Servers: Peer[] }).Servers;
}

/** Where a load goes. */
interface Target {
  readonly urls: readonly string[];
  readonly token: string;
}

/** One client of a load: writes and reads in turn, moving from node to node with keep-alive. */
class Client {
  readonly failures: string[] = [];
  readonly #cluster: Target;
  readonly #key: string;
  readonly #agents: readonly Agent[];
  #at: number;
  #written = 0;
  #running = true;

  constructor(cluster: Target, number: number) {
    this.#cluster = cluster;
    this.#key = `load-${number}`;
    this.#at = number % cluster.urls.length;
    this.#agents = cluster.urls.map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  }

  get written(): number {
    return this.#written;
  }

  stop(): void {
    this.#running = false;
  }

  async run(): Promise<void> {
    while (this.#running && this.failures.length < FAILURES_MAX) {
      const value = String(this.#written + 1);
      const body = JSON.stringify({ Kind: 'service-defaults', Name: this.#key, Meta: { value } });
      const written = await this.#request('PUT /v1/config', body);
      if (written?.status === 200) this.#written += 1;
      else this.failures.push(`write: ${written?.status} ${written?.text}`);
      const read = await this.#request(`GET /v1/config/service-defaults/${this.#key}`);
      const seen = read?.status === 200 ? JSON.parse(read.text).Meta.value : undefined;
      if (seen !== String(this.#written))
        this.failures.push(`read: ${read?.status} ${read?.text}, wrote ${this.#written}`);
    }
    for (const agent of this.#agents) agent.destroy();
  }

  /** Moves on to the next node when this one takes no connection, and after every response. */
  async #request(call: string, body?: string): Promise<Reply | undefined> {
    const { urls, token } = this.#cluster;
    for (let refused = 0; refused < urls.length; ) {
      const at = this.#at;
      this.#at = (at + 1) % urls.length;
      try {
        const ask = { token, agent: this.#agents[at]!, silenceMs: UNTIL_MS };
        return await send(urls[at]!, call, { ...ask, ...(body !== undefined && { body }) });
      } catch (error) {
        // Nothing was sent. A node that closes refuses a connection, or resets it if the kernel
        // made it in the moment before.
        if ((error as NodeJS.ErrnoException).syscall === 'connect') refused += 1;
        else {
          this.failures.push(`${call} at ${urls[at]}: ${error}`);
          return undefined;
        }
      }
    }
    this.failures.push('no node takes connections');
    return undefined;
  }
}

/** Clients that write and read through all nodes until `stop`. */
export function load(
  cluster: Target,
  connections: number,
): { stop(): Promise<{ written: number; failures: string[] }> } {
  const clients = Array.from({ length: connections }, (_, number) => new Client(cluster, number));
  const running = Promise.all(clients.map((client) => client.run()));
  return {
    async stop() {
      for (const client of clients) client.stop();
      await running;
      return {
        written: clients.reduce((sum, client) => sum + client.written, 0),
        failures: clients.flatMap((client) => client.failures),
      };
    },
  };
}
