/** One process of a server: the real core, replica and state machine on simulated ports. */
import { refusal } from '../../src/base/errors.js';
import { peerRecords, wireHandlers } from '../../src/node/wire-handlers.js';
import { ticksOfSilence } from '../../src/raft/options.js';
import { createRaft } from '../../src/raft/raft.js';
import type { Configuration, Input, Output, RaftCore } from '../../src/raft/types.js';
import { Replica } from '../../src/replica/replica.js';
import type { RpcRequest, RpcResponse } from '../../src/replica/rpc-codec.js';
import { DIVERGED_KEY } from '../../src/state/keys.js';
import { levelOf } from '../../src/state/levels.js';
import type { Command } from '../../src/state/types.js';
import { isBelieved } from '../../src/transport/hello-checks.js';
import type { ChunkSource, WireHandlers } from '../../src/transport/types.js';
import { Bounds, queueLimits } from './bounds.js';
import { HeldReaders } from './held-readers.js';
import type { Host } from './host.js';
import { Violation } from './invariants.js';
import { gateOf } from './judged-writes.js';
import type { SimLoop } from './loop.js';
import type { SimMachine } from './machine.js';
import { type ProcessWire, recordsOf } from './network.js';
import type { ServerParts } from './parts.js';
import { levelsOf } from './releases.js';
import { ServiceReaders } from './service-readers.js';
import { Snapshots } from './snapshots.js';
import type { Storage } from './storage.js';
import type { Done } from './workload.js';

export interface LifeParts {
  readonly host: Host;
  readonly loop: SimLoop;
  readonly storage: Storage;
  readonly newId: () => string;
  /** Called when its state was found to be wrong: somebody restarts the server some time later. */
  readonly restartLater: () => void;
  /** Called when states differ and nobody can tell which one is right. */
  readonly undecided: (why: string) => void;
}

/** Position and state of a server, which the world compares. */
export interface Look {
  readonly applied: number;
  readonly commit: number;
  readonly configuration: Configuration;
  readonly sum: string;
}

/** Turns of the loop between two checks of its load. */
const TURNS_PER_LOOK = 16;
/** Bytes of keys and values in a chunk of a snapshot: the states here are small. */
const CHUNK_BYTES = 200;
export class Life {
  readonly loop: SimLoop;
  readonly replica: Replica;
  /** Why the state must come from the leader, as this start found. */
  readonly lost: string | undefined;
  readonly #world: ServerParts;
  readonly #parts: LifeParts;
  readonly #machine: SimMachine;
  readonly #bounds: Bounds;
  readonly #readers: HeldReaders;
  readonly #queries: ServiceReaders | undefined;
  readonly #electionMs: number;
  readonly #snapshots: Snapshots;
  readonly #wire: ProcessWire;
  readonly #records: ReturnType<typeof peerRecords>;
  /** States that are being sent. */
  readonly #sources = new Set<ChunkSource>();
  #isStopped = false;

