/** What schemas are made with, and the JSON Schemas of texts that clients send. */
import type { Field, TextRules } from '../../languages/fields.js';

/** A JSON Schema, or a part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Which schema is made of a declaration. */
export interface Form {
  /** Whether it is of what a client sends or of what the server answers. */
  readonly of: 'sent' | 'answered';
  /**
   * Whether members may have their second spellings, and any object names the partition `default`:
   * the bodies of config entries.
   */
  readonly lenient?: boolean;
  /**
   * Whether members may be spelled in any letter case, and lists and maps may have any size: the
   * Config of auth methods.
   */
  readonly anyCase?: boolean;
  /** Where the schema stands in its document, as the fragment of a URI. */
  readonly at: string;
}

/** Returns the form of a part of a document, by the steps that lead there. */
export const below = (form: Form, ...steps: string[]): Form => ({
  ...form,
  at: [form.at, ...steps.map(escaped)].join('/'),
});
/** A step of a JSON pointer in the fragment of a URI. */
const escaped = (step: string): string =>
  encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));

/** Returns the spellings of a member in the bodies of config entries. */
export const spellingsOf = (name: string, { spellings }: Field<unknown>): readonly string[] => [
  ...new Set([name, ...(spellings ?? [name.toLowerCase()])]),
];

/** Returns the schema of a text. Values have any letter case if `change` makes them equal. */
export function sentText({
  values,
  examples,
  change,
  limits = {},
  ...rules
}: TextRules): JsonSchema {
  const { needed = false, pattern: form, bytesMax = rules.bytesMax } = limits;
  if (values === undefined) {
    return {
      type: 'string',
      ...(needed ? { minLength: 1 } : {}),
      // A text has at least as many bytes as characters.
      ...(bytesMax === undefined ? {} : { maxLength: bytesMax }),
      ...(form === undefined ? {} : { pattern: form }),
      ...(examples === undefined ? {} : { examples }),
    };
  }
  const isSame = (value: string): boolean => change?.(swapped(value)) === change?.(value);
  const hasLetters = values.some((value) => swapped(value) !== value);
  const isAnyCase = change !== undefined && hasLetters && values.every(isSame);
  if (!isAnyCase) return { type: 'string', enum: values };
  const pattern = `^(?:${values.map(inAnyCase).join('|')})$`;
  return { type: 'string', anyOf: [{ enum: values }, { pattern }] };
}

const swapped = (text: string): string =>
  text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase();
/** Returns a pattern of a text without regard to letter case. */
export const inAnyCase = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
