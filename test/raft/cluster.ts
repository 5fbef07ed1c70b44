/**
 * A cluster of cores without network or disk: messages move when a test says so, and disks sync
 * at once unless a test holds them.
 */

import type { RaftOptions } from '../../src/raft/options.js';
import { createRaft } from '../../src/raft/raft.js';
import type {
  Configuration,
  Entry,
  HardState,
  Index,
  Input,
  Member,
  Message,
  NodeId,
  Output,
  RaftCore,
  RaftStatus,
  ReadId,
  Role,
  SnapshotMeta,
} from '../../src/raft/types.js';
import { LogContent, MemoryLog } from '../support/memory-log.js';

export const TICK_MS = 100;

const noop = (): void => {};

/** Options for scripted tests: the election timeout is 10 ticks plus `spread` (0 to 1) times 10. */
export function options(id: NodeId, spread = 0, more: Partial<RaftOptions> = {}): RaftOptions {
  return {
    id,
    electionTicks: 10,
    heartbeatTicks: 2,
    tickMs: TICK_MS,
    leaseMs: 700,
    maxAppendBytes: 4096,
    maxInflightBytes: 16384,
    maxUncommittedBytes: 65536,
    random: () => spread,
    ...more,
  };
}

function member(id: NodeId, voter = true): Member {
  return { id, name: `node-${id}`, address: `${id}:8300`, voter };
}

/** `voters('a', 'b')`; a name that ends with `?` is a learner. */
export function configuration(...ids: string[]): Configuration {
  return {
    members: ids.map((id) => (id.endsWith('?') ? member(id.slice(0, -1), false) : member(id))),
  };
}

/**
 * Entries from index 1: a text stands for a configuration of its words, a number for the term of
 * a no-op.
 */
export function logOf(...items: (number | string)[]): Entry[] {
  let term = 1;
  return items.map((item, at) => {
    const index = at + 1;
    if (typeof item === 'number') {
      term = item;
      return { kind: 'noop', index, term };
    }
    return { kind: 'configuration', index, term, configuration: configuration(...item.split(' ')) };
  });
}

export function command(index: Index, term: number, text = `c${index}`): Entry {
  return { kind: 'command', index, term, data: new TextEncoder().encode(text) };
}

/** A disk with a log of these entries. */
export function diskWith(
  entries: readonly Entry[],
  hardState: HardState,
  meta?: SnapshotMeta,
): LogContent {
  const disk = new LogContent();
  disk.hard = hardState;
  disk.meta = meta;
  disk.entries = [...entries];
  return disk;
}

/** Sizes by which appends are cut: the stories and the seeds of worlds depend on them. */
const bytesOf = (entry: Entry): number => (entry.kind === 'command' ? entry.data.byteLength : 8);

/** One server: its core, its log, and what its outputs requested. */
export class Server {
  readonly id: NodeId;
  /** A change takes effect at the next start. */
  options: RaftOptions;
  /** What a crash leaves. */
  disk: LogContent;
  log: MemoryLog;
  core: RaftCore;
  /** Messages that may leave. */
  outgoing: Message[] = [];
  /** All outputs so far. */
  outputs: Output[] = [];
  /** Called for every message when it leaves. */
  onLeave: (message: Message) => void = () => {};
  /** Called for every step before its output takes effect. */
  onStep: (inputs: readonly Input[], output: Output, before: RaftStatus) => void = () => {};
  /** When set, the disk does not sync by itself. */
  holdsDisk = false;
  /** When set, as in the loop, what may be sent after storing waits for all earlier batches. */
  sendsInOrder = false;
  commit: Index = 0;
  readonly released: { id: ReadId; index: Index }[] = [];
  readonly readsDropped: ReadId[] = [];
  #storing: { first: Index; last: Index; hard: boolean; send: Message[] }[] = [];

  constructor(opts: RaftOptions, disk = new LogContent(), now = 0) {
    this.id = opts.id;
    this.options = opts;
    this.disk = disk;
    this.log = new MemoryLog({ bytesOf }, disk);
    this.core = createRaft(opts, this.log, this.log.hardState(), now);
    this.commit = this.core.status().commit;
  }

  get status(): RaftStatus {
    return this.core.status();
  }

