/** What a type of auth method is to the use cases, and what it is given. */
import type { Identity, IdentityShape } from '../../acl/binding.js';
import type { Refusal } from '../../errors.js';

/**
 * Why someone was not verified. For the log only: it never reaches the caller, and never holds a
 * secret.
 */
export type Verdict =
  | { readonly ok: true; readonly identity: Identity }
  | { readonly ok: false; readonly reason: string };

/**
 * One type of auth method. `config` is the method's Config as it was sent (any JSON value; absent:
 * undefined). Only checkConfig and validate may use the network, each within a few seconds.
 */
export interface AuthMethodType {
  readonly name: string;
  /** Checks a Config that is about to be written; text begins with `Invalid Auth Method: `. */
  checkConfig(config: unknown): Promise<Refusal | undefined>;
  /**
   * Verifies a bearer token at a time in milliseconds since 1970. Never throws for what a token or
   * a server sends.
   */
  validate(config: unknown, bearerToken: string, nowMs: number): Promise<Verdict>;
  /** What selectors and names may refer to, by a Config that was accepted. Pure. */
  shapeOf(config: unknown): IdentityShape;
}

/** Where the reason of a refused login goes. */
export interface LoginLogger {
  warn(context: Record<string, unknown>, message: string): void;
}

/** Limits on what is fetched from others while a method is written or a login is judged. */
export interface FetchLimits {
  /** For one whole exchange, in milliseconds. */
  readonly timeoutMs: number;
  readonly bodyBytesMax: number;
}
