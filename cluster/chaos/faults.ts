/**
 * Each fault that is made, and how. A fault of one node ends with the node's process running as it
 * was.
 */
import { execFile } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Random } from '../checker/random.js';
import type { LocalNode } from '../local.js';
import type { ControlFile } from './control.js';
import type { Members } from './members.js';
import type { ProxyNetwork } from './proxy.js';

const run = promisify(execFile);

export interface Field {
  readonly nodes: readonly LocalNode[];
  readonly network: ProxyNetwork;
  readonly members: Members;
  readonly random: Random;
  /** What the node of this name is told to suffer. */
  readonly control: (name: string) => ControlFile;
}

export interface Fault {
  readonly name: string;
  /** How it is made, for reports. */
  readonly how: string;
  /** How often it is chosen, against the others. */
  readonly weight: number;
  /** It ends or starts the node's process: not to be made together with others that do. */
  readonly owns: 'process' | 'clock' | 'disk' | 'network' | 'members';
  /** Gives what became of it as text, where that differs from time to time; it is counted. */
  make(field: Field, node: LocalNode): Promise<unknown>;
  /** Why it cannot be made on this machine. */
  missing?(): Promise<string | undefined>;
}

/** A node whose write failed takes a moment to end. */
const ENDING_MS = 500;

export const FAULTS: readonly Fault[] = [
  {
    name: 'kill',
    how: 'SIGKILL, started again after 0.1 to 2.5 s',
    weight: 3,
    owns: 'process',
    async make({ random }, node) {
      await node.kill('SIGKILL');
      await sleep(random.between(100, 2500));
      node.start();
    },
  },
  {
    name: 'pause',
    how: 'SIGSTOP, SIGCONT after 0.5 to 3 s',
    weight: 3,
    owns: 'process',
    async make({ random }, node) {
      await node.kill('SIGSTOP');
      await sleep(random.between(500, 3000));
      await node.kill('SIGCONT');
    },
  },
  {
    name: 'full disk',
    how: 'a limit on the size of files (prlimit --fsize), some bytes beyond the end of the log: the write that crosses it is cut off. Room is given back after 1 to 4 s, and the node is started again if it ended',
    weight: 2,
    owns: 'process',
    missing: async () =>
      run('prlimit', ['--version']).then(
        () => undefined,
        () => 'there is no prlimit on this machine',
      ),
    async make({ random }, node) {
      await limitFiles(node, longestLog(node) + random.int(4000));
      await sleep(random.between(1000, 4000));
      await limitFiles(node, 'unlimited');
      await sleep(ENDING_MS);
      const effect = node.pid === undefined ? 'the node ended' : 'the node went on';
      node.start();
      return effect;
    },
  },
  {
    name: 'disk at its reserve',
    how: 'statfs of the node says that nothing is free, for 2 to 5 s',
    weight: 1,
    owns: 'disk',
    async make({ random, control }, { name }) {
      control(name).set({ noSpace: true });
      await sleep(random.between(2000, 5000));
      control(name).set({ noSpace: false });
    },
  },
  {
    name: 'slow disk',
    how: 'every batch of the node’s LevelDB waits for 20 to 800 ms, for 1 to 5 s',
    weight: 2,
    owns: 'disk',
    async make({ random, control }, { name }) {
      control(name).set({ syncMs: random.between(20, random.chance(0.3) ? 800 : 150) });
      await sleep(random.between(1000, 5000));
      control(name).set({ syncMs: 0 });
    },
  },
  {
    name: 'hanging disk',
    how: 'no write and no sync of the node’s data folder returns, for 2 to 12 s',
    weight: 2,
    owns: 'disk',
    async make({ random, control }, { name }) {
      control(name).set({ hangs: true });
      await sleep(random.between(2000, 12_000));
      control(name).set({ hangs: false });
    },
  },
  {
    name: 'clock freeze',
    how: 'SIGSTOP, SIGCONT after 1 to 4 s that the node’s monotonic clock does not show and Date does, as after a suspend',
    weight: 2,
    owns: 'process',
    async make({ random, control }, node) {
      const stoppedAt = performance.now();
      await node.kill('SIGSTOP');
      await sleep(random.between(1000, 4000));
      control(node.name).freeze(performance.now() - stoppedAt);
      await node.kill('SIGCONT');
    },
  },
  {
    name: 'clock jump',
    how: 'Date of the node jumps by 0.2 s to 2 days, forward or back; and back again after up to 6 s',
    weight: 2,
    owns: 'clock',
    async make({ random, control }, { name }) {
      const far = random.pick([200, 5_000, 28_800_000, 172_800_000]) * random.between(0.5, 1);
      control(name).set({ clockMs: Math.round(random.chance(0.5) ? far : -far) });
      await sleep(random.between(300, 6000));
      control(name).set({ clockMs: 0 });
    },
  },
  {
    name: 'isolated node',
    how: 'the proxies carry nothing from and to the node, for 0.5 to 5 s',
    weight: 2,
    owns: 'network',
    make: (field, { name }) => cut(field, (from, to) => from === name || to === name),
  },
  {
    name: 'split',
    how: 'the proxies carry nothing between two groups, for 0.5 to 5 s',
    weight: 2,
    owns: 'network',
    make(field) {
      const { random, nodes } = field;
      const some = random.shuffle(nodes).slice(0, 1 + random.int(nodes.length - 1));
      const group = new Set(some.map((node) => node.name));
      return cut(field, (from, to) => group.has(from) !== group.has(to));
    },
  },
  {
    name: 'one-way cut',
    how: 'the node is heard but hears nothing, or the other way round, for 0.5 to 5 s',
    weight: 2,
    owns: 'network',
    make(field, { name }) {
      const isDeaf = field.random.chance(0.5);
      return cut(field, (from, to) => (isDeaf ? to : from) === name);
    },
  },
  {
    name: 'slow network',
    how: 'everything between nodes takes 20 to 250 ms longer each way, for 1 to 4 s',
    weight: 2,
    owns: 'network',
    async make({ random, network }) {
      network.delayAll(random.between(20, 250));
      await sleep(random.between(1000, 4000));
      network.delayAll(0);
    },
  },
  {
    name: 'leadership handed over',
    how: 'POST /v1/operator/raft/transfer-leader',
    weight: 1,
    owns: 'members',
    make: ({ members }) => members.transfer(),
  },
  {
    name: 'node replaced',
    how: 'DELETE /v1/operator/raft/peer; then SIGKILL, the data folder is emptied, and the node joins under a new id',
    weight: 2,
    owns: 'members',
    make: ({ members }, node) => members.replace(node),
  },
];

