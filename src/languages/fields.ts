/**
 * The field language: one declaration of what an object of the API holds. Config entries and ACL
 * objects are declared in it. From a declaration follow the decoder with its normal form, the type
 * of the value, the check of stored objects, what filters may select (filter-shape.ts), and the
 * JSON Schema that describes it to clients (api/document/json-schema.ts).
 *
 *     object({
 *       Name: always('The name of the service.', text()),
 *       ExternalSNI: nonEmpty('The TLS server name.', text(), 'external_sni'),
 *       Meta: nonEmpty('Labels, for users alone.', meta),
 *     })
 *
 * The mode of a member is when answers contain it. With `Meta: {}` in the request:
 *
 *     nonEmpty  if it is not empty      no Meta
 *     ifSent    if it was in the body   "Meta": {}
 *     always    always                  "Meta": {}, and its zero value if it was absent
 *     never     never                   no Meta
 *
 * An absent member and `null` are the same. How members are spelled, which of several faults are
 * reported, and in which words, is up to the Report: config entries and ACL objects differ in it.
 */
import type {
  Description,
  Field,
  Fields,
  Infer,
  ListLimits,
  MapLimits,
  Members,
  Mode,
  Report,
  Sent,
  Type,
} from './field-types.js';
import { text } from './scalars.js';

export type * from './field-types.js';
export * from './scalars.js';

const member =
  <M extends Mode>(mode: M) =>
  <T, S = T>(description: string, type: Type<T, S>, ...spellings: string[]): Field<T, M, S> =>
    spellings.length === 0 ? { description, type, mode } : { description, type, mode, spellings };
/** A member that answers contain if it is not empty. */
export const nonEmpty = member('nonEmpty');
/** A member that answers always contain. */
export const always = member('always');
/** A member that answers contain if it was given, even if it is empty. */
export const ifSent = member('ifSent');
/** A member that is accepted and never stored. */
export const never = member('never');

/** The type of a JSON value in the words of this API's error messages. */
export function jsonKind(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'slice';
  const words: Record<string, string> = { object: 'map', number: 'float64', boolean: 'bool' };
  return words[typeof input] ?? typeof input;
}

/** Whether a JSON value is an object. */
export const isObject = (input: unknown): input is Record<string, unknown> =>
  typeof input === 'object' && input !== null && !Array.isArray(input);

/**
 * Maximum number of items in one list or map. Decoding and checking an item takes about 5 µs on the
 * event loop, between heartbeats.
 */
export const ITEMS_MAX = 2_000;

/** A list. Its zero value is null. The kind checks the limits. */
export const list = <T>(of: Type<T>, limits?: ListLimits): Type<T[] | null> =>
  listWith(of, () => null, limits);
/** The same, of which the kind checks that it has an item. */
export const neededList = <T>(of: Type<T>, limits?: ListLimits): Type<T[] | null> =>
  list(of, { ...limits, needed: true });
/** A list whose zero value is an empty one. `max`: the most items, if there may be more. */
export const items = <T, S = T>(of: Type<T, S>, max?: number): Type<readonly T[], readonly S[]> =>
  listWith(of, () => [], max === undefined ? undefined : { max }, max);

function listWith<T, S, Z>(
  of: Type<T, S>,
  zero: () => Z,
  limits?: ListLimits,
  max = ITEMS_MAX,
): Type<T[] | Z, S[] | Z> {
  const description: Description =
    limits === undefined ? { is: 'list', of } : { is: 'list', of, limits };
  return {
    description,
    zero,
    isEmpty: (value) => value === null || (value as readonly T[]).length === 0,
    decode(input, report) {
      if (Array.isArray(input)) {
        if (hasTooMany(input.length, 'items', report, max)) return zero();
        return input.map((item, i) => report.within(i, () => of.decode(item, report)));
      }
      report.fault({ is: 'type', expected: description, input });
      return zero();
    },
  };
}

/** Reports a list or map with too many items. The caller then decodes none of them. */
function hasTooMany(
  count: number,
  of: 'items' | 'entries',
  report: Report,
  max = ITEMS_MAX,
): boolean {
  if (count <= max) return false;
  report.fault({ is: 'size', of, count, max });
  return true;
}

/**
 * A map with free keys, sorted by key. Its zero value is null. Keys are data, so the object has no
 * prototype. `limits` document what its user checks.
 */
export function map<T>(
  of: Type<T>,
  limits?: MapLimits,
  max = ITEMS_MAX,
): Type<Record<string, T> | null> {
  const description: Description =
    limits === undefined ? { is: 'map', of } : { is: 'map', of, limits };
  return {
    description,
    zero: () => null,
    isEmpty: (value) => value === null || Object.keys(value).length === 0,
    decode(input, report) {
      if (!isObject(input)) {
        report.fault({ is: 'type', expected: description, input });
        return null;
      }
      const keys = Object.keys(input);
      if (hasTooMany(keys.length, 'entries', report, max)) return null;
      const out: Record<string, T> = Object.create(null);
      for (const key of keys.sort()) {
        out[key] = report.within({ entry: key }, () => of.decode(input[key], report));
      }
      return out;
    },
  };
}

/**
 * Pairs of labels, and bytes of them as JSON: what is stored is replicated and listed with every
 * read.
 */
const LABELS_MAX = 64;
const LABELS_BYTES_MAX = 4096;

