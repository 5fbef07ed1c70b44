/** One server over all its lives, and what faults, clients and operators do to it. */
import { silenceMsOf } from '../../src/raft/options.js';
import type { Configuration, NodeId } from '../../src/raft/types.js';
import type { RpcRequest, RpcResponse } from '../../src/replica/rpc-codec.js';
import { DIVERGED_KEY } from '../../src/state/keys.js';
import type { View } from '../../src/state/types.js';
import { StorageError } from '../../src/storage/errors.js';
import type { Victim } from './faults.js';
import { Host } from './host.js';
import { Life, type Look } from './life.js';
import { Crash, SimLoop } from './loop.js';
import type { Timing } from './machine-faults.js';
import type { ServerParts } from './parts.js';
import type { RealDisk } from './real-storage.js';
import type { ServerDisk, Storage } from './storage.js';
import type { Server } from './workload.js';

export class SimServer implements Victim, Server {
  readonly id: NodeId;
  readonly #host: Host;
  readonly #parts: ServerParts;
  readonly #rate: number;
  #life: Life | undefined;
  /** The present process, which may still be starting. */
  #loop: SimLoop | undefined;
  /** The process whose disk has failed. It will end. */
  #failing: SimLoop | undefined;
  #lives = 0;
  #view: View | undefined;
  #requests = 0;
  #retired = false;
  #stopping: Life | undefined;
  /** When it last reported that states differ and nobody can tell which one is right. */
  undecidedAt = -Infinity;

  constructor(id: NodeId, parts: ServerParts, rate: number) {
    this.id = id;
    this.#parts = parts;
    this.#rate = rate;
    this.#host = new Host(id, parts);
  }

