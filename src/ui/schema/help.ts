/** What may be typed at a place of a JSON text, and what it means. */
import { type JsonText, type Spot, spotAt } from './json-text.js';
import { namesOf, resolved, type Schema, schemaAt, typesOf, valuesOf } from './schema.js';
import { SCHEMA_TEXT } from './texts.js';

/** Something that may be typed. */
export interface Offer {
  /** The name or the value as it is shown. */
  readonly label: string;
  /** What kind of value it takes. */
  readonly detail: string;
  /** What it means. */
  readonly info: string | undefined;
  /** The text to insert. `${}` is where the caret goes. */
  readonly insert: string;
}

/** Offers for a range of the text. */
export interface Offers {
  readonly from: number;
  readonly to: number;
  readonly offers: readonly Offer[];
}

/** A text whose schema is known. */
export interface Described {
  readonly text: JsonText;
  /** Characters of the text. */
  readonly length: number;
  readonly schema: Schema;
  /** The schema to which references lead. */
  readonly body: Schema;
}

/** Returns what may be typed at `at`; undefined if nothing is known. */
export function offersAt(
  { text, length, schema: of, body }: Described,
  at: number,
): Offers | undefined {
  const spot = spotAt(text, at, length);
  const schema = spot && schemaAt(body, spot.path, of);
  if (spot === undefined || schema === undefined) return undefined;
  const { from, to } = spot;
  const offers =
    spot.is === 'name' ? names(spot, schema, body, at) : (valuesOf(schema) ?? []).map(valueOffer);
  if (offers.length > 0) return { from, to, offers };
  const examples = spot.is === 'value' ? (schema.examples ?? []) : [];
  return examples.length === 0 ? undefined : { from, to, offers: examples.map(exampleOffer) };
}

function names({ object, hasColon }: Spot, schema: Schema, body: Schema, at: number): Offer[] {
  const others = new Set(
    object?.members.filter(({ key }) => at < key.from || at > key.to).map(({ name }) => name),
  );
  return namesOf(schema)
    .filter((name) => !others.has(name))
    .map((name) => {
      const member = resolved(body, schema.properties![name]!);
      const key = JSON.stringify(name);
      return {
        label: name,
        detail: typesOf(member).map(SCHEMA_TEXT.typeName).join(', '),
        info: member.description,
        insert: hasColon ? key : `${key}: ${startOf(member)}`,
      };
    });
}

/** How the value of a new member begins. */
function startOf(schema: Schema): string {
  const [type] = typesOf(schema);
  if (type === 'string') return '"${}"';
  if (type === 'object') return '{${}}';
  return type === 'array' ? '[${}]' : '${}';
}

const valueOffer = (value: unknown): Offer => ({
  label: String(value),
  detail: '',
  info: undefined,
  insert: JSON.stringify(value),
});
const exampleOffer = (value: unknown): Offer =>
  Object.assign(valueOffer(value), { detail: SCHEMA_TEXT.example });

/** Returns what the field is at `at`, in sentences; undefined where nothing is known. */
export function sentenceAt(
  { text, length, schema: of, body }: Described,
  at: number,
): string | undefined {
  const spot = spotAt(text, at, length);
  if (spot === undefined) return undefined;
  const typed = spot.is === 'name' ? nameAt(spot, at) : undefined;
  const path = typed === undefined ? spot.path : [...spot.path, typed];
  const schema = schemaAt(body, path, of);
  if (schema === undefined) return undefined;
  return sentenceOf(path.filter((step) => !/^\d+$/.test(step)).join(' › '), schema);
}

const nameAt = ({ object }: Spot, at: number): string | undefined =>
  object?.members.find(({ key }) => key.from <= at && at <= key.to)?.name;

function sentenceOf(name: string, schema: Schema): string | undefined {
  const { description, default: absent, minimum, maximum } = schema;
  const values = valuesOf(schema);
  const types = typesOf(schema);
  const limits = types.includes('integer') && maximum !== undefined && maximum < 2 ** 31;
  const told = [
    description,
    values && types[0] !== 'boolean' && SCHEMA_TEXT.oneOf(values),
    types.length > 0 && values === undefined && SCHEMA_TEXT.takes(types),
    limits && SCHEMA_TEXT.between(minimum ?? 0, maximum),
    absent !== undefined && SCHEMA_TEXT.absent(JSON.stringify(absent)),
  ].filter(Boolean);
  const text = told.map((each) => String(each).replace(/\.?$/, '.')).join(' ');
  if (text === '') return undefined;
  return name === '' ? text : `${name}: ${text}`;
}
