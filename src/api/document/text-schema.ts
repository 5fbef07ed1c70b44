/** JSON Schemas of texts that clients send. */
import type { TextRules } from '../../languages/fields.js';

/** A JSON Schema, or a part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown };

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