/** The faults of these names; all, if there are none. Throws if there is none of a name. */
export function faultsOf(names: readonly string[] = []): readonly Fault[] {
  if (names.length === 0) return FAULTS;
  return names.map((name) => {
    const fault = FAULTS.find((each) => each.name === name);
    if (fault !== undefined) return fault;
    throw new Error(
      `there is no fault "${name}"; there are: ${FAULTS.map((each) => each.name).join(', ')}`,
    );
  });
}

async function cut(
  { network, random }: Field,
  isCut: (from: string, to: string) => boolean,
): Promise<void> {
  network.cutWhere(isCut);
  await sleep(random.between(500, 5000));
  network.cutWhere(() => false);
}

/**
 * Sets the soft limit, so that it can be raised again; nothing happens to a process that is gone.
 */
async function limitFiles(node: LocalNode, bytes: number | 'unlimited'): Promise<void> {
  if (node.pid === undefined) return;
  await run('prlimit', ['--pid', String(node.pid), `--fsize=${bytes}:`]).catch(() => {});
}

/** Length of the longest log file of the node's databases. */
function longestLog({ entry }: LocalNode): number {
  const names = readdirSync(entry.dataDir, { recursive: true, encoding: 'utf8' });
  const lengths = names
    .filter((name) => /\d+\.log$/.test(name))
    .map((name) => statSync(join(entry.dataDir, name), { throwIfNoEntry: false })?.size ?? 0);
  return Math.max(0, ...lengths);
}
