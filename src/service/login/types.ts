/** What a type of auth method is to the use cases, and what it is given. */
import type { Identity, IdentityShape } from '../../acl/binding.js';
import type { Refusal } from '../../errors.js';

/**
 * Kinds of reasons for which logins are refused; `login_refused_total` of the metrics counts by
 * them.
 */
export const REFUSAL_CAUSES = [
  // no such auth method
  'method_unknown',
  // the bearer token is not valid, or not for this method
  'token',
  // the issuer, or the cluster that reviews tokens, cannot be asked
  'unreachable',
  // the method's Config is not usable
  'config',
  // NamespaceRules lead nowhere
  'namespace',
  // no binding rule matches, or what matches cannot be bound
  'binding',
  // the identity has as many tokens of the method as it may have
  'token_limit',
] as const;
export type RefusalCause = (typeof REFUSAL_CAUSES)[number];

/**
 * Why someone was not verified. The reason is for the log only: it never reaches the caller, and
 * never holds a secret.
 */
export type Verdict =
  | {
      readonly ok: true;
      readonly identity: Identity;
      /** Who it is, among all that this auth method verifies. Never shown or logged. */
      readonly subject: string;
    }
  | { readonly ok: false; readonly cause: RefusalCause; readonly reason: string };

/**
 * Why an issuer is of no use: the key of the Config that names it, and the reason, for the log
 * only.
 */
export interface IssuerProblem {
  readonly key: string;
  readonly reason: string;
}

/**
 * One type of auth method. `config` is the method's Config as it was sent (any JSON value; absent:
 * undefined), `namespace` the method's. Only checkIssuer and validate may use the network, each
 * within a few seconds.
 */
export interface AuthMethodType {
  readonly name: string;
  /** Checks a Config that is about to be written; text begins with `Invalid Auth Method: `. */
  checkConfig(config: unknown, namespace: string): Refusal | undefined;
  /**
   * Fetches what logins by an accepted Config will need. Throws ApiError `too_many`.
   */
  checkIssuer(config: unknown, namespace: string): Promise<IssuerProblem | undefined>;
  /**
   * Verifies a bearer token at a time in milliseconds since 1970. Never throws for what a token or
   * a server sends; throws ApiError `too_many`.
   */
  validate(
    config: unknown,
    bearerToken: string,
    at: { readonly namespace: string; readonly nowMs: number },
  ): Promise<Verdict>;
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
  /** Exchanges at a time. */
  readonly issuerRequests: number;
}
