/** JSON of requests and responses. */
import { reject } from '../../base/errors.js';
import { named } from '../../base/works.js';
import { parseStrictJson } from '../../languages/json.js';
import type { JsonObject } from '../routes/types.js';

/** Reads a JSON text. Throws ApiError 400 `<failure>: <what> at line 1, column 2`. */
export function parseJson(text: string, failure: string): unknown {
  if (text.trim() === '')
    reject('invalid', `${failure}: EOF: the body is empty, expected a JSON value`, { pointer: '' });
  const parsed = named('decode', () => parseStrictJson(text));
  if (parsed.ok) return parsed.value;
  const { message, line, column } = parsed.problem;
  reject('invalid', `${failure}: ${message} at line ${line}, column ${column}`, { pointer: '' });
}

/** Checks that a JSON value is an object; `null` counts as an empty one. Throws ApiError 400. */
export function mustBeObject(value: unknown, failure: string): JsonObject {
  if (value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as JsonObject;
  const got = Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  reject('invalid', `${failure}: expected a JSON object, got ${got}`, { pointer: '' });
}

/** Indents JSON text as `?pretty` asks: four spaces and a newline at the end. */
export function prettyJson(text: string): string {
  return `${JSON.stringify(JSON.parse(text), null, 4)}\n`;
}
