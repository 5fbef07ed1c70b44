/** A cluster in virtual time, with everything around it but faults and clients. */

import { Random } from '../../cluster/checker/random.js';
import type { Decision } from '../../src/raft/decisions.js';
import type { RaftOptions } from '../../src/raft/options.js';
import type { Configuration, Member, NodeId } from '../../src/raft/types.js';
import { decisionText } from '../../src/replica/decision-text.js';
import type { ReplicaLimits } from '../../src/replica/options.js';
import type { MachineLimits } from '../../src/state/machine.js';
import { PAGE_REQUESTS } from '../../src/state/requests.js';
import { Invariants } from './invariants.js';
import { MessageNetwork } from './message-network.js';
import type { NetworkKind, SimNetwork } from './network.js';
import type { ServerParts, StorageKind } from './parts.js';
import { ProductClients } from './product-clients.js';
import { type Releases, releasesOf } from './releases.js';
import { Scheduler } from './scheduler.js';
import { SimServer } from './server.js';
import { SocketNetwork } from './socket-network.js';

/** Timing as in production, and windows so small that a short life reaches their limits. */
const RAFT: Omit<RaftOptions, 'id' | 'random'> = {
  tickMs: 50,
  electionTicks: 20,
  heartbeatTicks: 2,
  leaseMs: 800,
  maxAppendBytes: 2000,
  maxInflightBytes: 8000,
  maxUncommittedBytes: 100_000,
};

/** Which worlds have small memories, and which have held readers. */
const SIZE_STREAM = 17;
/** And which have sockets. */
const NETWORK_STREAM = 20;
/** And which have the product's commands. */
const PRODUCT_STREAM = 21;
/** The random stream that draws whether there are commands about rights. */
const RIGHTS_STREAM = 26;

/** The share of worlds with the real log and state, which take twice as long. */
const REAL_SHARE = 0.25;

/** From the upgrade of one server to that of the next. */
const UPGRADE_MS = 1_000;

export interface ClusterOptions {
  readonly seed: number;
  /** Without what was added later: small memories, held readers, sockets. */
  readonly plain?: boolean | undefined;
  /** Without what 0.4.0 added: deposed leaders, erasures, hanging reads, cascades. */
  readonly legacy?: boolean | undefined;
  /** Absent: drawn from the seed. */
  readonly network?: NetworkKind | undefined;
  /** Whether the servers know the product's commands too. Absent: drawn from the seed. */
  readonly product?: boolean | undefined;
  /** Whether the product's levels count, where they may. Absent: drawn from the seed. */
  readonly levels?: boolean | undefined;
  /** Whether most commands of the product are about rights. Absent: drawn from the seed. */
  readonly rights?: boolean | undefined;
  /** Drawn from the seed when absent. */
  readonly storage?: StorageKind | undefined;
  /** Gets one line for everything that happens. */
  readonly trace?: ((line: string) => void) | undefined;
}

export class SimCluster {
  readonly seed: number;
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly invariants = new Invariants();
  readonly network: SimNetwork;
  readonly servers: SimServer[] = [];
  /** The release that new servers start with. */
  release: number;
  readonly releases: Releases;
  /** The first thing that went wrong. */
  violation: unknown;
  readonly #trace: ((line: string) => void) | undefined;
  #limits: ReplicaLimits;
  /** What the state machine of every server remembers. */
  readonly machineLimits: MachineLimits;
  readonly storage: StorageKind;
  /** Whether clients wait for changes at every server. */
  readonly #watched: boolean;
  readonly #readsHang: boolean;
  readonly #legacy: boolean;
  /** Who writes the product's commands, where the servers know them. */
  readonly product: ProductClients | undefined;
  /** The time until which a lease may hold too long. */
  #leaseDoubtUntil = Number.NEGATIVE_INFINITY;
  /** The largest share by which a clock runs fast or slow; the lease allows for it. */
  readonly #drift: number;