  /** The machine that it runs on, the host of its address. */
  get machine(): string {
    return this.#host.machine;
  }
  /** Copies its disk. It must be down. */
  copyDisk(): RealDisk {
    return this.#host.copyDisk();
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
    trace(`${id} starts, life ${this.#lives}`);
    const loop: SimLoop = new SimLoop({
      scheduler,
      hasPromises: this.#parts.storage === 'real',
      rate: this.#rate,
      turnMs: () => 0.05 + random.next() * 0.4,
      onTurn: () => {
        if (this.#life?.loop !== loop) return;
        this.#life.turned();
        host.checkReplaced(() => (this.#loop === loop ? this.look()?.applied : undefined));
      },
      onDeath: (cause) => this.#died(cause),
    });
    invariants.restarted(id);
    this.#loop = loop;
    const host = this.#host;
    const booting = {
      world: this.#parts,
      host,
      loop,
      life: `${id}.${this.#lives}`,
      watcher: host.watcher((key) => this.#life?.changed(key)),
      silenceMs: silenceMsOf({ ...this.#parts.raft, ...host.timing }),
      onFatal: (error?: Error) => this.#diskFailed(loop, error),
    };
    try {
      this.#disk.open(booting, (storage) => this.#boot(loop, storage));
    } catch (cause) {
      this.#died(cause);
    }
  }

  #boot(loop: SimLoop, storage: Storage): void {
    const { scheduler, random } = this.#parts;
    const host = this.#host;
    host.opened(storage);
    this.#view = storage.store;
    host.told = storage.store.get(DIVERGED_KEY) !== undefined;
    // a crash may have lost what had repaired it
    host.reopened();
    const { index, sums } = storage.machine.machine.checksum();
    host.judge(index, Object.values(sums).join());
    const parts = {
      host,
      loop,
      storage,
      newId: () => `${this.id}.${this.#lives}.${++this.#requests}`,
      restartLater: () => {
        scheduler.after(random.between(500, 5_000), () => {
          if (this.#loop !== loop) return;
          this.#end(false);
          this.restart();
        });
      },
      undecided: (why: string) => {
        this.#parts.trace(`${this.id}: ${why}`);
        this.undecidedAt = scheduler.now;
      },
    };
    this.#life = new Life(this.#parts, parts);
    this.#life.start();
  }

  /**
   * Ends the process a little later, and starts it again. Until then nothing is sent or answered,
   * as in the product.
   */
  #diskFailed(loop: SimLoop, error?: Error): void {
    const { scheduler, random, trace } = this.#parts;
    if (this.#loop !== loop || this.#failing === loop) return;
    this.#failing = loop;
    trace(`${this.id}: ${error?.message ?? 'a write fails, the disk is full'}`);
    this.#life?.replica.loop.stop();
    scheduler.after(random.between(0, 50), () => {
      if (this.#loop !== loop) return;
      this.#end(false);
      // its message asks an operator to do so
      if (/move this server's state/.test(error?.message ?? '')) this.#host.discardState();
      scheduler.after(random.delay(500, 5_000, 0.2), () => this.restart());
    });
  }

  #died(cause: unknown): void {
    if (cause instanceof Crash) {
      const { trace, scheduler, random } = this.#parts;
      trace(`${this.id} dies in the middle of a turn`);
      this.#end(random.chance(0.5));
      scheduler.after(random.delay(300, 8000, 0.2), () => this.restart());
    } else if (!(cause instanceof StorageError && this.#failing === this.#loop))
      this.#parts.violated(cause);
  }

  #end(power: boolean): void {
    this.#life?.end();
    this.#loop?.kill();
    this.#loop = undefined;
    this.#life = undefined;
    this.#parts.network.detach(this.#host, power);
    this.#host.ended();
    this.#disk.crash(power);
  }

  get #disk(): ServerDisk {
    return this.#host.disk;
  }

  get up(): boolean {
    return this.#life !== undefined;
  }
  get stalled(): boolean {
    return this.#life?.loop.stalled ?? false;
  }
  get leading(): boolean {
    return this.#life?.replica.loop.role.role === 'leader';
  }
  get lacking(): boolean {
    return (
      this.wiped || this.#disk.isSpoiled || this.#disk.durable.bar !== undefined || this.isStateBad
    );
  }
  crash(power: boolean): void {
    if (this.#loop) this.#end(power);
  }
  /** Cuts the power, also of a machine on which no process runs. */
  powerOff(): void {
    this.#end(true);
  }
  shutDown(then: () => void): void {
    const life = this.#life;
    if (!life) {
      this.crash(false);
      then();
      return;
    }
    this.#stopping = life;
    // a crash meanwhile has its own restart
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
    this.#disk.damageLog();
  }
  whenReplaced(strike: () => void): void {
    this.#host.whenReplaced = strike;
  }
  loseReplacement(): void {
    this.#end(false);
    this.#disk.loseReplacement();
  }
  damageState(): void {
    this.#end(true);
    this.#disk.damageState();
  }
  rot(): void {
    this.#end(true);
    this.#disk.rot();
  }
  cutNextInstall(): void {
    this.#host.cutsInstall = true;
  }
  lock(isLocked: boolean): void {
    this.#disk.isLocked = isLocked;
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
    this.#disk.hang(this.#parts.readsHang);
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
    this.#host.upgrade(this.#loop !== undefined);
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
    if (this.#disk.isRotten) {
      // somebody has looked at all of its values
      this.#end(true);
      this.#host.discardState();
    }
    this.lightFuse(Number.POSITIVE_INFINITY);
    this.restart();
  }

  /** Switches it off for good. */
  retire(): void {
    this.#retired = true;
    this.crash(false);
  }
  get wiped(): boolean {
    return this.#host.isWiped;
  }
  /** How often it was started from its disk. */
  get starts(): number {
    return this.#host.identity.starts;
  }
  get release(): number {
    return this.#host.release;
  }
  get nextRelease(): number {
    return this.#host.nextRelease;
  }
  /** Whether it belongs to a cluster, or is down. */
  get hasJoined(): boolean {
    return this.#life?.hasJoined ?? true;
  }
  /** The level in force, as this server has applied it; 0 while it is down. */
  get level(): number {
    return this.#life?.level ?? 0;
  }
  get isWrong(): boolean {
    return this.#life?.isWrong ?? this.#host.wrong;
  }
  /** Whether its machine stands still. */
  get frozen(): boolean {
    return this.#loop?.frozen === true;
  }
  /** Whether it is being shut down. It loses requests meanwhile. */
  get isStopping(): boolean {
    return this.#life !== undefined && this.#stopping === this.#life;
  }
  /** Whether its state is lost or wrong, or will be. */
  get isStateBad(): boolean {
    const { stateLost, goesWrong, told } = this.#host;
    return this.#disk.stateDamaged || stateLost || goesWrong || this.isWrong || told;
  }
  get isSuspect(): boolean {
    return this.#host.isSuspect;
  }
  /** Whether it may have shown something wrong at `since` or after. */
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
  /** Its condition in a few words, for reports of violations. */
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
  /** Its position and state; undefined while it is down. */
  look(): Look | undefined {
    return this.#life?.look();
  }

  /** Its state; only while it is up. */
  get view(): View {
    return this.#view!;
  }

  // --- what clients and operators ask ---

  visit(run: () => void): void {
    this.#life?.loop.deliver(run);
  }
  read(key: string): { value: string | null; index: number } {
    return this.#life!.read(key);
  }
  write(...write: Parameters<Life['write']>): void {
    this.#life?.write(...write);
  }
  /** See Life; only while it is up. */
  get feed() {
    return this.#life!.feed;
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
