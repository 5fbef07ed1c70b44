/** A member whose disk was lost rejoins as a new one while clients write at a steady rate. */
import { readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fill } from './load.js';
import { type LoopReading, loopDelay } from './loop-delay.js';
import { Pace } from './pace.js';
import { figure, row, title } from './report.js';
import { configOf, putEntry, type Setting, withCluster } from './setting.js';

const WRITERS = 64;
const BEFORE_MS = 10_000;
const LOOK_MS = 50;
const UNTIL_MS = 120_000;
const PATH = '/v1/operator/raft';
const TERM = 'conclave_raft_term';
const CONTACT = 'conclave_raft_last_contact_seconds';

interface Server {
  readonly ID: string;
  readonly Node: string;
  readonly Voter: boolean;
}

export function measureRejoin(options: {
  readonly entries: number;
  readonly rate: number;
}): Promise<void> {
  const { entries, rate } = options;
  return withCluster(3, async (setting) => {
    title(`A wiped member comes back to ${figure(entries)} entries`, ['what', 'figure']);
    await fill(setting.targets, WRITERS, entries, (n) => putEntry(`entry-${n}`, n));
    const leader = await setting.leader();
    const [wiped, other] = [0, 1, 2].filter((node) => node !== leader) as [number, number];
    const pace = new Pace(setting, [leader, other], rate);
    const pauses = new Pauses(setting, leader, other);
    await sleep(BEFORE_MS);
    const termBefore = await setting.metric(TERM, leader);
    row([`writes offered at ${figure(rate)} per second, before`, pace.figures()]);
    row(['the same: longest silence of the leader, event loop of the leader', pauses.figures()]);
    const { removed, ready, promoted } = await replace(setting, { leader, wiped });
    row(['the same, from the loss until the new member votes', pace.figures()]);
    row(['the same: longest silence of the leader, event loop of the leader', pauses.figures()]);
    row(['from the start of the new member: ready, votes', `${ready}, ${promoted}`]);
    row(['removal of the lost one', removed]);
    await Promise.all([pace.stop(), pauses.stop()]);
    row(['elections', figure((await setting.metric(TERM, leader)) - termBefore)]);
    row(['writes that failed', figure(pace.errors)]);
    const { body } = await setting.ask({ method: 'GET', path: LAST }, wiped);
    if (!body.includes('"entry-0"')) throw new Error('the new member has not what was written');
  });
}

const LAST = '/v1/config/service-defaults/entry-0?stale';

/**
 * The procedure for a lost disk: remove the old member, empty its folder, let it join. Returns the
 * durations.
 */
async function replace(setting: Setting, { leader, wiped }: { leader: number; wiped: number }) {
  const node = setting.cluster.nodes[wiped]!;
  await node.kill('SIGKILL');
  const begin = performance.now();
  const old = (await servers(setting, leader)).find(({ Node }) => Node === node.name)!;
  const path = `${PATH}/peer?id=${old.ID}`;
  await setting.ask({ method: 'DELETE', path }, leader);
  const removed = since(begin);
  await rm(node.entry.dataDir, { recursive: true });
  const settings = JSON.parse(readFileSync(configOf(node), 'utf8')) as object;
  const join = setting.cluster.nodes.filter((each) => each !== node).map(({ entry }) => entry.raft);
  writeFileSync(configOf(node), JSON.stringify({ ...settings, cluster: { join } }));
  const start = performance.now();
  node.start();
  const ready = node.ready(UNTIL_MS).then(() => since(start));
  let isAdmitted = false;
  while (performance.now() - start < UNTIL_MS) {
    if (!isAdmitted) isAdmitted = await admit(setting, leader, node.name);
    const now = await servers(setting, leader);
    if (now.some(({ Node, ID, Voter }) => Node === node.name && ID !== old.ID && Voter))
      return { removed, promoted: since(start), ready: await ready };
    await sleep(LOOK_MS);
  }
  throw new Error('the new member does not vote');
}

/** Admits the server of this name; returns false while it is not waiting yet. */
async function admit(setting: Setting, node: number, name: string): Promise<boolean> {
  const { body } = await setting.ask({ method: 'GET', path: `${PATH}/joining` }, node);
  const waiting = JSON.parse(body.toString()) as readonly Pick<Server, 'ID' | 'Node'>[];
  const server = waiting.find(({ Node }) => Node === name);
  if (server === undefined) return false;
  await setting.ask({ method: 'PUT', path: `${PATH}/joining/${server.ID}` }, node);
  return true;
}

const since = (begin: number): string => `${figure(performance.now() - begin)} ms`;

async function servers(setting: Setting, node: number): Promise<readonly Server[]> {
  const { body } = await setting.ask({ method: 'GET', path: `${PATH}/configuration` }, node);
  return (JSON.parse(body.toString()) as { Servers: Server[] }).Servers;
}

/**
 * The longest time for which a follower hears nothing from its leader, polled every 50 ms, and the
 * longest time for which the leader's event loop is blocked.
 */
class Pauses {
  #contact = 0;
  /** The first reading since the last figures, and the newest one. */
  #from: LoopReading = new Map();
  #to: LoopReading = new Map();
  #isOver = false;
  readonly #done: Promise<unknown>;

  constructor(setting: Setting, leader: number, follower: number) {
    this.#done = this.#look(setting, leader, follower);
  }

  async #look(setting: Setting, leader: number, follower: number): Promise<void> {
    while (!this.#isOver) {
      this.#contact = Math.max(this.#contact, await setting.metric(CONTACT, follower));
      this.#to = await setting.loopReading(leader);
      if (this.#from.size === 0) this.#from = this.#to;
      await sleep(LOOK_MS);
    }
  }

  figures(): string {
    const { maxMs } = loopDelay(this.#from, this.#to);
    const text = `${figure(this.#contact * 1000)} ms, held ${figure(maxMs)} ms at most`;
    this.#contact = 0;
    this.#from = this.#to;
    return text;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }
}
