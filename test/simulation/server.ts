/** One server over all its lives, with what faults, clients and operators may do to it. */

import type { Configuration, Entry, NodeId, SnapshotMeta } from '../../src/raft/types.js';
import type { RpcRequest, RpcResponse } from '../../src/replica/rpc.js';
import { reconcile } from '../../src/replica/state/reconcile.js';
import { DIVERGED_KEY } from '../../src/state/keys.js';
import { Machine } from '../../src/state/machine.js';
import type { Command } from '../../src/state/types.js';
import type { LogContent, SimDisk, SimLog } from './disk.js';
import type { Victim } from './faults.js';
import { Host } from './host.js';
import { Violation } from './invariants.js';
import { Life, type Look } from './life.js';
import { Crash, SimLoop } from './loop.js';
import type { Timing } from './machine-faults.js';
import type { ServerParts } from './parts.js';
import type { MemoryState } from './store.js';
import type { Server, WriteOutcome } from './workload.js';

export class SimServer implements Victim, Server {
  readonly id: NodeId;
  readonly #host: Host;
  readonly #parts: ServerParts;
  readonly #rate: number;
  #life: Life | undefined;
  /** The process of the moment, be it that it is still starting. */
  #loop: SimLoop | undefined;
  #lives = 0;
  #requests = 0;
  #retired = false;
  #stopping: Life | undefined;
  /** When it last said that the states differ and nobody can tell which is right. */
  undecidedAt = -Infinity;

  constructor(id: NodeId, parts: ServerParts, rate: number) {
    this.id = id;
    this.#parts = parts;
    this.#rate = rate;
    this.#host = new Host(id, parts);
  }

  /** Writes the first configuration into an empty log, as every founding member does. */
  found(configuration: Configuration): void {
    this.#host.found(configuration);
  }

