/**
 * Random orders on a few cores: every message may be lost, repeated or overtaken, every disk may lag and every server
 * may crash. What must never happen is checked after each act.
 */
import type { Entry, Index, Message, NodeId, Term } from '../../src/raft/types.js';
import {
  configuration,
  logOf,
  options,
  Server as RaftServer,
  type Server,
  TICK_MS,
} from './cluster.js';
import { MemoryLog } from './memory.js';

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

function shown(entry: Entry): string {
  if (entry.kind === 'command') return `${entry.term} ${new TextDecoder().decode(entry.data)}`;
  return `${entry.term} ${entry.kind}`;
}

function fail(what: string, facts: object): never {
  throw new Error(`${what} ${JSON.stringify(facts)}`);
}

/** What happened, for tests that want to be sure that something did. */
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
  readonly servers: Server[];
  readonly #random: () => number;
  /** From 0, a calm world, to 1. */
  readonly #wildness: number;
  #now = 0;
  readonly #cuts = new Set<string>();
  readonly #paused = new Set<NodeId>();
  #pool: Message[] = [];
  #nextId = 1;
  readonly #leaders = new Map<Term, NodeId>();
  /** The one history: what any server was told to be committed. */
  readonly #history: string[] = [];
  /** Reads under way: what was committed anywhere when they were asked for. */
  readonly #asked = new Map<number, { floor: Index; lease: boolean }>();

  constructor(seed: number, ids: readonly NodeId[] = ['a', 'b', 'c']) {
    this.#random = randomFrom(seed);
    this.#wildness = this.#random();
    const words = ids.map((id, at) => (at < 3 ? id : `${id}?`)).join(' ');
    this.servers = ids.map((id) => {
      const log = new MemoryLog({ entries: logOf(words), hardState: { term: 1, votedFor: null } });
      const limits = { maxAppendBytes: 200, maxInflightBytes: 400, leaseMs: 700 };
      const server = new RaftServer(options(id, 0, { random: this.#random, ...limits }), log);
      server.holdsDisk = true;
      server.onLeave = (message) => this.#checkPromise(server, message);
      return server;
    });
  }

  /** `count` random acts, then everything heals and a write must get through to all. */
  run(count: number): void {
    for (let i = 0; i < count; i++) {
      this.#act();
      this.#check();
    }
    this.#recover();
  }

  #act(): void {
    const dice = this.#random();
    const server = this.#pick(this.servers.filter(({ id }) => !this.#paused.has(id)));
    if (dice < 0.5) this.#passOne();
    else if (dice < 0.7) server.sync(this.#now, 1 + Math.floor(this.#random() * 2));
    else if (dice < 0.78 + 0.02 * this.#wildness) this.#tick();
    else if (dice < 0.88) this.#propose(this.#leading() ?? server);
    else if (dice < 0.95) this.#read(this.#leading() ?? server);
    else if (dice < 0.96) this.#now += Math.floor(this.#random() * TICK_MS);
    else if (dice < 0.96 + 0.01 * this.#wildness) this.#crash(server);
    else if (dice < 0.975) this.#compact(server);
    else if (dice < 0.98) server.step(this.#now, { type: 'transfer' });
    else if (dice < 0.985) {
      server.step(this.#now, { type: 'unreachable', peer: this.#pick(this.servers).id });
    } else if (dice < 0.99) this.#change(server);
    else if (dice < 0.995) this.#partition();
    else this.#pause(server);
  }

  #crash(server: Server): void {
    server.crash(this.#now);
    this.#seen.set(server.id, server.log.lastIndex());
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }

  /** Time passes for all, but a stalled server misses its tick. */
  #tick(): void {
    this.#now += TICK_MS;
    for (const server of this.servers) {
      if (this.#paused.has(server.id) || this.#random() < 0.05) continue;
      server.step(this.#now, { type: 'tick' });
    }
  }

  #propose(server: Server): void {
    const id = this.#nextId++;
    const data = new TextEncoder().encode(`w${id}`);
    server.step(this.#now, { type: 'propose', commands: [{ id, data }] });
  }

  #read(server: Server): void {
    const id = this.#nextId++;
    const lease = this.#random() < 0.7;
    this.#asked.set(id, { floor: this.#history.length, lease });
    server.step(this.#now, { type: 'read', ids: [id], mode: lease ? 'lease' : 'quorum' });
  }

  #compact(server: Server): void {
    const { log, commit } = server;
    const durable = log.durable.entries.at(-1)?.index ?? 0;
    const index = Math.min(commit, durable);
    if (index < log.firstIndex() || server.storing > 0) return;
    let current = log.snapshot()?.configuration ?? configuration();
    for (const entry of log.entries(log.firstIndex(), index, Number.MAX_SAFE_INTEGER)) {
      if (entry.kind === 'configuration') current = entry.configuration;
    }
    log.compact({ index, term: log.term(index)!, configuration: current });
  }

  /** Makes a voter a learner, or the other way round, or takes a member out or in. */
  #change(server: Server): void {
    const { members } = server.status.configuration;
    const { id } = this.#pick(this.servers);
    const has = members.find((member) => member.id === id);
    const others = members.filter((member) => member.id !== id);
    const words = others.map((member) => (member.voter ? member.id : `${member.id}?`));
    if (has === undefined) words.push(`${id}?`);
    else if (this.#random() < 0.8) words.push(has.voter ? `${id}?` : id);
    const change = configuration(...words);
    const output = server.step(this.#now, {
      type: 'changeConfiguration',
      id: this.#nextId++,
      configuration: change,
    });
    this.counts.changes += output.appended.length;
  }

  /** One message moves; it may be lost, or stay to be delivered again, and it need not be the oldest. */
  #passOne(): void {
    const movable = this.#pool.filter(({ to }) => !this.#paused.has(to));
    if (movable.length === 0) return;
    const message = this.#random() < 1 - 0.6 * this.#wildness ? movable[0]! : this.#pick(movable);
    const at = this.#pool.indexOf(message);
    const fate = this.#random();
    if (fate >= 0.2 * this.#wildness) this.#pool.splice(at, 1);
    if (fate < 1 - 0.15 * this.#wildness) this.#hand(message);
    else if (message.type === 'snapshot') this.#snapshotSent(message, false);
  }

  /** A process stands still: it gets nothing. The first thing after that is a read, by the lease if it still holds. */
  #pause(server: Server): void {
    const [id] = this.#paused;
    if (id === undefined) {
      if (this.servers.length > 1) this.#paused.add(server.id);
      return;
    }
    this.#paused.clear();
    this.#read(this.servers.find((each) => each.id === id)!);
  }

  /** One of those that think they lead. */
  #leading(): Server | undefined {
    const leaders = this.servers.filter(
      ({ id, role }) => role === 'leader' && !this.#paused.has(id),
    );
    return this.#pick(leaders);
  }

  /** Heals, or cuts off a server, or cuts one way. */
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
    target.step(this.#now, { type: 'message', message });
    if (message.type !== 'snapshot') return;
    if (target.install(message.meta, message.from, this.#now)) this.counts.snapshots++;
    this.#snapshotSent(message, true);
  }

  #snapshotSent({ from, to }: Message, ok: boolean): void {
    const sender = this.servers.find((server) => server.id === from)!;
    sender.step(this.#now, { type: 'snapshotSent', to, ok });
  }

  #check(): void {
    for (const server of this.servers) {
      this.#pool.push(...server.take());
      this.#checkHistory(server);
      this.#checkReads(server);
      this.#checkLeader(server);
    }
    if (this.#pool.length <= 400) return;
    for (const message of this.#pool.splice(0, 200)) {
      if (message.type === 'snapshot') this.#snapshotSent(message, false);
    }
  }

  /** §3.8: nothing is promised before it is durable. */
  #checkPromise(server: Server, message: Message): void {
    const { durable } = server.log;
    if (message.type === 'voteResponse' && message.granted) {
      const { term, votedFor } = durable.hardState;
      const kept = term > message.term || (term === message.term && votedFor === message.to);
      if (!kept) fail('a vote was promised before it was durable', { message, term, votedFor });
    }
    if (message.type === 'vote' && durable.hardState.term < message.term) {
      fail('a campaign was begun before its term was durable', { message });
    }
    if (message.type === 'appendResponse' && message.success) {
      const last = durable.entries.at(-1)?.index ?? durable.meta?.index ?? 0;
      if (message.index > last) fail('an entry was acknowledged too early', { message, last });
    }
    if (message.type === 'append') {
      if (durable.hardState.term < message.term) fail('led before the vote was durable', message);
    }
  }

  /** §3.6.3 State Machine Safety: one history for all, and every commit index within the log. */
  #checkHistory(server: Server): void {
    const { log, commit } = server;
    for (let index = log.firstIndex(); index <= commit; index++) {
      const entry = log.entries(index, index, 1)[0];
      if (entry === undefined) fail('commit beyond the log', { id: server.id, index, commit });
      const text = shown(entry);
      const known = this.#history[index - 1];
      if (known === undefined && index === this.#history.length + 1) this.#history.push(text);
      else if (known !== text) fail('two histories', { id: server.id, index, known, text });
    }
    this.counts.committed = this.#history.length;
  }

  /** §6.4: a read shows at least what was committed anywhere when it was asked for. */
  #checkReads(server: Server): void {
    for (const { id, index } of server.released.splice(0)) {
      const { floor, lease } = this.#asked.get(id)!;
      if (index < floor) fail('a stale read', { id, server: server.id, index, floor, lease });
      this.counts.reads++;
      if (lease) this.counts.leaseReads++;
    }
    for (const { entries } of server.outputs.splice(0)) {
      if (entries.length > 0 && entries[0]!.index <= this.#lastSeen(server.id)) {
        this.counts.truncations++;
      }
      this.#seen.set(server.id, server.log.lastIndex());
    }
  }

  readonly #seen = new Map<NodeId, Index>();
  #lastSeen(id: NodeId): Index {
    return this.#seen.get(id) ?? 1;
  }

  /** Election Safety and Leader Completeness. */
  #checkLeader(server: Server): void {
    const { role, term } = server.status;
    if (role !== 'leader') return;
    const known = this.#leaders.get(term);
    if (known === server.id) return;
    if (known !== undefined) fail('two leaders', { term, known, id: server.id });
    this.#leaders.set(term, server.id);
    this.counts.elections++;
    // Only a leader of a later term must have what was committed: votes for an older one may arrive late.
    if (Math.max(...this.#leaders.keys()) > term) return;
    for (let index = server.log.firstIndex(); index <= this.#history.length; index++) {
      const entry = server.log.entries(index, index, 1)[0];
      if (entry !== undefined && shown(entry) === this.#history[index - 1]) continue;
      fail('a leader lacks a committed entry', { id: server.id, index });
    }
  }

  /** The faults end: a leader is found, and a write reaches every member. */
  #recover(): void {
    let proposed: Index | undefined;
    this.#cuts.clear();
    this.#paused.clear();
    for (let round = 0; round < 300; round++) {
      this.#now += TICK_MS;
      for (const server of this.servers) server.step(this.#now, { type: 'tick' });
      for (let turn = 0; turn < 12; turn++) {
        for (const server of this.servers) server.sync(this.#now);
        this.#check();
        for (const message of this.#pool.splice(0)) this.#hand(message);
        this.#check();
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
      const output = leader.step(this.#now, { type: 'propose', commands });
      proposed = output.appended[0]?.index ?? proposed;
    }
    fail(
      'no progress after the faults ended',
      this.servers.map((server) => ({ ...server.status, configuration: undefined })),
    );
  }
}
