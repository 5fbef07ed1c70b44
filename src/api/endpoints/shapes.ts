/**
 * Types of answers that the field language does not need for bodies. Answers are described alone,
 * never decoded. The types of their values follow from them.
 */
import {
  always,
  boolean,
  type Description,
  type Fields,
  type Infer,
  type Normal,
  nonEmpty,
  object,
  type Type,
  text,
  whole64,
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
export const anyAs = <T extends object>(): Type<T> => described<T>({ is: 'free' }, () => ({}) as T);
/** Any value. */
export const anyValue: Type<unknown> = described<unknown>({ is: 'any' }, () => null);
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
/** A list of objects. */
export const rows = <F extends Fields>(fields: F): Type<readonly Infer<F>[]> =>
  listOf(shape(fields));

/** A link in an answer. One to a deleted object has no name. */
export interface Link {
  readonly ID: string;
  readonly Name?: string;
}
/** Links to policies or roles. */
export const linksTo = (to: 'policy' | 'role'): Type<readonly Link[]> =>
  described<readonly Link[]>({ is: 'links', to }, () => []);

/** Free names to text. */
export const labelsOf = mapOf(text());
/** Who is behind a token that a login made. */
export const identity = shape({
  AuthMethod: always('The auth method of the login.', text()),
  Namespace: always('The namespace of the auth method.', text()),
  Subject: always('Whom the auth method names. Empty if it names nobody.', text()),
});
/** Who did something. */
export const author = shape({
  AccessorID: always('The token of the request. Empty for a login and for the server.', text()),
  Description: always('Its description then.', text()),
  Identity: nonEmpty('Who logged in.', identity),
});
/** The identity as a member of answers about tokens. */
export const IDENTITY = nonEmpty('Who is behind the token, if a login made it.', identity);
/** How a member of an object changes. `path` says where it is. */
export const differenceAt = (path: string) =>
  shape({
    Type: always('How the member changes.', oneOf('Added', 'Deleted', 'Edited')),
    Path: always(path, text()),
    Old: nonEmpty('The value before.', anyValue),
    New: nonEmpty('The value after.', anyValue),
    Cut: nonEmpty('Whether a value was cut.', boolean),
  });
export type Difference = Normal<ReturnType<typeof differenceAt>>;

/** The index of an answer that has one as a member. */
export const INDEX = always('The index of the state that was read.', whole64);

/** The value that a declaration describes. What makes it, of the type `M`, must be such a value. */
export type Made<D extends Type<unknown>, M extends Normal<D>> =
  M extends Normal<D> ? Normal<D> : never;