  restart(): void {
    if (this.#loop || this.#retired) return;
    const { scheduler, random, invariants, trace } = this.#parts;
    const { id } = this;
    this.#lives++;
    this.#host.started(`${id}.${this.#lives}`);
    trace(`${id} starts, life ${this.#lives}`);
    const loop: SimLoop = new SimLoop({
      scheduler,
      rate: this.#rate,
      turnMs: () => 0.05 + random.next() * 0.4,
      onTurn: () => {
        if (this.#life?.loop === loop) this.#life.turned();
      },
      onDeath: (cause) => this.#died(cause),
    });
    invariants.restarted(id);
    const watcher = {
      appending: (view: LogContent, entries: readonly Entry[], term: number) =>
        invariants.appending(id, view, entries, term),
      resetting: (view: LogContent, meta: SnapshotMeta) => invariants.resetting(id, view, meta),
    };
    const { log, store } = this.#disk.open(loop, watcher, () => this.#diskFailed(loop));
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
    const { scheduler, random } = this.#parts;
    const parts = {
      ...{ host: this.#host, loop, log, store },
      newId: () => `${this.id}.${this.#lives}.${++this.#requests}`,
      restartLater: () => {
        scheduler.after(random.between(500, 5_000), () => {
          if (this.#loop !== loop) return;
          this.#end(false);
          this.restart();
        });
      },
      undecided: () => {
        this.undecidedAt = scheduler.now;
      },
    };
    this.#life = new Life(this.#parts, parts, lost);
    this.#life.start();
  }

  /** Log and state are brought to agree by the product's own start; `done` gets why the state must be fetched. */
  #agree(log: SimLog, store: MemoryState, done: (why: string | undefined) => void): void {
    const host = this.#host;
    if (this.#disk.stateDamaged) {
      // nothing of it is shown; it stays damaged until the log or the leader has given another one
      store.replace(new Map());
      host.stateLost = true;
      if (log.firstIndex() === 1) this.#disk.stateDamaged = false;
    }
    reconcile(
      log,
      store,
      new Machine(store, {}, host.release, this.#parts.machineLimits),
      (gap) => {
        if (gap !== undefined && !host.stateLost)
          this.#parts.violated(new Violation('log and state agree', `${this.id}: ${gap}`));
        else {
          // what is not lacking is all in the log
          if (gap === undefined) host.stateLost = false;
          const wrong = store.get(DIVERGED_KEY);
          host.told = wrong !== undefined;
          done(wrong ?? gap);
        }
      },
    );
  }

  /** Nothing is sent or answered from here on, as in the product; then the process is gone, and started again. */
  #diskFailed(loop: SimLoop): void {
    const { scheduler, random, trace } = this.#parts;
    trace(`${this.id}: a write fails, the disk is full`);
    this.#life?.replica.loop.stop();
    scheduler.after(random.between(0, 50), () => {
      if (this.#loop !== loop) return;
      this.#end(false);
      scheduler.after(random.delay(500, 5_000, 0.2), () => this.restart());
    });
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
    this.#life?.end();
    this.#loop?.kill();
    this.#loop = undefined;
    this.#life = undefined;
    this.#parts.network.detach(this.id, power);
    this.#disk.crash(power);
  }

  get #disk(): SimDisk {
    return this.#host.disk;
  }

  // --- what faults do ---

  get up(): boolean {
    return this.#life !== undefined;
  }
  get leading(): boolean {
    return this.#life?.replica.loop.role.role === 'leader';
  }
  get lacking(): boolean {
    return this.wiped || this.#disk.durable.bar !== undefined || this.isStateBad;
  }
  crash(power: boolean): void {
    if (this.#loop) this.#end(power);
  }
  shutDown(then: () => void): void {
    const life = this.#life;
    if (!life) {
      this.crash(false);
      then();
      return;
    }
    this.#stopping = life;
    // a crash meanwhile is another one's business
    life.shutDown(() => {
      if (this.#life !== life) return;
      this.#parts.trace(`${this.id} is shut down`);
      this.#end(false);
      then();
    });
  }
  lightFuse(calls: number): void {
    this.#life?.loop.lightFuse(calls);
  }
  stall(ms: number): void {
    this.#life?.loop.stall(ms);
  }
  breakNextInstall(): void {
    this.#host.halfInstall = true;
  }
  damage(): void {
    this.#end(true);
    this.#disk.damage();
  }
  damageState(): void {
    this.#end(true);
    this.#disk.stateDamaged = true;
  }
  goWrong(): void {
    this.#host.goesWrong = true;
  }
  wipe(): void {
    this.#end(true);
    this.#host.wipe();
  }
  fillDisk(atReserve: boolean, forMs: number): void {
    this.#host.fill(atReserve, forMs);
  }
  slowDisk(syncMs: number, forMs: number): void {
    this.#host.slowDisk(syncMs, forMs);
  }
  hangDisk(): void {
    this.#disk.hang();
  }
  unhangDisk(): void {
    this.#disk.unhang();
  }
  freeze(ms: number, withWall: boolean): void {
    this.#life?.loop.freeze(ms, withWall);
    if (withWall) this.#host.doubtLease(ms);
  }
  retime(timing: Timing): void {
    this.#host.timing = timing;
  }
  upgrade(): void {
    this.#host.release = 2;
  }
  keepImage(): void {
    if (this.#life) this.#host.keepImage();
  }
  rollBack(): void {
    if (!this.#host.hasImage) return;
    this.#end(true);
    this.#host.rollBack();
  }
  heal(): void {
    this.#host.heal();
    this.lightFuse(Number.POSITIVE_INFINITY);
    this.restart();
  }

  // --- what the world does and sees ---

  /** Switched off for good. */
  retire(): void {
    this.#retired = true;
    this.crash(false);
  }
  get wiped(): boolean {
    return this.#host.isWiped;
  }
  /** How often its disk was started from. */
  get starts(): number {
    return this.#host.identity.starts;
  }
  /** Of its program. */
  get release(): number {
    return this.#host.release;
  }
  /** The level in force, as this server has applied it; 0 while it is down. */
  get level(): number {
    return this.#life?.level ?? 0;
  }
  get isWrong(): boolean {
    return this.#life?.isWrong ?? this.#host.wrong;
  }
  /** Its machine stands still. */
  get frozen(): boolean {
    return this.#loop?.frozen === true;
  }
  /** It is being shut down, and forgets what clients ask of it until then. */
  get isStopping(): boolean {
    return this.#life !== undefined && this.#stopping === this.#life;
  }
  /** Its state is lost or wrong, or will be. */
  get isStateBad(): boolean {
    const { stateLost, goesWrong, told } = this.#host;
    return this.#disk.stateDamaged || stateLost || goesWrong || this.isWrong || told;
  }
  /** It may have shown something wrong at `since` or after. */
  wasWrong(since: number): boolean {
    return this.#host.wasWrong(since);
  }
  /** Requests that have no outcome yet. */
  get unanswered(): number {
    return this.#life?.unanswered ?? 0;
  }
  /** What this start found missing or wrong, or what has gone wrong since. */
  get startedLacking(): string | undefined {
    return this.#life?.lost ?? this.fault;
  }
  /** Why it does not serve, if it does not. */
  get fault(): string | undefined {
    return this.#life?.replica.fault;
  }
  /** For whoever reads of a violation. */
  condition(): string {
    const state = this.isWrong ? 'wrong' : this.isStateBad ? 'lacking' : 'right';
    const { role = 'down', term = 0 } = this.#life?.replica.loop.role ?? {};
    const applied = this.look()?.applied;
    return `${this.id} ${role} in term ${term}, state ${state} at ${applied}, fault ${this.fault}`;
  }
  /** The configurations that may be in force, as this server has them. */
  configurations(): Configuration[] {
    const { durable } = this.#disk;
    const newest = durable.entries.findLast((entry) => entry.kind === 'configuration');
    const stored = newest
      ? (newest as { configuration: Configuration }).configuration
      : durable.meta?.configuration;
    const known = this.#life?.replica.loop.status().configuration;
    return [stored, known].filter((each) => each !== undefined);
  }
  /** Undefined while it is down. */
  look(): Look | undefined {
    return this.#life?.look();
  }

  // --- what clients and operators ask ---

  visit(run: () => void): void {
    this.#life?.loop.deliver(run);
  }
  read(key: string): { value: string | null; index: number } {
    return this.#life!.read(key);
  }
  write(command: Command, timeoutMs: number, done: (outcome: WriteOutcome) => void): void {
    this.#life?.write(command, timeoutMs, done);
  }
  barrier(
    mode: 'default' | 'consistent',
    timeoutMs: number,
    done: (passed: boolean) => void,
  ): void {
    this.#life?.barrier(mode, timeoutMs, done);
  }
  administer(ask: RpcRequest, timeoutMs: number, done: (answer: RpcResponse) => void): void {
    this.#life?.administer(ask, timeoutMs, done);
  }
}
