/** What the schema of a type and the server say about the fields of a form. */
import { useMemo } from 'preact/hooks';
import type { Problem } from '../api/problem.js';
import { useSettled } from '../parts/load.js';
import type { Known, Refusal } from '../schema/editor-help.js';
import type { Schema } from '../schema/schema.js';
import { useSchema } from '../schema/use-schema.js';
import { TEXT } from '../texts.js';
import type { Field } from './fields.js';
import type { ObjectType } from './type.js';
import type { Editing } from './use-edit.js';

/** Milliseconds after the last key. */
const TYPING_MS = 600;

/** What is known about a field. */
export interface KnownField extends Known {
  /** What the field is. */
  readonly sentence: string | undefined;
  /** What is wrong with a text by the schema. Editors for JSON find that themselves. */
  readonly mistake: string | undefined;
}

/** Returns what is known about each field of a form. */
export function useKnown(
  type: ObjectType,
  { edit, problem }: Editing,
): (field: Field) => KnownField {
  const { form } = edit!;
  const body = useSchema(type.schema(form));
  const settled = useSettled(form, TYPING_MS);
  const refusals = useMemo(
    () => new Map(type.fields.map((field) => [field.key, refusalOf(field, problem)])),
    [type, problem],
  );
  return ({ key, control, apart }) => {
    const schema = apart === undefined ? body?.properties?.[key] : undefined;
    const text = control.type === 'text' ? settled[key] : undefined;
    return {
      ...(apart === undefined ? { member: key } : { apart }),
      body,
      refusal: refusals.get(key),
      sentence: schema?.description,
      mistake: text ? schema && mistakeOf(schema, text) : undefined,
    };
  };
}

function mistakeOf({ pattern, maxLength, examples = [] }: Schema, text: string) {
  if (maxLength !== undefined && text.length > maxLength) return TEXT.schema.longest(maxLength);
  if (pattern === undefined || new RegExp(pattern, 'u').test(text)) return undefined;
  return TEXT.schema.form(examples);
}

/** Returns what of a field was refused, with its place within the field. */
function refusalOf({ key, apart }: Field, problem: Problem | undefined): Refusal | undefined {
  const { pointer, code = '', message = '' } = problem ?? {};
  if (pointer === undefined) return undefined;
  if (apart !== undefined) return { pointer, code, message };
  const isWithin = pointer.startsWith(`/${key}/`);
  return isWithin ? { pointer: pointer.slice(key.length + 1), code, message } : undefined;
}
