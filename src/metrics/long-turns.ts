/**
 * Looks out for turns of the event loop that are long enough to delay heartbeats, and says which
 * work they did.
 */

import { takeSpent, type Work } from '../base/works.js';
import type { LogEvent } from '../log/log-events.js';
import { byLabel, counter, type Family, gauge } from './families.js';

/** Milliseconds from which a turn is long: heartbeats are due every 50 ms. */
const LONG_TURN_MS = 100;
/** Milliseconds between two lines of the log: an overloaded node has many long turns. */
const LINE_EVERY_MS = 10_000;

/** `other`: work without a name, garbage collection, or a process that did not run. */
type Longest = Work | 'other';

/** Where long turns are logged. */
export interface TurnLog {
  warn(fields: Readonly<Record<string, unknown>> & { event: LogEvent }, message: string): void;
}

/** What ran since the last sample of the event loop. */
export interface Ran {
  readonly spent: Readonly<Record<Work, number>>;
  /** Milliseconds of processor time of the whole process, in all its threads. */
  readonly cpuMs: number;
}

interface LongTurn {
  readonly work: Longest;
  readonly workMs: number;
  readonly delayMs: number;
  readonly cpuMs: number;
}

/** Returns a function that tells what ran since its last call. */
export function ranSince(): () => Ran {
  let last = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(last);
    last = { user: last.user + user, system: last.system + system };
    return { spent: takeSpent(), cpuMs: (user + system) / 1000 };
  };
}

/** Counts long turns and logs some of them. */
export class LongTurns {
  readonly #log: TurnLog;
  readonly #counts = new Map<Longest, number>();
  /** The most milliseconds of each work between two samples. */
  readonly #longest = new Map<Work, number>();
  #loggedMs = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  constructor(log: TurnLog) {
    this.#log = log;
  }

  /** Takes what ran between two samples of the event loop, the second of which came late. */
  sampled(delayMs: number, { spent, cpuMs }: Ran, nowMs = performance.now()): void {
    let work: Longest = 'other';
    let otherMs = delayMs;
    for (const name in spent) {
      const ms = spent[name as Work];
      if (ms === 0) continue;
      otherMs -= ms;
      if (ms > (this.#longest.get(name as Work) ?? 0)) this.#longest.set(name as Work, ms);
      if (work === 'other' || ms > spent[work]) work = name as Work;
    }
    if (delayMs < LONG_TURN_MS) return;
    if (work !== 'other' && otherMs > spent[work]) work = 'other';
    this.#counts.set(work, (this.#counts.get(work) ?? 0) + 1);
    const workMs = work === 'other' ? otherMs : spent[work];
    const [ms, late, cpu] = [workMs, delayMs, cpuMs].map(Math.round) as [number, number, number];
    this.#line({ work, workMs: ms, delayMs: late, cpuMs: cpu }, nowMs);
  }

  families(): readonly Family[] {
    const seconds = [...this.#longest].map(([work, ms]) => [work, ms / 1000] as const);
    return [
      counter(
        'conclave_event_loop_long_turns_total',
        'turns of the event loop above 100 ms, by the work that took most of them',
        byLabel('work', this.#counts),
      ),
      gauge(
        'conclave_event_loop_work_max_seconds',
        'most time that a work took between two samples of the event loop, since the start',
        byLabel('work', seconds),
      ),
    ];
  }

  #line(turn: LongTurn, nowMs: number): void {
    if (nowMs - this.#loggedMs < LINE_EVERY_MS) {
      this.#unlogged += 1;
      return;
    }
    const before = this.#unlogged > 0 ? { unlogged: this.#unlogged } : {};
    this.#log.warn({ event: 'long_turn', ...turn, ...before }, 'a turn of the event loop was long');
    this.#loggedMs = nowMs;
    this.#unlogged = 0;
  }
}
