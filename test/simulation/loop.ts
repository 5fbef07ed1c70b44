/**
 * One process's event loop in virtual time, in Node's order: a turn runs the timers that are due,
 * then what arrived from disk and network, then the immediates, and after each callback its
 * microtasks. A stalled loop gets no turns. What came meanwhile runs afterwards, timers first.
 */
import type { ClockPort } from '../../src/replica/ports.js';
import type { WireClock } from '../../src/transport/clock.js';
import type { Scheduler } from './scheduler.js';

/** Thrown out of a port to end the process in the middle of whatever it does. */
export class Crash extends Error {}

export interface LoopOptions {
  readonly scheduler: Scheduler;
  /** Its turns may start promises, or resolve some. */
  readonly hasPromises?: boolean;
  /** How fast this machine's monotonic clock runs; 1.01 gains 1 %. */
  readonly rate: number;
  /** Virtual milliseconds that a turn keeps the process busy. */
  readonly turnMs: () => number;
  /** After each turn that did something. */
  readonly onTurn: () => void;
  /** The process died in the middle of a turn: by a fuse (Crash) or by an error of its own. */
  readonly onDeath: (cause: unknown) => void;
}

export class SimLoop implements ClockPort, WireClock {
  alive = true;
  /** Turns that did something, and what may have caused them: timers that fired, and what arrived. */
  turns = 0;
  causes = 0;
  readonly #options: LoopOptions;
  readonly #bornAt: number;
  #timers: { due: number; run: () => void }[] = [];
  #arrived: (() => void)[] = [];
  #immediates: (() => void)[] = [];
  #scheduled = false;
  #freeAt = 0;
  /** Milliseconds for which the machine, and so its clock, stood still. */
  #frozen = 0;
  #frozenUntil = 0;
  /** For how many of them the wall clock stood still too. */
  #wallLost = 0;
  #fuse = Number.POSITIVE_INFINITY;
  #isRunning = false;
  #microtasks: (() => void)[] = [];
  /** What was thrown below a promise. */
  #failure: { readonly cause: unknown } | undefined;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#bornAt = options.scheduler.now;
  }

  now(): number {
    return (this.#options.scheduler.now - this.#bornAt - this.#frozen) * this.#options.rate;
  }

  after(ms: number, run: () => void): () => void {
    // node: a timer has whole milliseconds, and never fires early
    const due = this.#options.scheduler.now + Math.max(1, Math.ceil(ms)) / this.#options.rate;
    const timer = { due, run };
    let frozen = this.#frozen;
    const fire = (): void => {
      if (frozen === this.#frozen) {
        this.#timers.push(timer);
        this.#wake();
        return;
      }
      timer.due += this.#frozen - frozen;
      frozen = this.#frozen;
      event = this.#options.scheduler.at(timer.due, fire);
    };
    let pending = true;
    let event = this.#options.scheduler.at(due, fire);
    return () => {
      if (!pending) return;
      pending = false;
      event.cancelled = true;
      const at = this.#timers.indexOf(timer);
      if (at >= 0) this.#timers.splice(at, 1);
    };
  }

  soon(run: () => void): void {
    this.#immediates.push(run);
    this.#wake();
  }

  /** What a continuation of a promise asks for comes with the next turn. */
  microtask(run: () => void): void {
    this.#microtasks.push(run);
    if (!this.#isRunning) this.#wake();
  }

  /** Promises have been made or resolved: their continuations run before anything else happens. */
  touch(): void {
    this.#options.scheduler.touch();
  }

  /** Runs what stands below a promise: an error in it ends the process, wherever it would be caught. */
  guard(run: () => void): void {
    if (!this.alive) return;
    try {
      run();
      if (!this.alive) throw new Crash('killed');
    } catch (thrown) {
      const cause = this.#causeOf(thrown);
      this.kill();
      if (this.#isRunning) this.#failure ??= { cause };
      else this.#options.onDeath(cause);
    }
  }

  /** Something from outside is ready: a frame, a finished disk operation, a client's request. */
  deliver(run: () => void): void {
    if (!this.alive) return;
    this.#arrived.push(run);
    this.#wake();
  }

  /** No turns for this long. */
  stall(ms: number): void {
    this.#freeAt = Math.max(this.#freeAt, this.#options.scheduler.now + ms);
  }

  /** The whole machine stands still for this long, its monotonic clock with it, as in a suspend. */
  freeze(ms: number, withWall: boolean): void {
    const { now } = this.#options.scheduler;
    const until = Math.max(this.#frozenUntil, now + ms);
    const added = until - Math.max(this.#frozenUntil, now);
    this.#frozen += added;
    if (withWall) this.#wallLost += added;
    this.#frozenUntil = until;
    this.stall(ms);
  }

  /** What the wall clock shows: right again after the machine stood still, unless the clock did so too. */
  wall(): number {
    return (this.#options.scheduler.now - this.#wallLost) * this.#options.rate;
  }

  get frozen(): boolean {
    return this.#options.scheduler.now < this.#frozenUntil;
  }

  get stalled(): boolean {
    return this.#freeAt > this.#options.scheduler.now + 20;
  }

  /** The process dies when it next asks `calls` things of its ports. */
  lightFuse(calls: number): void {
    this.#fuse = calls;
  }

  /** Every port calls this first: a dead process does nothing any more, and a lit fuse burns. */
  port(): void {
    if (!this.alive) throw new Crash('this process is dead');
    if (--this.#fuse < 0) {
      this.kill();
      throw new Crash('killed in the middle of a turn');
    }
  }

  /** What a dead process throws, whatever caught and changed it on its way, is its death. */
  #causeOf(thrown: unknown): unknown {
    return this.alive || this.#failure !== undefined ? thrown : new Crash('killed');
  }

  kill(): void {
    this.alive = false;
    this.#timers = [];
    this.#arrived = [];
    this.#immediates = [];
    this.#microtasks = [];
  }

  #wake(): void {
    if (this.#scheduled || !this.alive) return;
    this.#scheduled = true;
    this.#options.scheduler.at(this.#freeAt, this.#turn);
  }

  #turn = (): void => {
    this.#scheduled = false;
    if (!this.alive) return;
    const { scheduler, hasPromises } = this.#options;
    if (this.#freeAt > scheduler.now) {
      this.#wake();
      return;
    }
    this.turns++;
    if (hasPromises) scheduler.touch();
    this.#isRunning = true;
    try {
      this.#settle();
      this.#runTimers();
      this.#drain('arrived');
      this.#drain('immediates');
    } catch (thrown) {
      const cause = this.#causeOf(thrown);
      this.kill();
      this.#options.onDeath(cause);
      return;
    } finally {
      this.#isRunning = false;
    }
    this.#freeAt = Math.max(this.#freeAt, scheduler.now + this.#options.turnMs());
    this.#options.onTurn();
    if (this.#timers.length + this.#arrived.length + this.#immediates.length > 0) this.#wake();
  };

  #runTimers(): void {
    const { now } = this.#options.scheduler;
    // a timer may cancel another that is due at the same moment
    while (this.#timers.length > 0 && this.#timers[0]!.due <= now) {
      this.causes++;
      this.#timers.shift()!.run();
      this.#settle();
    }
  }

  #drain(which: 'arrived' | 'immediates'): void {
    const list = which === 'arrived' ? this.#arrived : this.#immediates;
    if (list.length === 0) return;
    if (which === 'arrived') this.causes += list.length;
    if (which === 'arrived') this.#arrived = [];
    else this.#immediates = [];
    for (const run of list) {
      run();
      this.#settle();
    }
  }

  /** After each callback. A process that caught the Crash itself is dead all the same. */
  #settle(): void {
    for (let run = this.#microtasks.shift(); run; run = this.#microtasks.shift()) run();
    if (this.#failure !== undefined) throw this.#failure.cause;
    if (!this.alive) throw new Crash('killed');
  }
}
