/** The faults. When a fault of a node ends, the node's process runs as before. */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { LocalNode } from '../../src/dev/local.js';
import type { Random } from '../checker/random.js';
import type { ControlFile } from './control.js';
import type { Members } from './members.js';
import type { ProxyNetwork } from './proxy.js';
import { endOfLog } from './segments.js';

const run = promisify(execFile);

/** What a fault can act on. */
export interface FaultContext {
  readonly nodes: readonly LocalNode[];
  readonly network: ProxyNetwork;
  readonly members: Members;
  readonly random: Random;
  /** Returns the control file of a node. */
  readonly control: (name: string) => ControlFile;
}

/** A kind of fault. */
export interface Fault {
  readonly name: string;
  /** How the fault is made, for reports. */
  readonly how: string;
  /** Relative frequency. */
  readonly weight: number;
  /** What the fault acts on. Two faults of one process are not made at once. */
  readonly owns: 'process' | 'clock' | 'disk' | 'network' | 'members';
  /** Makes the fault. May return its effect as text, which the report counts. */
  make(context: FaultContext, node: LocalNode): Promise<unknown>;
  /** Returns why the fault cannot be made on this machine, or undefined. */
  missing?(): Promise<string | undefined>;
}

/** Time that a node takes to end after a failed write. */
const ENDING_MS = 500;

export const FAULTS: readonly Fault[] = [
  {
    name: 'kill',
    how: 'SIGKILL; restart after 0.1 to 2.5 s',
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
    how: 'SIGSTOP; SIGCONT after 0.5 to 3 s',
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
    how:
      'limit on the size of files (prlimit --fsize) a few bytes beyond the end of the Raft log, ' +
      'which tears the write that exceeds it; lifted after 1 to 4 s; restart if the node ended',
    weight: 2,
    owns: 'process',
    missing: async () =>
      run('prlimit', ['--version']).then(
        () => undefined,
        () => 'prlimit is not available',
      ),
    async make({ random }, node) {
      await limitFiles(node, endOfLog(node.entry.dataDir).end + 1 + random.int(200));
      await sleep(random.between(1000, 4000));
      await limitFiles(node, 'unlimited');
      await sleep(ENDING_MS);
      const effect = node.pid === undefined ? 'the node ended' : 'the node continued';
      node.start();
      return effect;
    },
  },
  {
    name: 'disk at its reserve',
    how: 'statfs in the node reports no free space, for 2 to 5 s',
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
    how:
      'every write of the node to its data folder takes 20 to 800 ms longer, and sometimes every ' +
      'read 1 to 20 ms, for 1 to 5 s',
    weight: 2,
    owns: 'disk',
    async make({ random, control }, { name }) {
      const syncMs = random.between(20, random.chance(0.3) ? 800 : 150);
      control(name).set({ syncMs, readMs: random.chance(0.3) ? random.between(1, 20) : 0 });
      await sleep(random.between(1000, 5000));
      control(name).set({ syncMs: 0, readMs: 0 });
    },
  },
  {
    name: 'hanging disk',
    how: 'writes and syncs of the node’s data folder hang, sometimes reads too, for 2 to 12 s',
    weight: 2,
    owns: 'disk',
    async make({ random, control }, { name }) {
      control(name).set({ hangs: true, readsHang: random.chance(0.3) });
      await sleep(random.between(2000, 12_000));
      control(name).set({ hangs: false, readsHang: false });
    },
  },
  {
    name: 'clock freeze',
    how:
      'SIGSTOP; SIGCONT after 1 to 4 s, which Date shows and the node’s monotonic clock does not, ' +
      'as after a suspend',
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
    how: 'Date of the node jumps by 0.1 s to 2 days in either direction, for up to 6 s',
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
    how: 'the proxies forward nothing from and to the node, for 0.5 to 5 s',
    weight: 2,
    owns: 'network',
    make: (context, { name }) => cut(context, (from, to) => from === name || to === name),
  },
  {
    name: 'split',
    how: 'the proxies forward nothing between two groups of nodes, for 0.5 to 5 s',
    weight: 2,
    owns: 'network',
    make(context) {
      const { random, nodes } = context;
      const some = random.shuffle(nodes).slice(0, 1 + random.int(nodes.length - 1));
      const group = new Set(some.map((node) => node.name));
      return cut(context, (from, to) => group.has(from) !== group.has(to));
    },
  },
  {
    name: 'one-way cut',
    how: 'the proxies forward nothing to the node, or nothing from it, for 0.5 to 5 s',
    weight: 2,
    owns: 'network',
    make(context, { name }) {
      const isDeaf = context.random.chance(0.5);
      return cut(context, (from, to) => (isDeaf ? to : from) === name);
    },
  },
  {
    name: 'slow network',
    how: 'messages between nodes take 20 to 250 ms longer each way, for 1 to 4 s',
    weight: 2,
    owns: 'network',
    async make({ random, network }) {
      network.delayAll(random.between(20, 250));
      await sleep(random.between(1000, 4000));
      network.delayAll(0);
    },
  },
  {
    name: 'leadership transfer',
    how: 'POST /v1/operator/raft/transfer-leader',
    weight: 1,
    owns: 'members',
    make: ({ members }) => members.transfer(),
  },
  {
    name: 'node replaced',
    how:
      'DELETE /v1/operator/raft/peer; then SIGKILL, deletion of the data folder, and a join with ' +
      'a new id',
    weight: 2,
    owns: 'members',
    make: ({ members }, node) => members.replace(node),
  },
];

/** Returns the faults of these names, or all if the list is empty. Throws for an unknown name. */
export function faultsOf(names: readonly string[] = []): readonly Fault[] {
  if (names.length === 0) return FAULTS;
  return names.map((name) => {
    const fault = FAULTS.find((each) => each.name === name);
    if (fault !== undefined) return fault;
    throw new Error(
      `unknown fault "${name}", expected one of ${FAULTS.map((each) => each.name).join(', ')}`,
    );
  });
}

/** Cuts the links for which `isCut` is true, for a while. */
async function cut(
  { network, random }: FaultContext,
  isCut: (from: string, to: string) => boolean,
): Promise<void> {
  network.cutWhere(isCut);
  await sleep(random.between(500, 5000));
  network.cutWhere(() => false);
}

/** Sets the soft limit, which can be raised again. Ignores a process that has ended. */
export async function limitFiles(node: LocalNode, bytes: number | 'unlimited'): Promise<void> {
  if (node.pid === undefined) return;
  await run('prlimit', ['--pid', String(node.pid), `--fsize=${bytes}:`]).catch(() => {});
}
