/** One server over all its lives: the real core, replica and state machine on simulated ports. */

import type { Random } from '../../cluster/checker/random.js';
import { refusal } from '../../src/errors.js';
import { agree } from '../../src/node/agree.js';
import type { Answer } from '../../src/node/asks.js';
import {
  type Identity,
  introduced,
  introductions,
  nextStart,
  type Starts,
} from '../../src/node/identity.js';
import { LostState } from '../../src/node/lost-state.js';
import { Replica, type ReplicaLimits } from '../../src/node/replica.js';
import { POSITION_KEY, WRONG_KEY } from '../../src/node/snapshots.js';
import { createRaft } from '../../src/raft/raft.js';
import type {
  Configuration,
  Entry,
  Input,
  Message,
  NodeId,
  Output,
  RaftCore,
  RaftOptions,
  SnapshotMeta,
} from '../../src/raft/types.js';
import { levelOf } from '../../src/state/levels.js';
import { Machine, type MachineLimits } from '../../src/state/machine.js';
import type { PeerRecord } from '../../src/transport/types.js';
import { Bounds } from './bounds.js';
import { type DiskImage, LogContent, SimDisk, type SimLog } from './disk.js';
import type { Victim } from './faults.js';
import { HeldReaders } from './held-readers.js';
import { type Invariants, Violation } from './invariants.js';
import { Crash, SimLoop } from './loop.js';
import {
  type Cas,
  type MachineWatcher,
  NEW_PUT_LEVEL,
  type NewPut,
  type Put,
  SimMachine,
} from './machine.js';
import { LONG, type Timing } from './machine-faults.js';
import type { SimNetwork } from './network.js';
import type { Scheduler } from './scheduler.js';
import type { MemoryState, StateImage } from './store.js';
import type { Server, WriteOutcome } from './workload.js';

export interface ServerParts {
  readonly scheduler: Scheduler;
  readonly network: SimNetwork;
  readonly random: Random;
  readonly invariants: Invariants;
  readonly limits: () => ReplicaLimits;
  readonly machineLimits: MachineLimits;
  /** The keys on which readers are held, one each. */
  readonly readersOf: readonly string[];
  /** For so many milliseconds a lease may hold too long, for a cause that no server can see. */
  readonly doubtLeases: (ms: number) => void;
  readonly raft: Omit<RaftOptions, 'id' | 'random'>;
  /** Reports what must not happen; the world ends. */
  readonly violated: (violation: unknown) => void;
  readonly trace: (text: string) => void;
}

/** All that lives as long as the process. */
interface Life {
  readonly loop: SimLoop;
  readonly log: SimLog;
  readonly store: MemoryState;
  readonly machine: SimMachine;
  readonly replica: Replica;
  readonly lostState: LostState;
  readonly bounds: Bounds;
  readonly readers: HeldReaders;
  /** A snapshot is being taken in. */
  installing: boolean;
}

/** Milliseconds between two looks at the room on the disk, and between questions for a lost state. */
const LOOK_MS = 1000;
/** The load of a loop is looked at every so many turns. */
const TURNS_PER_LOOK = 16;
/** Batches that may wait for the disk: one for each message that may be on its way, and some for the votes. */
const STORING_MAX = 300;
/** More than the longest silence that a server promises, by a clock that runs fast. */
const LONG_SILENCE_MS = 1.05 * 50 * LONG.electionTicks;

const NO_START: Starts = { starts: 0, startId: '', earlier: [] };

