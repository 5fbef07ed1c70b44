/** Three nodes with faults to choose, and other clusters beside them, all seen by a Prometheus. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTROL_VARIABLE, ControlFile } from '../../cluster/chaos/control.js';
import {
  type ClusterPlan,
  type LocalCluster,
  type LocalNode,
  PROGRAM,
} from '../../src/dev/local.js';
import { Field, peersOf } from '../../test/cluster/operator.js';
import { type Reply, send } from '../../test/support/client.js';
import type { Prometheus, Target } from './prometheus.js';

const PRELOAD = new URL('../../cluster/chaos/preload.js', import.meta.url).href;
/** Time in which a node starts on a machine that is busy with other things. */
export const READY_MS = 120_000;
/** A short tick makes comparisons of states frequent; a long election timeout bears pauses. */
const RAFT = { tickMs: 10, electionMs: 1000 };

/** The clusters of a run. Its main cluster has nodes n1, n2 and n3. */
export class Lab {
  readonly dir: string;
  readonly #field = new Field();
  readonly #prometheus: Prometheus;
  readonly #token: string;
  readonly #controls = new Map<string, ControlFile>();
  readonly #programs = new Map<string, string>();
  #targets: readonly Target[] = [];
  #cluster: LocalCluster | undefined;

  constructor(dir: string, prometheus: Prometheus, token: string) {
    this.dir = dir;
    this.#prometheus = prometheus;
    this.#token = token;
  }

  /** Starts the main cluster. */
  async start(): Promise<void> {
    this.#cluster = await this.startCluster('main', 3, {
      settings: { raft: RAFT },
      run: (name) => ({
        preload: [PRELOAD],
        env: { [CONTROL_VARIABLE]: this.control(name).path },
        main: () => this.#programs.get(name) ?? PROGRAM,
      }),
    });
  }

  /** Starts a cluster and has its nodes scraped. */
  async startCluster(
    name: string,
    nodes: number,
    plan: Partial<ClusterPlan>,
  ): Promise<LocalCluster> {
    const cluster = await this.#field.start(nodes, { ...plan, token: this.#token });
    const targets = cluster.nodes.map((node) => ({
      cluster: name,
      name: node.name,
      url: node.url,
    }));
    this.#targets = [...this.#targets, ...targets];
    this.#prometheus.scrape(this.#targets);
    return cluster;
  }

  /** Stops a cluster that `startCluster` started. */
  async stopCluster(name: string, cluster: LocalCluster): Promise<void> {
    this.#targets = this.#targets.filter((target) => target.cluster !== name);
    this.#prometheus.scrape(this.#targets);
    await Promise.all(cluster.nodes.map((node) => node.kill('SIGKILL')));
  }

  /** Has a node of the main cluster not scraped until `over` is settled. */
  async withoutTarget({ name }: LocalNode, over: Promise<void>): Promise<void> {
    const others = this.#targets.filter((one) => one.cluster !== 'main' || one.name !== name);
    this.#prometheus.scrape(others);
    await over;
    this.#prometheus.scrape(this.#targets);
  }

  /** A node of the main cluster, from 1. */
  node(number: number): LocalNode {
    return this.#cluster!.nodes[number - 1]!;
  }

  /** The faults of a node of the main cluster. */
  control(name: string): ControlFile {
    const file = this.#controls.get(name) ?? new ControlFile(join(this.dir, `${name}.control`));
    this.#controls.set(name, file);
    return file;
  }

  /** Restarts a node of the main cluster, with a program if one is given. */
  async restart(node: LocalNode, program?: string): Promise<void> {
    if (program !== undefined) this.#programs.set(node.name, program);
    else this.#programs.delete(node.name);
    await node.kill('SIGTERM');
    node.start();
    await node.ready(READY_MS);
  }

  /** Asks a node with every right. */
  ask(node: LocalNode, method: string, path: string, body?: object | Buffer): Promise<Reply> {
    const text = body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    return send(node.url, `${method} ${path}`, {
      token: this.#token,
      ...(text !== undefined && { body: text }),
    });
  }

  /** Returns an archive of the state. */
  async archive(node: LocalNode): Promise<Buffer> {
    return (await this.ask(node, 'GET', '/v1/snapshot')).bytes;
  }

  /** Writes a config entry, one of a hundred. */
  async write(node: LocalNode, number: number): Promise<void> {
    const entry = { Kind: 'service-defaults', Name: `web-${number % 100}` };
    await this.ask(node, 'PUT', '/v1/config', { ...entry, Meta: { n: String(number) } });
  }

  /** Has n1 lead the main cluster. */
  async leadByFirst(): Promise<void> {
    const first = this.node(1);
    const peers = await peersOf({ token: this.#token }, first.url);
    const one = peers.find(({ Node }) => Node === first.name)!;
    if (one.Leader) return;
    await this.ask(first, 'POST', `/v1/operator/raft/transfer-leader?id=${one.ID}`);
    await sleep(500);
  }

  /** Makes a copy of this build that calls itself another release. Returns its program. */
  otherRelease(version: string): string {
    const dir = join(this.dir, version);
    mkdirSync(join(dir, 'dist'), { recursive: true });
    cpSync('dist/program', join(dir, 'dist', 'program'), { recursive: true });
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as object;
    writeFileSync(join(dir, 'package.json'), JSON.stringify({ ...manifest, version }));
    symlinkSync(resolve('node_modules'), join(dir, 'node_modules'));
    return join(dir, 'dist', 'program', 'main.js');
  }

  /** Makes a certificate that is valid for some days, and says so in `raft.tls`. */
  raftTls(days: number): object {
    const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(this.dir, name));
    const name = 'member.conclave.internal';
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'],
        ...['-days', String(days), '-subj', '/CN=n1', '-addext', `subjectAltName=DNS:${name}`],
        ...['-keyout', key!, '-out', cert!],
      ],
      { stdio: 'ignore' },
    );
    return { cert, key, ca: cert, name };
  }

  /** Ends all nodes. */
  end(): Promise<void> {
    return this.#field.end();
  }
}

/** Repeats work, in parallel, until a promise is settled. Failures of the work do not matter. */
export async function meanwhile(
  over: Promise<void>,
  work: () => Promise<unknown>,
  { parallel = 1, pauseMs = 0 } = {},
): Promise<void> {
  let isOver = false;
  const end = over.finally(() => {
    isOver = true;
  });
  const one = async (): Promise<void> => {
    while (!isOver) {
      await work().catch(() => undefined);
      await sleep(pauseMs);
    }
  };
  await Promise.all([end, ...Array.from({ length: parallel }, one)]);
}

/** Stops and continues the process of a node again and again, until a promise is settled. */
export async function pulse(
  over: Promise<void>,
  node: LocalNode,
  { stoppedMs = 300, runningMs = 300 } = {},
): Promise<void> {
  await meanwhile(
    over,
    async () => {
      await node.kill('SIGSTOP');
      await sleep(stoppedMs);
      await node.kill('SIGCONT');
    },
    { pauseMs: runningMs },
  );
}
