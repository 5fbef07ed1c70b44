/**
 * The event loop of one process in virtual time, in Node's order: a turn runs the timers that are
 * due, then what arrived from disk and network, then the immediates. Microtasks run after each
 * callback. A stalled loop has no turns. What arrives meanwhile runs afterwards, timers first.
 */
import type { ClockPort } from '../../src/replica/ports.js';
import type { WireClock } from '../../src/transport/clock.js';
import type { Scheduler } from './scheduler.js';

/** Thrown by a port to end the process in the middle of a turn. */
export class Crash extends Error {}

export interface LoopOptions {
  readonly scheduler: Scheduler;
  /** Whether its turns may create or resolve promises. */
  readonly hasPromises?: boolean;
  /** How fast this machine's monotonic clock runs; 1.01 gains 1 %. */
  readonly rate: number;
  /** Virtual milliseconds that a turn keeps the process busy. */
  readonly turnMs: () => number;
  /** Called after each turn that ran something. */
  readonly onTurn: () => void;
  /** Called when the process dies in a turn: by a fuse (Crash) or by an error of its own. */
  readonly onDeath: (cause: unknown) => void;
}

export class SimLoop implements ClockPort, WireClock {
  alive = true;
  /** Turns that ran something, and their causes: timers that fired, and arrivals. */
  turns = 0;
  causes = 0;
  /** What came from the network or a disk. */
  arrivals = 0;
  readonly #options: LoopOptions;
  readonly #bornAt: number;
  #timers: { due: number; run: () => void }[] = [];
  #arrived: (() => void)[] = [];
  #immediates: (() => void)[] = [];
  #scheduled = false;
  #freeAt = 0;
  /** Milliseconds for which the machine and its monotonic clock were frozen. */
  #frozen = 0;
  #frozenUntil = 0;
  /** The part of them for which the wall clock was frozen too. */
  #wallLost = 0;
  #fuse = Number.POSITIVE_INFINITY;
  #isRunning = false;
  #microtasks: (() => void)[] = [];
  /** The error thrown in a callback of a promise. */
  #failure: { readonly cause: unknown } | undefined;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#bornAt = options.scheduler.now;
  }

  now(): number {
    return (this.#options.scheduler.now - this.#bornAt - this.#frozen) * this.#options.rate;
  }

  after(ms: number, run: () => void): () => void {
    // As in Node, a timer has whole milliseconds and never fires early.
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

  /** Runs `run` after the present callback, or in the next turn. */
  microtask(run: () => void): void {
    this.#microtasks.push(run);
    if (!this.#isRunning) this.#wake();
  }

  /** Says that promises were created or resolved: their callbacks run before anything else. */
  touch(): void {
    this.#options.scheduler.touch();
  }

  /** Runs a callback of a promise. An error in it ends the process, even if it would be caught. */
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

  /** Delivers something from outside: a frame, a finished disk operation, a client's request. */
  deliver(run: () => void): void {
    if (!this.alive) return;
    this.#arrived.push(run);
    this.#wake();
  }

  /** Stops the turns for `ms` milliseconds. */
  stall(ms: number): void {
    this.#freeAt = Math.max(this.#freeAt, this.#options.scheduler.now + ms);
  }

  /** Stops the turns until `unblock`: the process waits for a read of its disk. */
  block(): void {
    this.#freeAt = Number.POSITIVE_INFINITY;
  }
  unblock(): void {
    if (this.#freeAt !== Number.POSITIVE_INFINITY) return;
    // the machine may be frozen meanwhile
    this.#freeAt = Math.max(this.#options.scheduler.now, this.#frozenUntil);
    this.#scheduled = false;
    if (this.alive) this.#wake();
  }

  /** Freezes the machine and its monotonic clock, as a suspend does. `withWall`: the wall clock too. */
  freeze(ms: number, withWall: boolean): void {
    const { now } = this.#options.scheduler;
    const until = Math.max(this.#frozenUntil, now + ms);
    const added = until - Math.max(this.#frozenUntil, now);
    this.#frozen += added;
    if (withWall) this.#wallLost += added;
    this.#frozenUntil = until;
    this.stall(ms);
  }

  /** Returns the wall time. It is right after a freeze, unless the wall clock was frozen too. */
  wall(): number {
    return (this.#options.scheduler.now - this.#wallLost) * this.#options.rate;
  }

  get frozen(): boolean {
    return this.#options.scheduler.now < this.#frozenUntil;
  }

  get stalled(): boolean {
    return this.#freeAt > this.#options.scheduler.now + 20;
  }

  /** Ends the process after `calls` more calls of its ports. */
  lightFuse(calls: number): void {
    this.#fuse = calls;
  }

  /** Every port calls this first. Throws if the process is dead or its fuse has burnt down. */
  port(): void {
    if (!this.alive) throw new Crash('this process is dead');
    if (--this.#fuse < 0) {
      this.kill();
      throw new Crash('killed in the middle of a turn');
    }
  }

  /** Returns why a process died. A dead process throws a Crash, whatever replaced it on the way. */
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
    if (this.#scheduled || !this.alive || this.#freeAt === Number.POSITIVE_INFINITY) return;
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
    // A timer may cancel another that is due at the same time.
    while (this.#timers.length > 0 && this.#timers[0]!.due <= now) {
      this.causes++;
      this.#timers.shift()!.run();
      this.#settle();
    }
  }

  #drain(which: 'arrived' | 'immediates'): void {
    const list = which === 'arrived' ? this.#arrived : this.#immediates;
    if (list.length === 0) return;
    if (which === 'arrived') {
      this.causes += list.length;
      this.arrivals += list.length;
    }
    if (which === 'arrived') this.#arrived = [];
    else this.#immediates = [];
    for (const run of list) {
      run();
      this.#settle();
    }
  }

  /** Runs the microtasks. Ends the turn if the process is dead, even if it caught the Crash. */
  #settle(): void {
    for (let run = this.#microtasks.shift(); run; run = this.#microtasks.shift()) run();
    if (this.#failure !== undefined) throw this.#failure.cause;
    if (!this.alive) throw new Crash('killed');
  }
}