export class SimServer implements Victim, Server {
  readonly id: NodeId;
  readonly disk: SimDisk;
  readonly #parts: ServerParts;
  readonly #rate: number;
  #life: Life | undefined;
  /** The process of the moment, be it that it is still starting. */
  #loop: SimLoop | undefined;
  /** What a founding member writes into an empty log. */
  founding: Configuration | undefined;
  /** The next snapshot that is switched in kills the process before the log follows. */
  halfInstall = false;
  #lives = 0;
  #requests = 0;
  /** Changes when the disk is another one. */
  #incarnation = 0;
  /** The starts of this disk, kept on it. */
  #starts: Starts = NO_START;
  #met = new Map<NodeId, PeerRecord>();
  #wiped = false;
  #retired = false;
  /** It takes no writes, having seen that the disk is almost full. */
  #atReserve = false;
  #filling = 0;
  /** The next put is stored wrongly. */
  #goesWrong = false;
  /** Its state differs from the others'. */
  #wrong = false;
  #wrongUntil = -1;
  /** It has been told so. */
  #told = false;
  /** When it last said that the states differ and nobody can tell which is right. */
  undecidedAt = -Infinity;
  /** As its configuration has it, from the next start on. */
  #timing: Timing | undefined;
  /** It does not start before: it may have promised a longer silence than its new timing has it keep. */
  #startNotBefore = 0;
  /** Of its program. */
  #release = 1;
  /** Until then its own lease may hold too long, for a cause that it cannot see. */
  #leaseDoubtUntil = Number.NEGATIVE_INFINITY;
  #image:
    | {
        readonly disk: DiskImage;
        readonly met: ReadonlyMap<NodeId, PeerRecord>;
        readonly starts: Starts;
      }
    | undefined;
  /** What this start found missing or wrong. */
  #startedLacking: string | undefined;
  /** Its state was lost, and neither made again from the log nor fetched. */
  #stateLost = false;

  constructor(id: NodeId, parts: ServerParts, rate: number) {
    this.id = id;
    this.#parts = parts;
    this.#rate = rate;
    this.disk = new SimDisk(parts.scheduler, parts.random.fork());
    parts.invariants.addServer(id, this.disk);
  }

  /** Writes the first configuration into an empty log, as every founding member does. */
  found(configuration: Configuration): void {
    this.founding = configuration;
    const entry: Entry = { kind: 'configuration', index: 1, term: 1, configuration };
    this.#parts.invariants.appending(this.id, new LogContent(), [entry], 1);
    this.disk.durable.hard = { term: 1, votedFor: null };
    this.disk.durable.entries.push(entry);
  }

