/** How long a write takes to reach all blocking queries. */
import { setTimeout as sleep } from 'node:timers/promises';
import { withFloor } from './floor-servers.js';
import { type Ask, askOnce, Line, type Target } from './line.js';
import { spreadOf } from './load.js';
import { figure, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

/** Connections from one address to one port: Linux has some 28,000 ports for them. */
const PER_ADDRESS = 20_000;

interface HeldParts {
  readonly target: Target;
  /** Returns how many blocking queries the target holds. */
  readonly held: () => Promise<number>;
  /** Called when all are held, before the write. */
  readonly onHeld?: () => Promise<void>;
}

export interface WakePlan extends HeldParts {
  readonly watchers: number;
  readonly name: string;
}

/**
 * Opens blocking queries for an entry on many connections to one node, writes the entry, and
 * returns when they were answered, in milliseconds since the write was sent.
 */
export async function wake(plan: WakePlan): Promise<{ halfMs: number; allMs: number }> {
  const { watchers, name } = plan;
  const path = `/v1/config/service-defaults/${name}`;
  await askOnce(plan.target, putEntry(name, `before ${watchers}`));
  const { index } = await askOnce(plan.target, { method: 'GET', path });
  const query = { method: 'GET', path: `${path}?index=${index}&wait=120s` } as const;
  const queries = Array.from({ length: watchers }, () => query);
  return wakeAll({ ...plan, queries, write: putEntry(name, `after ${watchers}`) });
}

/** The same for any blocking queries, each on its own connection, that one write answers. */
export async function wakeAll(
  plan: HeldParts & { readonly queries: readonly Ask[]; readonly write: Ask },
): Promise<{ halfMs: number; allMs: number }> {
  const { target, queries } = plan;
  const lines: Line[] = [];
  const times: number[] = [];
  let sent = 0;
  let early = 0;
  const waits = queries.map(async (query, n) => {
    const at = Math.floor(n / PER_ADDRESS);
    const line = new Line(at === 0 ? target : { ...target, localAddress: `127.0.0.${1 + at}` });
    lines.push(line);
    const reply = await line.ask(query);
    if (sent === 0 || reply.status !== 200) early += 1;
    times.push(performance.now() - sent);
  });
  while ((await plan.held()) < queries.length && early === 0) await sleep(50);
  await plan.onHeld?.();
  sent = performance.now();
  await Promise.all([askOnce(target, plan.write), ...waits]);
  for (const line of lines) line.close();
  if (early > 0) throw new Error(`${early} watchers were answered before the write`);
  const { p50Ms, maxMs } = spreadOf(times);
  return { halfMs: p50Ms, allMs: maxMs };
}

/** The same at one of some servers, as one cell of a table. */
export async function wakeAt(
  servers: Pick<Setting, 'targets' | 'held' | 'residentMb'>,
  { node, watchers, name }: Pick<WakePlan, 'watchers' | 'name'> & { readonly node: number },
): Promise<string> {
  let memory = 0;
  const before = await servers.residentMb(node);
  const { halfMs, allMs } = await wake({
    target: servers.targets[node]!,
    watchers,
    name,
    held: () => servers.held(node),
    onHeld: async () => {
      memory = await servers.residentMb(node);
    },
  });
  const each = `${figure(((memory - before) * 1024) / watchers)} kB for each`;
  return `half woken after ${figure(halfMs)} ms, all after ${figure(allMs)} ms, ${figure(memory)} MB resident, ${each}`;
}

/**
 * Blocking queries at a node, and as many at a bare Node server that only holds them. More than
 * some 19,000 need a higher limit on open files (`ulimit -n`), here and at the nodes.
 */
export function measureWatchers(counts: readonly number[]): Promise<void> {
  const most = Math.max(...counts) + 100;
  const limits = {
    connections: most,
    connectionsPerAddress: most,
    held: most,
    heldPerClient: most,
    heldPerToken: most,
  };
  const measure = async (setting: Setting): Promise<void> => {
    const leader = await setting.leader();
    title('Blocking queries for one entry at the leader of three nodes', ['watchers', 'figure']);
    await withFloor(async (floor) => {
      for (const watchers of counts) {
        const plan = { watchers, name: `watched-${watchers}` };
        row([figure(watchers), await wakeAt(setting, { ...plan, node: leader })]);
        const least = await wakeAt(floor, { ...plan, node: 0 });
        row([`${figure(watchers)}, a bare Node server`, least]);
      }
    });
  };
  return withCluster(3, measure, { settings: { limits } });
}
