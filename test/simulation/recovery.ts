/**
 * A cluster that loses the disks of its majority for good. An operator runs `conclave recover` on
 * what is left, and new empty servers join. What the survivor had is not lost, and the servers of
 * the old cluster, some of which still run, have no part in the new one (docs/operations.md,
 * section 6).
 *
 *     old cluster, faults ─► disks lost ─► recover ─► new cluster, faults ─► rest
 *                                 └─► other old servers run on
 */
import { checkHistory } from '../../cluster/checker/linearizability.js';
import { Random } from '../../cluster/checker/random.js';
import type { FolderFacts } from '../../src/node/recover.js';
import { memberOf, SimCluster } from './cluster.js';
import { RECOVER } from './fault-kinds.js';
import { Faults, type Operator } from './faults.js';
import { Violation } from './invariants.js';
import { registers } from './machine.js';
import { Offline } from './offline.js';
import type { Loss } from './recovery-checks.js';
import { type Recovered, RecoveryOperator } from './recovery-operator.js';
import type { SimServer } from './server.js';
import { Workload } from './workload.js';
import { describe, type Report, type WorldOptions } from './world.js';

const STREAM = 24;
/** All must be at rest within this, once nothing fails any more. */
const HEALED_MS = 40_000;
/** From one request of the operator to the next. */
const ASK_MS = 1_000;
const MEMBERS = 3;
/** The first number of the product's commands in the new cluster. */
const PRODUCT_FROM = 1_000_000;

/** Plays such a world. */
export function runRecovery(options: WorldOptions): Promise<Report> {
  return new RecoveryWorld(options).run();
}

class RecoveryWorld {
  readonly #options: WorldOptions;
  readonly #random: Random;
  readonly #old: SimCluster;
  readonly #new: SimCluster;
  readonly #offline: Offline;
  readonly #operator: RecoveryOperator;
  readonly #keys: readonly string[];
  #workloads: Workload[] = [];

