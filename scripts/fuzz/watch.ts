/**
 * Watches the nodes while they are fuzzed: processes, logs, terms; and compares their figures and
 * states at the end.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalCluster, LocalNode } from '../../src/dev/local.js';
import type { Setting } from '../bench/setting.js';
import { type Figures, figuresOf, growth } from './figures.js';

/** How long an idle cluster may take to return to its former figures. */
const CALM_MS = 120_000;
const LOOK_AGAIN_MS = 500;
/** Everything in the state that clients can see. */
const LISTS = [
  ...['policies', 'roles', 'tokens', 'auth-methods', 'binding-rules'].map(
    (name) => `/v1/acl/${name}?ns=*&stale`,
  ),
  ...['/v1/namespaces?stale', '/v1/config/?stale', '/v1/operator/autopilot/configuration?stale'],
];

export const figuresFile = (dir: string, name: string): string => join(dir, `${name}.figures.json`);

/** Returns the problem that a log line reports; undefined if it reports none. */
export function problemOfLine(line: string): string | undefined {
  let level: unknown;
  try {
    ({ level } = JSON.parse(line) as { level?: unknown });
  } catch {
    return `its log has a line that is none of its own: ${line.slice(0, 500)}`;
  }
  return level === 'error' ? `its log tells of an error: ${line.slice(0, 2000)}` : undefined;
}

/** Reads the lines that a node has logged since the last call. */
class LogTail {
  readonly #file: string;
  #at = 0;
  #rest = '';
  readonly levels: Record<string, number> = {};

  constructor(file: string) {
    this.#file = file;
  }

  problems(): string[] {
    const handle = openSync(this.#file, 'r');
    const bytes = Buffer.alloc(fstatSync(handle).size - this.#at);
    readSync(handle, bytes, 0, bytes.length, this.#at);
    closeSync(handle);
    this.#at += bytes.length;
    const lines = (this.#rest + bytes.toString('utf8')).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const level = /"level":"(\w+)"/.exec(line)?.[1] ?? 'none';
      this.levels[level] = (this.levels[level] ?? 0) + 1;
    }
    return lines.map(problemOfLine).filter((problem) => problem !== undefined);
  }
}

export class Watch {
  readonly #cluster: LocalCluster;
  readonly #setting: Setting;
  readonly #logs: readonly LogTail[];

  constructor(setting: Setting) {
    this.#setting = setting;
    this.#cluster = setting.cluster;
    this.#logs = setting.cluster.nodes.map(({ logFile }) => new LogTail(logFile));
  }

  /** Lines of all logs by level. */
  get lines(): Record<string, number> {
    const sum: Record<string, number> = {};
    for (const { levels } of this.#logs)
      for (const [level, count] of Object.entries(levels)) sum[level] = (sum[level] ?? 0) + count;
    return sum;
  }

  /** Returns the nodes that have ended, and the problems in the logs since the last call. */
  problems(): string[] {
    return this.#cluster.nodes.flatMap((node, at) => [
      ...(node.pid === undefined ? [`node ${node.name} has ended`] : []),
      ...this.#logs[at]!.problems().map((problem) => `node ${node.name}: ${problem}`),
    ]);
  }

  #each<T>(ask: (node: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.#cluster.nodes.map((_, node) => ask(node)));
  }

  /** Returns the newest term. */
  async term(): Promise<number> {
    const terms = await this.#each((node) => this.#setting.metric('conclave_raft_term', node));
    return Math.max(...terms);
  }

  /** Returns the longest delay of a node's Raft clock, in milliseconds. */
  async stallMs(): Promise<number> {
    const name = 'conclave_raft_stall_max_seconds';
    const all = await this.#each((node) => this.#setting.metric(name, node));
    return Math.round(Math.max(...all) * 1000);
  }

  figures(): Promise<Figures[]> {
    const { dir, nodes } = this.#cluster;
    return Promise.all(nodes.map((node) => figuresOf(node, figuresFile(dir, node.name))));
  }

  /** Waits until no node uses more than before, and reports those that still do. */
  async settled(before: readonly Figures[]): Promise<{ figures: Figures[]; problems: string[] }> {
    for (const until = performance.now() + CALM_MS; ; ) {
      const figures = await this.figures();
      const problems = this.#cluster.nodes.flatMap(({ name }, at) =>
        growth(before[at]!, figures[at]!).map((what) => `node ${name}: ${what}`),
      );
      if (problems.length === 0 || performance.now() > until) return { figures, problems };
      await sleep(LOOK_AGAIN_MS);
    }
  }

  /** Waits until none of our clients is connected except the one that asks. */
  async quiet(): Promise<void> {
    for (const until = performance.now() + CALM_MS; performance.now() < until; ) {
      const names = ['conclave_http_connections', 'conclave_http_held'];
      const all = await this.#each((node) => this.#setting.metrics(names, node));
      if (all.every(([open, held]) => open! <= 1 && held === 0)) return;
      await sleep(LOOK_AGAIN_MS);
    }
  }

  /** Returns in what the nodes still differ after they had time to agree. */
  async disagreement(): Promise<string[]> {
    for (const until = performance.now() + CALM_MS; ; ) {
      const problems = await this.#differences();
      if (problems.length === 0 || performance.now() > until) return problems;
      await sleep(LOOK_AGAIN_MS);
    }
  }

  async #differences(): Promise<string[]> {
    const names = ['conclave_state_differing_total', 'conclave_faulted'];
    const found = await this.#each(async (node) => {
      const [differing, faulted] = await this.#setting.metrics(names, node);
      return { isGood: differing === 0 && faulted === 0, state: await this.#state(node) };
    });
    return this.#cluster.nodes.flatMap(({ name }: LocalNode, at) => {
      const { isGood, state } = found[at]!;
      const other = LISTS.filter((_, list) => state[list] !== found[0]!.state[list]);
      return [
        ...(isGood ? [] : [`node ${name} differs from the others, by its own metrics`]),
        ...other.map((list) => `node ${name} answers ${list} unlike the first node`),
      ];
    });
  }

  #state(node: number): Promise<string[]> {
    const replies = LISTS.map((path) => this.#setting.ask({ method: 'GET', path }, node));
    return Promise.all(replies.map(async (ask) => (await ask).body.toString('latin1')));
  }

  /** Returns the number of responses of each endpoint (`GET /v1/…`), by the nodes' own count. */
  async reached(): Promise<Map<string, number>> {
    const path = '/v1/agent/metrics?format=prometheus';
    const texts = await this.#each((node) => this.#setting.ask({ method: 'GET', path }, node));
    const counts = new Map<string, number>();
    const line =
      /^conclave_http_request_duration_seconds_count\{route="([^"]*)",method="(\w+)",.*\} (\d+)$/gm;
    for (const { body } of texts)
      for (const [, route, method, count] of body.toString().matchAll(line)) {
        const label = `${method} ${route}`;
        counts.set(label, (counts.get(label) ?? 0) + Number(count));
      }
    return counts;
  }
}
