/**
 * The field language that declares the kinds. From one declaration follow the decoder with its
 * normal form, the type of the normalised value, and what filters may select (schema.ts).
 *
 *     object({ Name: keep(text()), ExternalSNI: omit(text(), 'external_sni'), Meta: omit(meta) })
 *
 * A member is spelled as its name or its second spelling: the snake_case name, or the name in lower
 * case if no other is declared. An absent member and `null` are the same. The mode of a member says
 * when answers contain it. With `Meta: {}` in the request:
 *
 *     omit   if it is not empty      no Meta
 *     given  if it was in the body   "Meta": {}
 *     keep   always                  "Meta": {}, and its zero value if it was absent
 *     drop   never                   no Meta
 */
import { ITEMS_MAX } from './budget.js';
import { formatDuration, parseDuration } from './duration.js';
import { membersOf } from './members.js';
import type { Report } from './problems.js';

/** A type as data. */
export type Description =
  | { readonly is: 'text'; readonly values?: readonly string[] }
  | { readonly is: 'whole'; readonly min: number; readonly max: number }
  | { readonly is: 'fraction' | 'boolean' | 'time' | 'free' }
  | { readonly is: 'duration'; readonly out: 'nanoseconds' | 'text' }
  | { readonly is: 'object'; readonly fields: Fields; readonly nullable: boolean }
  | { readonly is: 'list' | 'map'; readonly of: Type<unknown> }
  | { readonly is: 'foreign'; readonly sentence: string };

/** A type of the field language: how to decode and normalise a value. */
export interface Type<T> {
  readonly description: Description;
  /** Returns the normal form of an absent value, a new one each time: the caller may change it. */
  zero(): T;
  /** Whether `omit` leaves the value out. */
  isEmpty(value: T): boolean;
  /** Normalises a value parsed from JSON. Adds problems to the report and never throws. */
  decode(input: unknown, report: Report): T;
}

/** When answers contain a member; see the head of this file. */
export type Mode = 'omit' | 'keep' | 'given' | 'drop';
/** A member of an object: its type, mode and spellings. */
export interface Field<T = unknown, M extends Mode = Mode> {
  readonly type: Type<T>;
  readonly mode: M;
  /** Spellings besides the name itself. Undefined stands for the name in lower case. */
  readonly spellings?: readonly string[];
}
/** The members of an object by name. */
// biome-ignore lint/suspicious/noExplicitAny: the only bound that keeps each member's own type for Infer
export type Fields = Readonly<Record<string, Field<any, Mode>>>;

type Named<F extends Fields, M extends Mode> = {
  [K in keyof F]: F[K] extends Field<unknown, infer N> ? (N extends M ? K : never) : never;
}[keyof F];
type ValueOf<F> = F extends Field<infer T, Mode> ? T : never;
/** The normalised value of an object with these fields. */
export type Infer<F extends Fields> = {
  [K in Named<F, 'keep'>]: ValueOf<F[K]>;
} & { [K in Named<F, 'omit' | 'given'>]?: ValueOf<F[K]> };
/** The normalised value of a type. */
export type Normal<T> = T extends Type<infer V> ? V : never;

const member =
  <M extends Mode>(mode: M) =>
  <T>(type: Type<T>, ...spellings: string[]): Field<T, M> =>
    spellings.length === 0 ? { type, mode } : { type, mode, spellings };
/** A member that answers contain if it is not empty. */
export const omit = member('omit');
/** A member that answers always contain. */
export const keep = member('keep');
/** A member that answers contain if it was given, even if it is empty. */
export const given = member('given');
/** A member that is accepted and never stored. */
export const drop = member('drop');

/** The type of a JSON value in the words of this API's error messages. */
export function jsonKind(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'slice';
  const words: Record<string, string> = { object: 'map', number: 'float64', boolean: 'bool' };
  return words[typeof input] ?? typeof input;
}

const isObject = (input: unknown): input is Record<string, unknown> =>
  typeof input === 'object' && input !== null && !Array.isArray(input);

/**
 * Text. `change` normalises it, and the empty text too. `values` document the known values; the
 * kind itself checks them.
 */
export function text(
  options: { change?: (value: string) => string; values?: readonly string[] } = {},
): Type<string> {
  const change = options.change ?? ((value) => value);
  const { values } = options;
  return {
    description: values === undefined ? { is: 'text' } : { is: 'text', values },
    zero: () => change(''),
    isEmpty: (value) => value === '',
    decode(input, report) {
      if (typeof input === 'string') return change(input);
      report.add(`'${report.place}' expected type 'string', got '${jsonKind(input)}'`);
      return '';
    },
  };
}

