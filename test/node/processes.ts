/** Nodes on real disks and sockets, all in this process, in a temporary folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePorts } from '../../src/dev/ports.js';
import { openNode, type RunningNode } from '../../src/node/node.js';
import type { NodeOptions } from '../../src/node/options.js';
import { readState } from '../../src/node/read-state.js';
import { type Command, type Handlers, keyOf } from '../../src/state/types.js';
import type { LevelState } from '../../src/storage/state.js';

/** `put` sets a key; `append` appends to it, which shows a command that took effect twice. */
export interface Put extends Command {
  readonly key: string;
  readonly value: string;
}
export const HANDLERS: Handlers = {
  put: ({ draft }, { key, value }: Put) => {
    draft.put(at(key), value);
    return { ok: true, value };
  },
  append: ({ draft }, { key, value }: Put) => {
    draft.put(at(key), `${draft.get(at(key)) ?? ''}${value}`);
    return { ok: true, value: draft.get(at(key))! };
  },
};
/** All keys are in one table. */
const at = (key: string): string => keyOf('test', key);
export const valueAt = (node: RunningNode, key: string): string | undefined =>
  node.view.get(at(key));
const contentOf = (node: RunningNode): unknown[] =>
  [...node.view.keys(keyOf('test', ''))].map((key) => [key, node.view.get(key)]);
/** What a node logs about a disk that lost data. */
const DAMAGE = /damage|lost|lacks|fetched|is not serving|again|rebuilt/;
export const watchAt = (node: RunningNode, key: string, wake: () => void): (() => void) =>
  node.watch([at(key)], wake);
export const put = (key: string, value: string): Put => ({ type: 'put', v: 1, key, value });
export const append = (key: string, value: string): Put => ({ type: 'append', v: 1, key, value });

export class Cluster {
  readonly nodes = new Map<string, RunningNode>();
  readonly fatal: Error[] = [];
  readonly lines: string[] = [];
  readonly dir: string;
  readonly #ports: ReadonlyMap<string, number>;
  readonly #options: Partial<NodeOptions>;

  constructor(dir: string, ports: ReadonlyMap<string, number>, options: Partial<NodeOptions>) {
    this.dir = dir;
    this.#ports = ports;
    this.#options = options;
  }

  /** Creates folders for nodes of these names; none is started yet. */
  static async create(
    names: readonly string[],
    options: Partial<NodeOptions> = {},
  ): Promise<Cluster> {
    const dir = await mkdtemp(join(tmpdir(), 'conclave-node-'));
    const ports = await freePorts(names.length);
    return new Cluster(dir, new Map(names.map((name, i) => [name, ports[i]!])), options);
  }

  address(name: string): string {
    return `127.0.0.1:${this.#ports.get(name)}`;
  }
  initial(...names: readonly string[]): { name: string; address: string }[] {
    return names.map((name) => ({ name, address: this.address(name) }));
  }
  folder(name: string): string {
    return join(this.dir, name);
  }

  async start(name: string, options: Partial<NodeOptions> = {}): Promise<RunningNode> {
    const dataDir = this.folder(name);
    const node = await openNode({
      name,
      dataDir,
      loading: readState(dataDir),
      listen: { host: '127.0.0.1', port: this.#ports.get(name)! },
      security: { mode: 'plain' },
      gate: () => undefined,
      handlers: HANDLERS,
      log: (level, message) => this.lines.push(`${name} ${level} ${message}`),
      onFatal: (error) => this.fatal.push(error),
      ...{ ...this.#options, ...options },
    });
    this.nodes.set(name, node);
    await node.start();
    return node;
  }

  /** Starts a node that asks another one to let it join, and has an operator admit it. */
  async join(name: string, via: string, options: Partial<NodeOptions> = {}): Promise<RunningNode> {
    const node = await this.start(name, { ...options, join: [this.address(via)] });
    await this.waits(name, via);
    await this.nodes.get(via)!.admit(node.id);
    return node;
  }

  /** Resolves once node `at` lists the server as waiting for an operator. */
  async waits(name: string, at: string): Promise<void> {
    const { id } = this.nodes.get(name)!;
    let shown: readonly { readonly id: string }[] = [];
    await this.until(() => {
      void this.nodes
        .get(at)!
        .joining(5000)
        .then(
          (servers) => {
            shown = servers;
          },
          () => {},
        );
      return shown.some((server) => server.id === id);
    });
  }

  async startAll(...names: readonly string[]): Promise<RunningNode[]> {
    const initial = this.initial(...names);
    return Promise.all(names.map((name) => this.start(name, { initial })));
  }

  /** Stops a node without transferring leadership: the second call does not wait. */
  async stop(name: string): Promise<void> {
    const node = this.nodes.get(name)!;
    this.nodes.delete(name);
    void node.stop();
    await node.stop();
  }

  /**
   * Restarts these nodes after nothing went wrong: they report no damage, fetch nothing and have
   * the same contents.
   */
  async restartUnchanged(...names: readonly string[]): Promise<RunningNode[]> {
    await Promise.all(names.map((name) => this.nodes.get(name)!.barrier('default', 8000)));
    const before = names.map((name) => contentOf(this.nodes.get(name)!));
    for (const name of names) await this.stop(name);
    this.lines.length = 0;
    const nodes = await Promise.all(names.map((name) => this.start(name)));
    for (const [i, node] of nodes.entries()) {
      expect(node.status().fault).to.equal(undefined);
      expect(node.replica.loop.elections.votingSuspended).to.equal(false);
      expect(contentOf(node)).to.deep.equal(before[i]);
    }
    await Promise.all(nodes.map((node) => node.barrier('default', 8000)));
    for (const [i, node] of nodes.entries()) expect(contentOf(node)).to.deep.equal(before[i]);
    expect(this.lines.filter((line) => DAMAGE.test(line))).to.deep.equal([]);
    expect(this.fatal).to.deep.equal([]);
    return nodes;
  }

  /** Waits until everything that a node has applied is on its disk. */
  async flushed(name: string): Promise<void> {
    // The node exposes its store as a view.
    await (this.nodes.get(name)!.view as LevelState).flush();
  }

  async leader(): Promise<{ name: string; node: RunningNode }> {
    await this.until(() => this.#leader() !== undefined);
    return this.#leader()!;
  }
  #leader(): { name: string; node: RunningNode } | undefined {
    for (const [name, node] of this.nodes) {
      const { role, commitIndex, appliedIndex } = node.status();
      if (role === 'leader' && appliedIndex === commitIndex) return { name, node };
    }
    return undefined;
  }

  /** The number of lines in a node's log that begin with this text, level included. */
  logCount(name: string, beginning: string): number {
    return this.lines.filter((line) => line.startsWith(`${name} ${beginning}`)).length;
  }

  /** Waits until the condition holds; it depends on sockets and disks. */
  async until(condition: () => boolean, withinMs = 10_000): Promise<void> {
    const endMs = performance.now() + withinMs;
    while (!condition()) {
      if (performance.now() > endMs) throw new Error(`not in time\n${this.lines.join('\n')}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async remove(): Promise<void> {
    await Promise.all([...this.nodes.keys()].map((name) => this.stop(name)));
    await rm(this.dir, { recursive: true, force: true });
  }
}
