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
    workload.start();
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

/** Cuts any links but those of the leader with some majority, and lets followers of the minority stall and restart. */
function disturb(cluster: SimCluster, leader: SimServer): void {
  const { random, network, scheduler, trace } = cluster;
  const others = random.shuffle(cluster.servers.filter((server) => server !== leader));
  const majority = [leader, ...others.slice(0, Math.floor(cluster.servers.length / 2))];
  const share = random.next();
  for (const from of cluster.servers)
    for (const to of cluster.servers) {
      const needed =
        (from === leader && majority.includes(to)) || (to === leader && majority.includes(from));
      if (from === to || needed || !random.chance(share)) continue;
      network.link(from.id, to.id).cut = true;
      trace(`cut ${from.id} > ${to.id}`);
    }
  const minority = cluster.servers.filter((server) => !majority.includes(server));
  for (let at = 500; at < CUT_MS - 5_000; at += random.between(500, 4_000)) {
    const ms = random.between(50, 3_000);
    const victim = random.pick(minority);
    const restarts = random.chance(0.3);
    scheduler.after(at, () => {
      if (!victim.up) return;
      if (!restarts) return victim.stall(ms);
      victim.crash(false);
      scheduler.after(ms, () => victim.restart());
    });
  }
}
