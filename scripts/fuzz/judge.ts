/** Whether a node's response to a shot is acceptable. */
import { gunzipSync } from 'node:zlib';
import type { Outcome, Reply, Shot } from './shot.js';

/** Statuses of a server that says why it cannot serve. They are counted, but are no violations. */
const WITH_REASON: ReadonlySet<number> = new Set([501, 503, 504, 507]);
/** Longer than a node waits for a leader and a majority (`limits.requestMs`). */
export const ANSWER_MS_MAX = 10_000;
/** Texts that no error may show to a client. */
const SLIPS = ['[object ', 'TypeError', 'RangeError', 'Internal error', '.js:', 'node:internal'];

/** Returns what is wrong with the responses to a shot; undefined if nothing is. */
export function problemOf(shot: Shot, outcome: Outcome): string | undefined {
  const { replies, ms, hung } = outcome;
  for (const reply of replies) {
    const problem = problemOfReply(reply);
    if (problem !== undefined) return problem;
  }
  if (!shot.strict) return undefined;
  if (outcome.problem !== undefined) return outcome.problem;
  if (hung) return `no end of the answer within ${ms} ms`;
  // The connection ends with a response that refuses to read more.
  const closes = replies.at(-1)?.headers['connection'] === 'close';
  if (replies.length === 0 || (replies.length < shot.methods.length && !closes))
    return `${replies.length} answers to ${shot.methods.length} requests`;
  return ms > ANSWER_MS_MAX ? `answered after ${Math.round(ms)} ms` : undefined;
}

function problemOfReply({ status, headers, body }: Reply): string | undefined {
  if (status >= 500 && !WITH_REASON.has(status)) return `status ${status}: ${start(body)}`;
  let text: string;
  try {
    // A response to HEAD names the encoding of a body that it does not have.
    const isPacked = headers['content-encoding'] === 'gzip' && body.length > 0;
    text = (isPacked ? gunzipSync(body) : body).toString('utf8');
  } catch {
    return `status ${status}: the answer cannot be unpacked`;
  }
  if (status >= 400) {
    const slip = SLIPS.find((one) => text.includes(one));
    if (slip !== undefined) return `status ${status}: the error says "${slip}": ${text}`;
  }
  if (status >= 500 && headers['content-length'] === '0') return `status ${status} and no reason`;
  if (body.length === 0 || !headers['content-type']?.includes('json')) return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return `status ${status}: the answer is no JSON: ${start(body)}`;
  }
}

const start = (body: Buffer): string => body.toString('utf8').slice(0, 300);