  restart(): void {
    if (this.#loop || this.#retired) return;
    const { scheduler, random, invariants, trace } = this.#parts;
    if (scheduler.now < this.#startNotBefore) {
      scheduler.at(this.#startNotBefore, () => this.restart());
      return;
    }
    this.#lives++;
    this.#starts = nextStart(this.#starts, `${this.id}.${this.#lives}`);
    this.halfInstall = false;
    trace(`${this.id} starts, life ${this.#lives}`);
    const loop: SimLoop = new SimLoop({
      scheduler,
      rate: this.#rate,
      turnMs: () => 0.05 + random.next() * 0.4,
      onTurn: () => this.#turned(loop),
      onDeath: (cause) => this.#died(cause),
    });
    invariants.restarted(this.id);
    const watcher = {
      appending: (view: LogContent, entries: readonly Entry[], term: number) =>
        invariants.appending(this.id, view, entries, term),
      resetting: (view: LogContent, meta: SnapshotMeta) =>
        invariants.resetting(this.id, view, meta),
    };
    const { log, store } = this.disk.open(loop, watcher, () => this.#diskFailed(loop));
    this.#loop = loop;
    const guarded = (run: () => void): void => {
      try {
        run();
      } catch (cause) {
        this.#died(cause);
      }
    };
    const boot = (why: string | undefined): void =>
      guarded(() => this.#boot(loop, log, store, why));
    guarded(() => this.#agree(log, store, boot));
  }

  /** `lost`: why the state must come from the leader. */
  #boot(loop: SimLoop, log: SimLog, store: MemoryState, lost: string | undefined): void {
    const { random, scheduler, network, raft, trace } = this.#parts;
    const limits = this.#limits();
    const machine = this.#machine(store);
    const timing = { ...raft, ...this.#timing };
    const options = { ...timing, id: this.id, random: random.next };
    const core = createRaft(options, log, log.hardState(), loop.now());
    const replica = new Replica({
      id: this.id,
      core: this.#watched(core, log, timing),
      log,
      machine,
      clock: loop,
      limits,
      wire: network.wire(this.id, loop, (message) => this.#sent(message)),
      view: store,
      gate: (_view, _token, command) =>
        command.type === 'newPut' && this.#release < NEW_PUT_LEVEL
          ? refusal('invalid', 'unknown command')
          : undefined,
      levels: { supported: this.#release, commands: { newPut: NEW_PUT_LEVEL } },
      newId: () => `${this.id}.${this.#lives}.${++this.#requests}`,
      closedFor: () =>
        this.#atReserve ? refusal('no_space', 'the disk is almost full') : undefined,
      hasRoom: () => !this.#atReserve,
      onDiffers: (why) => this.#differs(store, why),
      onFault: () => this.#life?.readers.excuse(),
      onUndecided: (why) => {
        trace(`${this.id}: ${why}`);
        this.undecidedAt = scheduler.now;
      },
    });
    const lostState = new LostState({
      ...{ replica, clock: loop, againMs: LOOK_MS },
      arriving: () => this.#life?.installing ?? false,
    });
    const bounds = new Bounds(this.id, queueLimits(limits), machine.appliedIndex());
    const readers = this.#readers(loop, machine, replica);
    machine.machine.onReset(() => readers.excuse());
    const parts = { loop, log, store, machine, replica, lostState, bounds, readers };
    this.#life = { ...parts, installing: false };
    this.#startedLacking = lost;
    network.attach(this.id, {
      loop,
      identity: { ...this.#identity, address: `${this.id}:1` },
      records: this.#met,
      receive: (message) => replica.receive(message),
      request: (from, payload, reply) =>
        replica.asked(
          from,
          payload,
          bounds.once(() => `a question of ${from}`, reply),
        ),
      unreachable: (peer) => replica.driver.unreachable(peer),
      snapshotFor: (message) => this.#snapshotFor(message),
      installSnapshot: (message, image, done) => this.#install(message, image, done),
    });
    replica.start();
    if (lost === undefined) return;
    this.#parts.trace(`${this.id} has lost its state: ${lost}`);
    lostState.fetch(lost);
  }

  #limits(): ReplicaLimits {
    const limits = this.#parts.limits();
    const { electionTicks = this.#parts.raft.electionTicks } = this.#timing ?? {};
    return { ...limits, electionMs: electionTicks * limits.tickMs };
  }

  #readers(loop: SimLoop, machine: SimMachine, replica: Replica): HeldReaders {
    const { invariants, readersOf } = this.#parts;
    return new HeldReaders({
      ...{ id: this.id, keys: readersOf },
      watch: (keys, wake) => replica.watch(keys, wake),
      indexOf: (key) => {
        const { value } = machine.read(key);
        const isTrusted = value !== null && !this.#wrong && this.#wrongUntil < 0;
        return isTrusted ? invariants.indexOf(value) : undefined;
      },
      turns: () => loop.turns,
      isExcused: () => replica.fault !== undefined,
    });
  }

  /** After each turn of the process. Looking at some of them is enough to see what does not end. */
  #turned(loop: SimLoop): void {
    const life = this.#life;
    if (loop.turns % TURNS_PER_LOOK !== 0 || life?.loop !== loop) return;
    const { replica, machine, bounds, readers } = life;
    const { turns, causes } = loop;
    const { storing, pending } = replica.driver;
    const load = { applied: machine.appliedIndex(), storing, pending, held: replica.forward.size };
    try {
      bounds.turned(this.#parts.scheduler.now, { ...load, turns, causes });
      readers.turned();
    } catch (violation) {
      this.#parts.violated(violation);
    }
  }

  #machine(store: MemoryState): SimMachine {
    const { invariants, machineLimits, trace } = this.#parts;
    const watcher: MachineWatcher = {
      onEffect: (key, value, index) => {
        invariants.effect(key, value, index);
        this.#life?.readers.changed(key);
      },
      stored: (value) => {
        if (!this.#goesWrong) return value;
        this.#goesWrong = false;
        this.#wrong = true;
        trace(`${this.id} stores ${value} wrongly`);
        return `${value}?`;
      },
      applied: (entries, index, sum) => {
        invariants.applied(this.id, entries, index, sum, this.#wrong);
        this.#judge(index, sum);
      },
    };
    const machine = new SimMachine(store, watcher, machineLimits, this.#release);
    // a crash may have lost what had put it right
    if (this.#wrongUntil >= 0) this.#wrong = true;
    const { index, sums } = machine.machine.checksum();
    this.#judge(index, Object.values(sums).join());
    return machine;
  }

  /** A wrong state may come right: by a crash that loses what was wrong, by another write, or by the leader's. */
  #judge(index: number, sum: string): void {
    if (!this.#wrong || this.#parts.invariants.isRight(index, sum) !== true) return;
    this.#wrong = false;
    this.#wrongUntil = this.#parts.scheduler.now;
  }

  /** It was told that its state is wrong. Somebody starts it again, soon or later. */
  #differs(store: MemoryState, why: string): void {
    const { scheduler, random, trace } = this.#parts;
    if (!this.#wrong && this.#wrongUntil < 0)
      throw new Violation('equal states', `${this.id} is right, but told that ${why}`);
    trace(`${this.id} is told that ${why}`);
    store.commit([[WRONG_KEY, why]]);
    this.#told = true;
    const loop = this.#loop;
    scheduler.after(random.between(500, 5_000), () => {
      if (this.#loop !== loop) return;
      this.#end(false);
      this.restart();
    });
  }

  /** Nothing is sent or answered from here on, as in the product; then the process is gone, and started again. */
  #diskFailed(loop: SimLoop): void {
    const { scheduler, random, trace } = this.#parts;
    trace(`${this.id}: a write fails, the disk is full`);
    this.#life?.replica.driver.stop();
    scheduler.after(random.between(0, 50), () => {
      if (this.#loop !== loop) return;
      this.#end(false);
      scheduler.after(random.delay(500, 5_000, 0.2), () => this.restart());
    });
  }

  /** The core with every output looked at before anybody acts on it. */
  #watched(core: RaftCore, log: SimLog, options: ServerParts['raft']): RaftCore {
    const { scheduler, invariants } = this.#parts;
    let before = core.status();
    return {
      status: () => core.status(),
      accepts: (message) => core.accepts(message),
      step: (inputs: readonly Input[], at: number): Output => {
        const output = core.step(inputs, at);
        const { role, commit, configuration } = output;
        if (role || commit !== undefined) this.#tell(output, log);
        // what the checks look at changes only with these
        const changed = role || commit !== undefined || configuration;
        const after = changed ? core.status() : before;
        const { now } = scheduler;
        const isLeaseInDoubt = now <= this.#leaseDoubtUntil;
        const { content } = log;
        invariants.stepped(this.id, {
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

  #tell({ role, commit, entries }: Output, log: SimLog): void {
    const { trace } = this.#parts;
    if (role) trace(`${this.id} ${role.role} in term ${role.term}, leader ${role.leader}`);
    if (commit === undefined) return;
    const last = entries.at(-1) ?? { index: log.lastIndex(), term: log.term(log.lastIndex()) };
    trace(`${this.id} commits ${commit}, log ends at ${last.index} in term ${last.term}`);
  }

  #sent(message: Message): void {
    if (this.#life) this.#life.bounds.sent++;
    this.#parts.invariants.sent(message);
  }

  #snapshotFor(message: Message): { message: Message; image: StateImage } | undefined {
    const life = this.#life;
    if (!life || message.type !== 'snapshot') return undefined;
    // no comparison could tell who is right if a wrong state spread before it is found: here it does not
    if (this.isWrong) return undefined;
    if (life.machine.appliedIndex() !== message.meta.index)
      throw new Violation('snapshot is of its index', `${this.id} sends ${message.meta.index}`);
    const image = life.store.image();
    for (const own of [POSITION_KEY, WRONG_KEY]) image.delete(own);
    return { message, image };
  }

  /** Takes in a snapshot: verified and synced aside, then the state is switched, then the log follows. */
  #install(message: Message, image: StateImage, done: (ok: boolean) => void): void {
    const { scheduler, random, trace } = this.#parts;
    const life = this.#life;
    if (!life || message.type !== 'snapshot') return;
    const { loop, machine, replica, store, lostState } = life;
    const { meta } = message;
    // one at a time, as in the transport; what is not wanted is taken and thrown away
    if (life.installing || !replica.driver.wants(meta)) {
      done(!life.installing);
      return;
    }
    life.installing = true;
    store.giveUp();
    replica.driver.pauseApply();
    const whenVerified = (run: () => void): void => {
      scheduler.after(random.delay(40, 1500, 0.3), () =>
        this.disk.whenFree(() => loop.deliver(run)),
      );
    };
    whenVerified(() => {
      loop.port();
      if (this.disk.full) {
        this.disk.fail();
        return;
      }
      trace(`${this.id} installs a snapshot at ${meta.index}`);
      store.replace(new Map(image).set(POSITION_KEY, JSON.stringify(meta)));
      machine.machine.reload();
      lostState.found();
      this.#checkExchanged(meta, machine);
      if (this.halfInstall) loop.lightFuse(0);
      replica.switched(meta, message.from, () => {
        life.installing = false;
        done(true);
      });
    });
  }

  /** Log and state are brought to agree by the product's own start; `done` gets why the state must be fetched. */
  #agree(log: SimLog, store: MemoryState, done: (why: string | undefined) => void): void {
    if (this.disk.stateDamaged) {
      // nothing of it is shown; it stays damaged until the log or the leader has given another one
      store.replace(new Map());
      this.#stateLost = true;
      if (log.firstIndex() === 1) this.disk.stateDamaged = false;
    }
    agree(log, store, new Machine(store, {}, this.release, this.#parts.machineLimits), (gap) => {
      if (gap !== undefined && !this.#stateLost)
        this.#parts.violated(new Violation('log and state agree', `${this.id}: ${gap}`));
      else {
        // what is not lacking is all in the log
        if (gap === undefined) this.#stateLost = false;
        const wrong = store.get(WRONG_KEY);
        this.#told = wrong !== undefined;
        done(wrong ?? gap);
      }
    });
  }

  #checkExchanged(meta: SnapshotMeta, machine: SimMachine): void {
    const { invariants } = this.#parts;
    invariants.installed(this.id, meta);
    const { index, sums } = machine.machine.checksum();
    if (index !== meta.index)
      throw new Violation('snapshot is of its index', `${index} under the name ${meta.index}`);
    const sum = Object.values(sums).join();
    invariants.applied(this.id, [], index, sum);
    this.#judge(index, sum);
    this.#stateLost = false;
    this.disk.stateDamaged = false;
    this.#told = false;
  }

  #died(cause: unknown): void {
    if (cause instanceof Crash) {
      const { trace, scheduler, random } = this.#parts;
      trace(`${this.id} dies in the middle of a turn`);
      this.#end(random.chance(0.5));
      scheduler.after(random.delay(300, 8000, 0.2), () => this.restart());
    } else this.#parts.violated(cause);
  }

  #end(power: boolean): void {
    this.#life?.readers.stop();
    this.#loop?.kill();
    this.#loop = undefined;
    this.#life = undefined;
    this.#parts.network.detach(this.id);
    this.disk.crash(power);
  }

  // --- what faults do ---

  get up(): boolean {
    return this.#life !== undefined;
  }
  get leading(): boolean {
    return this.#life?.replica.driver.role.role === 'leader';
  }
  crash(power: boolean): void {
    if (this.#loop) this.#end(power);
  }
  lightFuse(calls: number): void {
    this.#life?.loop.lightFuse(calls);
  }
  stall(ms: number): void {
    this.#life?.loop.stall(ms);
  }
  damage(): void {
    this.#end(true);
    this.disk.damage();
  }
  get lacking(): boolean {
    return this.#wiped || this.disk.durable.bar !== undefined || this.isStateBad;
  }
  /** Its state is lost or wrong, or will be. */
  get isStateBad(): boolean {
    return (
      this.disk.stateDamaged || this.#stateLost || this.#goesWrong || this.isWrong || this.#told
    );
  }
  /** What is right at an index may have become known only after this server was there. */
  get isWrong(): boolean {
    const look = this.#wrong ? this.look() : undefined;
    if (look) this.#judge(look.applied, look.sum);
    return this.#wrong;
  }
  get wiped(): boolean {
    return this.#wiped;
  }
  fillDisk(atReserve: boolean, forMs: number): void {
    const { scheduler } = this.#parts;
    const filling = ++this.#filling;
    this.disk.full = !atReserve;
    const later = (ms: number, run: () => void): unknown =>
      scheduler.after(ms, () => {
        if (filling === this.#filling) run();
      });
    // it looks now and then, and hears nothing in between
    later(LOOK_MS, () => {
      this.#atReserve = true;
    });
    later(forMs, () => {
      this.disk.full = false;
    });
    later(forMs + LOOK_MS, () => {
      this.#atReserve = false;
    });
  }
  heal(): void {
    this.halfInstall = false;
    this.disk.unhang();
    this.#life?.loop.lightFuse(Number.POSITIVE_INFINITY);
    this.#filling++;
    this.disk.full = false;
    this.#atReserve = false;
    this.#goesWrong = false;
    this.restart();
  }
  /** Is told by a member, when it joins, as whom that one knows the others. */
  meets(by: SimServer): void {
    const seen = introduced(this.#identity, introductions(by.#identity));
    for (const [id, record] of Object.entries(seen)) this.#met.set(id, record);
  }
  wipe(): void {
    this.#end(true);
    this.disk.wipe();
    this.#wiped = true;
    this.#incarnation++;
    this.#starts = NO_START;
    this.#met = new Map();
    const { founding } = this;
    if (founding) this.found(founding);
  }
  get #identity(): Identity {
    return {
      ...{ v: 2, nodeId: this.id, begun: true, clusterId: 'simulated' },
      ...{ ...this.#starts, incarnation: String(this.#incarnation) },
      seen: Object.fromEntries(this.#met),
    };
  }
  /** Switched off for good. */
  retire(): void {
    this.#retired = true;
    this.crash(false);
  }
  damageState(): void {
    this.#end(true);
    this.disk.stateDamaged = true;
  }
  goWrong(): void {
    this.#goesWrong = true;
  }
  slowDisk(syncMs: number, forMs: number): void {
    const { temper } = this.disk;
    temper.syncMs = syncMs;
    this.#parts.scheduler.after(forMs, () => {
      temper.syncMs = 1;
    });
  }

  hangDisk(): void {
    this.disk.hang();
  }
  unhangDisk(): void {
    this.disk.unhang();
  }
  freeze(ms: number, withWall: boolean): void {
    this.#life?.loop.freeze(ms, withWall);
    if (!withWall) return;
    // a paused machine that is not told the time has no means to find its lease over
    const forMs = ms + 2 * LONG.leaseMs;
    this.#leaseDoubtUntil = Math.max(this.#leaseDoubtUntil, this.#parts.scheduler.now + forMs);
    this.#parts.doubtLeases(forMs);
  }
  retime(timing: Timing): void {
    this.#timing = timing;
    this.#startNotBefore = this.#parts.scheduler.now + LONG_SILENCE_MS;
  }
  upgrade(): void {
    this.#release = 2;
  }
  keepImage(): void {
    if (!this.#life) return;
    this.#image = { disk: this.disk.image(), met: new Map(this.#met), starts: this.#starts };
  }
  rollBack(): void {
    if (!this.#image) return;
    this.#end(true);
    this.disk.rollBack(this.#image.disk);
    this.#met = new Map(this.#image.met);
    this.#starts = this.#image.starts;
    // it is to be known as one that has lost something, and to be replaced like a wiped one
    this.#wiped = true;
  }

  // --- what clients and operators ask ---

  /** The newest release whose commands it takes. */
  get release(): number {
    return this.#release;
  }
  /** The level in force, as this server has applied it; 0 while it is down. */
  get level(): number {
    return this.#life ? levelOf(this.#life.store) : 0;
  }
  /** How often its disk was started from. */
  get starts(): number {
    return this.#starts.starts;
  }
  /** Requests that have no outcome yet. */
  get unanswered(): number {
    return this.#life?.bounds.open ?? 0;
  }
  /** What this start found missing or wrong, or what has gone wrong since. */
  get startedLacking(): string | undefined {
    return this.#startedLacking ?? this.fault;
  }

  /** It may have shown something wrong at `since` or after. */
  wasWrong(since: number): boolean {
    return this.#wrong || this.#wrongUntil >= since;
  }
  /** Why it does not serve, if it does not. */
  get fault(): string | undefined {
    return this.#life?.replica.fault;
  }
  /** For whoever reads of a violation. */
  condition(): string {
    const life = this.#life;
    const state = this.isWrong ? 'wrong' : this.isStateBad ? 'lacking' : 'right';
    const { role = 'down', term = 0 } = life?.replica.driver.role ?? {};
    const applied = life?.machine.appliedIndex();
    return `${this.id} ${role} in term ${term}, state ${state} at ${applied}, fault ${this.fault}`;
  }
  /** The configurations that may be in force, as this server has them. */
  configurations(): Configuration[] {
    const { durable } = this.disk;
    const newest = durable.entries.findLast((entry) => entry.kind === 'configuration');
    const stored = newest
      ? (newest as { configuration: Configuration }).configuration
      : durable.meta?.configuration;
    const known = this.#life?.replica.driver.status().configuration;
    return [stored, known].filter((each) => each !== undefined);
  }

  visit(run: () => void): void {
    this.#life?.loop.deliver(run);
  }
  write(
    command: Put | Cas | NewPut,
    timeoutMs: number,
    done: (outcome: WriteOutcome) => void,
  ): void {
    const life = this.#life;
    life?.loop.deliver(() => {
      const once = life.bounds.once(() => `the write of ${command.value}`, done);
      life.replica.write({ tokenKey: null, command, timeoutMs }, once);
    });
  }
  barrier(
    mode: 'default' | 'consistent',
    timeoutMs: number,
    done: (passed: boolean) => void,
  ): void {
    const life = this.#life;
    life?.loop.deliver(() => {
      const once = life.bounds.once(() => `a ${mode} read`, done);
      life.replica.barrier(mode, timeoutMs, (why) => once(why === undefined));
    });
  }
  read(key: string): { value: string | null; index: number } {
    return this.#life!.machine.read(key);
  }
  administer(
    ask: Parameters<Replica['administer']>[0],
    timeoutMs: number,
    done: (answer: Answer) => void,
  ): void {
    const life = this.#life;
    life?.loop.deliver(() => {
      const once = life.bounds.once(() => `an order to ${ask.type}`, done);
      life.replica.administer(ask, timeoutMs, once);
    });
  }

  /** Facts for the world's last look; undefined while down. */
  look():
    | { applied: number; commit: number; configuration: Configuration; sum: string }
    | undefined {
    const life = this.#life;
    if (!life) return undefined;
    const { commit, configuration } = life.replica.driver.status();
    const { index, sums } = life.machine.machine.checksum();
    return { applied: index, commit, configuration, sum: Object.values(sums).join() };
  }
}

/** Of what a server may have waiting: what it is told to refuse beyond, and a change of members. */
const queueLimits = ({ pendingMax, heldMax }: ReplicaLimits) => ({
  storing: STORING_MAX,
  pending: pendingMax + 1,
  held: heldMax,
});
