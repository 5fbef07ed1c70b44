/** One server over all its lives: the real core, replica and state machine on simulated ports. */

import type { Random } from '../../cluster/checker/random.js';
import type { Answer } from '../../src/node/asks.js';
import { Replica, type ReplicaLimits } from '../../src/node/replica.js';
import { POSITION_KEY } from '../../src/node/snapshots.js';
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
  RaftStatus,
  SnapshotMeta,
} from '../../src/raft/types.js';
import { Machine } from '../../src/state/machine.js';
import { LogContent, SimDisk, type SimLog } from './disk.js';
import type { Victim } from './faults.js';
import { type Invariants, Violation } from './invariants.js';
import { Crash, SimLoop } from './loop.js';
import { type Cas, type Put, SimMachine } from './machine.js';
import type { SimNetwork } from './network.js';
import type { Scheduler } from './scheduler.js';
import type { MemoryState, StateImage } from './store.js';
import type { Server, WriteOutcome } from './workload.js';

export interface ServerParts {
  readonly scheduler: Scheduler;
  readonly network: SimNetwork;
  readonly random: Random;
  readonly invariants: Invariants;
  readonly limits: ReplicaLimits;
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
  /** A snapshot is being taken in. */
  installing: boolean;
}

export class SimServer implements Victim, Server {
  readonly id: NodeId;
  readonly disk: SimDisk;
  readonly #parts: ServerParts;
  readonly #rate: number;
  #life: Life | undefined;
  /** The process of the moment, be it that it is still starting. */
  #loop: SimLoop | undefined;
  /** The next snapshot that is switched in kills the process before the log follows. */
  halfInstall = false;
  #lives = 0;
  #requests = 0;

  constructor(id: NodeId, parts: ServerParts, rate: number) {
    this.id = id;
    this.#parts = parts;
    this.#rate = rate;
    this.disk = new SimDisk(parts.scheduler, parts.random.fork());
    parts.invariants.addServer(id, this.disk);
  }

  /** Writes the first configuration into an empty log, as every founding member does. */
  found(configuration: Configuration): void {
    const entry: Entry = { kind: 'configuration', index: 1, term: 1, configuration };
    this.#parts.invariants.appending(this.id, new LogContent(), [entry], 1);
    this.disk.durable.hard = { term: 1, votedFor: null };
    this.disk.durable.entries.push(entry);
  }

  restart(): void {
    if (this.#loop) return;
    const { scheduler, random, invariants, trace } = this.#parts;
    this.#lives++;
    this.halfInstall = false;
    trace(`${this.id} starts, life ${this.#lives}`);
    const loop = new SimLoop({
      scheduler,
      rate: this.#rate,
      turnMs: () => 0.05 + random.next() * 0.4,
      onTurn: () => {},
      onDeath: (cause) => this.#died(cause),
    });
    invariants.restarted(this.id);
    const { log, store } = this.disk.open(loop, {
      appending: (view, entries, term) => invariants.appending(this.id, view, entries, term),
      resetting: (view, meta) => invariants.resetting(this.id, view, meta),
    });
    this.#loop = loop;
    const guarded = (run: () => void): void => {
      try {
        run();
      } catch (cause) {
        this.#died(cause);
      }
    };
    guarded(() => this.#agree(log, store, () => guarded(() => this.#boot(loop, log, store))));
  }

  #boot(loop: SimLoop, log: SimLog, store: MemoryState): void {
    const { random, invariants, network, limits, raft } = this.#parts;
    const machine = new SimMachine(store, {
      onEffect: (key, value, index) => invariants.effect(key, value, index),
      applied: (entries, index, sum) => invariants.applied(this.id, entries, index, sum),
    });
    const options = { ...raft, id: this.id, random: random.next };
    const core = createRaft(options, log, log.hardState(), loop.now());
    const replica = new Replica({
      id: this.id,
      core: this.#watched(core, log),
      log,
      machine,
      clock: loop,
      limits,
      wire: network.wire(this.id, loop, (message) => this.#sent(message)),
      view: store,
      gate: () => undefined,
      newId: () => `${this.id}.${this.#lives}.${++this.#requests}`,
    });
    this.#life = { loop, log, store, machine, replica, installing: false };
    network.attach(this.id, {
      loop,
      receive: (message) => replica.receive(message),
      request: (from, payload, reply) => replica.asked(from, payload, reply),
      unreachable: (peer) => replica.driver.unreachable(peer),
      snapshotFor: (message) => this.#snapshotFor(message),
      installSnapshot: (message, image, done) => this.#install(message, image, done),
    });
    replica.start();
  }

  /** The core with every output looked at before anybody acts on it. */
  #watched(core: RaftCore, log: SimLog): RaftCore {
    return {
      status: () => core.status(),
      accepts: (message) => core.accepts(message),
      step: (inputs: readonly Input[], now: number): Output => {
        const before = core.status();
        const output = core.step(inputs, now);
        this.#check(core, log, output, before);
        return output;
      },
    };
  }

  #check(core: RaftCore, log: SimLog, output: Output, before: RaftStatus): void {
    const { invariants, trace } = this.#parts;
    const { role, commit, entries } = output;
    for (const entry of before.role === 'leader' ? entries : [])
      if (entry.kind === 'configuration' && entry.term === before.term) {
        const reached = commit ?? before.commit;
        invariants.reconfigures(this.id, entry.configuration, before, reached, log.content);
      }
    if (!role && commit === undefined) return;
    const after = withTail(log.content, output.entries);
    if (role) {
      trace(`${this.id} ${role.role} in term ${role.term}, leader ${role.leader}`);
      const { members } = core.status().configuration;
      invariants.role(this.id, role, after, members.filter((member) => member.voter).length);
    }
    if (commit !== undefined)
      trace(
        `${this.id} commits ${commit}, log ends at ${after.last()} in term ${after.term(after.last())}`,
      );
    if (commit !== undefined)
      invariants.commit(this.id, commit, after, core.status(), before.configuration);
  }