  get role(): Role {
    return this.core.status().role;
  }

  /** One step. The log shows what is stored at once; it is durable unless the disk is held. */
  step(now: number, ...inputs: Input[]): Output {
    const before = this.core.status();
    const output = this.core.step(inputs, now);
    this.onStep(inputs, output, before);
    this.outputs.push(output);
    this.#leave(output.sendNow);
    this.#leave(output.sendSnapshots.map(({ message }) => message));
    const { hardState, entries, sendAfterStore } = output;
    if (hardState !== undefined || entries.length > 0) {
      this.log.append(hardState === undefined ? { entries } : { hardState, entries }, noop);
      const last = this.log.lastIndex();
      const first = entries[0]?.index ?? last + 1;
      const hard = hardState !== undefined;
      this.#storing.push({ first, last, hard, send: [...sendAfterStore] });
    } else {
      const pending = this.sendsInOrder ? this.#storing.at(-1) : undefined;
      if (pending === undefined) this.#leave(sendAfterStore);
      else pending.send.push(...sendAfterStore);
    }
    this.commit = Math.max(this.commit, output.commit ?? 0);
    this.released.push(...output.reads);
    this.readsDropped.push(...output.readsDropped);
    if (!this.holdsDisk) this.sync(now);
    return output;
  }

  /** Batches on their way to the disk. */
  get storing(): number {
    return this.#storing.length;
  }

  /** Whether the oldest of these batches holds a term or a vote. */
  get storesVote(): boolean {
    return this.#storing[0]?.hard === true;
  }

  /** Syncs the oldest `count` batches. */
  sync(now: number, count = this.#storing.length): void {
    const done = this.#storing.splice(0, count);
    if (done.length === 0) return;
    for (const { send } of done) {
      this.log.sync(1);
      this.#leave(send);
    }
    const ahead = this.#storing.map(({ first }) => first - 1);
    const index = Math.min(done.at(-1)!.last, ...ahead);
    const term = this.log.term(index);
    if (term !== undefined) this.step(now, { type: 'stored', index, term });
  }

  #leave(messages: readonly Message[]): void {
    for (const message of messages) {
      this.onLeave(message);
      this.outgoing.push(message);
    }
  }

  take(): Message[] {
    const messages = this.outgoing;
    this.outgoing = [];
    return messages;
  }

  /** Installs a snapshot that has arrived, if it is still wanted. */
  install(meta: SnapshotMeta, from: NodeId, now: number): boolean {
    if (!this.core.accepts(meta)) return false;
    this.#storing = [];
    this.reset(meta);
    this.step(now, { type: 'snapshotStored', meta, from });
    return true;
  }

  /** Replaces the whole log by a snapshot, durably. */
  reset(meta: SnapshotMeta): void {
    this.log.reset(meta, this.log.hardState(), noop);
    this.log.sync();
  }

  /** Drops the entries up to a snapshot, durably. */
  compact(meta: SnapshotMeta): void {
    this.log.compact(meta, noop);
    this.log.sync();
  }

  /** Loses what is not synced, and starts again; with another disk if one is given. */
  crash(now: number, disk = this.disk): void {
    this.disk = disk;
    this.log = new MemoryLog({ bytesOf }, disk);
    this.outgoing = [];
    this.#storing = [];
    this.core = createRaft(this.options, this.log, this.log.hardState(), now);
    this.commit = this.core.status().commit;
  }
}

export class Cluster {
  readonly servers = new Map<NodeId, Server>();
  readonly down = new Set<NodeId>();
  now = 0;
  /** Called for every message that is delivered or lost. */
  onMessage: (message: Message, delivered: boolean) => void = () => {};
  readonly #cut = new Set<string>();
  #proposals = 0;

  /** Servers that all hold `entries`; timeouts spread in the order given, shortest first. */
  constructor(ids: readonly NodeId[], entries: readonly Entry[], more: Partial<RaftOptions> = {}) {
    ids.forEach((id, at) => {
      const hardState = { term: entries.at(-1)?.term ?? 0, votedFor: null };
      this.add(options(id, at / ids.length, more), diskWith(entries, hardState));
    });
  }

  add(opts: RaftOptions, disk = new LogContent()): Server {
    const server = new Server(opts, disk, this.now);
    this.servers.set(opts.id, server);
    return server;
  }

