/** What the front end needs from its surroundings. */
import type { ErrorCode } from '../errors.js';
import type { Service } from '../service/types.js';
import type { HeldLimits } from './held.js';
import type { RateLimits } from './rates.js';
import type { RefusalLimits } from './refusals.js';
import type { Method, Route } from './types.js';

export interface HttpLimits extends HeldLimits, RateLimits, RefusalLimits {
  /** Largest request body in bytes. */
  readonly bodyBytes: number;
  /** The same of callers without a valid token, of logins and of bootstrap. */
  readonly anonymousBodyBytes: number;
  /** Milliseconds a write or a barrier may take before it is answered with 503 or 504. */
  readonly requestMs: number;
  /** Answers in pieces that are read at one time with one token. */
  readonly streamsPerToken: number;
  /** How fast they must be read on average, after `stalledMs`. */
  readonly streamBytesPerSecond: number;
  /** Milliseconds a client may take no byte of a long answer. */
  readonly stalledMs: number;
}

/** What became of a request, for metrics and logs. */
export interface Observation {
  readonly route: Route;
  readonly method: Method;
  readonly status: number;
  /** Milliseconds from the first to the last byte of the answer handed to the socket; a held call counts its hold. */
  readonly ms: number;
}

export interface HttpOptions {
  readonly service: Service;
  readonly routes: readonly Route[];
  readonly datacenter: string;
  readonly defaultPolicy: 'allow' | 'deny';
  /** `X-Service`: the prefix of the header names; the same under `X-Consul` is accepted and answered too. */
  readonly headerPrefix: string;
  /** Accept the token as `?token=`, which ends up in logs. */
  readonly tokenInQuery: boolean;
  /** Names this server answers to; undefined: those of loopback, `*` among them: any. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Set on every answer. */
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** Paths that begin with one of these are answered with 403. */
  readonly blockedPaths: readonly string[];
  readonly limits: HttpLimits;
  readonly observe?: (observation: Observation) => void;
  /** A request refused before it reached a route, or a fault of ours. `error` is set for faults. */
  readonly report: (event: { code: ErrorCode; path: string; error?: unknown }) => void;
}
