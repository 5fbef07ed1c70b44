/** Texts of the help for JSON, which comes with the editor and not with the first page. */

const plural = (count: number, one: string): string =>
  `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
  object: 'an object',
  array: 'a list',
};
const typeName = (type: string): string => TYPES[type] ?? type;
const either = (types: readonly string[]): string => types.map(typeName).join(' or ');
const listed = (values: readonly unknown[]): string =>
  values.map((value) => JSON.stringify(value)).join(', ');

export const SCHEMA_TEXT = {
  typeName,
  example: 'for example',
  type: (types: readonly string[], found: string) =>
    `expected ${either(types)}, found ${typeName(found)}`,
  unknown: (name: string) => `there is no field ${JSON.stringify(name)} here`,
  missing: (name: string) => `the field ${JSON.stringify(name)} is missing`,
  oneOf: (values: readonly unknown[]) =>
    values.length === 1 ? `must be ${listed(values)}` : `one of ${listed(values)}`,
  form: (examples: readonly unknown[]) =>
    examples.length === 0
      ? 'does not have the expected form'
      : `expected a value such as ${listed(examples)}`,
  takes: (types: readonly string[]) => `Takes ${either(types)}`,
  between: (least: number, most: number) =>
    `From ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`,
  absent: (value: string) => `Default: ${value}`,
  empty: 'must not be empty',
  longest: (count: number) => `is longer than ${plural(count, 'character')}`,
  least: (count: number) => `needs at least ${plural(count, 'item')}`,
  most: (count: number) => `takes at most ${plural(count, 'item')}`,
  atLeast: (value: string) => `must be ${value} or more`,
  atMost: (value: string) => `must be ${value} or less`,
  syntax: {
    comma: (word: string) =>
      /[\]},]/.test(word) ? `there must be no comma before ${word}` : 'expected a comma',
    colon: (word: string) => `expected a colon after ${word}`,
    value: () => 'expected a value after the colon',
    unclosed: (word: string) => `${word} is not closed`,
    word: (word: string) =>
      `${word} is not a value: strings are in quotes, other values are numbers, true, ` +
      `false and null`,
    text: (word: string) =>
      word.startsWith('"')
        ? `${word} is not a string: it is not closed, or has an invalid escape`
        : `${word} is not a name: names are in quotes`,
    rest: (word: string) => `expected nothing after the value, found ${word}`,
    twice: (word: string) => `${word} occurs twice`,
  },
} as const;
