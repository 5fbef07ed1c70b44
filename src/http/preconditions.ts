/** If-Match (RFC 9110, section 13.1.1). The entity tag of an object is its ModifyIndex. */
import type { IncomingMessage } from 'node:http';
import { reject } from '../errors.js';

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
    const why = `it holds "*", or at most ${TAGS_MAX} entity tags such as "57", quotes included`;
    reject('invalid', `Invalid header "If-Match": ${why}`);
  }
  return tags.flatMap(([, weak, tag = '']) =>
    weak === undefined && /^(?:0|[1-9]\d{0,15})$/.test(tag) ? [Number(tag)] : [],
  );
}
