/** One process of a server: the real core, replica and state machine on simulated ports. */
import { refusal } from '../../src/errors.js';
import { silenceMsOf, ticksOfSilence } from '../../src/raft/options.js';
import { createRaft } from '../../src/raft/raft.js';
import type {
  Configuration,
  Input,
  Message,
  Output,
  RaftCore,
  SnapshotMeta,
} from '../../src/raft/types.js';
import type { ReplicaLimits } from '../../src/replica/options.js';
import { Replica } from '../../src/replica/replica.js';
import type { RpcRequest, RpcResponse } from '../../src/replica/rpc.js';
import type { TransferEvents } from '../../src/replica/state/incoming-snapshot.js';
import { DIVERGED_KEY, POSITION_KEY } from '../../src/state/keys.js';
import { levelOf } from '../../src/state/levels.js';
import { checkRecord } from '../../src/transport/handshake.js';
import { Bounds } from './bounds.js';
import type { SimLog } from './disk.js';
import { HeldReaders } from './held-readers.js';
import type { Host } from './host.js';
import { Violation } from './invariants.js';
import type { SimLoop } from './loop.js';
import {
  type Cas,
  type MachineWatcher,
  NEW_PUT_LEVEL,
  type NewPut,
  type Put,
  SimMachine,
} from './machine.js';
import type { ServerParts } from './parts.js';
import type { MemoryState, StateImage } from './store.js';
import type { WriteOutcome } from './workload.js';

export interface LifeParts {
  readonly host: Host;
  readonly loop: SimLoop;
  readonly log: SimLog;
  readonly store: MemoryState;
  readonly newId: () => string;
  /** Its state was found to be wrong: somebody starts the server again, soon or later. */
  readonly restartLater: () => void;
  /** The states differ and nobody can tell which is right. */
  readonly undecided: () => void;
}

/** Facts for the world's last look. */
export interface Look {
  readonly applied: number;
  readonly commit: number;
  readonly configuration: Configuration;
  readonly sum: string;
}

