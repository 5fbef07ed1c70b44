/**
 * A whole cluster from one seed. While the faults that the seed draws strike, no invariant may be
 * violated (safety). Then the faults end, and all work must finish within a bound (liveness).
 */
import { checkHistory } from '../../cluster/checker/linearizability.js';
import { Random } from '../../cluster/checker/random.js';
import type { NodeId } from '../../src/raft/types.js';
import { memberOf, SimCluster } from './cluster.js';
import type { Fault } from './fault-kinds.js';
import { Faults } from './faults.js';
import { checkServer } from './history-checks.js';
import { Violation } from './invariants.js';
import { lastQuestions } from './last-questions.js';
import type { NetworkKind } from './network.js';
import type { StorageKind } from './parts.js';
import { Replay } from './replay.js';
import type { SimServer } from './server.js';
import { checkStart } from './start-checks.js';
import { type Counts, Workload } from './workload.js';

export interface WorldOptions {
  readonly seed: number;
  /** Duration of the faults in virtual milliseconds. Drawn from the seed if absent. */
  readonly faultsMs?: number;
  /** A kind of fault that this world certainly has. */
  readonly fault?: Fault | undefined;
  /** No faults of machines, small memories, held readers, sockets or real storage. */
  readonly plain?: boolean | undefined;
  readonly network?: NetworkKind | undefined;
  readonly product?: boolean | undefined;
  /** See ClusterOptions. */
  readonly levels?: boolean | undefined;
  /** See ClusterOptions. */
  readonly rights?: boolean | undefined;
  readonly legacy?: boolean | undefined;
  /** Drawn from the seed if absent. */
  readonly storage?: StorageKind | undefined;
  /** Receives one line per event. */
  readonly trace?: (line: string) => void;
}

export interface Report {
  readonly seed: number;
  readonly network: NetworkKind;
  readonly servers: number;
  readonly faults: readonly Fault[];
  readonly virtualMs: number;
  readonly terms: number;
  readonly committed: number;
  readonly counts: Counts;
  /** The name of the violated invariant, and the details. */
  readonly violation?: { readonly invariant: string; readonly text: string };
}

/** The random stream that draws the faults of disks. */
const DISK_STREAM = 16;
/** The random stream that draws the faults of machines. */
const MACHINE_STREAM = 18;
/** The random stream that draws the faults of real storage. */
const STORAGE_STREAM = 21;
/** The random stream that draws the faults of logs. */
const LOG_STREAM = 24;
/** The bound of the second phase: time for some elections and the longest client timeout. */
const HEALED_MS = 40_000;
/** The operator resolves a contradiction that lasts this long by stopping the wrong servers. */
const UNDECIDED_MS = 10_000;
const STOPPED_MS = 8_000;

/** Advances time until `done` returns true. `what` describes the failure. */
type Wait = (what: string, done: () => boolean) => Promise<void>;

class World {
  readonly #cluster: SimCluster;
  readonly #workload: Workload;
  readonly #faults: Faults;
  readonly #options: WorldOptions;

