/** Options of the front end. */
import type { ErrorCode } from '../base/errors.js';
import type { LoopShare } from '../service/common/loop-share.js';
import type { Service } from '../service/common/types.js';
import type { RefusedRequest } from '../service/explain/decisions.js';
import type { Auditor } from './audited.js';
import type { EventLimits, HeldLimits } from './limits/concurrency.js';
import type { RateLimits } from './limits/rates.js';
import type { RefusalLimits } from './response/refusals.js';
import type { Method, Route } from './routes/types.js';

/** Limits of requests and responses. */
export interface HttpLimits extends HeldLimits, EventLimits, RateLimits, RefusalLimits {
  readonly bodyBytes: number;
  readonly planBytes: number;
  /** The same for callers without a valid token, for logins and for bootstrap. */
  readonly anonymousBodyBytes: number;
  /** Bytes of such bodies that have not arrived whole. */
  readonly pendingBodyBytes: number;
  /** Milliseconds a write or a barrier may take; then the answer is 503 or 504. */
  readonly requestMs: number;
  /** Streamed responses that one token may read at a time. */
  readonly streamsPerToken: number;
  /** How fast they must be read on average after `stalledMs`. */
  readonly streamBytesPerSecond: number;
  /** Milliseconds within which a client must read part of a long response. */
  readonly stalledMs: number;
}

/** One answered request, for metrics. */
export interface Observation {
  readonly route: Route;
  readonly method: Method;
  readonly status: number;
  /**
   * Milliseconds from the end of the request's headers until the response is written to the socket,
   * including the wait of a blocking query.
   */
  readonly ms: number;
  /** Milliseconds of that wait. */
  readonly heldMs: number;
  /** The trace id in the request's traceparent; empty if it has none. */
  readonly traceId?: string;
  /** Whether the connection ended before the whole response was written to it. */
  readonly isCut?: boolean;
}

export interface UiOptions {
  readonly folder: string;
  /** Milliseconds without input after which the pages log out; 0 for never. */
  readonly idleMs: number;
}

/** How field names match: exactly as documented, or in any letter case. */
export type FieldNames = 'exact' | 'anyCase';

export interface HttpOptions {
  readonly service: Service;
  readonly routes: readonly Route[];
  readonly datacenter: string;
  readonly defaultPolicy: 'allow' | 'deny';
  /** Prefix of header names, such as `X-Service`. `X-Consul` is accepted and sent as well. */
  readonly headerPrefix: string;
  /** Accepts the token as `?token=`, which ends up in logs. */
  readonly tokenInQuery: boolean;
  /** Whether field names in another letter case are accepted. */
  readonly fieldNames: FieldNames;
  /** Hosts this server answers to: undefined stands for those of loopback, `*` for any. */
  readonly allowedHosts?: readonly string[] | undefined;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** Prefixes of paths that are answered with 403. */
  readonly blockedPaths: readonly string[];
  /** The folder of the web UI; undefined if it is not served. */
  readonly ui?: UiOptions | undefined;
  readonly limits: HttpLimits;
  /** The share of the event loop for requests without a token; a new one by default. */
  readonly strangers?: Pick<LoopShare, 'turn'>;
  /** Notes a refused request. Returns the id of the decision; undefined if it is not noted. */
  readonly noteRefused?: (refused: RefusedRequest) => string | undefined;
  readonly observe?: (observation: Observation) => void;
  readonly audit?: Auditor;
  /** Reports a fault of this server. `path` is that of the route, '' if there is none. */
  readonly report: (event: {
    readonly code: ErrorCode;
    readonly path: string;
    readonly error?: unknown;
    /** Of the traceparent of the request, if it has one. */
    readonly trace_id?: string;
  }) => void;
}
