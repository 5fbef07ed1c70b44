/**
 * Worlds with one lasting fault of the network or of the leader's machine. In most of them no
 * election may happen: nothing deposes a leader that exchanges messages with a majority, whatever
 * the other links do and whichever other servers stall or return (thesis §4.2.3, §9.6). In others
 * the leader can send but not receive, and another server must lead soon (§6.2). In the rest a
 * leader is deposed without noticing, at a time when it might still trust its lease (§6.4.1).
 */
import { Random } from '../../cluster/checker/random.js';
import { SimCluster } from './cluster.js';
import { type Fault, LEADER_FAULTS, type LeaderFault } from './fault-kinds.js';
import { Violation } from './invariants.js';
import { REWRITE_EVERY } from './machine.js';
import { LONG, SHORT } from './machine-faults.js';
import type { NetworkKind } from './network.js';
import type { StorageKind } from './parts.js';
import type { SimServer } from './server.js';
import { Workload, type WriteOutcome } from './workload.js';
import { describe, type Report } from './world.js';

const CUT_MS = 15_000;
const AFTER_MS = 6_000;
/** The random stream that draws the worlds in which the leader has a fault of its own. */
const LEADER_STREAM = 19;
/** The random stream that draws the worlds in which connections break during a state transfer. */
const FETCH_STREAM = 22;
/** The random stream that draws when a disk hangs, and the writes until a state is replaced. */
const HANG_STREAM = 31;
const WRITES_MAX = 300;
/** Time after the start of a leader's fault at which another server must accept writes. */
const TAKEN_OVER_MS = 8_000;

/** Runs one such world. Of the faults, the report names only those of the leader. */
export async function runCalm(options: {
  seed: number;
  fault?: Fault | undefined;
  plain?: boolean | undefined;
  storage?: StorageKind | undefined;
  network?: NetworkKind | undefined;
  product?: boolean | undefined;
  trace?: (line: string) => void;
}): Promise<Report> {
  const cluster = new SimCluster(options);
  const { random, scheduler, invariants, trace } = cluster;
  cluster.found(random.pick([3, 3, 5]));
  const usual = random.pick(['keep', 'keep', 'keep', 'deaf', 'tempt', 'tempt'] as const);
  const kind =
    (options.plain ? undefined : (leaderFault(options) ?? fetch(cluster, options))) ?? usual;
  const isTempting = ['tempt', 'suspendLeader', 'skewLeader'].includes(kind);
  const busy = isTempting ? { clients: 6, pauseMs: 30 } : { clients: 2, pauseMs: 300 };
  const workload = new Workload(
    {
      ...{ scheduler, random: random.fork(), invariants, trace },
      servers: () => cluster.up(),
    },
    { ...busy, keys: 2, writes: 0.4 },
  );
  let failure: unknown;
  try {
    for (const server of cluster.servers) server.restart();
    // An idle cluster shows what writes hide: voters refuse a candidate whose log is behind.
    if (isTempting || random.chance(0.5) || kind === 'fetch') workload.start();
    const find = kind === 'skewLeader' ? awaitSlowLeader : awaitLeader;
    const leader = await find(cluster);
    if (kind === 'deaf') await deafen(cluster, leader);
    else if (kind === 'tempt') for (let round = 0; round < 3; round++) await tempt(cluster);
    else if (kind === 'keep') await keepMajority(cluster, leader);
    else if (kind === 'fetch') await fetchState(cluster, leader);
    else await failLeader(cluster, leader, kind, workload);
  } catch (violation) {
    failure = violation;
  }
  return {
    seed: options.seed,
    network: cluster.network.kind,
    servers: cluster.servers.length,
    faults: LEADER_FAULTS.filter((each) => each === kind),
    virtualMs: scheduler.now,
    terms: invariants.terms,
    committed: invariants.committedIndex,
    counts: workload.counts,
    ...(failure !== undefined && { violation: describe(failure) }),
  };
}

function leaderFault(options: {
  seed: number;
  fault?: Fault | undefined;
}): LeaderFault | undefined {
  const { seed, fault: certain } = options;
  if (certain !== undefined) return LEADER_FAULTS.find((kind) => kind === certain);
  const random = new Random(seed * 1000 + LEADER_STREAM);
  return random.chance(0.4) ? random.pick(LEADER_FAULTS) : undefined;
}

/** Draws a state transfer, if the world has connections. */
function fetch({ network }: SimCluster, { seed }: { seed: number }): 'fetch' | undefined {
  const isDrawn = new Random(seed * 1000 + FETCH_STREAM).chance(0.5);
  return network.kind === 'sockets' && isDrawn ? 'fetch' : undefined;
}

