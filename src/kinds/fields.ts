/**
 * The field language in which the kinds are written. One declaration gives the decoder with its
 * normal form, the type of the normalised value, the JSON schema (schema.ts) and what filters may
 * select (schema.ts).
 *
 *     object({ Name: keep(text()), MeshGateway: keep(meshGateway, 'mesh_gateway'), Meta: omit(meta) })
 *
 * A member is spelled exactly by its name or by its second spelling (the snake_case name, or the
 * name in lower case where there is none). Absent and `null` are the same. How it is answered:
 * `omit`: only when not empty; `keep`: always, in its empty form if need be; `given`: when it was
 * given, even empty; `drop`: never.
 */
import { distance } from 'fastest-levenshtein';
import { ITEMS_MAX } from './budget.js';
import { formatDuration, parseDuration } from './duration.js';
import type { Report } from './problems.js';

/** What a type is, as data. */
export type Description =
  | { readonly is: 'text'; readonly values?: readonly string[] }
  | { readonly is: 'whole'; readonly min: number; readonly max: number }
  | { readonly is: 'fraction' | 'boolean' | 'time' | 'free' }
  | { readonly is: 'duration'; readonly out: 'nanoseconds' | 'text' }
  | { readonly is: 'object'; readonly fields: Fields; readonly nullable: boolean }
  | { readonly is: 'list' | 'map'; readonly of: Type<unknown> }
  | { readonly is: 'foreign'; readonly sentence: string };

export interface Type<T> {
  readonly description: Description;
  /** The normal form of an absent value. A new one each time: it may be changed afterwards. */
  zero(): T;
  /** Whether `omit` leaves the value out. */
  isEmpty(value: T): boolean;
  /** The normal form of a value as it came from JSON; a fault goes to the report. Never throws. */
  decode(input: unknown, report: Report): T;
}

export type Mode = 'omit' | 'keep' | 'given' | 'drop';
export interface Field<T = unknown, M extends Mode = Mode> {
  readonly type: Type<T>;
  readonly mode: M;
  /** Spellings besides the name itself; undefined: the name in lower case. */
  readonly spellings?: readonly string[];
}
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
export const omit = member('omit');
export const keep = member('keep');
export const given = member('given');
export const drop = member('drop');

/** The kind of a JSON value in the words clients know from this API. */
export function jsonKind(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'slice';
  const words: Record<string, string> = { object: 'map', number: 'float64', boolean: 'bool' };
  return words[typeof input] ?? typeof input;
}

const isObject = (input: unknown): input is Record<string, unknown> =>
  typeof input === 'object' && input !== null && !Array.isArray(input);

/**
 * Text; `change` gives the normal form, of the empty text too. `values` are for the schema: the
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

/** A whole number. `change` gives the normal form. */
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
      report.add(`cannot parse '${report.place}' as ${word}: a whole number${range} is expected`);
      return 0;
    },
  };
}
export const uint32 = whole({ min: 0, max: 4_294_967_295 });

/** A 32-bit floating-point number. */
export function fraction(change: (value: number) => number): Type<number> {
  return {
    description: { is: 'fraction' },
    zero: () => 0,
    isEmpty: (value) => value === 0,
    decode(input, report) {
      if (typeof input === 'number' && Number.isFinite(Math.fround(input))) return change(input);
      report.add(`cannot parse '${report.place}' as float: a number is expected`);
      return 0;
    },
  };
}

export const boolean: Type<boolean> = {
  description: { is: 'boolean' },
  zero: () => false,
  isEmpty: (value) => !value,
  decode(input, report) {
    if (typeof input === 'boolean') return input;
    report.add(`cannot parse '${report.place}' as bool: true or false is expected`);
    return false;
  },
};

/** A duration: text with a unit, or nanoseconds; answered as nanoseconds. */
export const duration: Type<number> = {
  description: { is: 'duration', out: 'nanoseconds' },
  zero: () => 0,
  isEmpty: (value) => value === 0,
  decode: decodeDuration,
};
/** A duration that is answered as text, `''` when zero. */
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

/** A point in time in RFC 3339 text; the kinds that have one drop it. */
export const time: Type<string> = {
  description: { is: 'time' },
  zero: () => '',
  isEmpty: (value) => value === '',
  decode(input, report) {
    const pattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
    if (typeof input === 'string' && pattern.test(input)) return input;
    report.add(`cannot parse '${report.place}' as time: RFC 3339 text is expected`);
    return '';
  },
};

/** A list; absent it is null, and answered so where it is kept. */
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