  constructor(world: ServerParts, parts: LifeParts) {
    const { host, loop, storage } = parts;
    const { log, store, machine, identity, silenceMs, lost } = storage;
    const { raft, network, random, trace, decided } = world;
    const { id, release } = host;
    this.#world = world;
    this.#parts = parts;
    this.loop = loop;
    this.lost = lost;
    const timing = { ...raft, ...host.timing };
    const limits = world.limits();
    this.#electionMs = timing.electionTicks * limits.tickMs;
    this.#machine = machine;
    const promisedTicks = ticksOfSilence(silenceMs.owed, timing.tickMs);
    const options = { ...timing, promisedTicks, id, random: random.next, trace: decided?.(id) };
    const core = createRaft(options, log, log.hardState(), loop.now());
    const replica = (): Replica => this.replica;
    this.#snapshots = new Snapshots({ world, host, storage, replica });
    this.#records = peerRecords(replica, () => network.bindsProofs);
    this.#wire = this.#connect();
    const held = { log, machine, identity, clock: loop, view: store };
    this.replica = new Replica({
      id,
      name: id,
      address: host.address,
      core: this.#watched(core, timing),
      ports: { ...held, wire: this.#wire, newId: parts.newId, random: random.next },
      reports: {
        onJoining: (_level, what) => trace(`${id}: ${what}`),
        onDiffers: (why) => this.#differs(why),
        onFault: () => this.#readers.excuse(),
        onUndecided: parts.undecided,
      },
      isBehind: storage.isBehind,
      records: () => store.size,
      isBelieved: (joiner) => isBelieved(this.#records, joiner),
      trace: options.trace,
      limits: { ...limits, electionMs: this.#electionMs },
      gate: gateOf(release, world.rights?.judged, () => machine.appliedIndex()),
      levels: levelsOf(release, world.releases.hasLevels),
      closedFor: () => (host.atReserve ? refusal('no_space', 'the disk is full') : undefined),
      hasRoom: () => !host.atReserve,
      erase: storage.erase,
    });
    const queues = { ...queueLimits(limits), sending: network.queueBytesMax };
    this.#bounds = new Bounds(id, queues, machine.appliedIndex());
    this.#readers = this.#holdReaders();
    this.#queries = this.#createQueries();
    machine.machine.onReset(() => {
      this.#readers.excuse();
      this.#snapshots.checkInstalled();
    });
  }

  /** Starts to listen and to send. */
  start(): void {
    const { replica, lost } = this;
    const { host, storage } = this.#parts;
    const { silenceMs } = storage;
    this.#wire.start();
    if (lost !== undefined) this.#world.trace(`${host.id} has lost its state: ${lost}`);
    replica.start({ needsState: lost, silenceMs, join: this.#world.joinAddresses() });
    this.#queries?.start();
  }

  /** Transfers leadership, then ends the requests of clients. */
  shutDown(done: () => void): void {
    const { loop, replica } = this;
    loop.deliver(() =>
      replica.handOver(2 * this.#electionMs, () => {
        this.#isStopped = true;
        replica.stop();
        this.#wire.stop(done);
      }),
    );
  }

  #connect(): ProcessWire {
    const { host, loop } = this.#parts;
    return this.#world.network.connect({
      id: host.id,
      machine: host.machine,
      loop,
      handlers: this.#handlers(),
      identity: () => ({ ...host.identity, address: host.address }),
      records: recordsOf(this.#records, this.#world.isMember),
      stored: (peer) => this.#parts.storage.storedSeen()[peer],
      sent: (message) => {
        this.#bounds.sent++;
        this.#world.invariants.sent(message);
      },
      snapshotFor: (message) => (this.isWrong ? undefined : this.#snapshots.imageFor(message)),
      installSnapshot: (message, image, done) => this.#snapshots.installImage(message, image, done),
    });
  }

  /** The product's handlers; each request must have one outcome. */
  #handlers(): Required<WireHandlers> {
    const { loop, storage, newId } = this.#parts;
    const handlers = wireHandlers({
      replica: () => this.replica,
      store: { pin: () => storage.store.pin(), install: () => this.#snapshots.install() },
      take: (run) => {
        if (!this.#isStopped) loop.guard(run);
      },
      hasStopped: () => this.#isStopped,
      newId,
      chunkBytes: CHUNK_BYTES,
    });
    return {
      ...handlers,
      onRequest: (from, payload, reply) => {
        const once = this.#bounds.once(() => `a question of ${from}`, reply);
        handlers.onRequest(from, payload, once);
      },
      onJoinRequest: (joiner, payload, reply) => {
        const once = this.#bounds.once(() => `${joiner.nodeId}, which asks to join`, reply);
        handlers.onJoinRequest(joiner, payload, once);
      },
      snapshotSource: (to, message) => {
        // if a wrong state spread before it is found, no comparison could tell who is right
        if (message.type !== 'snapshot' || this.isWrong) return undefined;
        this.#snapshots.checkSent(message.meta);
        const source = handlers.snapshotSource(to, message);
        if (source === undefined) return undefined;
        this.#sources.add(source);
        return {
          id: source.id,
          chunk: (number) => source.chunk(number),
          close: () => {
            this.#sources.delete(source);
            source.close();
          },
        };
      },
      snapshotSink: async (message, id) => {
        loop.touch();
        const sink = await handlers.snapshotSink(message, id);
        const from = sink === undefined ? 'refuses' : `takes from chunk ${sink.next} the`;
        this.#world.trace(`${this.#parts.host.id} ${from} snapshot ${id}`);
        return sink;
      },
    };
  }

  /** Whether the wire may wait for promises. */
  get #hasPromises(): boolean {
    if (this.#world.network.kind === 'messages') return false;
    return this.#isStopped || this.#sources.size > 0 || this.replica.incomingSnapshot.isArriving;
  }

  /** Ends the process at once. */
  end(): void {
    this.#readers.stop();
    this.#queries?.stop();
    this.loop.kill();
  }

  /** Answers queries of rights, where the servers know the product's commands. */
  get feed() {
    return this.#queries!.feed;
  }

  /** Tells the readers that a register has changed here. */
  changed(key: string): void {
    this.#readers.changed(key);
  }

  /** Called after each turn. Checking some of them is enough to find what does not end. */
  turned(): void {
    if (this.#hasPromises) this.loop.touch();
    const { turns, causes, arrivals } = this.loop;
    if (turns % TURNS_PER_LOOK !== 0) return;
    const { loop, clientWrites } = this.replica;
    const { storing, pending } = loop;
    const applied = this.#machine.appliedIndex();
    const sending = this.#wire.waitingBytes();
    const held = clientWrites.size;
    const load = { turns, causes, arrivals, applied, storing, pending, held, sending };
    try {
      this.#bounds.turned(this.#world.scheduler.now, load);
      this.#readers.turned();
      this.#queries?.turned();
    } catch (violation) {
      this.#world.violated(violation);
    }
  }

  #holdReaders(): HeldReaders {
    const { invariants, readersOf } = this.#world;
    const { host } = this.#parts;
    return new HeldReaders({
      ...{ id: host.id, keys: readersOf },
      watch: (keys, wake) => this.replica.watch(keys, wake),
      indexOf: (key) => {
        const { value } = this.#machine.read(key);
        const isTrusted = value !== null && !host.everWrong;
        return isTrusted ? invariants.indexOf(value) : undefined;
      },
      turns: () => this.loop.turns,
      isExcused: () => this.replica.fault !== undefined,
    });
  }

  #createQueries(): ServiceReaders | undefined {
    const { hasProduct, violated, rights } = this.#world;
    if (!hasProduct) return undefined;
    const { host, loop, storage } = this.#parts;
    const { machine } = this.#machine;
    return new ServiceReaders({
      id: host.id,
      loop,
      storage,
      machine,
      replica: () => this.replica,
      violated,
      rights,
      everWrong: () => host.everWrong,
    });
  }

  /** Handles the message that its state is wrong. */
  #differs(why: string): void {
    const { host, storage, restartLater } = this.#parts;
    if (!host.everWrong)
      throw new Violation('equal states', `${host.id} is right, but told that ${why}`);
    this.#world.trace(`${host.id} is told that ${why}`);
    storage.store.commit([[DIVERGED_KEY, why]]);
    host.told = true;
    restartLater();
  }

  /** Wraps the core, so that the invariants see every output before it takes effect. */
  #watched(core: RaftCore, options: ServerParts['raft']): RaftCore {
    const { scheduler, invariants } = this.#world;
    const { host } = this.#parts;
    const { log } = this.#parts.storage;
    let before = core.status();
    return {
      status: () => core.status(),
      accepts: (message) => core.accepts(message),
      restTicks: () => core.restTicks(),
      step: (inputs: readonly Input[], at: number): Output => {
        const output = core.step(inputs, at);
        const { role, commit, configuration } = output;
        if (role || commit !== undefined) this.#tell(output);
        // the status changes only with these
        const changed = role || commit !== undefined || configuration;
        const after = changed ? core.status() : before;
        const { now } = scheduler;
        const { isLeaseInDoubt } = host;
        invariants.stepped(host.id, {
          inputs,
          output,
          before,
          after,
          log: log.content,
          options,
          now,
          isLeaseInDoubt,
        });
        before = after;
        return output;
      },
    };
  }

  #tell({ role, commit, entries }: Output): void {
    const { trace } = this.#world;
    const { host } = this.#parts;
    const { log } = this.#parts.storage;
    if (role) trace(`${host.id} ${role.role} in term ${role.term}, leader ${role.leader}`);
    if (commit === undefined) return;
    const last = entries.at(-1) ?? { index: log.lastIndex(), term: log.term(log.lastIndex()) };
    trace(`${host.id} commits ${commit}, log ends at ${last.index} in term ${last.term}`);
  }

