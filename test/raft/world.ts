/**
 * Random schedules on a few cores: every message may be lost, repeated or reordered, every disk may
 * be slow and every server may crash. The invariants are checked at each step.
 */
import { leaseMsMax, silenceMsOf, ticksOfSilence } from '../../src/raft/options.js';
import type { Index, Input, Message, NodeId, Output } from '../../src/raft/types.js';
import { MachineClock } from './clock.js';
import {
  configuration,
  diskWith,
  logOf,
  options,
  Server as RaftServer,
  type Server,
  TICK_MS,
} from './cluster.js';
import { RaftInvariants } from './invariants.js';
import { diskOf } from './sights.js';
import { Violation } from './violation.js';

/** A seeded stream of numbers in [0, 1). */
export function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * Faults of some worlds only. flicker: a leader falls silent for about an election timeout, in an
 * otherwise calm world whose votes are slow to store. skew: every server has its own timing, which
 * a restart may change. suspend: the clock of a stalled server stands still too.
 */
export const KINDS = ['flicker', 'skew', 'suspend'] as const;
export type Kind = (typeof KINDS)[number];

/** Drawn from a separate stream, so that the seed of a plain world stays that world. */
function kindsOf(seed: number): Kind[] {
  const random = randomFrom(seed ^ 0x5bd1e995);
  return KINDS.filter(() => random() < 0.4);
}

const CLUSTERS = [
  ['a', 'b', 'c'],
  ['a', 'b', 'c'],
  ['a', 'b', 'c', 'd', 'e'],
  ['a', 'b'],
] as const;

/** The servers of the world that `npm run worlds` runs; those beyond three begin as learners. */
export function idsOf(seed: number): readonly NodeId[] {
  return CLUSTERS[seed % CLUSTERS.length]!;
}

/** What happened, for tests that check that something did. */
export interface Counts {
  elections: number;
  committed: number;
  reads: number;
  leaseReads: number;
  snapshots: number;
  truncations: number;
  changes: number;
}

export class World {
  readonly counts: Counts = {
    elections: 0,
    committed: 0,
    reads: 0,
    leaseReads: 0,
    snapshots: 0,
    truncations: 0,
    changes: 0,
  };
  readonly kinds: readonly Kind[];
  readonly servers: Server[];
  readonly #invariants = new RaftInvariants();
  readonly #random: () => number;
  /** Scales the rates of faults, from 0 (none) to 1. */
  readonly #faultRate: number;
  #now = 0;
  #ticks = 0;
  readonly #cuts = new Set<string>();
  readonly #paused = new Set<NodeId>();
  readonly #clocks = new Map<NodeId, MachineClock>();
  #pool: Message[] = [];
  #nextId = 1;
  readonly #leaseReads = new Set<number>();
  /** The longest silence that retimed servers may have promised, and until when it binds them. */
  readonly #promised = new Map<NodeId, { readonly silenceMs: number; readonly until: number }>();
  /** Requests for a read index that have not arrived. */
  readonly #asks: { readonly to: Server; readonly input: Input }[] = [];
  /** Links whose messages wait, and until when. */
  readonly #slow = new Map<string, number>();
  /** When a leader falls silent next. */
  #silentAt = Number.POSITIVE_INFINITY;