/** Free names to text, as they were sent. */
export const labels: Type<Readonly<Record<string, string>>> = {
  description: { is: 'map', of: text(), limits: { count: LABELS_MAX } },
  zero: () => ({}),
  isEmpty: (value) => Object.keys(value).length === 0,
  decode(input, report) {
    if (!isObject(input)) {
      report.fault({ is: 'type', expected: labels.description, input });
      return {};
    }
    const pairs = Object.entries(input);
    const count = pairs.length;
    if (count > LABELS_MAX) report.fault({ is: 'size', of: 'pairs', count, max: LABELS_MAX });
    for (const [name, value] of pairs) report.within(name, () => LABEL.decode(value, report));
    const bytes = Buffer.byteLength(JSON.stringify(input));
    if (bytes > LABELS_BYTES_MAX) {
      report.fault({ is: 'size', of: 'bytes', count: bytes, max: LABELS_BYTES_MAX });
    }
    return input as Readonly<Record<string, string>>;
  },
};
const LABEL = text();

/** An object with members of any type, as it was sent. The limits of JSON bodies bound it. */
export const anyObject: Type<Readonly<Record<string, unknown>>> = {
  description: { is: 'free' },
  zero: () => ({}),
  isEmpty: (value) => Object.keys(value).length === 0,
  decode(input, report) {
    if (!isObject(input)) report.fault({ is: 'type', expected: { is: 'free' }, input });
    return input as Readonly<Record<string, unknown>>;
  },
};

/** A member that the server computes. Bodies may contain it, with any value. */
export const computed = <T>(type: Type<T>): Type<T, undefined> => ({
  ...type,
  computed: type,
  decode: () => undefined,
});

/** Maximum nesting depth of a free object: normalising and serialising recurse. */
const DEPTH_MAX = 64;

/**
 * An object with free members of any type. `change` normalises it. `lengths` are the most
 * characters of texts by name, which the kind checks.
 */
export function free(
  change: (value: Record<string, unknown>) => Record<string, unknown> = (value) => value,
  lengths: Readonly<Record<string, number>> = {},
): Type<Record<string, unknown> | null> {
  return {
    description: { is: 'free', lengths },
    zero: () => null,
    isEmpty: (value) => value === null,
    decode(input, report) {
      if (isObject(input)) return change(freeValue(input, report) as Record<string, unknown>);
      report.fault({ is: 'type', expected: { is: 'free' }, input });
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
function foreign(
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
    `invalid config key ${JSON.stringify(place)}, ` +
    'a feature of later releases of this API that this server does not have',
  isBlank,
);

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Whether a value, or every member of an object, is unset. */
function isBlank(input: unknown): boolean {
  const isUnset = (value: unknown): boolean =>
    value === null || value === false || value === 0 || value === '' || isEmptyList(value);
  return isUnset(input) || (isObject(input) && Object.values(input).every(isUnset));
}

/**
 * An object with the given members. `change` normalises it. A member has its own name and its
 * second spellings: the given ones, or the name in lower case.
 */
export function object<F extends Fields>(
  fields: F,
  change: (value: Infer<F>) => Infer<F> = (value) => value,
): Type<Infer<F>> & { readonly fields: F } {
  const description: Description = { is: 'object', fields, nullable: false };
  const known = membersOf(fields);
  const needed = known.names.filter((name) => fields[name]!.mode === 'always');
  const decode = (input: unknown, report: Report): Infer<F> => {
    const decoded = decodeMembers(input, fields, known, report, description);
    const out: Record<string, unknown> = {};
    // Most objects have few of many members. They are decoded in order.
    const isWhole = needed.every((name) => Object.hasOwn(decoded, name));
    for (const name of isWhole ? Object.keys(decoded) : known.names) {
      const { type, mode } = fields[name]!;
      if (!Object.hasOwn(decoded, name)) {
        if (mode === 'always') out[name] = type.zero();
        continue;
      }
      const value = decoded[name];
      if (mode === 'never' || (mode === 'nonEmpty' && type.isEmpty(value))) continue;
      out[name] = value;
    }
    return change(out as Infer<F>);
  };
  return {
    description,
    fields,
    zero: () => decode({}, EMPTY_REPORT),
    isEmpty: () => false,
    decode,
  };
}

/** An object as it is sent: the members that were given, whatever their mode. */
export function bodyOf<F extends Fields>(fields: F): Type<Sent<F>> & { readonly fields: F } {
  const description: Description = { is: 'object', fields, nullable: false };
  const known = membersOf(fields);
  const decode = (input: unknown, report: Report): Sent<F> =>
    decodeMembers(input, fields, known, report, description) as Sent<F>;
  return { description, fields, zero: () => ({}), isEmpty: () => false, decode };
}

function membersOf(fields: Fields): Members {
  const spellings = new Map<string, string>();
  for (const [name, field] of Object.entries(fields)) {
    for (const spelling of [name, ...(field.spellings ?? [name.toLowerCase()])]) {
      spellings.set(spelling, name);
    }
  }
  return { names: Object.keys(fields), spellings };
}

function decodeMembers(
  input: unknown,
  fields: Fields,
  known: Members,
  report: Report,
  expected: Description,
): Record<string, unknown> {
  const decoded: Record<string, unknown> = {};
  if (!isObject(input)) {
    report.fault({ is: 'type', expected, input });
    return decoded;
  }
  report.members(input, known, (name, key, value) => {
    const { type } = fields[name]!;
    decoded[name] = report.within(key, () => type.decode(value, report));
  });
  return decoded;
}
/** Receives nothing: decoding `{}` reports no problems. */
const EMPTY_REPORT = { members: () => {} } as unknown as Report;

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
