/** The interface of auth method types, and what they work with. */
import type { Identity, IdentityShape } from '../../acl/binding.js';
import type { Authorizer } from '../../acl/types.js';
import type { Refusal } from '../../base/errors.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';

/** Why logins are refused. The metric `login_refused_total` counts by cause. */
export const REFUSAL_CAUSES = [
  // The auth method does not exist.
  'method_unknown',
  // The bearer token, or what an OIDC login sends instead, is not valid or not for this method.
  'token',
  // The issuer, or the cluster that reviews tokens, does not answer.
  'unreachable',
  // The Config of the method is not usable.
  'config',
  // NamespaceRules lead to no namespace.
  'namespace',
  // No binding rule matches, or what matches cannot be bound.
  'binding',
  // The identity has as many tokens of the method as it may have.
  'token_limit',
  // Logins of the identity are refused.
  'blocked',
] as const;
/** A cause for which logins are refused. */
export type RefusalCause = (typeof REFUSAL_CAUSES)[number];

/** Why a login is refused, in explanations and decisions. */
export type LoginReason =
  | 'unknown_method'
  | 'config'
  | 'form'
  | 'signature'
  | 'no_times'
  | 'issuer'
  | 'not_yet_valid'
  | 'expired'
  | 'issued_in_future'
  | 'audience'
  | 'claims'
  | 'unreachable'
  | 'namespace'
  | 'no_rule'
  | 'nothing_bound'
  | 'bad_name'
  | 'token_limit'
  | 'blocked'
  | 'state'
  | 'state_used'
  | 'client_nonce'
  | 'code'
  | 'nonce'
  | 'renewal'
  | 'subject';

/** The cause under which each reason is counted. */
const CAUSE_OF: Readonly<Record<LoginReason, RefusalCause>> = {
  unknown_method: 'method_unknown',
  config: 'config',
  form: 'token',
  signature: 'token',
  no_times: 'token',
  issuer: 'token',
  not_yet_valid: 'token',
  expired: 'token',
  issued_in_future: 'token',
  audience: 'token',
  claims: 'token',
  unreachable: 'unreachable',
  namespace: 'namespace',
  no_rule: 'binding',
  nothing_bound: 'binding',
  bad_name: 'binding',
  token_limit: 'token_limit',
  blocked: 'blocked',
  state: 'token',
  state_used: 'token',
  client_nonce: 'token',
  code: 'token',
  nonce: 'token',
  renewal: 'token',
  subject: 'token',
};
/** Returns the cause under which a reason is counted. */
export const causeOf = (code: LoginReason): RefusalCause => CAUSE_OF[code];

/** Why a login is refused: its code, and the sentence for the log. Never contains a secret. */
export interface LoginFault {
  readonly code: LoginReason;
  readonly reason: string;
}

/**
 * Returns a fault without what it tells of outbound calls. Whoever owns an auth method in a created
 * namespace chooses their addresses, and must not learn what this node can reach.
 */
export const withoutCall = (fault: LoginFault): LoginFault =>
  fault.code === 'unreachable' ? { code: fault.code, reason: CALL_FAILED } : fault;
const CALL_FAILED =
  'the server of the auth method cannot be reached: ' +
  'the log of the node that answered has the reason';

/** Whether a caller may not learn of the outbound calls for methods of a namespace. */
export const hidesCalls = (authorizer: Authorizer, namespace: string): boolean =>
  namespace !== DEFAULT_NAMESPACE && !authorizer.allowed('operator', 'read');

/**
 * Whether a bearer token was accepted. The reason of a refusal is for the log alone: it never
 * reaches the caller, and never contains a secret.
 */
export type Verdict =
  | {
      readonly ok: true;
      readonly identity: Identity;
      /** Identifies the caller among all that this auth method verifies. Never shown or logged. */
      readonly subject: string;
      /** The Subject of its Identity (beyond.md 7.1); empty if it has none. */
      readonly who: string;
      /** What `who` is the hash of, if it is one: blocks of a prefix are about this. */
      readonly named?: string | undefined;
    }
  | ({
      readonly ok: false;
      /** The Subject where the claims are genuine, although they do not suffice. */
      readonly who?: string;
    } & LoginFault);

