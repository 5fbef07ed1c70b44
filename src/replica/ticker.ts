/**
 * Ticks of the logical clock, measured on the monotonic clock. After a stall a Node process runs
 * timers before it reads sockets, so a tick is delivered only after the messages that had arrived.
 * A pause of any length gives one tick.
 */
import type { ClockPort } from './ports.js';

/** Milliseconds of a tick, and by how many a late one is a stall. */
export interface TickerLimits {
  readonly tickMs: number;
  readonly stallMs: number;
}
/** What the ticker reports. */
export interface TickerEvents {
  tick(): void;
  /** The timer, set to `afterMs` milliseconds, fired `lateMs` milliseconds too late. */
  fired(lateMs: number, afterMs: number): void;
  /** The timer fired `ms` milliseconds too late. */
  stall(ms: number): void;
}

/** Turns of the event loop in which sockets are read after a stall, before the tick. */
const DRAIN_TURNS_AFTER_STALL = 3;

/** The source of ticks for the loop. */
export class Ticker {
  readonly #clock: ClockPort;
  readonly #limits: TickerLimits;
  readonly #events: TickerEvents;
  #cancel: () => void = () => {};
  #running = false;
  /** Milliseconds by which the next tick is longer. */
  #extraMs = 0;

  constructor(clock: ClockPort, limits: TickerLimits, events: TickerEvents) {
    this.#clock = clock;
    this.#limits = limits;
    this.#events = events;
  }

  start(): void {
    this.#running = true;
    this.#arm();
  }

  stop(): void {
    this.#running = false;
    this.#cancel();
  }

  /** Delays the tick after the present one, and so all later ones, by `ms` milliseconds. */
  lengthen(ms: number): void {
    this.#extraMs = ms;
  }

  /**
   * Two ticks are never closer than `tickMs`: the lease relies on followers that do not tick too
   * fast.
   */
  #arm(): void {
    const ms = this.#limits.tickMs + this.#extraMs;
    this.#extraMs = 0;
    const dueMs = this.#clock.now() + ms;
    this.#cancel = this.#clock.after(ms, () => {
      const lateMs = this.#clock.now() - dueMs;
      this.#events.fired(lateMs, ms);
      const stalled = lateMs >= this.#limits.stallMs;
      if (stalled) this.#events.stall(lateMs);
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
      this.#arm();
    });
  }
}