  constructor(options: ClusterOptions, beside?: Pick<SimCluster, 'scheduler' | 'network'>) {
    this.scheduler = beside?.scheduler ?? new Scheduler();
    this.seed = options.seed;
    this.random = new Random(options.seed);
    this.#trace = options.trace;
    this.#limits = limitsFor(this.random);
    this.#drift = this.random.pick([0, 0.001, 0.03]);
    this.network = beside?.network ?? this.#createNetwork(options);
    const sizes = sizesOf(options);
    const { machineLimits, waitingWrites, keepBytes, isWatched, storage, readsHang } = sizes;
    this.#readsHang = readsHang;
    this.#legacy = options.plain === true || options.legacy === true;
    this.machineLimits = machineLimits;
    this.#limits = { ...this.#limits, keepBytes };
    if (waitingWrites !== undefined) this.#limits = { ...this.#limits, waitingWrites };
    this.#watched = isWatched;
    this.storage = storage;
    const random = new Random(options.seed * 1000 + PRODUCT_STREAM);
    const hasProduct = options.product ?? (!options.plain && random.chance(0.3));
    const legacy = this.#legacy;
    const releases = releasesOf(options.seed, hasProduct && !legacy, options.levels);
    this.releases = releases;
    this.release = releases.first;
    const { scheduler, trace } = this;
    const up = () => this.up();
    const hasRights =
      !legacy && (options.rights ?? new Random(options.seed * 1000 + RIGHTS_STREAM).chance(0.3));
    const servers = () => this.servers;
    const violated = (violation: unknown) => this.#violate(violation);
    const product = {
      scheduler,
      random,
      releases,
      legacy,
      hasRights,
      servers,
      up,
      violated,
      trace,
    };
    if (hasProduct) this.product = new ProductClients(product);
  }

