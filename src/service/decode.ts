/**
 * Request bodies as tables of typed fields. Every field is optional and `null` counts as absent;
 * what a field must hold is said once, and every fault names the path, what was expected and, for a
 * mistyped name, what was probably meant.
 */
import { reject } from '../errors.js';
import { parseDuration } from '../kinds/duration.js';
import { didYouMean } from '../languages/suggest.js';

/** Where a value stands: the lead-in of the error (`Role decoding failed`) and the JSON pointer. */
interface Place {
  readonly failure: string;
  readonly pointer: string;
}
/** Makes a typed value of parsed JSON, or refuses it. */
export type Decoder<T> = (value: unknown, place: Place) => T;
// biome-ignore lint/suspicious/noExplicitAny: the only bound that keeps the type of each decoder of a table
export type Fields = Readonly<Record<string, Decoder<any>>>;
export type Decoded<F extends Fields> = { readonly [K in keyof F]?: ReturnType<F[K]> };

/** Decodes a whole body. Throws ApiError `invalid`. */
export function decodeBody<F extends Fields>(
  failure: string,
  body: unknown,
  fields: F,
): Decoded<F> {
  return object(fields)(withoutPartition(body ?? {}, failure), { failure, pointer: '' });
}

/** A body without the partition that it names: there is one, `default`, and it means nothing. */
function withoutPartition(body: unknown, failure: string): unknown {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'Partition')) return body;
  const { Partition, ...rest } = body as { readonly Partition: unknown };
  if (Partition === 'default' || Partition === '' || Partition === null) return rest;
  const pointer = '/Partition';
  return refuse(
    { failure, pointer },
    'partitions are a feature that this server does not have, "default" apart',
  );
}

/** An object with these fields and no others. */
export const object =
  <F extends Fields>(fields: F): Decoder<Decoded<F>> =>
  (value, place) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      fail(place, 'an object', value);
    }
    const decoded: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      const decoder = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (decoder === undefined) unknownField(name, Object.keys(fields), place);
      if (member === null) continue;
      decoded[name] = decoder!(member, below(place, name));
    }
    return decoded as Decoded<F>;
  };

export const text: Decoder<string> = (value, place) =>
  typeof value === 'string' ? value : fail(place, 'a string', value);

/** Bytes of a description: what is stored is replicated and listed with every read. */
const DESCRIPTION_BYTES_MAX = 8192;

/** A text for people. The longest that the server makes itself, at login, fits. */
export const description: Decoder<string> = (value, place) => {
  const given = text(value, place);
  atMost(DESCRIPTION_BYTES_MAX, Buffer.byteLength(given), 'bytes', place);
  return given;
};

export const flag: Decoder<boolean> = (value, place) =>
  typeof value === 'boolean' ? value : fail(place, 'true or false', value);

/** A whole number from 0. */
export const index: Decoder<number> = (value, place) =>
  Number.isSafeInteger(value) && (value as number) >= 0
    ? (value as number)
    : fail(place, 'a whole number', value);

/**
 * Links and identities are all looked at, in one turn of the loop, when a token's rights are worked
 * out.
 */
const LIST_MAX = 2_000;

/** A list; `null` is no member of any. */
export const list =
  <T>(of: Decoder<T>): Decoder<readonly T[]> =>
  (value, place) => {
    if (!Array.isArray(value)) return fail(place, 'a list', value);
    if (value.length > LIST_MAX) {
      refuse(place, `the list has ${value.length} items, at most ${LIST_MAX} are allowed`);
    }
    return value.map((item: unknown, at) => of(item, below(place, String(at))));
  };

/**
 * Pairs of a Meta, and bytes of it as JSON: what is stored is replicated and listed with every
 * read.
 */
const META_PAIRS_MAX = 64;
const META_BYTES_MAX = 4096;

/** Free names to text: labels, not data, so their number and their JSON are bounded. */
export const meta: Decoder<{ readonly [name: string]: string }> = (value, place) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    fail(place, 'an object of strings', value);
  }
  const pairs = Object.entries(value);
  atMost(META_PAIRS_MAX, pairs.length, 'pairs', place);
  for (const [name, member] of pairs) text(member, below(place, name));
  atMost(META_BYTES_MAX, Buffer.byteLength(JSON.stringify(value)), 'bytes', place);
  return value as { readonly [name: string]: string };
};

/** Any object, as it was sent. */
export const anyObject: Decoder<{ readonly [name: string]: unknown }> = (value, place) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [name: string]: unknown })
    : fail(place, 'an object', value);

/** A duration in nanoseconds: text with a unit, or a number of nanoseconds. */
export const duration: Decoder<number> = (value, place) => {
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  if (typeof value !== 'string') {
    return fail(place, 'a duration such as "1h30m" or a whole number of nanoseconds', value);
  }
  if (value === '') return 0;
  const parsed = parseDuration(value);
  return parsed.ok ? parsed.nanoseconds : refuse(place, parsed.message);
};

/** What only answers carry: accepted and not looked at. */
export const ignored: Decoder<undefined> = () => undefined;

function atMost(max: number, count: number, of: 'bytes' | 'pairs', place: Place): void {
  if (count > max) refuse(place, `the value has ${count} ${of}, at most ${max} are allowed`);
}

/** Refuses a value at a place, in a sentence that tells where. */
export function refuse(place: Place, message: string): never {
  const where = place.pointer === '' ? '' : ` at ${place.pointer}`;
  reject('invalid', `${place.failure}: ${message}${where}`, { pointer: place.pointer });
}

function unknownField(name: string, known: readonly string[], place: Place): never {
  // letter case counts, so a name that differs in nothing else is the likeliest slip
  const sameLetters = known.find((field) => field.toLowerCase() === name.toLowerCase());
  const hint =
    sameLetters === undefined
      ? didYouMean(name, known)
      : `; did you mean ${JSON.stringify(sameLetters)}?`;
  const at = below(place, name).pointer;
  reject('invalid', `${place.failure}: json: unknown field ${JSON.stringify(cut(name))}${hint}`, {
    pointer: at,
    hint: `known fields here: ${known.join(', ')}`,
  });
}

function fail(place: Place, expected: string, value: unknown): never {
  refuse(place, `expected ${expected}, not ${kindOf(value)}`);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Characters of a name that an error shows. */
const NAME_SHOWN_MAX = 80;
/** A name as errors show it: they tell where to look and echo no body. */
const cut = (name: string): string =>
  name.length > NAME_SHOWN_MAX ? `${name.slice(0, NAME_SHOWN_MAX)}…` : name;

/** The place of a member, as a JSON pointer (RFC 6901). */
const below = ({ failure, pointer }: Place, name: string): Place => ({
  failure,
  pointer: `${pointer}/${cut(name).replaceAll('~', '~0').replaceAll('/', '~1')}`,
});
