/**
 * The header If-Match (RFC 9110, section 13.1.1), over entity tags that are the ModifyIndex of an
 * object.
 */
import type { IncomingMessage } from 'node:http';
import { reject } from '../errors.js';

/** Entity tags in one header: more than any client has versions at hand. */
const TAGS_MAX = 16;
/** A list of entity tags; a comma may stand within one. */
const LIST = /^(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*$/;
const TAG = /(W\/)?"([^"]*)"/g;

/**
 * The indexes of which the present one must be one; undefined: any (`*`, or no header). A weak tag,
 * and one that is no index, matches nothing. Throws 400 for what is no list of at most 16 tags.
 */
export function ifMatchOf({ headers }: IncomingMessage): readonly number[] | undefined {
  const text = headers['if-match']?.trim();
  if (text === undefined || text === '*') return undefined;
  const tags = LIST.test(text) ? [...text.matchAll(TAG)] : [];
  if (tags.length === 0 || tags.length > TAGS_MAX) {
    const why = `it holds "*", or at most ${TAGS_MAX} entity tags such as "57", quotes included`;
    reject('invalid', `Invalid header "If-Match": ${why}`);
  }
  return tags.flatMap(([, weak, tag = '']) =>
    weak === undefined && /^(?:0|[1-9]\d{0,15})$/.test(tag) ? [Number(tag)] : [],
  );
}