  #sent(message: Message): void {
    this.#parts.invariants.sent(message);
  }

  #snapshotFor(message: Message): { message: Message; image: StateImage } | undefined {
    const life = this.#life;
    if (!life || message.type !== 'snapshot') return undefined;
    if (life.machine.appliedIndex() !== message.meta.index)
      throw new Violation('snapshot is of its index', `${this.id} sends ${message.meta.index}`);
    const image = life.store.image();
    image.delete(POSITION_KEY);
    return { message, image };
  }

  /** Takes in a snapshot: verified and synced aside, then the state is switched, then the log follows. */
  #install(message: Message, image: StateImage, done: (ok: boolean) => void): void {
    const { scheduler, random, trace } = this.#parts;
    const life = this.#life;
    if (!life || message.type !== 'snapshot') return;
    const { loop, machine, replica, store } = life;
    const { meta } = message;
    // one at a time, as in the transport; what is not wanted is taken and thrown away
    if (life.installing || !replica.driver.wants(meta)) {
      done(!life.installing);
      return;
    }
    life.installing = true;
    replica.driver.pauseApply();
    const whenVerified = (run: () => void): void => {
      scheduler.after(random.delay(40, 1500, 0.3), () => loop.deliver(run));
    };
    whenVerified(() => {
      loop.port();
      trace(`${this.id} installs a snapshot at ${meta.index}`);
      store.replace(new Map(image).set(POSITION_KEY, JSON.stringify(meta)));
      machine.machine.reload();
      this.#checkExchanged(meta, machine);
      if (this.halfInstall) loop.lightFuse(0);
      replica.switched(meta, message.from, () => {
        life.installing = false;
        done(true);
      });
    });
  }

  /**
   * Log and state are brought to agree, as at a real start: a crash between the two switches is completed. The state may
   * be ahead of the log only when the log was damaged.
   */
  #agree(log: SimLog, store: MemoryState, done: () => void): void {
    const machine = new Machine(store, {});
    const applied = machine.appliedIndex();
    if (applied < log.firstIndex() - 1)
      throw new Violation(
        'log and state agree',
        `${this.id}: state ends at ${applied}, before its log`,
      );
    if (applied === 0 || log.term(applied) === machine.appliedTerm()) {
      done();
      return;
    }
    const text = store.get(POSITION_KEY);
    const position = text === undefined ? undefined : (JSON.parse(text) as SnapshotMeta);
    if (position?.index === applied) {
      this.#parts.trace(`${this.id} completes the snapshot at ${applied}`);
      const hard = log.hardState();
      const hardState = hard.term >= position.term ? hard : { term: position.term, votedFor: null };
      log.reset(position, hardState, done);
    } else if (log.bar() && applied > log.lastIndex()) done();
    else
      throw new Violation('log and state agree', `${this.id}: applied ${applied}, log ends before`);
  }

  #checkExchanged(meta: SnapshotMeta, machine: SimMachine): void {
    const { invariants } = this.#parts;
    invariants.installed(this.id, meta);
    const { index, sums } = machine.machine.checksum();
    if (index !== meta.index)
      throw new Violation('snapshot is of its index', `${index} under the name ${meta.index}`);
    invariants.applied(this.id, [], index, Object.values(sums).join());
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
  get barred(): boolean {
    return this.disk.durable.bar !== undefined;
  }
  slowDisk(syncMs: number, forMs: number): void {
    const { temper } = this.disk;
    temper.syncMs = syncMs;
    this.#parts.scheduler.after(forMs, () => {
      temper.syncMs = 1;
    });
  }

  // --- what clients and operators ask ---

  visit(run: () => void): void {
    this.#life?.loop.deliver(run);
  }
  write(command: Put | Cas, timeoutMs: number, done: (outcome: WriteOutcome) => void): void {
    const life = this.#life;
    life?.loop.deliver(() => life.replica.write({ tokenKey: null, command, timeoutMs }, done));
  }
  barrier(
    mode: 'default' | 'consistent',
    timeoutMs: number,
    done: (passed: boolean) => void,
  ): void {
    const life = this.#life;
    life?.loop.deliver(() =>
      life.replica.barrier(mode, timeoutMs, (why) => done(why === undefined)),
    );
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
    life?.loop.deliver(() => life.replica.administer(ask, timeoutMs, done));
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

/** A log as it will be when the entries of an output are stored. */
function withTail(content: LogContent, entries: readonly Entry[]): LogContent {
  if (entries.length === 0) return content;
  const first = entries[0]!.index;
  const tail = new LogContent();
  tail.hard = content.hard;
  tail.meta = content.meta;
  const at = (index: number): Entry | undefined =>
    index < first ? content.at(index) : entries[index - first];
  tail.last = () => entries.at(-1)!.index;
  tail.at = at;
  tail.term = (index) => (index < first ? content.term(index) : at(index)?.term);
  return tail;
}
