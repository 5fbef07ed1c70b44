/**
 * If-Match and If-None-Match (RFC 9110, section 13.1). The entity tag of an object is its
 * ModifyIndex.
 */
import type { IncomingMessage } from 'node:http';
import { QUERY_NAMES } from '../../api/query-names.js';
import { reject } from '../../base/errors.js';
import type { Match } from '../../service/common/types.js';
import type { Route, Target } from '../routes/types.js';

/**
 * Throws 400 if a request other than a read has a condition that its endpoint does not support: a
 * header that asks for safety must not be ignored. `routes` are those of the server.
 */
export function checkConditions(
  { headers }: IncomingMessage,
  target: Target,
  routes: readonly Route[],
): void {
  const { route, method } = target;
  if (method === 'GET') return;
  const pathsOf = (name: 'ifMatch' | 'ifNoneMatch'): string =>
    routes.flatMap((each) => (each[name] ? each.path : [])).join(', ');
  if (headers['if-match'] !== undefined && route.ifMatch !== true) {
    refuseCondition('If-Match', `only writes of ${pathsOf('ifMatch')} support it`, target);
  }
  if (headers['if-none-match'] !== undefined && !(route.ifNoneMatch && method === 'PUT')) {
    refuseCondition('If-None-Match', `only PUT ${pathsOf('ifNoneMatch')} supports it`, target);
  }
}

function refuseCondition(name: string, where: string, { route, method }: Target): never {
  const takesCas = method !== 'PATCH' && QUERY_NAMES[route.path]?.includes('cas');
  const message = `Header "${name}" is not supported here: ${where}. Nothing was done`;
  return reject('invalid', message, takesCas ? { hint: 'this path takes ?cas=INDEX' } : {});
}

/**
 * Returns the precondition of a write; undefined if it has none. Throws 400 for what is not one,
 * and for two.
 */
export function matchOf(incoming: IncomingMessage): Match | undefined {
  const { 'if-match': some, 'if-none-match': none } = incoming.headers;
  if (none !== undefined && none.trim() !== '*')
    reject('invalid', 'Invalid header "If-None-Match": a write takes "*" alone');
  if (none === undefined) return some === undefined ? undefined : (ifMatchOf(incoming) ?? 'any');
  if (some === undefined) return 'none';
  return reject('invalid', 'If-Match and If-None-Match cannot both be sent with a write');
}

/** Entity tags in one header: more versions than any client holds. */
const TAGS_MAX = 16;
/** A list of entity tags, which may contain commas. */
const LIST = /^(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*$/;
const TAG = /(W\/)?"([^"]*)"/g;

/**
 * Returns the indexes of which the object must have one; undefined for any (`*`, or no header).
 * Weak tags and tags that are not an index match nothing. Throws 400 for more than 16 tags, and for
 * what is not a list of tags.
 */
export function ifMatchOf({ headers }: IncomingMessage): readonly number[] | undefined {
  const text = headers['if-match']?.trim();
  if (text === undefined || text === '*') return undefined;
  const tags = LIST.test(text) ? [...text.matchAll(TAG)] : [];
  if (tags.length === 0 || tags.length > TAGS_MAX) {
    const why = `it contains "*", or at most ${TAGS_MAX} entity tags such as "57", quotes included`;
    reject('invalid', `Invalid header "If-Match": ${why}`);
  }
  return tags.flatMap(([, weak, tag = '']) =>
    weak === undefined && /^(?:0|[1-9]\d{0,15})$/.test(tag) ? [Number(tag)] : [],
  );
}
