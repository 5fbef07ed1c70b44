/** Bodies with a few fields, checked against a table of them. */
import { closest, distance } from 'fastest-levenshtein';
import { reject } from '../errors.js';
import type { JsonObject } from './types.js';

/** Reads one field's value; throws a text that says what was expected. */
export type FieldReader = (value: unknown) => unknown;

const expecting =
  (what: string, fits: (value: unknown) => boolean): FieldReader =>
  (value) => {
    if (fits(value)) return value;
    throw new TypeError(`expected ${what}`);
  };
export const aText = expecting('a string', (value) => typeof value === 'string');
export const aBoolean = expecting('true or false', (value) => typeof value === 'boolean');
export const aCount = expecting(
  'a whole number of 0 or more',
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
);

/**
 * Reads a body by its table of fields: those not sent are left out. Throws ApiError 400 `<failure>: unknown field "Foo"`
 * with the nearest known name, or what a field's value should have been.
 */
export function readFields(
  body: JsonObject,
  fields: Readonly<Record<string, FieldReader>>,
  failure: string,
  at = '',
): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    const pointer = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!Object.hasOwn(fields, name)) {
      const near = closest(name, Object.keys(fields));
      const hint = distance(name, near) <= 3 ? { hint: `did you mean ${near}?` } : {};
      reject('invalid', `${failure}: unknown field ${JSON.stringify(name.slice(0, 80))}`, {
        pointer,
        ...hint,
      });
    }
    try {
      read[name] = fields[name]!(value);
    } catch (error) {
      reject('invalid', `${failure}: ${name}: ${(error as Error).message}`, { pointer });
    }
  }
  return read;
}
