/** The last warnings and errors of a log, for people who look at the node without its log. */
import type { Log } from './log.js';

/** Lines that are kept. */
const LINES_MAX = 50;

/** A line of the log without its members. */
export interface RecentLine {
  readonly level: 'warn' | 'error';
  readonly event: string;
  /** A sentence. */
  readonly message: string;
  /** Unix milliseconds of the newest of equal lines. */
  readonly ms: number;
  readonly count: number;
}

/** Keeps the newest warnings and errors of a log. */
export class RecentLines {
  readonly #lines = new Map<string, RecentLine>();

  /** Returns a log that writes to another one, and whose warnings and errors are kept. */
  of(log: Log): Log {
    const keeping =
      (level: RecentLine['level']): Log['warn'] =>
      (fields, message) => {
        log[level](fields, message);
        this.#keep(level, fields.event, message);
      };
    return {
      debug: (...line) => log.debug(...line),
      info: (...line) => log.info(...line),
      warn: keeping('warn'),
      error: keeping('error'),
    };
  }

  get lines(): readonly RecentLine[] {
    return [...this.#lines.values()].reverse();
  }

  #keep(level: RecentLine['level'], event: string, message: string): void {
    const key = `${event} ${message}`;
    const count = (this.#lines.get(key)?.count ?? 0) + 1;
    this.#lines.delete(key);
    this.#lines.set(key, { level, event, message, ms: Date.now(), count });
    const [oldest] = this.#lines.keys();
    if (this.#lines.size > LINES_MAX) this.#lines.delete(oldest!);
  }
}
