/** What is wrong with a JSON text by the schema of what it describes. */
import { didYouMean } from '../../languages/suggest.js';
import type { ArrayNode, JsonNode, JsonText, ObjectNode, Range } from './json-text.js';
import { namesOf, neededNames, resolved, type Schema, typesOf, valuesOf } from './schema.js';
import { SCHEMA_TEXT } from './texts.js';

/** A mistake and its place. */
export interface Problem extends Range {
  readonly code: 'syntax' | 'unknown_field' | 'missing_field' | 'type' | 'value';
  readonly message: string;
}

/** Mistakes that are told at a time. */
const MISTAKES_MAX = 50;

/**
 * Returns the mistakes of a text in the order of their places, or the first syntax error alone: the
 * others follow from it. `schema` is that of the text, and
 * `body` the one to which its references lead.
 */
export function mistakesIn(
  { root, faults }: JsonText,
  schema: Schema | undefined,
  body: Schema = schema ?? {},
): Problem[] {
  const [first] = faults.toSorted((a, b) => a.from - b.from);
  if (first !== undefined) {
    const { code, word, from, to } = first;
    return [{ code: 'syntax', message: SCHEMA_TEXT.syntax[code](word), from, to }];
  }
  const found = root === undefined || schema === undefined ? [] : [...check(root, schema, body)];
  return found.sort((a, b) => a.from - b.from).slice(0, MISTAKES_MAX);
}

type Found = readonly [code: Problem['code'], message: string];

function* check(node: JsonNode, given: Schema, root: Schema): Iterable<Problem> {
  const schema = resolved(root, given);
  if (schema.readOnly === true || (node.is === 'scalar' && node.value == null)) return;
  const at = ([code, message]: Found): Problem => {
    // Of an object or a list only the beginning is marked.
    const to = node.is === 'scalar' ? node.to : node.from + 1;
    return { code, message, from: node.from, to };
  };
  const type = typeOf(node);
  const types = typesOf(schema);
  if (types.length > 0 && !types.some((each) => each === type || isWhole(each, node))) {
    yield at(['type', SCHEMA_TEXT.type(types, type)]);
    return;
  }
  if (node.is === 'object') yield* checkObject(node, schema, root);
  else if (node.is === 'array') yield* checkArray(node, schema, root, at);
  else for (const found of checkScalar(schema, node.value)) yield at(found);
}

const typeOf = (node: JsonNode): string => (node.is === 'scalar' ? typeof node.value : node.is);
const isWhole = (type: string, node: JsonNode): boolean =>
  type === 'integer' && node.is === 'scalar' && Number.isInteger(node.value);

function* checkObject(node: ObjectNode, schema: Schema, root: Schema): Iterable<Problem> {
  const {
    properties = {},
    additionalProperties: rest = true,
    propertyNames,
    maxProperties,
  } = schema;
  const start = { from: node.from, to: node.from + 1 };
  for (const { name, key, value } of node.members) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const each = known ?? (typeof rest === 'object' ? rest : undefined);
    if (known === undefined && rest === false) {
      const message = SCHEMA_TEXT.unknown(name) + didYouMean(name, namesOf(schema));
      yield { code: 'unknown_field', message, ...key };
    }
    if (known === undefined && propertyNames !== undefined)
      for (const [code, message] of checkText(propertyNames, name)) yield { code, message, ...key };
    if (value !== undefined && each !== undefined) yield* check(value, each, root);
  }
  if (maxProperties !== undefined && node.members.length > maxProperties)
    yield { code: 'value', message: SCHEMA_TEXT.most(maxProperties), ...start };
  const names = new Set(
    node.members.map(({ name }) => properties[name]?.$ref?.split('/').at(-1) ?? name),
  );
  for (const name of neededNames(schema))
    if (!names.has(name))
      yield { code: 'missing_field', message: SCHEMA_TEXT.missing(name), ...start };
}

function* checkArray(
  { items }: ArrayNode,
  { items: each, minItems = 0, maxItems = Infinity }: Schema,
  root: Schema,
  at: (found: Found) => Problem,
): Iterable<Problem> {
  if (items.length < minItems) yield at(['value', SCHEMA_TEXT.least(minItems)]);
  if (items.length > maxItems) yield at(['value', SCHEMA_TEXT.most(maxItems)]);
  if (each !== undefined) for (const item of items) yield* check(item, each, root);
}

function* checkScalar(schema: Schema, value: unknown): Iterable<Found> {
  if (typeof value === 'string') yield* checkText(schema, value);
  else if (typeof value === 'number') yield* checkNumber(schema, value);
}

function* checkNumber({ minimum, maximum }: Schema, value: number): Iterable<Found> {
  if (minimum !== undefined && value < minimum)
    yield ['value', SCHEMA_TEXT.atLeast(minimum.toLocaleString('en'))];
  if (maximum !== undefined && value > maximum)
    yield ['value', SCHEMA_TEXT.atMost(maximum.toLocaleString('en'))];
}

function* checkText(schema: Schema, text: string): Iterable<Found> {
  const { enum: values, const: only, anyOf, pattern, minLength = 0, maxLength, examples } = schema;
  if (values !== undefined ? !values.includes(text) : only !== undefined && only !== text)
    yield ['value', SCHEMA_TEXT.oneOf(valuesOf(schema) ?? [])];
  // Any of the known values in any letter case. null is no text.
  const ways = anyOf?.filter(({ type }) => type !== 'null');
  if (ways?.every((each) => [...checkText(each, text)].length > 0))
    yield ['value', SCHEMA_TEXT.oneOf(valuesOf(schema) ?? [])];
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text))
    yield ['value', SCHEMA_TEXT.form(examples ?? [])];
  if (text.length < minLength) yield ['value', SCHEMA_TEXT.empty];
  if (maxLength !== undefined && text.length > maxLength)
    yield ['value', SCHEMA_TEXT.longest(maxLength)];
}