  constructor(
    seed: number,
    ids: readonly NodeId[] = ['a', 'b', 'c'],
    kinds: readonly Kind[] = kindsOf(seed),
  ) {
    this.#random = randomFrom(seed);
    this.kinds = kinds;
    this.#faultRate = this.#random();
    if (this.#has('flicker')) {
      this.#faultRate *= 0.3;
      this.#silentAt = 0;
    }
    const words = ids.map((id, at) => (at < 3 ? id : `${id}?`)).join(' ');
    this.servers = ids.map((id) => {
      const disk = diskWith(logOf(words), { term: 1, votedFor: null });
      const server = new RaftServer(options(id, 0, this.#options()), disk);
      server.holdsDisk = true;
      server.sendsInOrder = true;
      this.#watch(server);
      this.#clocks.set(id, new MachineClock(() => this.#now));
      return server;
    });
  }

  /** `count` random acts, then all heals and a write must reach every member, or it throws. */
  run(count: number): void {
    for (let i = 0; i < count; i++) {
      this.#act();
      this.#collect();
    }
    this.#recover();
  }

  #has(kind: Kind): boolean {
    return this.kinds.includes(kind);
  }

  #options(): Partial<Server['options']> {
    const limits = { maxAppendBytes: 200, maxInflightBytes: 400, random: this.#random };
    if (!this.#has('skew')) return { ...limits, leaseMs: 700 };
    const electionTicks = this.#pick([4, 6, 10, 20]);
    const tickMs = this.#pick([1, 1, 2]) * TICK_MS;
    const leaseMs = leaseMsMax({ electionTicks, tickMs }) * this.#pick([0, 0.5, 1, 1]);
    return { ...limits, electionTicks, tickMs, leaseMs };
  }

  #watch(server: Server): void {
    const { id } = server;
    const invariants = this.#invariants;
    const { counts } = this;
    invariants.addServer(id, diskOf(server));
    server.onLeave = (message) => invariants.sent(message);
    server.onStep = (inputs, output, before) => {
      const { log, status: after, options: timing } = server;
      const { entries, hardState, reads, role } = output;
      const { content } = log;
      const step = { inputs, output, before, after, log: content, options: timing, now: this.#now };
      invariants.stepped(id, step);
      invariants.appending(id, content, entries, hardState?.term ?? content.hard.term);
      if (entries.length > 0 && entries[0]!.index <= log.lastIndex()) counts.truncations++;
      if (role?.role === 'leader' && before.role !== 'leader') counts.elections++;
      counts.reads += reads.length;
      for (const read of reads) if (this.#leaseReads.delete(read.id)) counts.leaseReads++;
      counts.committed = invariants.committedIndex;
    };
  }

  #step(server: Server, ...inputs: Input[]): Output {
    return server.step(this.#wake(server), ...inputs);
  }

  /** The server's time. Reports it first, as the loop would, if its clock stood still. */
  #wake(server: Server): number {
    const clock = this.#clocks.get(server.id)!;
    if (clock.watch.hasDrifted()) server.step(clock.now(), { type: 'clockSuspect' });
    return clock.now();
  }

  #act(): void {
    if (this.#now >= this.#silentAt) this.#silence();
    const dice = this.#random();
    const server = this.#pick(this.#awake());
    if (dice < 0.5) this.#passOne();
    else if (dice < 0.7) this.#sync(server);
    else if (dice < 0.78 + 0.02 * this.#faultRate) this.#tick();
    else if (dice < 0.88) this.#propose(this.#leading() ?? server);
    else if (dice < 0.95) this.#read(this.#leading() ?? server);
    else if (dice < 0.96) this.#now += Math.floor(this.#random() * TICK_MS);
    else if (dice < 0.96 + 0.01 * this.#faultRate) this.#crash(server);
    else if (dice < 0.975) this.#compact(server);
    else if (dice < 0.98) this.#step(server, { type: 'transfer' });
    else if (dice < 0.985) {
      this.#step(server, { type: 'unreachable', peer: this.#pick(this.servers).id });
    } else if (dice < 0.99) this.#change(server);
    else if (dice < 0.995) this.#partition();
    else this.#pause(server);
  }

  #awake(): readonly Server[] {
    if (this.#paused.size === 0) return this.servers;
    return this.servers.filter(({ id }) => !this.#paused.has(id));
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }

  #crash(server: Server): void {
    if (this.#has('skew') && this.#random() < 0.3) this.#retime(server);
    server.crash(this.#wake(server));
    this.#invariants.restarted(server.id);
  }

  /** Changes a server's timing at a restart; it keeps the silence that it may have promised. */
  #retime(server: Server): void {
    const { id, options: before } = server;
    const kept = this.#promised.get(id);
    const late = kept !== undefined && this.#now < kept.until ? kept.silenceMs : 0;
    const silenceMs = Math.max(late, silenceMsOf(before));
    this.#promised.set(id, { silenceMs, until: this.#now + silenceMs });
    const more = this.#options();
    const promisedTicks = ticksOfSilence(silenceMs, more.tickMs ?? before.tickMs);
    server.options = { ...before, ...more, promisedTicks };
  }

  #sync(server: Server): void {
    if (this.#has('flicker') && server.storesVote && this.#random() < 0.8) return;
    server.sync(this.#wake(server), 1 + Math.floor(this.#random() * 2));
  }

  /** Time passes for all, but a stalled server misses its tick. */
  #tick(): void {
    this.#now += TICK_MS;
    this.#ticks++;
    for (const server of this.servers) {
      if (this.#paused.has(server.id) || this.#random() < 0.05) continue;
      this.#tickOf(server);
    }
  }

  #tickOf(server: Server): void {
    if ((this.#ticks * TICK_MS) % server.options.tickMs !== 0) return;
    this.#step(server, { type: 'tick' });
  }

  #propose(server: Server): void {
    const id = this.#nextId++;
    const data = new TextEncoder().encode(`w${id}`);
    this.#step(server, { type: 'propose', commands: [{ id, data }] });
  }

  /**
   * A server asks the leader that it knows for a read index. The request arrives at once, or at
   * some later read.
   */
  #ask(): void {
    const { id, status } = this.#pick(this.#awake());
    const { leader, term } = status;
    const to = this.servers.find((each) => each.id === leader);
    if (to !== undefined && to.id !== id) {
      const read = this.#nextId++;
      this.#invariants.leases.asked(read, this.#invariants.committedIndex);
      const mode = this.#random() < 0.5 ? 'lease' : 'quorum';
      const asker = { id, term };
      this.#asks.push({ to, input: { type: 'read', ids: [read], mode, asker } });
    }
    const at = Math.floor(this.#random() * (this.#asks.length + 2));
    for (const { to: server, input } of this.#asks.splice(at, 1)) {
      if (!this.#paused.has(server.id)) this.#step(server, input);
    }
  }

  #read(server: Server): void {
    if (this.#random() < 0.3) {
      this.#ask();
      return;
    }
    const id = this.#nextId++;
    const lease = this.#random() < 0.7;
    if (lease) this.#leaseReads.add(id);
    this.#step(server, { type: 'read', ids: [id], mode: lease ? 'lease' : 'quorum' });
  }

  #compact(server: Server): void {
    const { log, disk, commit } = server;
    const durable = disk.entries.at(-1)?.index ?? 0;
    const index = Math.min(commit, durable);
    if (index < log.firstIndex() || server.storing > 0) return;
    let current = log.snapshot()?.configuration ?? configuration();
    for (const entry of log.entries(log.firstIndex(), index, Number.MAX_SAFE_INTEGER)) {
      if (entry.kind === 'configuration') current = entry.configuration;
    }
    server.compact({ index, term: log.term(index)!, configuration: current });
  }

  /** Makes a voter a learner or a learner a voter, or removes or adds a member. */
  #change(server: Server): void {
    const { members } = server.status.configuration;
    const { id } = this.#pick(this.servers);
    const has = members.find((member) => member.id === id);
    const others = members.filter((member) => member.id !== id);
    const words = others.map((member) => (member.voter ? member.id : `${member.id}?`));
    if (has === undefined) words.push(`${id}?`);
    else if (this.#random() < 0.8) words.push(has.voter ? `${id}?` : id);
    const change = configuration(...words);
    const output = this.#step(server, {
      type: 'changeConfiguration',
      id: this.#nextId++,
      configuration: change,
    });
    this.counts.changes += output.appended.length;
  }

  #isMovable({ from, to }: Message): boolean {
    return !this.#paused.has(to) && (this.#slow.get(`${from}>${to}`) ?? 0) <= this.#now;
  }

  /** Moves one message; it may be lost, kept for another delivery, and need not be the oldest. */
  #passOne(): void {
    const all = this.#paused.size === 0 && this.#slow.size === 0;
    const movable = all ? this.#pool : this.#pool.filter((message) => this.#isMovable(message));
    if (movable.length === 0) return;
    const message = this.#random() < 1 - 0.6 * this.#faultRate ? movable[0]! : this.#pick(movable);
    const at = this.#pool.indexOf(message);
    const fate = this.#random();
    if (fate >= 0.2 * this.#faultRate) this.#pool.splice(at, 1);
    if (fate < 1 - 0.15 * this.#faultRate) this.#hand(message);
    else if (message.type === 'snapshot') this.#snapshotSent(message, false);
  }

  /**
   * What a leader sends waits until about when its followers campaign; some responses to earlier
   * messages come late, so that it stays leader longer than they can know.
   */
  #silence(): void {
    const leader = this.#leading();
    if (leader === undefined) return;
    const ticksFrom = (low: number, high: number): number =>
      (low + Math.floor(this.#random() * (high - low + 1))) * TICK_MS;
    let longest = 0;
    for (const { id, options: timing } of this.servers) {
      const { electionTicks, tickMs } = timing;
      const until = this.#now + electionTicks * tickMs + ticksFrom(-2, electionTicks + 2);
      this.#slow.set(`${leader.id}>${id}`, until);
      this.#slow.set(`${id}>${leader.id}`, this.#now + ticksFrom(0, 4));
      longest = Math.max(longest, until);
    }
    this.#silentAt = longest + ticksFrom(3, 12);
  }

  /** Stalls a process. The first thing after that is a read, by the lease if it still holds. */
  #pause(server: Server): void {
    const [id] = this.#paused;
    if (id === undefined) {
      if (this.servers.length === 1) return;
      this.#paused.add(server.id);
      if (this.#has('suspend') && this.#random() < 0.7) this.#clocks.get(server.id)!.stop();
      return;
    }
    this.#resume();
    this.#read(this.servers.find((each) => each.id === id)!);
  }

  #resume(): void {
    this.#paused.clear();
    for (const clock of this.#clocks.values()) clock.resume();
  }

  /** One of the servers that consider themselves leader. */
  #leading(): Server | undefined {
    return this.#pick(this.#awake().filter(({ role }) => role === 'leader'));
  }

  /** Heals everything, cuts off a server, or cuts one link. */
  #partition(): void {
    const id = this.#pick(this.servers).id;
    const dice = this.#random();
    const other = this.#pick(this.servers).id;
    if (dice < 0.3) this.#cuts.clear();
    else if (dice < 0.5) this.#cuts.add(`${id}>${other}`);
    else if (dice < 0.7) this.#cuts.add(`${id}>${other}`).add(`${other}>${id}`);
    else {
      for (const other of this.servers)
        this.#cuts.add(`${id}>${other.id}`).add(`${other.id}>${id}`);
    }
  }

  #hand(message: Message): void {
    if (this.#cuts.has(`${message.from}>${message.to}`)) {
      if (message.type === 'snapshot') this.#snapshotSent(message, false);
      return;
    }
    const target = this.servers.find((server) => server.id === message.to)!;
    this.#step(target, { type: 'message', message });
    if (message.type !== 'snapshot') return;
    if (this.#install(target, message)) this.counts.snapshots++;
    this.#snapshotSent(message, true);
  }

  #install(target: Server, { meta, from }: Message & { type: 'snapshot' }): boolean {
    if (!target.core.accepts(meta)) return false;
    this.#invariants.resetting(target.id, target.log.content, meta);
    this.#invariants.installed(target.id, meta);
    return target.install(meta, from, this.#wake(target));
  }

  #snapshotSent({ from, to }: Message, ok: boolean): void {
    const sender = this.servers.find((server) => server.id === from)!;
    this.#step(sender, { type: 'snapshotSent', to, ok });
  }

  /** Collects what the servers sent, and drops the oldest when too much is under way. */
  #collect(): void {
    for (const server of this.servers) {
      if (server.outputs.length === 0) continue;
      this.#pool.push(...server.take());
      server.outputs.length = 0;
      server.released.length = 0;
      server.readsDropped.length = 0;
    }
    if (this.#pool.length <= 400) return;
    for (const message of this.#pool.splice(0, 200)) {
      if (message.type === 'snapshot') this.#snapshotSent(message, false);
    }
  }

  /** Ends the faults: a leader must emerge, and a write reach every member. */
  #recover(): void {
    let proposed: Index | undefined;
    this.#cuts.clear();
    this.#resume();
    for (let round = 0; round < 300; round++) {
      this.#now += TICK_MS;
      this.#ticks++;
      for (const server of this.servers) this.#tickOf(server);
      for (let turn = 0; turn < 12; turn++) {
        for (const server of this.servers) server.sync(this.#wake(server));
        this.#collect();
        for (const message of this.#pool.splice(0)) this.#hand(message);
        this.#collect();
      }
      const leader = this.servers
        .filter((server) => server.role === 'leader')
        .sort((one, two) => two.status.term - one.status.term)[0];
      if (leader === undefined) continue;
      const members = leader.status.configuration.members.map((member) => member.id);
      const done = this.servers
        .filter((server) => members.includes(server.id))
        .every((server) => proposed !== undefined && server.commit >= proposed);
      if (done) return;
      if (proposed !== undefined && leader.commit >= proposed) continue;
      const data = new TextEncoder().encode(`w${this.#nextId}`);
      const commands = [{ id: this.#nextId++, data }];
      const output = this.#step(leader, { type: 'propose', commands });
      proposed = output.appended[0]?.index ?? proposed;
    }
    const facts = this.servers.map((server) => ({ ...server.status, configuration: undefined }));
    throw new Violation('liveness', `no progress after the faults ended: ${JSON.stringify(facts)}`);
  }
}