/** A whole number from `min` to `max`. `change` normalises it. */
export function whole(
  options: { min?: number; max?: number; change?: (value: number) => number } = {},
): Type<number> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = options;
  const change = options.change ?? ((value) => value);
  return {
    description: { is: 'whole', min, max },
    zero: () => change(0),
    isEmpty: (value) => value === 0,
    decode(input, report) {
      if (typeof input === 'number' && Number.isInteger(input) && input >= min && input <= max) {
        return change(input + 0);
      }
      const word = min === 0 ? 'uint' : 'int';
      const range = ` from ${min} to ${max}`;
      report.add(`cannot parse '${report.place}' as ${word}: expected a whole number${range}`);
      return 0;
    },
  };
}
/** An unsigned 32-bit number. */
export const uint32 = whole({ min: 0, max: 4_294_967_295 });

/** A 32-bit floating-point number. `change` normalises it. */
export function fraction(change: (value: number) => number): Type<number> {
  return {
    description: { is: 'fraction' },
    zero: () => 0,
    isEmpty: (value) => value === 0,
    decode(input, report) {
      if (typeof input === 'number' && Number.isFinite(Math.fround(input))) return change(input);
      report.add(`cannot parse '${report.place}' as float: expected a number`);
      return 0;
    },
  };
}

/** A boolean. */
export const boolean: Type<boolean> = {
  description: { is: 'boolean' },
  zero: () => false,
  isEmpty: (value) => !value,
  decode(input, report) {
    if (typeof input === 'boolean') return input;
    report.add(`cannot parse '${report.place}' as bool: expected true or false`);
    return false;
  },
};

/** A duration: text with a unit, or nanoseconds. Answers contain nanoseconds. */
export const duration: Type<number> = {
  description: { is: 'duration', out: 'nanoseconds' },
  zero: () => 0,
  isEmpty: (value) => value === 0,
  decode: decodeDuration,
};
/** A duration that answers contain as text, `''` for zero. */
export const durationText: Type<string> = {
  description: { is: 'duration', out: 'text' },
  zero: () => '',
  isEmpty: (value) => value === '',
  decode(input, report) {
    const nanoseconds = decodeDuration(input, report);
    return nanoseconds === 0 ? '' : formatDuration(nanoseconds);
  },
};

function decodeDuration(input: unknown, report: Report): number {
  if (typeof input === 'number' && Number.isInteger(input) && Math.abs(input) < 2 ** 63) {
    return input + 0;
  }
  if (typeof input !== 'string') {
    report.add(
      `'${report.place}' expected a duration, got '${jsonKind(input)}': write text with a unit, such as "10s", or whole nanoseconds`,
    );
    return 0;
  }
  const parsed = parseDuration(input);
  if (parsed.ok) return parsed.nanoseconds;
  report.add(`error decoding '${report.place}': ${parsed.message}`);
  return 0;
}

/** A point in time, as RFC 3339 text. The kinds that declare one drop it. */
export const time: Type<string> = {
  description: { is: 'time' },
  zero: () => '',
  isEmpty: (value) => value === '',
  decode(input, report) {
    const pattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
    if (typeof input === 'string' && pattern.test(input)) return input;
    report.add(`cannot parse '${report.place}' as time: expected RFC 3339 text`);
    return '';
  },
};

/** A list. Its zero value is null. */
export function list<T>(of: Type<T>): Type<T[] | null> {
  return {
    description: { is: 'list', of },
    zero: () => null,
    isEmpty: (value) => value === null || value.length === 0,
    decode(input, report) {
      if (Array.isArray(input)) {
        if (hasTooMany(input.length, 'items', report)) return null;
        return input.map((item, i) => report.within(i, () => of.decode(item, report)));
      }
      report.add(`'${report.place}' expected a list, got '${jsonKind(input)}'`);
      return null;
    },
  };
}

/** Reports a list or map with too many items. The caller then decodes none of them. */
function hasTooMany(count: number, what: string, report: Report): boolean {
  if (count <= ITEMS_MAX) return false;
  report.add(`'${report.place}' has ${count} ${what}, at most ${ITEMS_MAX} are allowed`);
  return true;
}

/**
 * A map with free keys, sorted by key. Its zero value is null. Keys are data, so the object has no
 * prototype.
 */
export function map<T>(of: Type<T>): Type<Record<string, T> | null> {
  return {
    description: { is: 'map', of },
    zero: () => null,
    isEmpty: (value) => value === null || Object.keys(value).length === 0,
    decode(input, report) {
      if (!isObject(input)) {
        report.add(`'${report.place}' expected a map, got '${jsonKind(input)}'`);
        return null;
      }
      const keys = Object.keys(input);
      if (hasTooMany(keys.length, 'entries', report)) return null;
      const out: Record<string, T> = Object.create(null);
      for (const key of keys.sort()) {
        out[key] = report.within({ entry: key }, () => of.decode(input[key], report));
      }
      return out;
    },
  };
}