  constructor(given: WorldOptions) {
    const options = { ...given, storage: 'real' as const };
    this.#options = options;
    this.#random = new Random(options.seed * 1000 + STREAM);
    const old = new SimCluster(options);
    this.#old = old;
    this.#new = new SimCluster(options, old);
    const silent = { onEffect: () => {}, stored: (value: string) => value, applied: () => {} };
    const { hasLevels, next } = old.releases;
    const program = { release: hasLevels ? next : 1, hasProduct: old.hasProduct };
    this.#offline = new Offline({
      scheduler: old.scheduler,
      advance: (ms) => this.#advance(ms),
      handlers: registers(silent, program).handlers,
      machineLimits: old.machineLimits,
      violated: (violation) => {
        old.violation ??= violation;
      },
    });
    this.#keys = Array.from({ length: 1 + this.#random.int(4) }, (_, i) => `k${i}`);
    this.#operator = new RecoveryOperator({
      offline: this.#offline,
      random: this.#random,
      old: old.invariants,
      keys: this.#keys,
      trace: old.trace,
    });
  }

  async run(): Promise<Report> {
    const old = this.#old;
    let failure: unknown;
    try {
      const loss = await this.#loseMajority();
      const recovered = await this.#operator.recover(loss);
      if (recovered !== undefined) {
        await this.#goOn(recovered);
        await this.#settle();
      }
    } catch (violation) {
      failure = violation;
    }
    const counts = this.#workloads.at(-1)!.counts;
    return {
      seed: this.#options.seed,
      network: old.network.kind,
      servers: old.servers.length + this.#new.servers.length,
      faults: [RECOVER],
      virtualMs: old.scheduler.now,
      terms: old.invariants.terms + this.#new.invariants.terms,
      committed: this.#new.invariants.committedIndex,
      counts,
      ...(failure !== undefined && { violation: describe(failure) }),
    };
  }

  // --- the old cluster ---

  /** Returns what is left, on the disk of the server that has the most. */
  async #loseMajority(): Promise<Loss> {
    const random = this.#random;
    const old = this.#old;
    const count = random.pick([2, 3, 3, 3, 5, 5]);
    old.found(count);
    const workload = this.#startWorkload(old, 'v');
    for (const server of old.servers) server.restart();
    old.product?.start();
    const faults = this.#startFaults(old);
    await this.#advance(random.pick([2_000, 5_000, 10_000]));
    const [first, ...others] = random.shuffle(old.servers) as [SimServer, ...SimServer[]];
    const quorum = Math.floor(count / 2) + 1;
    const lost = others.splice(0, count - quorum + 1);
    // lost for good; or so it is believed, and the old majority comes back after all
    const isGone = random.chance(0.7);
    old.trace(`lost: ${lost.map(({ id }) => id)}${isGone ? '' : ', and found again'}`);
    for (const server of old.servers) server.crash(random.chance(0.5));
    workload.stop();
    old.product?.stop();
    const survivor = await this.#mostAdvanced([first, ...others]);
    survivor.retire();
    if (isGone) for (const server of lost) server.retire();
    faults.heal();
    await this.#await('operations of clients have no answer', () => workload.open === 0);
    checkLinearizable(workload);
    return this.#damage(survivor);
  }

  /** Something may be wrong with what is left. */
  async #damage(survivor: SimServer): Promise<Loss> {
    const offline = this.#offline;
    const { log } = await offline.readLog(survivor.copyDisk(), survivor.id);
    const kinds = [undefined, undefined, undefined, 'log', 'state', 'rot'] as const;
    const damage = this.#random.pick(kinds);
    if (damage !== undefined) this.#old.trace(`${survivor.id} has lost a part: ${damage}`);
    if (damage === 'log') survivor.damage();
    else if (damage === 'state') survivor.damageState();
    else if (damage === 'rot') survivor.rot();
    const disk = survivor.copyDisk();
    const { damagedFrom } = await offline.readLog(disk);
    const before = await offline.inspect(disk);
    const isDamaged = damage !== undefined;
    if (!isDamaged && before.damage.length > 0)
      throw new Violation('nothing is lost', `${survivor.id}: ${before.damage}`);
    const reported = disk.durable.last();
    return { name: survivor.id, disk, log, reported, damagedFrom, before, isDamaged };
  }

  /** Of several survivors the one whose log ends last, as `conclave inspect` shows it. */
  async #mostAdvanced(survivors: readonly SimServer[]): Promise<SimServer> {
    let most: { server: SimServer; facts: FolderFacts } | undefined;
    for (const server of survivors) {
      // what is not on the disk yet is lost now, or never
      server.powerOff();
      const facts = await this.#offline.inspect(server.copyDisk());
      const { lastTerm, lastIndex } = most?.facts ?? { lastTerm: -1, lastIndex: -1 };
      const isMore =
        facts.lastTerm > lastTerm || (facts.lastTerm === lastTerm && facts.lastIndex > lastIndex);
      if (isMore) most = { server, facts };
    }
    return most!.server;
  }

  // --- the new cluster ---

  /** It takes writes and new servers, and has faults again. */
  async #goOn(recovered: readonly [Recovered, ...Recovered[]]): Promise<void> {
    const cluster = this.#new;
    const [{ name, facts, meta, held }] = recovered;
    const { appliedIndex, checksums } = facts;
    cluster.invariants.beginsWith(meta, held);
    for (const each of recovered)
      cluster.add(each.facts.nodeId, { machine: each.name, disk: each.disk }).restart();
    const sum = Object.values(checksums).join();
    cluster.invariants.applied(name, [], appliedIndex, sum);
    const workload = this.#startWorkload(cluster, 'w');
    const now = cluster.scheduler.now;
    for (const key of this.#keys) {
      const value = cluster.invariants.valueAt(key, appliedIndex);
      const action = { type: 'write', value } as const;
      const times = { call: now, return: now };
      workload.history.push({ client: 'operator', key, action, outcome: 'ok', ...times });
    }
    for (let i = recovered.length; i < MEMBERS; i++) cluster.add(`m${i}`).restart();
    cluster.product?.start(PRODUCT_FROM);
    const faults = this.#random.chance(0.5) ? this.#startFaults(cluster) : undefined;
    const until = now + this.#random.pick([3_000, 8_000]);
    while (cluster.scheduler.now < until) await this.#admit();
    faults?.heal();
    const isGrown = (): boolean => cluster.members().length === MEMBERS;
    const deadline = cluster.scheduler.now + HEALED_MS;
    while (!isGrown() && cluster.scheduler.now < deadline) await this.#admit();
    if (!isGrown())
      throw new Violation('liveness', `new servers do not join: ${this.#condition()}`);
    await this.#advance(2_000);
    workload.stop();
    cluster.product?.stop();
  }

  /** Admits who is no member yet, and waits. */
  async #admit(): Promise<void> {
    const cluster = this.#new;
    const up = cluster.up();
    const members = cluster.members();
    const server = cluster.servers.find((each) => !members.includes(each));
    if (server !== undefined && members.length > 0 && up.length > 0) {
      const facts = { ...memberOf(server.id, false), level: server.release };
      cluster.trace(`operator: add ${server.id}`);
      this.#random.pick(up).administer({ type: 'admit', server: facts }, 5_000, () => {});
    }
    await this.#advance(ASK_MS);
  }

  async #settle(): Promise<void> {
    const cluster = this.#new;
    const workload = this.#workloads.at(-1)!;
    await this.#await('operations of clients have no answer', () => workload.open === 0);
    await this.#await('a server is down or not ready', () =>
      cluster.servers.every((server) => server.up && server.fault === undefined),
    );
    for (const server of cluster.servers) {
      let isDone = false;
      const ask = (): void => {
        const command = { type: 'put', v: 1, key: 'last', value: workload.newValue() } as const;
        server.write(command, 5_000, (outcome) => {
          if ('result' in outcome && outcome.result.ok) isDone = true;
          else cluster.scheduler.after(100, ask);
        });
      };
      ask();
      await this.#await(`${server.id} takes no write`, () => isDone);
    }
    await this.#await('the servers do not come to the same state', () => {
      const looks = cluster.servers.map((server) => server.look());
      const [first] = looks;
      return looks.every((look) => look?.applied === first?.applied && look?.sum === first?.sum);
    });
    checkLinearizable(workload);
    this.#checkApart();
  }

  /** No server of either cluster has a part in the other one. */
  #checkApart(): void {
    for (const cluster of [this.#old, this.#new]) {
      const own = cluster.servers.map(({ id }) => id);
      for (const server of cluster.servers)
        for (const { members } of server.configurations())
          for (const { id } of members)
            if (!own.includes(id))
              throw new Violation('the old members are refused', `${server.id} has member ${id}`);
    }
  }

  // --- both ---

  #startWorkload(cluster: SimCluster, prefix: string): Workload {
    const { scheduler, invariants, trace } = cluster;
    const random = this.#random;
    const servers = () => cluster.up();
    const workload = new Workload(
      { scheduler, random: random.fork(), invariants, trace, servers },
      {
        prefix,
        keys: this.#keys.length,
        clients: 1 + random.int(4),
        pauseMs: random.pick([40, 150, 500]),
        writes: 0.5,
      },
    );
    this.#workloads.push(workload);
    workload.start();
    return workload;
  }

  /** Nothing is lost or removed by them. */
  #startFaults(cluster: SimCluster): Faults {
    const { scheduler, network, trace } = cluster;
    const random = this.#random;
    const operator: Operator = {
      transfer: () => {
        const [asked] = cluster.up();
        asked?.administer({ type: 'transfer', to: null }, 5_000, () => {});
      },
      write: () => {},
      changeMembership: () => {},
      replace: () => {},
      canLose: () => false,
      isKnown: () => false,
      isStartKnown: () => false,
    };
    const faults = new Faults({
      scheduler,
      network,
      operator,
      trace,
      plain: true,
      victims: () => cluster.servers,
      random: random.fork(),
      diskRandom: random.fork(),
      machineRandom: random.fork(),
      storageRandom: random.fork(),
    });
    faults.start();
    return faults;
  }

  async #await(what: string, done: () => boolean): Promise<void> {
    const deadline = this.#old.scheduler.now + HEALED_MS;
    while (!done()) {
      if (this.#old.scheduler.now >= deadline)
        throw new Violation('liveness', `${what}: ${this.#condition()}`);
      await this.#advance(200);
    }
  }

  #condition(): string {
    return this.#new.servers.map((server) => server.condition()).join('; ');
  }

  async #advance(ms: number): Promise<void> {
    await this.#old.advance(ms);
    if (this.#new.violation !== undefined) throw this.#new.violation;
  }
}

function checkLinearizable(workload: Workload): void {
  const verdict = checkHistory(workload.history);
  if (verdict.result === 'violation')
    throw new Violation('linearizable', [verdict.key, ...verdict.explanation].join('\n'));
  if (verdict.result === 'undecided')
    throw new Violation('checker', `the search over ${verdict.key} was too long`);
}