/** The checks of a bearer token, in the order in which explanations show them. */
export const CHECKS = ['form', 'signature', 'times', 'issuer', 'audience', 'claims'] as const;
export type CheckName = (typeof CHECKS)[number];

/** The outcome of one check, as answers show it. */
export interface Check {
  readonly Name: CheckName;
  readonly Result: 'passed' | 'failed' | 'skipped';
  /** Why it failed. */
  readonly Detail: string;
}

/** What is examined: a bearer token, or claims that nobody signed. */
export type Shown =
  | { readonly bearerToken: string }
  | { readonly claims: Readonly<Record<string, unknown>> };

/** What a login with a bearer token or with claims finds before it looks at binding rules. */
export interface Examined {
  readonly checks: readonly Check[];
  /** Why a login is refused; undefined if it is not. */
  readonly fault: LoginFault | undefined;
  /** Whether a signature, or the cluster of the method, vouches for the claims. */
  readonly verified: boolean;
  /** Undefined if the claims cannot be read. It may be there although a check failed. */
  readonly known:
    | {
        readonly identity: Identity;
        readonly subject: string;
        readonly who: string;
        readonly named?: string | undefined;
      }
    | undefined;
  /** The mapped values and lists by name. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly lists: Readonly<Record<string, unknown>>;
  /** Mapped names without a value. */
  readonly missing: { readonly Values: readonly string[]; readonly Lists: readonly string[] };
  /** Claims that nothing maps. */
  readonly unmapped: readonly string[];
}

/**
 * Why an issuer cannot be used: the key of the Config that names it, and the reason, which is for
 * the log alone.
 */
export interface IssuerProblem {
  readonly key: string;
  readonly reason: string;
}

/**
 * One type of auth method. `config` is the Config of the method as it was sent: any JSON value, or
 * undefined if absent. `namespace` is that of the method. Only checkIssuer and validate use the
 * network, each for a few seconds at most.
 */
export interface AuthMethodType {
  readonly name: string;
  /** Checks a Config before it is written. The refusal begins with `Invalid Auth Method: `. */
  checkConfig(config: unknown, namespace: string): Refusal | undefined;
  /** Fetches what logins by an accepted Config will need. Throws ApiError `too_many`. */
  checkIssuer(config: unknown, namespace: string): Promise<IssuerProblem | undefined>;
  /**
   * Verifies a bearer token at a time in milliseconds since the epoch. Never throws for the content
   * of a token or of a server's reply. Throws ApiError `too_many`.
   */
  validate(
    config: unknown,
    bearerToken: string,
    at: { readonly namespace: string; readonly nowMs: number },
  ): Promise<Verdict>;
  /**
   * Does the same as `validate`, and tells what each check finds. Claims are judged as far as they
   * go. Throws ApiError `too_many`.
   */
  examine(
    config: unknown,
    shown: Shown,
    at: { readonly namespace: string; readonly nowMs: number },
  ): Promise<Examined>;
  /**
   * Returns claims that name an id as who logs in, beside others that somebody vouches for;
   * undefined if the id cannot be one of this type. Pure.
   */
  vouched(
    config: unknown,
    id: string,
    others: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, unknown>> | undefined;
  /** Returns what selectors and names may refer to: nothing if the Config is not accepted. Pure. */
  shapeOf(config: unknown): IdentityShape;
}

/** Logs the reasons of refused logins. */
export interface LoginLogger {
  warn(context: Record<string, unknown>, message: string): void;
}

/** Limits on fetches from other servers, while a method is written or a login is verified. */
export interface FetchLimits {
  /** Milliseconds for one whole exchange, redirects included. */
  readonly timeoutMs: number;
  readonly bodyBytesMax: number;
  /** Exchanges at one time. */
  readonly issuerRequests: number;
}