  /** Whether its state is wrong: the right one may have become known only later. */
  get isWrong(): boolean {
    const { host } = this.#parts;
    if (host.wrong) {
      const { applied, sum } = this.look();
      host.judge(applied, sum);
    }
    return host.wrong;
  }
  /** Whether it belongs to a cluster. */
  get hasJoined(): boolean {
    return this.#parts.storage.identity.get().clusterId !== null;
  }
  /** The level in force, as this server has applied it. */
  get level(): number {
    return levelOf(this.#parts.storage.store);
  }
  /** Requests that have no outcome yet. */
  get unanswered(): number {
    return this.#bounds.open;
  }
  look(): Look {
    const { commit, configuration } = this.replica.loop.status();
    const { index, sums } = this.#machine.machine.checksum();
    return { applied: index, commit, configuration, sum: Object.values(sums).join() };
  }
  read(key: string): { value: string | null; index: number } {
    return this.#machine.read(key);
  }

  write(command: Command, timeoutMs: number, done: Done, tokenKey: string | null = null): void {
    this.loop.deliver(() => {
      const once = this.#bounds.once(() => `the write of ${JSON.stringify(command)}`, done);
      this.replica.write({ tokenKey, command, timeoutMs }, once);
    });
  }
  barrier(
    mode: 'default' | 'consistent',
    timeoutMs: number,
    done: (passed: boolean) => void,
  ): void {
    this.loop.deliver(() => {
      const once = this.#bounds.once(() => `a ${mode} read`, done);
      this.replica.barrier(mode, timeoutMs, (why) => once(why === undefined));
    });
  }
  administer(ask: RpcRequest, timeoutMs: number, done: (answer: RpcResponse) => void): void {
    this.loop.deliver(() => {
      const once = this.#bounds.once(() => `an order to ${ask.type}`, done);
      this.replica.rpc.callLeader(ask, timeoutMs, once);
    });
  }
}