/** Refuses a list or map that would take too long to look at; none of it is. */
function hasTooMany(count: number, what: string, report: Report): boolean {
  if (count <= ITEMS_MAX) return false;
  report.add(`'${report.place}' has ${count} ${what}, at most ${ITEMS_MAX} are allowed`);
  return true;
}

/**
 * A map with free keys, answered in the order of the keys. Keys are data: the object has no
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

/** The looser the object, the more a hostile body can nest: normalising and writing recurse. */
const DEPTH_MAX = 64;

/** An object whose members are the client's own, kept as given. */
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
 * A member of another edition: absent or null it is fine, anything else is refused with the
 * sentence. `isTaken` tells what else is fine.
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
 * A member of later releases of this API whose clients send it with every entry, set or not: not
 * set it is fine.
 */
export const later = foreign(
  (place) =>
    `invalid config key ${JSON.stringify(place)}, a feature of later releases of this API that this server does not have`,
  isBlank,
);

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Whether nothing is set: neither in the value nor in the members of an object. */
function isBlank(input: unknown): boolean {
  const isUnset = (value: unknown): boolean =>
    value === null || value === false || value === 0 || value === '' || isEmptyList(value);
  return isUnset(input) || (isObject(input) && Object.values(input).every(isUnset));
}

/** An object with the given members; `change` gives the normal form. */
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
/** Never written to: an object without members has no faults to tell. */
const EMPTY_REPORT = { within: (_part: unknown, body: () => unknown) => body() } as Report;

/** An object that is null when absent. */
export function nullable<T extends object>(type: Type<T>): Type<T | null> {
  const { description } = type;
  return {
    description: description.is === 'object' ? { ...description, nullable: true } : description,
    zero: () => null,
    isEmpty: (value) => value === null,
    decode: (input, report) => type.decode(input, report),
  };
}

/** The members of an object by name. What is not known, or there twice, is told. */
function membersOf(
  input: Record<string, unknown>,
  spellings: ReadonlyMap<string, string>,
  report: Report,
): Map<string, { key: string; input: unknown }> {
  const values = new Map<string, { key: string; input: unknown }>();
  for (const key of Object.keys(input)) {
    const name = spellings.get(key);
    const before = name === undefined ? undefined : values.get(name);
    if (name === undefined && isDefaultPartition(key, input[key])) continue;
    if ((name === undefined || before !== undefined) && report.full) {
      report.count += 1;
    } else if (name === undefined || before !== undefined) {
      report.within(key, () => unknownKey(key, before?.key, spellings, report));
    } else if (input[key] !== null) {
      values.set(name, { key, input: input[key] });
    }
  }
  return values;
}

/**
 * Clients of other editions name the only partition there is, wherever they may; it means nothing.
 */
const isDefaultPartition = (key: string, value: unknown): boolean =>
  (key === 'Partition' || key === 'partition') &&
  (value === 'default' || value === '' || value === null);

const EDITION_HINTS: readonly (readonly [RegExp, string])[] = [
  [/jwt/i, ', api-gateway jwt validation is a feature that this server does not have'],
  [/partition$/i, ', partitions are a feature that this server does not have'],
  [
    /samenessgroup$|sameness_group$/i,
    ', sameness groups are a feature that this server does not have',
  ],
  [/namespace$/i, ', namespaces are a matter of the request: choose one with the parameter "ns"'],
];

function unknownKey(
  key: string,
  twin: string | undefined,
  spellings: ReadonlyMap<string, string>,
  report: Report,
): void {
  const near = twin !== undefined ? undefined : nearest(key, spellings);
  const edition = EDITION_HINTS.find(([pattern]) => pattern.test(key))?.[1];
  let why = '';
  if (twin !== undefined) why = `: the field is there already as "${twin}"`;
  else if (edition !== undefined) why = edition;
  const hint = why === '' && near !== undefined ? `did you mean "${near}"?` : undefined;
  report.add(`invalid config key ${JSON.stringify(report.place)}${why}`, hint);
}

/** The known name closest to a key, if any is close enough to have been meant. */
function nearest(key: string, spellings: ReadonlyMap<string, string>): string | undefined {
  if (key.length > 64) return undefined;
  const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();
  const wanted = plain(key);
  let best: { name: string; steps: number } | undefined;
  for (const name of spellings.values()) {
    const steps = distance(wanted, plain(name));
    if (best === undefined || steps < best.steps) best = { name, steps };
  }
  const limit = Math.min(3, Math.floor(wanted.length / 3));
  return best !== undefined && best.steps <= limit ? best.name : undefined;
}
