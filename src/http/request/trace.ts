/** The trace that a request belongs to (W3C Trace Context). */
import type { IncomingMessage } from 'node:http';

/** A traceparent of version 00 (section 3.2). Zeros are no trace, and no parent. */
const TRACE = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns the trace id of a request; empty if it has no valid one. */
export function traceOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const sent = headers['traceparent'];
  return typeof sent === 'string' ? (TRACE.exec(sent)?.[1] ?? '') : '';
}