  #violate(violation: unknown): void {
    this.violation ??= violation;
  }

  #createNetwork({ seed, plain, network: kind }: ClusterOptions): SimNetwork {
    const random = this.random.fork();
    const drawn = new Random(seed * 1000 + NETWORK_STREAM).chance(0.5) ? 'sockets' : 'messages';
    if ((kind ?? (plain ? 'messages' : drawn)) === 'messages')
      return new MessageNetwork(this.scheduler, random);
    return new SocketNetwork(this.scheduler, random, RAFT, this.trace);
  }

  /** Whether the servers know the product's commands too. */
  get hasProduct(): boolean {
    return this.product !== undefined;
  }

  /** Founds the cluster of `n1`, `n2`, ... Its servers are still down. */
  found(count: number): void {
    const ids = Array.from({ length: count }, (_, i) => `n${i + 1}`);
    const configuration = { members: ids.map((id) => memberOf(id, true)) };
    for (const id of ids) this.add(id).found(configuration);
  }

  /** A server that belongs to no cluster yet, or that has a disk which says where it belongs. */
  add(id: NodeId, on?: ServerParts['on']): SimServer {
    const rate = 1 + this.random.between(-this.#drift, this.#drift);
    const { scheduler, network, invariants } = this;
    const parts = {
      scheduler,
      network,
      invariants,
      raft: RAFT,
      limits: () => this.#limits,
      machineLimits: this.machineLimits,
      storage: this.storage,
      on,
      legacy: this.#legacy,
      readsHang: this.#readsHang,
      readersOf: this.#watched ? ['k0', 'k1'] : [],
      hasProduct: this.hasProduct,
      rights: this.product?.hasRights
        ? {
            judged: this.product.judged,
            acknowledged: () => this.product!.acknowledged,
            leaseInDoubt: () => this.#leaseDoubtUntil > Number.NEGATIVE_INFINITY,
          }
        : undefined,
      releases: this.releases,
      isMember: (id: NodeId) => this.members().some((member) => member.id === id),
      doubtLeases: (ms: number) => {
        this.#leaseDoubtUntil = Math.max(this.#leaseDoubtUntil, scheduler.now + ms);
      },
      joinAddresses: () => this.servers.map(({ machine }) => addressOf(machine)),
      random: this.random.fork(),
      violated: (violation: unknown) => this.#violate(violation),
      trace: this.trace,
      decided:
        this.#trace &&
        ((of: NodeId) => (decision: Decision) =>
          this.trace(`${of} ${decisionText(decision, (other) => other)}`)),
    };
    if (on !== undefined) network.place(id, on.machine);
    const server = new SimServer(id, parts, rate);
    if (this.release > this.releases.first) server.upgrade();
    this.servers.push(server);
    return server;
  }

  /**
   * Whether a lease may have held too long at `since` or after: no server can know that both of its
   * clocks stood still.
   */
  leaseInDoubt(since: number): boolean {
    return since <= this.#leaseDoubtUntil;
  }

  /** Upgrades all servers while faults strike, in some worlds with levels. */
  upgradeWithin(faultsMs: number): void {
    const { upgradeAt } = this.releases;
    if (upgradeAt !== undefined)
      this.scheduler.after(upgradeAt * faultsMs, () => this.upgradeAll(true));
  }

  /** Upgrades all servers, one after the other, if one has the next release, or in any case. */
  upgradeAll(isCertain = false): void {
    const { first, next } = this.releases;
    const isOld = ({ nextRelease }: SimServer): boolean => nextRelease === first;
    if (first === next || (!isCertain && this.servers.every(isOld))) return;
    this.release = next;
    const old = this.servers.filter(isOld);
    old.forEach((server, at) => {
      this.scheduler.after(at * UPGRADE_MS, () => {
        server.upgrade();
        server.shutDown(() => server.restart());
      });
    });
  }

  /** Makes the servers compare their states often. */
  compareOften(): void {
    this.#limits = { ...this.#limits, compareTicks: 20 };
  }

  /** Servers whose removal was ever requested: the request may still be under way. */
  readonly doomed = new Set<NodeId>();

  /**
   * Whether this server may lose its data. In every configuration that may be in force more voters
   * must be complete than incomplete, even after all requested removals. An incomplete learner
   * counts: its leader may be promoting it at that moment, and it has no vote then.
   */
  canLose(id: NodeId): boolean {
    const server = this.servers.find((each) => each.id === id);
    // a server that is no member yet may be added, as one of very few, while it lacks something
    if (!server || server.lacking || !this.#configurations().some(holds(id))) return false;
    const isLacking = (each: SimServer): boolean =>
      each === server || each.lacking || each.isSuspect;
    return this.#stands(isLacking, this.doomed);
  }

  /** Whether this server may be removed while others lack something. */
  canRemove(server: SimServer): boolean {
    // A state that came right by itself is compared as it was at its last checkpoint. A server
    // that has come right may be the one that tells which of two others is wrong.
    const isLacking = (each: SimServer): boolean => each.lacking || each.wasWrong(0);
    if (server.lacking || !this.servers.some(isLacking)) return true;
    return this.#stands(isLacking, new Set([...this.doomed, server.id]));
  }

  #stands(isLacking: (server: SimServer) => boolean, going: ReadonlySet<NodeId>): boolean {
    return this.#configurations().every(({ members }) => {
      const [voters, learners] = [true, false].map((isVoter) =>
        this.servers.filter(({ id }) =>
          members.some(({ id: member, voter }) => member === id && voter === isVoter),
        ),
      ) as [SimServer[], SimServer[]];
      const bad = [...voters, ...learners].filter(isLacking);
      const good = voters.filter((voter) => !isLacking(voter) && !going.has(voter.id));
      return members.length === 0 || good.length > bad.length;
    });
  }

  /** All configurations that may be in force. */
  #configurations(): Configuration[] {
    return this.servers
      .filter((server) => !server.wiped)
      .flatMap((server) => server.configurations());
  }

  up(): SimServer[] {
    return this.servers.filter((server) => server.up);
  }

  /** The servers of the configuration in force, as the most advanced one knows it. */
  members(): SimServer[] {
    let newest: { commit: number; configuration: Configuration } | undefined;
    for (const server of this.servers) {
      const look = server.look();
      if (look && (!newest || look.commit > newest.commit)) newest = look;
    }
    const ids = newest?.configuration.members.map((member) => member.id) ?? [];
    return this.servers.filter((server) => ids.includes(server.id));
  }

  /** Lets time pass. Throws what went wrong. */
  async advance(ms: number): Promise<void> {
    await this.scheduler.runUntil(this.scheduler.now + ms, () => this.violation !== undefined);
    if (this.violation !== undefined) throw this.violation;
  }

  trace = (text: string): void => {
    this.#trace?.(`${this.scheduler.now.toFixed(2).padStart(10)} ${text}`);
  };
}

