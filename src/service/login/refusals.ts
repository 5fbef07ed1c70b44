/**
 * Logins that were refused. All are counted; the log is told of some of each kind, because anybody
 * can have as many refused as they like.
 */
import { type LoginLogger, REFUSAL_CAUSES, type RefusalCause } from './types.js';

/**
 * A login that was refused; `method` is in the spelling of the stored method, absent for one that
 * is unknown.
 */
export interface RefusedLogin {
  readonly cause: RefusalCause;
  readonly reason: string;
  readonly method?: { readonly Name: string; readonly Namespace: string; readonly Type: string };
}

/** The time for which lines of the log are counted. */
const WINDOW_MS = 60_000;
/** Lines in this time for one cause and method: enough to see what a client does wrong. */
const LINES_MAX = 10;
/** Lines in this time for all: a namespace may have any number of methods. */
const LINES_MAX_OF_ALL = 200;

export class Refusals {
  readonly #log: LoginLogger;
  readonly #nowMs: () => number;
  readonly #counts = new Map<RefusalCause, number>(REFUSAL_CAUSES.map((cause) => [cause, 0]));
  readonly #lines = new Map<string, number>();
  #written = 0;
  #unwritten = 0;
  #sinceMs = Number.NEGATIVE_INFINITY;

  /** `nowMs`: a clock that never goes back. */
  constructor(log: LoginLogger, nowMs: () => number) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** Logins refused so far, by cause. */
  get counts(): ReadonlyMap<RefusalCause, number> {
    return this.#counts;
  }

  note({ cause, reason, method }: RefusedLogin): void {
    this.#counts.set(cause, this.#counts.get(cause)! + 1);
    this.#begin();
    const key = JSON.stringify([cause, method?.Namespace, method?.Name]);
    const lines = this.#lines.get(key) ?? 0;
    if (lines >= LINES_MAX || this.#written >= LINES_MAX_OF_ALL) {
      this.#unwritten += 1;
      return;
    }
    this.#lines.set(key, lines + 1);
    this.#written += 1;
    const { Name, Namespace, Type } = method ?? {};
    const where = { authMethod: Name, namespace: Namespace, type: Type };
    this.#log.warn({ ...where, cause, reason }, 'login refused');
  }

  /** Begins another minute when the last is over, and tells what was left out in it. */
  #begin(): void {
    const now = this.#nowMs();
    if (now - this.#sinceMs < WINDOW_MS) return;
    if (this.#unwritten > 0) {
      const left = { count: this.#unwritten };
      this.#log.warn(left, 'more logins were refused, of kinds that the log names already');
    }
    this.#lines.clear();
    this.#written = 0;
    this.#unwritten = 0;
    this.#sinceMs = now;
  }
}
