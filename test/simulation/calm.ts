/**
 * Worlds with one lasting fault of the network. In most, no election may happen: a leader that reaches a majority, both
 * ways, is not deposed, whatever the other links do, whoever else stalls, and whoever comes back (thesis §4.2.3, §9.6).
 * In the others the leader can speak but not hear: then another must lead soon (§6.2).
 */
import { SimCluster } from './cluster.js';
import { Violation } from './invariants.js';
import type { SimServer } from './server.js';
import { Workload } from './workload.js';
import { describe, type Report } from './world.js';

const CUT_MS = 15_000;
const AFTER_MS = 6_000;

/** Plays one such world; the report has no faults by name. */
export function runCalm(options: { seed: number; trace?: (line: string) => void }): Report {
  const cluster = new SimCluster(options);
  const { random, scheduler, invariants, trace } = cluster;
  cluster.found(random.pick([3, 3, 5]));
  const workload = new Workload(
    { scheduler, random: random.fork(), invariants, trace, servers: () => cluster.up() },
    { clients: 2, keys: 2, pauseMs: 300, writes: 0.5 },
  );
  let failure: unknown;
  try {
    for (const server of cluster.servers) server.restart();
    // an idle cluster shows what writes would hide: a candidate whose log is behind is refused for that alone
    if (random.chance(0.5)) workload.start();
    const leader = awaitLeader(cluster);
    if (random.chance(0.3)) deafen(cluster, leader);
    else keepMajority(cluster, leader);
  } catch (violation) {
    failure = violation;
  }
  return {
    seed: options.seed,
    servers: cluster.servers.length,
    faults: [],
    virtualMs: scheduler.now,
    terms: invariants.terms,
    committed: invariants.committedIndex,
    counts: workload.counts,
    ...(failure !== undefined && { violation: describe(failure) }),
  };
}

/** Nothing reaches the leader any more, while all that it sends arrives. */
function deafen(cluster: SimCluster, leader: SimServer): void {
  const { network, servers, trace } = cluster;
  trace(`${leader.id} hears nobody`);
  for (const from of servers) if (from !== leader) network.link(from.id, leader.id).cut = true;
  cluster.advance(CUT_MS);
  if (leader.leading || !servers.some((server) => server.leading))
    throw new Violation('a deaf leader is replaced', `${leader.id} leads: ${leader.leading}`);
}

function keepMajority(cluster: SimCluster, leader: SimServer): void {
  const { invariants } = cluster;
  const { terms } = invariants;
  disturb(cluster, leader);
  cluster.advance(CUT_MS);
  cluster.network.heal();
  cluster.trace('healed');
  cluster.advance(AFTER_MS);
  if (!leader.leading || invariants.terms !== terms)
    throw new Violation(
      'a leader with a majority stays',
      `${leader.id} was deposed: ${invariants.terms - terms} new terms`,
    );
}

function awaitLeader(cluster: SimCluster): SimServer {
  for (let waited = 0; waited < 20_000; waited += 100) {
    cluster.advance(100);
    const leader = cluster.servers.find((server) => server.leading);
    if (leader) {
      cluster.advance(1_000);
      if (leader.leading) return leader;
    }
  }
  throw new Violation('liveness', 'an undisturbed cluster finds no leader');
}

/** Disturbs a cluster, but not the leader's way to some majority and back. */
function disturb(cluster: SimCluster, leader: SimServer): void {
  const { random, servers } = cluster;
  const others = random.shuffle(servers.filter((server) => server !== leader));
  const half = Math.floor(servers.length / 2);
  const [majority, minority] = [others.slice(0, half), others.slice(half)];
  if (random.chance(0.4)) {
    // who votes is asked by others that miss the leader, while it has just started itself
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

/** So quickly that nobody need notice. */
function restartSoon({ scheduler, random }: SimCluster, server: SimServer): void {
  if (!server.up) return;
  server.crash(false);
  scheduler.after(random.between(1, 100), () => server.restart());
}