/** Sends the state to a server that was down, over connections that keep breaking. */
async function fetchState(cluster: SimCluster, leader: SimServer): Promise<void> {
  const { random, network, servers, trace } = cluster;
  const other = random.pick(servers.filter((server) => server !== leader));
  trace(`${other.id} is away`);
  other.crash(false);
  await cluster.advance(random.between(3_000, 8_000));
  const resetProbability = random.between(0.01, 0.15);
  for (const { id } of servers) {
    Object.assign(network.link(id, other.id), { resetProbability });
    Object.assign(network.link(other.id, id), { resetProbability });
  }
  other.restart();
  await cluster.advance(5_000);
  network.heal();
  const { commit } = leader.look()!;
  await cluster.advance(AFTER_MS);
  if ((other.look()?.applied ?? 0) < commit)
    throw new Violation('liveness', `${other.id} does not catch up: ${other.condition()}`);
}

/** Only the leader has a fault. The others must take over, and the old leader must do no harm. */
async function failLeader(
  cluster: SimCluster,
  leader: SimServer,
  kind: LeaderFault,
  workload: Workload,
): Promise<void> {
  const { random, scheduler, network, servers, trace } = cluster;
  const lastMs = random.between(1_500, 4_000);
  trace(`${leader.id}: ${kind}`);
  if (kind === 'suspendLeader' || kind === 'skewLeader') {
    if (kind === 'suspendLeader') leader.freeze(lastMs, false);
    isolate(cluster, leader);
    await cluster.advance(lastMs + 1_000);
    network.heal();
    await cluster.advance(AFTER_MS);
    return;
  }
  if (kind === 'hangLeader') await hangLeader(cluster, leader, workload);
  else leader.fillDisk(true, Number.POSITIVE_INFINITY);
  await cluster.advance(TAKEN_OVER_MS);
  const other = random.pick(servers.filter((server) => server !== leader));
  const until = scheduler.now + TAKEN_OVER_MS;
  let answer: WriteOutcome | undefined;
  const command = { type: 'put', v: 1, key: 'last', value: workload.newValue() } as const;
  other.write(command, TAKEN_OVER_MS, (outcome) => {
    answer = outcome;
  });
  while (answer === undefined && scheduler.now < until) await cluster.advance(100);
  if (answer === undefined || !('result' in answer) || !answer.result.ok)
    throw new Violation(
      'a majority that is well takes writes',
      `${other.id} answers ${JSON.stringify(answer)} while ${leader.id} has ${kind}`,
    );
  leader.heal();
  await cluster.advance(AFTER_MS);
}

/** Hangs the leader's disk: at once, or while an entry replaces the whole state. */
async function hangLeader(
  cluster: SimCluster,
  leader: SimServer,
  workload: Workload,
): Promise<void> {
  const atOnce = cluster.hasProduct || new Random(cluster.seed * 1000 + HANG_STREAM).chance(0.5);
  const isReplacing = (): boolean => {
    const { commit = 0, applied = 0 } = leader.look() ?? {};
    return commit > applied && (applied + 1) % REWRITE_EVERY === 0;
  };
  for (let n = 0; n < WRITES_MAX && !atOnce && !isReplacing(); n++) {
    const command = { type: 'put', v: 1, key: 'last', value: workload.newValue() } as const;
    leader.write(command, TAKEN_OVER_MS, () => {});
    for (let step = 0; step < 40 && !isReplacing(); step++) await cluster.advance(0.5);
  }
  leader.hangDisk();
}

/** The leader receives nothing, but everything that it sends arrives. */
async function deafen(cluster: SimCluster, leader: SimServer): Promise<void> {
  const { network, servers, trace } = cluster;
  trace(`${leader.id} hears nobody`);
  for (const from of servers) if (from !== leader) network.link(from.id, leader.id).cut = true;
  await cluster.advance(CUT_MS);
  if (leader.leading || !servers.some((server) => server.leading))
    throw new Violation('a deaf leader is replaced', `${leader.id} leads: ${leader.leading}`);
}

/**
 * Replaces the leader so that it notices too late: by a leadership transfer, by a stall, or because
 * its followers stop receiving while their earlier responses are still on the way to it. The
 * invariants of the clients check what it answers meanwhile.
 */