  get(id: NodeId): Server {
    return this.servers.get(id)!;
  }

  get leader(): Server | undefined {
    const leaders = this.up().filter((server) => server.role === 'leader');
    return leaders.sort((a, b) => b.status.term - a.status.term)[0];
  }

  up(): Server[] {
    return [...this.servers.values()].filter((server) => !this.down.has(server.id));
  }

  step(id: NodeId, ...inputs: Input[]): Output {
    return this.get(id).step(this.now, ...inputs);
  }

  /** Time passes for all; messages are delivered after each tick. */
  tick(count = 1): void {
    for (let i = 0; i < count; i++) {
      this.now += TICK_MS;
      for (const server of this.up()) server.step(this.now, { type: 'tick' });
      this.deliver();
    }
  }

  /** Time passes for one server only, without any delivery. */
  tickOnly(id: NodeId, count = 1): void {
    for (let i = 0; i < count; i++) {
      this.now += TICK_MS;
      this.get(id).step(this.now, { type: 'tick' });
    }
  }

  /** Delivers until no message is under way. */
  deliver(): void {
    for (let more = true; more; ) {
      more = false;
      for (const server of this.up()) {
        for (const message of server.take()) {
          this.pass(message);
          more = true;
        }
      }
    }
  }

  /** Delivers one message, unless the link is cut or the receiver is down. */
  pass(message: Message): void {
    const { from, to } = message;
    const target = this.servers.get(to);
    const lost = target === undefined || this.down.has(to) || this.#cut.has(`${from}>${to}`);
    this.onMessage(message, !lost);
    if (message.type !== 'snapshot') {
      if (!lost) target.step(this.now, { type: 'message', message });
      return;
    }
    if (!lost) {
      target.step(this.now, { type: 'message', message });
      target.install(message.meta, from, this.now);
    }
    if (!this.down.has(from)) this.step(from, { type: 'snapshotSent', to, ok: !lost });
  }

  /** Makes `id` the leader at once, as a transfer would; retries with a higher term if need be. */
  elect(id: NodeId): Server {
    const server = this.get(id);
    for (let i = 0; server.role !== 'leader' && i < 5; i++) {
      const { term } = server.status;
      const message = { type: 'timeoutNow', from: 'the test', to: id, term } as const;
      this.step(id, { type: 'message', message });
      this.deliver();
    }
    if (server.role !== 'leader') throw new Error(`${id} was not elected`);
    return server;
  }

  /** Restarts `id` with another log. */
  give(id: NodeId, entries: readonly Entry[], term: number): Server {
    const server = this.get(id);
    server.crash(this.now, diskWith(entries, { term, votedFor: null }));
    return server;
  }

  propose(id: NodeId, ...texts: string[]): Output {
    const commands = texts.map((text) => {
      this.#proposals++;
      return { id: this.#proposals, data: new TextEncoder().encode(text) };
    });
    return this.step(id, { type: 'propose', commands });
  }

  change(id: NodeId, ...ids: string[]): Output {
    this.#proposals++;
    const change = configuration(...ids);
    return this.step(id, {
      type: 'changeConfiguration',
      id: this.#proposals,
      configuration: change,
    });
  }

  cut(from: NodeId, to: NodeId): void {
    this.#cut.add(`${from}>${to}`);
  }

  /** Cuts a server off from all others, both ways. */
  isolate(id: NodeId): void {
    for (const other of this.servers.keys()) {
      if (other === id) continue;
      this.cut(id, other);
      this.cut(other, id);
    }
  }

  heal(): void {
    this.#cut.clear();
  }

  crash(id: NodeId): void {
    this.get(id).crash(this.now);
    this.down.add(id);
  }

  restart(id: NodeId): void {
    this.down.delete(id);
    this.get(id).crash(this.now);
  }

  /** Compacts a server's log up to `keep` entries below its commit index. */
  compact(id: NodeId, keep = 0): SnapshotMeta {
    const server = this.get(id);
    const index = server.commit - keep;
    const { configuration: current } = server.status;
    const meta = { index, term: server.log.term(index)!, configuration: current };
    server.compact(meta);
    return meta;
  }
}