/** The load of a loop is looked at every so many turns. */
const TURNS_PER_LOOK = 16;
/** Batches that may wait for the disk: one for each message that may be on its way, and some for the votes. */
const STORING_MAX = 300;

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
  readonly #electionMs: number;
  #snapshots = 0;
  /** The position of the snapshot that is being switched in. */
  #arriving: SnapshotMeta | undefined;
  readonly #silenceMs: { readonly own: number; readonly owed: number };

  constructor(world: ServerParts, parts: LifeParts, lost: string | undefined) {
    const { host, loop, log, store } = parts;
    const { raft, network, random, trace, decided } = world;
    const { id, release } = host;
    this.#world = world;
    this.#parts = parts;
    this.loop = loop;
    this.lost = lost;
    const timing = { ...raft, ...host.timing };
    const limits = world.limits();
    const electionMs = timing.electionTicks * limits.tickMs;
    this.#electionMs = electionMs;
    const machine = this.#openMachine();
    this.#machine = machine;
    this.#silenceMs = this.#silence(timing);
    const promisedTicks = ticksOfSilence(this.#silenceMs.owed, timing.tickMs);
    const options = { ...timing, promisedTicks, id, random: random.next, trace: decided?.(id) };
    const core = createRaft(options, log, log.hardState(), loop.now());
    this.replica = new Replica({
      ...{ id, name: id, address: `${id}:1`, log, machine, clock: loop, view: store },
      identity: { get: () => host.identity, save: (change) => host.save(change) },
      newId: parts.newId,
      isBelieved: (joiner) =>
        checkRecord(this.replica.knownServers, joiner, undefined) === undefined,
      onJoining: (_level, what) => trace(`${id}: ${what}`),
      core: this.#watched(core, timing),
      trace: options.trace,
      limits: { ...limits, electionMs },
      wire: network.wire(id, loop, (message) => this.#sent(message)),
      gate: (_view, _token, command) =>
        command.type === 'newPut' && release < NEW_PUT_LEVEL
          ? refusal('invalid', 'unknown command')
          : undefined,
      levels: { supported: release, commands: { newPut: NEW_PUT_LEVEL } },
      closedFor: () =>
        host.atReserve ? refusal('no_space', 'the disk is almost full') : undefined,
      hasRoom: () => !host.atReserve,
      onDiffers: (why) => this.#differs(why),
      onFault: () => this.#readers.excuse(),
      onUndecided: (why) => {
        trace(`${id}: ${why}`);
        parts.undecided();
      },
    });
    this.#bounds = new Bounds(id, queueLimits(limits), machine.appliedIndex());
    this.#readers = this.#holdReaders();
    machine.machine.onReset(() => {
      this.#readers.excuse();
      this.#checkExchanged();
    });
  }

  /** From here on it hears and is heard. */
  start(): void {
    const { replica, lost } = this;
    const { host, loop } = this.#parts;
    const { network, trace } = this.#world;
    network.attach(host.id, {
      loop,
      identity: () => ({ ...host.identity, address: `${host.id}:1` }),
      records: replica.knownServers,
      receive: (message) => replica.receive(message),
      request: (from, payload, reply) =>
        replica.rpc.receive(
          from,
          payload,
          this.#bounds.once(() => `a question of ${from}`, reply),
        ),
      join: (joiner, payload, reply) =>
        replica.join.receive(
          joiner,
          payload,
          this.#bounds.once(() => `${joiner.nodeId}, which asks to join`, reply),
        ),
      unreachable: (peer) => replica.loop.unreachable(peer),
      snapshotFor: (message) => this.#snapshotFor(message),
      installSnapshot: (message, image, done) => this.#install(message, image, done),
    });
    if (lost !== undefined) trace(`${host.id} has lost its state: ${lost}`);
    const join = this.#world.joinAddresses();
    replica.start({ needsState: lost, silenceMs: this.#silenceMs, join });
  }

  /** Hands leadership over, then ends what clients wait for. */
  shutDown(done: () => void): void {
    const { loop, replica } = this;
    loop.deliver(() =>
      replica.handOver(2 * this.#electionMs, () => {
        replica.stop();
        done();
      }),
    );
  }

  /** It is over: what it still does is nobody's concern. */
  end(): void {
    this.#readers.stop();
    this.loop.kill();
  }

  /** The silence that this start promises, and the longest that an earlier one may still owe. */
  #silence(timing: ServerParts['raft']): { own: number; owed: number } {
    const { host } = this.#parts;
    const own = silenceMsOf(timing);
    const owed = Math.max(host.identity.silenceMs ?? 0, own);
    host.save({ silenceMs: owed });
    return { own, owed };
  }

  /** After each turn of the process. Looking at some of them is enough to see what does not end. */
  turned(): void {
    const { turns, causes } = this.loop;
    if (turns % TURNS_PER_LOOK !== 0) return;
    const { loop, clientWrites } = this.replica;
    const { storing, pending } = loop;
    const applied = this.#machine.appliedIndex();
    const load = { turns, causes, applied, storing, pending, held: clientWrites.size };
    try {
      this.#bounds.turned(this.#world.scheduler.now, load);
      this.#readers.turned();
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

  #openMachine(): SimMachine {
    const { invariants, machineLimits } = this.#world;
    const { host, store } = this.#parts;
    const watcher: MachineWatcher = {
      onEffect: (key, value, index) => {
        invariants.effect(key, value, index);
        this.#readers.changed(key);
      },
      stored: (value, index) => host.stored(value, index),
      applied: (entries, index, sum) => {
        invariants.applied(host.id, entries, index, sum, host.wrong);
        host.judge(index, sum);
      },
    };
    const machine = new SimMachine(store, watcher, machineLimits, host.release);
    // a crash may have lost what had put it right
    host.reopened();
    const { index, sums } = machine.machine.checksum();
    host.judge(index, Object.values(sums).join());
    return machine;
  }

  /** It was told that its state is wrong. */
  #differs(why: string): void {
    const { host, store, restartLater } = this.#parts;
    if (!host.everWrong)
      throw new Violation('equal states', `${host.id} is right, but told that ${why}`);
    this.#world.trace(`${host.id} is told that ${why}`);
    store.commit([[DIVERGED_KEY, why]]);
    host.told = true;
    restartLater();
  }

  /** The core with every output looked at before anybody acts on it. */
  #watched(core: RaftCore, options: ServerParts['raft']): RaftCore {
    const { scheduler, invariants } = this.#world;
    const { host, log } = this.#parts;
    let before = core.status();
    return {
      status: () => core.status(),
      accepts: (message) => core.accepts(message),
      step: (inputs: readonly Input[], at: number): Output => {
        const output = core.step(inputs, at);
        const { role, commit, configuration } = output;
        if (role || commit !== undefined) this.#tell(output);
        // what the checks look at changes only with these
        const changed = role || commit !== undefined || configuration;
        const after = changed ? core.status() : before;
        const { now } = scheduler;
        const { isLeaseInDoubt } = host;
        const { content } = log;
        invariants.stepped(host.id, {
          inputs,
          output,
          before,
          after,
          log: content,
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
    const { log, host } = this.#parts;
    if (role) trace(`${host.id} ${role.role} in term ${role.term}, leader ${role.leader}`);
    if (commit === undefined) return;
    const last = entries.at(-1) ?? { index: log.lastIndex(), term: log.term(log.lastIndex()) };
    trace(`${host.id} commits ${commit}, log ends at ${last.index} in term ${last.term}`);
  }

  #sent(message: Message): void {
    this.#bounds.sent++;
    this.#world.invariants.sent(message);
  }

  #snapshotFor(message: Message): { message: Message; image: StateImage } | undefined {
    if (message.type !== 'snapshot') return undefined;
    const { host, store } = this.#parts;
    // no comparison could tell who is right if a wrong state spread before it is found: here it does not
    if (this.isWrong) return undefined;
    if (this.#machine.appliedIndex() !== message.meta.index)
      throw new Violation('snapshot is of its index', `${host.id} sends ${message.meta.index}`);
    const image = store.image();
    for (const own of [POSITION_KEY, DIVERGED_KEY]) image.delete(own);
    return { message, image };
  }

  /** Takes in a snapshot: verified and synced aside, then the state is switched, then the log follows. */
  #install(message: Message, image: StateImage, done: (ok: boolean) => void): void {
    const { scheduler, random, trace } = this.#world;
    if (message.type !== 'snapshot') return;
    const { host, loop, store } = this.#parts;
    const { replica } = this;
    const { disk } = host;
    const { meta } = message;
    const { incomingSnapshot } = replica;
    const id = String(++this.#snapshots);
    let events: TransferEvents | undefined;
    // the chunks are all here, and are verified
    const transfer = { id, next: 0, isWriting: true, isFinishing: true, abort: () => {} };
    incomingSnapshot.accept(message, id, (its) => {
      events = its;
      return transfer;
    });
    // one at a time; what is not wanted is taken and thrown away
    if (events?.begin() !== true) {
      done(!incomingSnapshot.isArriving);
      return;
    }
    const { installed, ended } = events;
    store.giveUp();
    const whenVerified = (run: () => void): void => {
      scheduler.after(random.delay(40, 1500, 0.3), () => disk.whenFree(() => loop.deliver(run)));
    };
    whenVerified(() => {
      loop.port();
      if (disk.full) {
        disk.fail();
        return;
      }
      trace(`${host.id} installs a snapshot at ${meta.index}`);
      this.#arriving = meta;
      store.replace(new Map(image).set(POSITION_KEY, JSON.stringify(meta)));
      if (host.halfInstall) loop.lightFuse(0);
      installed(() => {
        ended();
        done(true);
      });
    });
  }

  #checkExchanged(): void {
    const meta = this.#arriving;
    if (meta === undefined) return;
    this.#arriving = undefined;
    const { invariants } = this.#world;
    const { host } = this.#parts;
    invariants.installed(host.id, meta);
    const { index, sums } = this.#machine.machine.checksum();
    if (index !== meta.index)
      throw new Violation('snapshot is of its index', `${index} under the name ${meta.index}`);
    const sum = Object.values(sums).join();
    invariants.applied(host.id, [], index, sum);
    host.judge(index, sum);
    host.replaced();
  }

  // --- what is seen of it ---

  /** What is right at an index may have become known only after this server was there. */
  get isWrong(): boolean {
    const { host } = this.#parts;
    if (host.wrong) {
      const { applied, sum } = this.look();
      host.judge(applied, sum);
    }
    return host.wrong;
  }
  /** The level in force, as this server has applied it. */
  get level(): number {
    return levelOf(this.#parts.store);
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

  // --- what clients and operators ask ---

  write(
    command: Put | Cas | NewPut,
    timeoutMs: number,
    done: (outcome: WriteOutcome) => void,
  ): void {
    this.loop.deliver(() => {
      const once = this.#bounds.once(() => `the write of ${command.value}`, done);
      this.replica.write({ tokenKey: null, command, timeoutMs }, once);
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

/** Of what a server may have waiting: what it is told to refuse beyond, and a change of members. */
const queueLimits = ({ pendingWrites, waitingWrites }: ReplicaLimits) => ({
  storing: STORING_MAX,
  pending: pendingWrites + 1,
  held: waitingWrites,
});
