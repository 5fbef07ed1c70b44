/**
 * Ticks of the logical clock, measured on the monotonic clock. After a stall a Node process runs
 * timers before it reads sockets, so a tick is delivered only after the messages that had arrived.
 *
 * A timer for each tick would wake an idle node more often than everything else. So it is set to
 * the tick at which something is due, and the ticks before that one are counted when there is a
 * turn anyway, before anything of that turn:
 *
 *     timer     0 ------------------------- 4          something is due at tick 4
 *     turns            a            b       c
 *     ticks            1            2,3     4          the last one after all that had arrived
 *
 * A follower has nothing due by then while it hears its leader: heartbeats set the timer anew.
 *
 * So a message is never followed by more ticks than time has passed since, and one: silences, and
 * the leases that rest on them, are as long as with a timer for each tick. A pause of any length
 * gives no more ticks than the timer was set to, and one if that timer is late by a stall.
 */
import type { ClockPort } from './ports.js';

/** Milliseconds of a tick, and by how many a late one is a stall. */
export interface TickerLimits {
  readonly tickMs: number;
  readonly stallMs: number;
}
/** What the ticker reports. */
export interface TickerEvents {
  /** Makes a turn: the tick of the timer has passed, and all that had arrived is delivered. */
  tick(): void;
  /** Returns the number of ticks after which something is due, at least one. */
  rest(): number;
  /**
   * The timer, set to `afterMs` milliseconds (a tick or more), fired `lateMs` too late. One that is
   * set to a later tick in time counts as fired, not late: who listens asks what ran since the last
   * call.
   */
  fired(lateMs: number, afterMs: number): void;
  /** The timer fired `ms` milliseconds too late. */
  stall(ms: number): void;
}

/** Turns of the event loop in which sockets are read after a stall, before the tick. */
const DRAIN_TURNS_AFTER_STALL = 4;

/**
 * Ticks for which an idle server rests at most. A pause of the whole machine counts as that many,
 * which must be well below an election timeout.
 */
const REST_TICKS_MAX = 4;
/** Ticks in which the timer fires at least once: its delays are the samples of the event loop. */
const FIRED_TICKS = 20;

/** The source of ticks for the loop. */
export class Ticker {
  readonly #clock: ClockPort;
  readonly #limits: TickerLimits;
  readonly #events: TickerEvents;
  /** Cancels the timer; undefined while none is set. */
  #cancel: (() => void) | undefined;
  #running = false;
  /** When the last counted tick passed, and the ticks from there to that of the timer. */
  #sinceMs = 0;
  #left = 1;
  /** Ticks that have passed since the timer fired. */
  #unfired = 0;
  /** Milliseconds by which the next tick is longer. */
  #extraMs = 0;

  constructor(clock: ClockPort, limits: TickerLimits, events: TickerEvents) {
    this.#clock = clock;
    this.#limits = limits;
    this.#events = events;
  }

  start(): void {
    this.#running = true;
    this.#begin();
  }

  stop(): void {
    this.#running = false;
    this.#cancel?.();
  }

  /** Returns how many ticks before that of the timer have passed since the last call. */
  passed(): number {
    const { tickMs } = this.#limits;
    const passed = Math.floor((this.#clock.now() - this.#sinceMs) / tickMs);
    const count = Math.max(0, Math.min(passed, this.#left - 1));
    this.#sinceMs += count * tickMs;
    this.#left -= count;
    this.#unfired += count;
    return count;
  }

  /**
   * Sets the timer to an earlier tick if something is due sooner, and to a later one if nothing is
   * due for twice as long. To be called after `passed`.
   */
  look(): void {
    if (this.#cancel === undefined) return;
    const rest = this.#rest();
    if (rest >= this.#left && !this.#mayPostpone(rest)) return;
    this.#cancel();
    if (rest > this.#left) this.#events.fired(0, this.#limits.tickMs);
    this.#left = rest;
    this.#arm();
  }

  /** A timer that is overdue fires: a pause must not give a rest's ticks to each turn after it. */
  #mayPostpone(rest: number): boolean {
    if (rest < 2 * this.#left || this.#unfired + rest > FIRED_TICKS || this.#extraMs > 0)
      return false;
    return this.#clock.now() < this.#dueMs;
  }

  /** Delays the tick after the present one, and so all later ones, by `ms` milliseconds. */
  lengthen(ms: number): void {
    this.#extraMs = ms;
  }

  /**
   * Two ticks are never closer than `tickMs`: the lease relies on followers that do not tick too
   * fast.
   */
  #begin(): void {
    this.#sinceMs = this.#clock.now() + this.#extraMs;
    this.#extraMs = 0;
    this.#left = this.#rest();
    this.#arm();
  }

  #rest(): number {
    return Math.min(this.#events.rest(), REST_TICKS_MAX);
  }

  /** When the tick of the timer has passed. */
  get #dueMs(): number {
    return this.#sinceMs + this.#left * this.#limits.tickMs;
  }

  #arm(): void {
    const { tickMs } = this.#limits;
    const dueMs = this.#dueMs;
    const leftMs = dueMs - this.#clock.now();
    this.#cancel = this.#clock.after(leftMs, () => {
      this.#cancel = undefined;
      this.#unfired = 0;
      const lateMs = this.#clock.now() - dueMs;
      // A long turn leaves less than a tick to what is due sooner, or less than nothing.
      this.#events.fired(lateMs, Math.max(leftMs, tickMs));
      const stalled = lateMs >= this.#limits.stallMs;
      if (stalled) this.#events.stall(lateMs);
      // Timers may be early by a fraction of a millisecond, so this does not ask the clock.
      if (stalled) this.#left = 1;
      else this.#sinceMs = Number.NEGATIVE_INFINITY;
      this.#drain(stalled ? DRAIN_TURNS_AFTER_STALL : 1);
    });
  }

  #drain(turns: number): void {
    this.#clock.soon(() => {
      if (!this.#running) return;
      if (turns > 1) {
        this.#drain(turns - 1);
        return;
      }
      this.#events.tick();
      this.#begin();
    });
  }
}