/** Maximum nesting depth of a free object: normalising and serialising recurse. */
const DEPTH_MAX = 64;

/** An object with free members of any type. `change` normalises it. */
export function free(
  change: (value: Record<string, unknown>) => Record<string, unknown> = (value) => value,
): Type<Record<string, unknown> | null> {
  return {
    description: { is: 'free' },
    zero: () => null,
    isEmpty: (value) => value === null,
    decode(input, report) {
      if (isObject(input)) return change(freeValue(input, report) as Record<string, unknown>);
      report.add(`'${report.place}' expected a map, got '${jsonKind(input)}'`);
      return null;
    },
  };
}

function freeValue(input: unknown, report: Report): unknown {
  if (report.depth > DEPTH_MAX) {
    report.add(`'${report.place.slice(0, 80)}…' is nested deeper than ${DEPTH_MAX} levels`);
    return null;
  }
  if (typeof input === 'number' && !Number.isFinite(input)) {
    report.add(`'${report.place}' is a number out of range`);
    return 0;
  }
  if (Array.isArray(input)) {
    return input.map((item, i) => report.within(i, () => freeValue(item, report)));
  }
  if (!isObject(input)) return input;
  const out: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(input).sort()) {
    out[key] = report.within({ entry: key }, () => freeValue(input[key], report));
  }
  return out;
}

/**
 * A member of another edition of the API. Accepts null and what `isTaken` accepts, and refuses
 * anything else with the sentence.
 */
export function foreign(
  sentence: (place: string) => string,
  isTaken: (input: unknown) => boolean = () => false,
): Type<null> {
  return {
    description: { is: 'foreign', sentence: sentence('') },
    zero: () => null,
    isEmpty: () => true,
    decode(input, report) {
      if (!isTaken(input)) report.add(sentence(report.place));
      return null;
    },
  };
}

/**
 * A member of later releases of this API. Their clients send it with every entry, so it is accepted
 * while nothing in it is set.
 */
export const later = foreign(
  (place) =>
    `invalid config key ${JSON.stringify(place)}, a feature of later releases of this API that this server does not have`,
  isBlank,
);

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Whether a value, or every member of an object, is unset. */
function isBlank(input: unknown): boolean {
  const isUnset = (value: unknown): boolean =>
    value === null || value === false || value === 0 || value === '' || isEmptyList(value);
  return isUnset(input) || (isObject(input) && Object.values(input).every(isUnset));
}

/** An object with the given members. `change` normalises it. */
export function object<F extends Fields>(
  fields: F,
  change: (value: Infer<F>) => Infer<F> = (value) => value,
): Type<Infer<F>> & { readonly fields: F } {
  const members = Object.entries(fields);
  const spellings = new Map<string, string>();
  for (const [name, field] of members) {
    for (const spelling of [name, ...(field.spellings ?? [name.toLowerCase()])]) {
      spellings.set(spelling, name);
    }
  }
  const decode = (input: unknown, report: Report): Infer<F> => {
    const values = isObject(input) ? membersOf(input, spellings, report) : new Map();
    if (!isObject(input)) {
      report.add(`'${report.place}' expected a map, got '${jsonKind(input)}'`);
    }
    const out: Record<string, unknown> = {};
    for (const [name, { type, mode }] of members) {
      const value = values.get(name);
      if (value === undefined) {
        if (mode === 'keep') out[name] = type.zero();
        continue;
      }
      const decoded = report.within(value.key, () => type.decode(value.input, report));
      if (mode === 'drop' || (mode === 'omit' && type.isEmpty(decoded))) continue;
      out[name] = decoded;
    }
    return change(out as Infer<F>);
  };
  return {
    description: { is: 'object', fields, nullable: false },
    fields,
    zero: () => decode({}, EMPTY_REPORT),
    isEmpty: () => false,
    decode,
  };
}
/** Receives nothing: decoding `{}` reports no problems. */
const EMPTY_REPORT = { within: (_part: unknown, body: () => unknown) => body() } as Report;

/** An object whose zero value is null. */
export function nullable<T extends object>(type: Type<T>): Type<T | null> {
  const { description } = type;
  return {
    description: description.is === 'object' ? { ...description, nullable: true } : description,
    zero: () => null,
    isEmpty: (value) => value === null,
    decode: (input, report) => type.decode(input, report),
  };
}
