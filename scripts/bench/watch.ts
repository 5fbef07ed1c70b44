/** How long a write takes to reach all blocking queries. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Ask, Line, type Reply, type Target } from './line.js';
import { spreadOf } from './load.js';
import { figure, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

/** Connections from one address to one port: Linux has some 28,000 ports for them. */
const PER_ADDRESS = 20_000;

export interface WakePlan {
  readonly target: Target;
  readonly watchers: number;
  readonly name: string;
  /** Returns how many blocking queries the target holds. */
  readonly held: () => Promise<number>;
  /** Called when all are held, before the write. */
  readonly onHeld?: () => Promise<void>;
}

/**
 * Opens blocking queries for an entry on many connections to one node, writes the entry, and
 * returns when they were answered, in milliseconds since the write was sent.
 */
export async function wake(plan: WakePlan): Promise<{ halfMs: number; allMs: number }> {
  const { target, watchers, name } = plan;
  const path = `/v1/config/service-defaults/${name}`;
  const writer = new Line(target);
  const ask = async (request: Ask): Promise<Reply> => {
    const reply = await writer.ask(request);
    if (reply.status !== 200) throw new Error(`${request.path}: ${reply.status} ${reply.body}`);
    return reply;
  };
  await ask(putEntry(name, `before ${watchers}`));
  const { index } = await ask({ method: 'GET', path });
  const lines = Array.from({ length: watchers }, (_, n) => {
    const at = Math.floor(n / PER_ADDRESS);
    return new Line(at === 0 ? target : { ...target, localAddress: `127.0.0.${1 + at}` });
  });
  const times: number[] = [];
  let sent = 0;
  let early = 0;
  const waits = lines.map(async (line) => {
    const reply = await line.ask({ method: 'GET', path: `${path}?index=${index}&wait=120s` });
    if (sent === 0 || reply.status !== 200) early += 1;
    times.push(performance.now() - sent);
  });
  while ((await plan.held()) < watchers && early === 0) await sleep(50);
  await plan.onHeld?.();
  sent = performance.now();
  await Promise.all([ask(putEntry(name, `after ${watchers}`)), ...waits]);
  for (const line of [...lines, writer]) line.close();
  if (early > 0) throw new Error(`${early} watchers were answered before the write`);
  const { p50Ms, maxMs } = spreadOf(times);
  return { halfMs: p50Ms, allMs: maxMs };
}

/** The same at a node, as one cell of a table. */
export async function wakeAt(
  setting: Setting,
  { node, watchers, name }: Pick<WakePlan, 'watchers' | 'name'> & { readonly node: number },
): Promise<string> {
  let memory = 0;
  const before = await setting.residentMb(node);
  const { halfMs, allMs } = await wake({
    target: setting.targets[node]!,
    watchers,
    name,
    held: () => setting.held(node),
    onHeld: async () => {
      memory = await setting.residentMb(node);
    },
  });
  const each = `${figure(((memory - before) * 1024) / watchers)} kB for each`;
  return `half woken after ${figure(halfMs)} ms, all after ${figure(allMs)} ms, ${figure(memory)} MB resident, ${each}`;
}

/** More than some 19,000 need a higher limit on open files (`ulimit -n`), here and at the nodes. */
export function measureWatchers(counts: readonly number[]): Promise<void> {
  const most = Math.max(...counts) + 100;
  const limits = {
    connections: most,
    connectionsPerAddress: most,
    held: most,
    heldPerClient: most,
    heldPerToken: most,
  };
  return withCluster(
    3,
    async (setting) => {
      title('Blocking queries for one entry at the leader of three nodes', ['watchers', 'figure']);
      const node = await setting.leader();
      for (const watchers of counts) {
        row([
          figure(watchers),
          await wakeAt(setting, { node, watchers, name: `watched-${watchers}` }),
        ]);
      }
    },
    { settings: { limits } },
  );
}