  constructor(options: WorldOptions) {
    this.#options = options;
    const cluster = new SimCluster(options);
    this.#cluster = cluster;
    const { random, scheduler, invariants, network, trace } = cluster;
    const founders = random.pick([1, 2, 3, 3, 3, 3, 3, 4, 5, 5, 5, 5]);
    cluster.found(founders);
    const wasWrong = (since: number): boolean =>
      cluster.servers.some((server) => server.wasWrong(since));
    this.#workload = new Workload(
      {
        scheduler,
        random: random.fork(),
        invariants,
        trace,
        servers: () => cluster.up(),
        wasWrong,
        leaseInDoubt: (since) => cluster.leaseInDoubt(since),
      },
      {
        clients: 1 + random.int(5),
        keys: 1 + random.int(5),
        pauseMs: random.pick([40, 150, 500]),
        writes: random.pick([0.2, 0.5, 0.8]),
      },
    );
    // A server that founded the cluster alone would found it again.
    const isMet = (id: NodeId, start: number): boolean =>
      founders > 1 &&
      network.haveMet(
        cluster.servers.map((server) => server.id).filter((each) => each !== id),
        id,
        start,
      );
    const operator = {
      transfer: () => this.#transfer(),
      write: (id: NodeId) => this.#workload.writeBeside(this.#server(id)),
      changeMembership: (asked?: NodeId) => this.#changeMembership(asked),
      replace: (id: NodeId) => this.#replace(id),
      canLose: (id: NodeId) => cluster.canLose(id),
      isKnown: (id: NodeId) => isMet(id, 0),
      isStartKnown: (id: NodeId) => isMet(id, this.#server(id).starts),
    };
    const stream = (number: number): Random => new Random(options.seed * 1000 + number);
    const diskRandom = stream(DISK_STREAM);
    const victims = () => cluster.servers;
    this.#faults = new Faults({
      ...{ scheduler, random: random.fork(), diskRandom, network, victims, operator, trace },
      machineRandom: stream(MACHINE_STREAM),
      storageRandom: cluster.storage === 'real' ? stream(STORAGE_STREAM) : undefined,
      logRandom: options.plain || options.legacy ? undefined : stream(LOG_STREAM),
      certain: options.fault,
      plain: options.plain,
    });
    if (this.#faults.kinds.includes('wrongState')) cluster.compareOften();
  }

  /** Runs both phases. */
  async run(): Promise<Report> {
    const cluster = this.#cluster;
    const faultsMs = this.#options.faultsMs ?? cluster.random.pick([5_000, 10_000, 20_000]);
    try {
      for (const server of cluster.servers) server.restart();
      this.#workload.start();
      cluster.product?.start();
      cluster.upgradeWithin(faultsMs);
      this.#faults.start();
      await cluster.advance(faultsMs);
      cluster.trace('healed');
      this.#faults.heal();
      cluster.upgradeAll();
      await cluster.advance(2_000);
      this.#workload.stop();
      cluster.product?.stop();
      await this.#settle();
    } catch (violation) {
      cluster.violation = violation;
    }
    return this.#report();
  }

  // --- the end ---

  /** Waits until all work is done, then for a last write and read through every server. */
  async #settle(): Promise<void> {
    const { now } = this.#cluster.scheduler;
    const deadline = now + HEALED_MS;
    const decideFrom = now + UNDECIDED_MS;
    const wait: Wait = async (what, done) => {
      while (!done()) {
        if (this.#cluster.scheduler.now >= deadline)
          throw new Violation('liveness', `${what}: ${this.#condition()}`);
        if (this.#cluster.scheduler.now >= decideFrom) this.#decide();
        await this.#cluster.advance(200);
      }
    };
    await wait('nothing is committed', () => this.#cluster.members().length > 0);
    this.#renewAddresses();
    await wait('operations of clients have no answer', () => this.#workload.open === 0);
    await wait('a server that was wiped is still a member', () =>
      this.#cluster.members().every((server) => !server.wiped),
    );
    // Requests to such a server may be lost without a reply.
    await wait('a server is frozen or shuts down', () =>
      this.#cluster.up().every((server) => !server.frozen && !server.isStopping),
    );
    await wait('a wrong or lost state is not found and replaced', () => {
      const members = this.#cluster.members();
      // While no server is up, the members are unknown.
      const isReady = (server: SimServer): boolean =>
        server.up && !server.isStateBad && server.fault === undefined;
      return members.length > 0 && members.every(isReady);
    });
    await wait('the level is not raised', () =>
      this.#cluster.members().every((server) => server.level === this.#cluster.release),
    );
    await wait(
      'a write and a read through every server do not succeed',
      lastQuestions(this.#cluster, this.#workload),
    );
    await wait('the servers do not come to the same state', () => this.#isEqual());
    this.#checkChanges();
    const verdict = checkHistory(this.#workload.history);
    if (verdict.result === 'violation')
      throw new Violation('linearizable', [verdict.key, ...verdict.explanation].join('\n'));
    if (verdict.result === 'undecided')
      throw new Violation('checker', `the search over ${verdict.key} was too long`);
    await this.#startAgain(wait);
  }

  /** Applies everything once more, where levels count, and compares. */
  #checkChanges(): void {
    const { invariants, machineLimits, product, releases } = this.#cluster;
    if (!releases.hasLevels) return;
    const members = this.#cluster.members();
    const replay = new Replay(machineLimits);
    replay.run(invariants, members[0]!.look()!.applied);
    replay.checkTold(product!.told);
    for (const server of members) checkServer(server.id, server.view, replay);
  }

  /**
   * The servers whose addresses a joining server was started with may all have been removed since:
   * an operator starts it again with the addresses of today's servers.
   */
  #renewAddresses(): void {
    for (const server of this.#cluster.up()) {
      if (server.hasJoined) continue;
      server.crash(false);
      server.restart();
    }
  }

  /** Restarts all servers without a fault: each must keep what it had, and serve requests. */
  async #startAgain(wait: Wait): Promise<void> {
    const members = this.#cluster.members();
    await wait('requests have no outcome', () =>
      members.every((server) => server.unanswered === 0),
    );
    const before = members.map((server) => ({
      server,
      look: server.look(),
      isWhole: !server.lacking,
      isRight: !server.isStateBad,
    }));
    this.#cluster.trace('all are started again');
    for (const server of this.#cluster.up()) {
      server.crash(false);
      server.restart();
    }
    const check = (): boolean => {
      before.forEach(checkStart);
      return true;
    };
    await this.#cluster.advance(2_000);
    check();
    const isAnswered = lastQuestions(this.#cluster, this.#workload);
    await wait('a write and a read after a start do not succeed', () => check() && isAnswered());
    // A killed server may have applied what its disk does not have: it waits for a leader to do so.
    await wait('a server does not apply again what it had applied', () =>
      before.every(({ server, look }) => (server.look()?.applied ?? 0) >= (look?.applied ?? 0)),
    );
    await wait('the servers do not come to the same state again', () => this.#isEqual());
  }

  /** Stops the wrong servers if two contradict each other and no third can decide. */
  #decide(): void {
    const { scheduler, servers, trace } = this.#cluster;
    const members = this.#cluster.members();
    // not the members alone: the leader may be about to leave
    if (servers.every(({ undecidedAt }) => undecidedAt < scheduler.now - 2_000)) return;
    if (members.some((server) => !server.up)) return;
    for (const server of servers.filter(({ up, isWrong }) => up && isWrong)) {
      trace(`operator: stop ${server.id}, which is wrong`);
      server.crash(false);
      scheduler.after(STOPPED_MS, () => server.restart());
    }
  }

  /** Describes the members, for the text of a violation. */
  #condition(): string {
    const each = this.#cluster.members().map((server) => server.condition());
    return each.join('; ');
  }

  #isEqual(): boolean {
    const looks = this.#cluster.members().map((server) => server.look());
    const first = looks[0];
    return looks.every(
      (look) => look && first && look.applied === first.applied && look.sum === first.sum,
    );
  }

  #report(): Report {
    const violation = this.#cluster.violation;
    return {
      seed: this.#options.seed,
      network: this.#cluster.network.kind,
      servers: this.#cluster.servers.length,
      faults: this.#faults.kinds,
      virtualMs: this.#cluster.scheduler.now,
      terms: this.#cluster.invariants.terms,
      committed: this.#cluster.invariants.committedIndex,
      counts: this.#workload.counts,
      ...(violation !== undefined && { violation: describe(violation) }),
    };
  }

  // --- servers and operators ---

  #server(id: NodeId): SimServer {
    return this.#cluster.servers.find((server) => server.id === id)!;
  }

  #anyUp(): SimServer | undefined {
    const up = this.#cluster.up();
    return up.length > 0 ? this.#cluster.random.pick(up) : undefined;
  }

  #transfer(): void {
    const to = this.#cluster.random.chance(0.5)
      ? this.#cluster.random.pick(this.#cluster.servers).id
      : null;
    this.#cluster.trace(`operator: transfer to ${to ?? 'anyone'}`);
    this.#anyUp()?.administer({ type: 'transfer', to }, 5_000, () => {});
  }

  /** Adds a new server, or removes one for good. Never leaves fewer than two. */
  #changeMembership(id?: NodeId): void {
    const { random } = this.#cluster;
    const members = this.#cluster.members();
    const asked = id === undefined ? this.#anyUp() : this.#server(id);
    if (!asked) return;
    if (members.length > 2 && random.chance(0.5)) {
      const server = random.pick(members);
      const { id } = server;
      if (!this.#cluster.canRemove(server)) return;
      this.#cluster.doomed.add(id);
      this.#cluster.trace(`operator: remove ${id}`);
      asked.administer({ type: 'remove', id }, 5_000, () => {});
    } else if (members.length < 6) {
      const spare = this.#cluster.servers.find(
        (server) => !members.includes(server) && !server.lacking,
      );
      const server = spare ?? this.#cluster.add(`n${this.#cluster.servers.length + 1}`);
      // A removed server may return with or without a restart.
      if (server.up && random.chance(0.5)) server.crash(false);
      server.restart();
      this.#admit(server, asked);
    }
  }

  #admit(server: SimServer, asked: SimServer | undefined): void {
    const { id } = server;
    this.#cluster.trace(`operator: add ${id}`);
    const facts = { ...memberOf(id, false), level: server.release };
    asked?.administer({ type: 'admit', server: facts }, 5_000, () => {});
  }

  /** Repeats the removal of a wiped server until it is no member. Then adds a new one, once. */
  #replace(id: NodeId, added = false): void {
    const { random, scheduler, doomed } = this.#cluster;
    doomed.add(id);
    scheduler.after(random.between(300, 3_000), () => {
      const members = this.#cluster.members();
      const isMember = members.some((server) => server.id === id);
      const isGone = members.length > 0 && !isMember;
      if (isMember) {
        this.#cluster.trace(`operator: remove ${id}, which was wiped`);
        this.#anyUp()?.administer({ type: 'remove', id }, 5_000, () => {});
      } else if (isGone) {
        // Several of them, left running, would take each other for the founders.
        this.#server(id).retire();
        if (!added) this.#addNew();
      }
      // A removal that is not committed may be lost.
      this.#replace(id, added || isGone);
    });
  }

  #addNew(): void {
    if (this.#cluster.members().length >= 6) return;
    const server = this.#cluster.add(`n${this.#cluster.servers.length + 1}`);
    server.restart();
    this.#admit(server, this.#anyUp());
  }
}

export function describe(violation: unknown): { invariant: string; text: string } {
  if (violation instanceof Violation)
    return { invariant: violation.invariant, text: violation.stack ?? violation.message };
  const text =
    violation instanceof Error ? (violation.stack ?? violation.message) : String(violation);
  return { invariant: 'no error', text };
}

export function runWorld(options: WorldOptions): Promise<Report> {
  return new World(options).run();
}
