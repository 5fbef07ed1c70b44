/**
 * Types of answers that the field language does not need for bodies. Answers are described alone,
 * never decoded.
 */
import {
  type Description,
  type Fields,
  type Infer,
  object,
  type Type,
} from '../../languages/fields.js';

const described = <T>(description: Description, zero: () => T): Type<T> => ({
  description,
  zero,
  isEmpty: () => false,
  decode: zero,
});

/** A value, or null. */
export const orNone = <T>({ description }: Type<T, unknown>): Type<T | null> =>
  described<T | null>(description, () => null);
/** An object with members that only its type says, such as one that holds others of its type. */
export const anyAs = <T extends object>(empty: T): Type<T> =>
  described<T>({ is: 'free' }, () => empty);
/** A map that is there even if it is empty. */
export const mapOf = <T>(of: Type<T, unknown>): Type<Readonly<Record<string, T>>> =>
  described<Readonly<Record<string, T>>>({ is: 'map', of }, () => ({}));
/** A list that is there even if it is empty. */
export const listOf = <T>(of: Type<T, unknown>): Type<readonly T[]> =>
  described<readonly T[]>({ is: 'list', of }, () => []);
/** One of these words. */
export const oneOf = <const T extends string>(first: T, ...others: readonly T[]): Type<T> =>
  described({ is: 'text', values: [first, ...others] }, () => first);
/** An object. */
export const shape = <F extends Fields>(fields: F): Type<Infer<F>> => object(fields);
