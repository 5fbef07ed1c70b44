/** What the audit log learns of requests. It is above this layer, so this is its port. */
import type { IncomingMessage } from 'node:http';
import type { ApiError, Refusal } from '../base/errors.js';
import type { Caller, Notes } from '../service/common/types.js';
import type { Method, Route } from './routes/types.js';

/** An answer that is about to be sent. */
export interface AuditedAnswer {
  readonly incoming: IncomingMessage;
  /** Its path and query without secrets. */
  readonly endpoint: string;
  /** Absent if the request was refused before its route or its token was read. */
  readonly route?: Route | undefined;
  readonly caller?: Caller | undefined;
  /** What `begin` returned. */
  readonly notes?: Notes | undefined;
  readonly status: number;
  /** Whether the client has left, so that it does not get the answer. */
  readonly isGone: boolean;
  readonly ms: number;
  readonly namespace: string;
  /** That of the header. */
  readonly reason: string;
  /** The id of the decision of a refusal; empty if there is none. */
  readonly decision: string;
  /** The error that carried a refusal. */
  readonly error?: ApiError | undefined;
}

/** Records requests. */
export interface Auditor {
  /**
   * Called when a request begins. Returns what notes it, undefined if only its refusal would be
   * recorded. Throws ApiError `audit_unavailable` if its record is required and cannot be written.
   */
  begin(route: Route, method: Method, caller: Caller, url: string): Notes | undefined;
  /**
   * Called before an answer is sent. Returns undefined if it may be sent at once, otherwise a
   * promise of the refusal to send instead, if there is one.
   */
  answered(answer: AuditedAnswer): Promise<Refusal | undefined> | undefined;
}
