/** Compares responses with expectations: objects as subsets, arrays by item, `$…` by matchers. */

export type Json = unknown;
type Matcher = (actual: Json, argument: never, path: string) => string[];

const show = (value: Json): string => JSON.stringify(value) ?? 'undefined';
const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const same = (a: Json, b: Json): boolean => show(sorted(a)) === show(sorted(b));
const when = (bad: boolean, problem: string): string[] => (bad ? [problem] : []);

/** The same value with the members of every object in the same order. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

function typeName(value: Json, wanted: string): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return wanted === 'integer' && Number.isInteger(value) ? 'integer' : typeof value;
}

const isEmpty = (value: Json): boolean =>
  value === undefined || value === null || ['""', '[]', '{}'].includes(show(value));

const MATCHERS: Record<string, Matcher> = {
  $any: (actual, _, path) => when(actual === undefined, `${path}: missing`),
  $absent: (actual, wanted: boolean, path) =>
    when(
      (actual === undefined) !== wanted,
      `${path}: absent should be ${wanted}, is ${show(actual)}`,
    ),
  $absentOrEmpty: (actual, _, path) =>
    when(!isEmpty(actual), `${path}: should be absent or empty, is ${show(actual)}`),
  $type: (actual, wanted: string, path) =>
    when(typeName(actual, wanted) !== wanted, `${path}: should be ${wanted}, is ${show(actual)}`),
  $uuid: (actual, _, path) =>
    when(
      !/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(String(actual)),
      `${path}: should be a UUID, is ${show(actual)}`,
    ),
  $re: (actual, wanted: string, path) =>
    when(
      !new RegExp(wanted, 's').test(typeof actual === 'string' ? actual : show(actual)),
      `${path}: ${show(actual)} does not match /${wanted}/`,
    ),
  $includes: (actual, wanted: string, path) =>
    when(
      !(typeof actual === 'string' && actual.includes(wanted)),
      `${path}: ${show(actual)} does not contain ${show(wanted)}`,
    ),
  $oneOf: (actual, wanted: Json[], path) =>
    when(
      !wanted.some((one) => mismatches(one, actual, path).length === 0),
      `${path}: ${show(actual)} is none of ${show(wanted)}`,
    ),
  $exact: (actual, wanted: Json, path) =>
    when(!same(wanted, actual), `${path}: ${show(actual)} is not exactly ${show(wanted)}`),
  $length: (actual, wanted: number, path) =>
    when(
      (actual as { length?: number } | undefined)?.length !== wanted,
      `${path}: should have ${wanted} items, is ${show(actual)}`,
    ),
  $contains: (actual, wanted: Json[], path) =>
    wanted
      .filter((one) => !holds(actual, one, path))
      .map((one) => `${path}: no item matches ${show(one)}`),
  $lacks: (actual, wanted: Json[], path) =>
    wanted
      .filter((one) => Array.isArray(actual) && holds(actual, one, path))
      .map((one) => `${path}: an item matches ${show(one)}, none should`),
  $gt: (actual, wanted: Json, path) =>
    when(
      !(Number(actual) > Number(wanted)),
      `${path}: ${show(actual)} is not greater than ${wanted}`,
    ),
  $gte: (actual, wanted: Json, path) =>
    when(!(Number(actual) >= Number(wanted)), `${path}: ${show(actual)} is less than ${wanted}`),
  $ne: (actual, wanted: Json, path) =>
    when(same(actual, wanted), `${path}: should differ from ${show(wanted)}`),
};
const holds = (list: Json, one: Json, path: string): boolean =>
  Array.isArray(list) && list.some((item) => mismatches(one, item, path).length === 0);

/** Every difference between an expectation and a value, each with its path. */
export function mismatches(expected: Json, actual: Json, path = 'body'): string[] {
  if (isObject(expected)) {
    const names = Object.keys(expected);
    if (names.length > 0 && names.every((name) => name.startsWith('$')))
      return names.flatMap((name) => {
        const matcher = MATCHERS[name];
        if (!matcher) throw new Error(`unknown matcher ${name}`);
        return matcher(actual, expected[name] as never, path);
      });
    if (!isObject(actual)) return [`${path}: should be an object, is ${show(actual)}`];
    return names.flatMap((name) => mismatches(expected[name], actual[name], `${path}.${name}`));
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [`${path}: should be an array, is ${show(actual)}`];
    if (actual.length !== expected.length)
      return [`${path}: should have ${expected.length} items, has ${actual.length}`];
    return expected.flatMap((item, i) => mismatches(item, actual[i], `${path}[${i}]`));
  }
  return when(!same(expected, actual), `${path}: should be ${show(expected)}, is ${show(actual)}`);
}
