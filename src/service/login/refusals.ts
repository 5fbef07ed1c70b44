/**
 * Counts refused logins, and logs some of each kind. It does not log all, because anyone can cause
 * any number of refusals.
 */
import type { LogEvent } from '../../log/log-events.js';
import { type LoginLogger, REFUSAL_CAUSES, type RefusalCause } from './types.js';

/** A refused login. `method` is the stored method, absent if the login names an unknown one. */
export interface RefusedLogin {
  readonly cause: RefusalCause;
  readonly reason: string;
  readonly method?: { readonly Name: string; readonly Namespace: string; readonly Type: string };
}

/** Milliseconds in which log lines are limited. */
const WINDOW_MS = 60_000;
/** Lines in this time for one cause and method: enough to see what a client does wrong. */
const LINES_MAX = 10;
/** Lines in this time for all methods: a namespace may have any number of them. */
const LINES_MAX_OF_ALL = 200;

/** Counts and logs the refused logins of a node. */
export class LoginRefusals {
  readonly #log: LoginLogger;
  readonly #nowMs: () => number;
  readonly #counts = new Map<RefusalCause, number>(REFUSAL_CAUSES.map((cause) => [cause, 0]));
  readonly #lines = new Map<string, number>();
  #written = 0;
  #unwritten = 0;
  #sinceMs = Number.NEGATIVE_INFINITY;

  /** `nowMs`: a monotonic clock. */
  constructor(log: LoginLogger, nowMs: () => number) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** The number of refused logins since the start, by cause. */
  get counts(): ReadonlyMap<RefusalCause, number> {
    return this.#counts;
  }

  /** Counts a refused login, and logs it unless there were too many lines. */
  note(refused: RefusedLogin): void {
    const { cause } = refused;
    this.#counts.set(cause, this.#counts.get(cause)! + 1);
    this.#line(refused, 'login_refused', 'login refused');
  }

  /** Logs why a login would be refused, where its explanation may not say it. */
  noteHidden(refused: RefusedLogin): void {
    this.#line(refused, 'issuer_unusable', 'the issuer of an auth method cannot be used');
  }

  #line({ cause, reason, method }: RefusedLogin, event: LogEvent, message: string): void {
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
    this.#log.warn({ event, ...where, cause, reason }, message);
  }

  /** Starts a new window when the last one is over, and logs how many lines that one left out. */
  #begin(): void {
    const now = this.#nowMs();
    if (now - this.#sinceMs < WINDOW_MS) return;
    if (this.#unwritten > 0) {
      const left = { event: 'logins_not_logged', count: this.#unwritten } as const;
      this.#log.warn(left, 'further refused logins were not logged');
    }
    this.#lines.clear();
    this.#written = 0;
    this.#unwritten = 0;
    this.#sinceMs = now;
  }
}