/** Of what runs on a machine. */
export const addressOf = (id: NodeId): string => `${id}:1`;

export const memberOf = (id: NodeId, voter: boolean): Member => ({
  id,
  name: id,
  address: addressOf(id),
  voter,
});

/** What a seed draws of sizes, readers and storage. */
interface Sizes {
  readonly machineLimits: MachineLimits;
  readonly waitingWrites: number | undefined;
  /** See CompactionLimits. 0: the log does not keep more of a large state. */
  readonly keepBytes: number;
  readonly isWatched: boolean;
  readonly storage: StorageKind;
  readonly readsHang: boolean;
}

/** A stream of its own: where it changes nothing a seed is the world that it was before. */
function sizesOf({ seed, plain, legacy, storage }: ClusterOptions): Sizes {
  const size = new Random(seed * 1000 + SIZE_STREAM);
  const isSmall = size.chance(plain ? 0 : 0.3);
  const requestsMax = isSmall ? size.pick([2, 4, 12]) : 65_536;
  const checkpointEvery = isSmall ? size.pick([5, 40]) : 256;
  const waitingWrites = isSmall ? size.pick([2, 1000]) : undefined;
  const isWatched = size.chance(plain ? 0 : 0.3);
  const drawn = size.chance(plain ? 0 : REAL_SHARE) ? 'real' : 'memory';
  const pageRequests = isSmall ? size.pick([1, 2, 5]) : PAGE_REQUESTS;
  const machineLimits = { requestsMax, pageRequests, checkpointEvery };
  const readsHang = size.chance(plain || legacy ? 0 : 0.5);
  const keepBytes = size.chance(plain || legacy ? 0 : 0.3) ? size.pick([500, 5000, 1e9]) : 0;
  return {
    machineLimits,
    waitingWrites,
    keepBytes,
    isWatched,
    storage: storage ?? drawn,
    readsHang,
  };
}

/** The storage of a world's servers. */
export const storageOf = (options: ClusterOptions): StorageKind => sizesOf(options).storage;

/** Small limits, so that a short life reaches them. */
function limitsFor(random: Random): ReplicaLimits {
  const small = random.chance(0.7);
  return {
    tickMs: RAFT.tickMs,
    stallMs: 2 * RAFT.tickMs,
    applyEntriesMax: random.pick([1, 3, 100]),
    applyBytesMax: random.pick([200, 100_000]),
    cutEntries: small ? random.pick([2, 20, 100]) : 100_000,
    logBytes: 1_000_000_000,
    keepEntries: random.pick([0, 5, 50]),
    keepBytes: 0,
    markEntries: random.pick([1, 7]),
    pendingWrites: random.pick([3, 1000]),
    waitingWrites: 1000,
    waitingBytes: 1_000_000_000,
    retryMs: 100,
    askMs: 500,
    electionMs: RAFT.tickMs * RAFT.electionTicks,
    compareTicks: random.pick([0, 20]),
    promoteLagMax: 10,
    eraseSpreadMs: 2000,
  };
}

const holds =
  (id: NodeId) =>
  ({ members }: Configuration): boolean =>
    members.some((member) => member.id === id);