async function tempt(cluster: SimCluster): Promise<void> {
  const { random, network, servers } = cluster;
  const leader = await awaitLeader(cluster);
  const others = servers.filter((server) => server !== leader);
  const kind = random.pick(['transfer', 'late', 'stall'] as const);
  if (kind === 'stall') {
    cluster.trace(`${leader.id} stalls, alone`);
    leader.stall(random.between(1_500, 3_000));
    isolate(cluster, leader);
  } else if (kind === 'transfer') {
    cluster.trace(`${leader.id} hands over and then hears nobody`);
    leader.administer({ type: 'transfer', to: random.pick(others).id }, 5_000, () => {});
    await cluster.advance(random.between(0.5, 6));
    for (const other of others) network.link(other.id, leader.id).cut = true;
  } else {
    cluster.trace(`answers come late to ${leader.id}, then nobody hears it`);
    const delayMs = random.between(600, 1_500);
    for (const other of others)
      Object.assign(network.link(other.id, leader.id), { delayMs, longProbability: 0 });
    await cluster.advance(delayMs * 0.5);
    for (const other of others) network.link(leader.id, other.id).cut = true;
  }
  await cluster.advance(4_000);
  network.heal();
  await cluster.advance(1_000);
}

/** Cuts all links of a server. */
function isolate({ network, servers }: SimCluster, server: SimServer): void {
  for (const other of servers) {
    if (other === server) continue;
    network.link(other.id, server.id).cut = true;
    network.link(server.id, other.id).cut = true;
  }
}

/** Returns a leader whose timeouts are longer than those of all others. */
async function awaitSlowLeader(cluster: SimCluster): Promise<SimServer> {
  const slow = cluster.random.pick(cluster.servers);
  for (const server of cluster.servers) {
    server.retime(server === slow ? LONG : SHORT);
    server.crash(false);
    server.restart();
  }
  for (let attempt = 0; attempt < 10; attempt++) {
    const leader = await awaitLeader(cluster);
    if (leader === slow) return slow;
    leader.administer({ type: 'transfer', to: slow.id }, 5_000, () => {});
    await cluster.advance(500);
  }
  throw new Violation('liveness', `${slow.id} does not take over`);
}

async function keepMajority(cluster: SimCluster, leader: SimServer): Promise<void> {
  const { invariants } = cluster;
  const { terms } = invariants;
  disturb(cluster, leader);
  await cluster.advance(CUT_MS);
  cluster.network.heal();
  cluster.trace('healed');
  await cluster.advance(AFTER_MS);
  if (!leader.leading || invariants.terms !== terms)
    throw new Violation(
      'a leader with a majority stays',
      `${leader.id} was deposed: ${invariants.terms - terms} new terms`,
    );
}

/** Waits for a leader that lasts. */
export async function awaitLeader(cluster: SimCluster): Promise<SimServer> {
  for (let waited = 0; waited < 20_000; waited += 100) {
    await cluster.advance(100);
    const leader = cluster.servers.find((server) => server.leading);
    if (leader) {
      await cluster.advance(1_000);
      if (leader.leading) return leader;
    }
  }
  throw new Violation('liveness', 'an undisturbed cluster finds no leader');
}

/** Disturbs a cluster, but not the links between the leader and some majority. */
function disturb(cluster: SimCluster, leader: SimServer): void {
  const { random, servers } = cluster;
  const others = random.shuffle(servers.filter((server) => server !== leader));
  const half = Math.floor(servers.length / 2);
  const [majority, minority] = [others.slice(0, half), others.slice(half)];
  if (random.chance(0.4)) {
    // Servers that miss the leader ask for the votes of servers that have just started.
    cut(cluster, 1, (from, to) => from === leader && minority.includes(to));
    cut(cluster, 1, (from, to) => to === leader && minority.includes(from));
    repeatedly(cluster, 200, 600, () => restartSoon(cluster, random.pick(majority)));
    return;
  }
  cut(cluster, random.next(), (from, to) => {
    const other = from === leader ? to : to === leader ? from : undefined;
    return other === undefined || minority.includes(other);
  });
  repeatedly(cluster, 500, 4_000, () => {
    const victim = random.pick(minority);
    if (random.chance(0.3)) restartSoon(cluster, random.pick(majority));
    else if (random.chance(0.5)) victim.stall(random.between(50, 3_000));
    else restartSoon(cluster, victim);
  });
}

function cut(
  { random, network, servers, trace }: SimCluster,
  share: number,
  may: (from: SimServer, to: SimServer) => boolean,
): void {
  for (const from of servers)
    for (const to of servers) {
      if (from === to || !may(from, to) || !random.chance(share)) continue;
      network.link(from.id, to.id).cut = true;
      trace(`cut ${from.id} > ${to.id}`);
    }
}

function repeatedly(
  { scheduler, random }: SimCluster,
  low: number,
  high: number,
  act: () => void,
): void {
  for (let at = low; at < CUT_MS - 5_000; at += random.between(low, high)) scheduler.after(at, act);
}

/** Restarts a server within 100 ms, which others may not notice. */
function restartSoon({ scheduler, random }: SimCluster, server: SimServer): void {
  if (!server.up) return;
  server.crash(false);
  scheduler.after(random.between(1, 100), () => server.restart());
}
