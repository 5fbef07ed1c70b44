/**
 * Forms over JSON texts. A layout says which members have a field of their own; the text is what is
 * edited, so that members without a field stay as they are.
 */

/** A member with a field. */
export interface FieldPart {
  /** `list` has a text in each line, `blocks` are longer texts. */
  readonly is: 'text' | 'number' | 'check' | 'area' | 'list' | 'blocks' | 'select';
  /** The path of the member: `Match.HTTP.PathPrefix`. */
  readonly at: string;
  /** By default the name of the member in words. */
  readonly label?: string;
  /** The values of a select, and those that a text offers. */
  readonly options?: readonly string[];
}

/** A member that maps names to texts: a table of two columns. */
export interface PairsPart {
  readonly is: 'pairs';
  readonly at: string;
  readonly columns: readonly [string, string];
}

/** A list of objects: a table with a row for each. */
export interface RowsPart {
  readonly is: 'rows';
  readonly at: string;
  /** What a row is called. */
  readonly noun: string;
  readonly columns: readonly FieldPart[];
  /** The heading of the names, if the member maps names to objects. */
  readonly key?: string;
  /** Whether the first row that fits counts, so that rows are moved. */
  readonly isOrdered?: true;
  /** The member that must add up to 100. */
  readonly percent?: string;
  /** A list in each row, of which only the length is shown. */
  readonly counted?: string;
}

/** Members of which only those of one choice are there. */
export interface ChoicePart {
  readonly is: 'choice';
  readonly label: string;
  readonly choices: readonly { readonly label: string; readonly parts: readonly FieldPart[] }[];
}

/** Part of a form. */
export type Part = FieldPart | PairsPart | RowsPart | ChoicePart;
export type Layout = readonly Part[];

/** An object of JSON. */
export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the object that a text holds; undefined if it holds none. */
export function objectIn(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the value at a path; undefined if there is none. */
export const valueAt = (object: Json, at: string): unknown =>
  at
    .split('.')
    .reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), object);

/**
 * Returns the object with another value at a path. Undefined removes the member, and the objects
 * around it that have no other.
 */
export function withValue(object: Json, at: string, value: unknown): Json {
  const [name = '', ...rest] = at.split('.');
  const held = object[name];
  const inner =
    rest.length === 0 ? value : withValue(isObject(held) ? held : {}, rest.join('.'), value);
  const isGone = inner === undefined || (rest.length > 0 && isEmpty(inner) && !isEmpty(held));
  if (!isGone) return { ...object, [name]: inner };
  const { [name]: _gone, ...others } = object;
  return others;
}

const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

/** Returns a value as the text of its field. */
export function textOf({ is }: FieldPart, value: unknown): string {
  if (value === undefined || value === null) return is === 'check' ? 'false' : '';
  if (Array.isArray(value)) return value.map(String).join('\n');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Returns the value of a field's text; undefined for none. What is no number stays a text. */
export function fieldValue({ is }: FieldPart, text: string): unknown {
  if (is === 'check') return text === 'true' ? true : undefined;
  if (is === 'list') {
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.length === 0 ? undefined : lines;
  }
  if (text === '') return undefined;
  if (is !== 'number') return text;
  const number = Number(text);
  return text.trim() !== '' && Number.isFinite(number) ? number : text;
}

/** Returns the name of a member in words: `Bound audiences`, `JWKS URL`. */
export function wordsOf(at: string): string {
  const name = at.split('.').at(-1)!;
  const words = name.match(/[A-Z]{2,}(?=[A-Z][a-z]|$)|[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [name];
  return words
    .map((word, nth) => (nth > 0 && /^[A-Z][a-z]/.test(word) ? word.toLowerCase() : word))
    .join(' ');
}

/** The rows of a table, with their names if the member maps names to objects. */
export const rowsIn = (
  object: Json,
  { at, key }: RowsPart,
): readonly (readonly [string, Json])[] => {
  const value = valueAt(object, at);
  if (key !== undefined)
    return isObject(value)
      ? Object.entries(value).map(([name, row]) => [name, isObject(row) ? row : {}])
      : [];
  return Array.isArray(value) ? value.map((row) => ['', isObject(row) ? row : {}]) : [];
};

/** Returns the object with other rows. */
export function withRows(
  object: Json,
  { at, key }: RowsPart,
  rows: readonly (readonly [string, Json])[],
): Json {
  if (rows.length === 0) return withValue(object, at, undefined);
  const value = key === undefined ? rows.map(([, row]) => row) : Object.fromEntries(rows);
  return withValue(object, at, value);
}

/** Returns shares that add up to 100, as equal as two digits after the point allow. */
export function evenShares(count: number): number[] {
  const share = Math.floor(10_000 / count) / 100;
  return Array.from({ length: count }, (_, nth) =>
    nth === 0 ? Math.round((100 - share * (count - 1)) * 100) / 100 : share,
  );
}
