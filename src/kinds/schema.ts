/**
 * Other readings of the field declarations: the JSON schema of a kind, and what a filter may select
 * in it.
 */
import type { Shape } from '../languages/bexpr.js';
import type { Description, Field, Fields, Type } from './fields.js';
import { definitionOf } from './index.js';
import type { Kind } from './types.js';

/** A JSON Schema (2020-12) as data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The schema of a kind as a client writes it, with the names of the API (their other spellings are
 * left out).
 */
export function schemaOf(kind: Kind): JsonSchema {
  const { fields } = definitionOf(kind).type;
  return {
    ...objectSchema(fields),
    title: kind,
    required: ['Kind', ...(NAMED_BY_THE_SERVER.includes(kind) ? [] : ['Name'])],
  };
}
/** There is one entry, whose name may be left out. */
const NAMED_BY_THE_SERVER: readonly Kind[] = ['mesh', 'proxy-defaults'];

function objectSchema(fields: Fields): JsonSchema {
  const members = Object.entries(fields).filter(([, { mode }]) => mode !== 'drop');
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(members.map(([name, { type }]) => [name, typeSchema(type)])),
  };
}

function typeSchema({ description }: Type<unknown>): JsonSchema {
  switch (description.is) {
    case 'text':
      return description.values === undefined
        ? { type: 'string' }
        : { type: 'string', enum: description.values };
    case 'whole':
      return { type: 'integer', minimum: description.min, maximum: description.max };
    case 'fraction':
      return { type: 'number' };
    case 'boolean':
      return { type: 'boolean' };
    case 'time':
      return { type: 'string', format: 'date-time' };
    case 'duration':
      return {
        type: ['string', 'integer'],
        description: 'text with a unit, such as "10s" or "1h30m", or nanoseconds',
      };
    case 'free':
      return { type: ['object', 'null'] };
    case 'object': {
      const schema = objectSchema(description.fields);
      return description.nullable ? { ...schema, type: ['object', 'null'] } : schema;
    }
    case 'list':
      return { type: ['array', 'null'], items: typeSchema(description.of) };
    case 'map':
      return { type: ['object', 'null'], additionalProperties: typeSchema(description.of) };
    case 'foreign':
      return { type: 'null', description: description.sentence };
  }
}

/** What a filter may select in entries of a kind. */
export function shapeOf(kind: Kind): Shape {
  let shape = shapes.get(kind);
  if (shape === undefined) {
    shape = structOf(definitionOf(kind).type.fields);
    shapes.set(kind, shape);
  }
  return shape;
}
const shapes = new Map<Kind, Shape>();

/** What a filter may select in a list of all kinds: the members they share. */
export const COMMON_SHAPE: Shape = {
  kind: 'struct',
  fields: {
    Kind: { kind: 'string' },
    Name: { kind: 'string' },
    Meta: { kind: 'map', key: 'string', of: { kind: 'string' } },
  },
};

function structOf(fields: Fields): Shape {
  const shown: Record<string, Shape> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (field.mode !== 'drop') shown[name] = memberShape(field);
  }
  return { kind: 'struct', fields: shown };
}

/** An object that may be absent is one that a filter finds nothing in. */
function memberShape({ type, mode }: Field): Shape {
  const shape = valueShape(type.description);
  return shape.kind === 'struct' && mode !== 'keep' ? { kind: 'pointer', to: shape } : shape;
}

function valueShape(description: Description): Shape {
  switch (description.is) {
    case 'text':
    case 'time':
      return { kind: 'string' };
    case 'whole':
      return { kind: description.min === 0 ? 'uint32' : 'int' };
    case 'fraction':
      return { kind: 'float64' };
    case 'boolean':
      return { kind: 'bool' };
    case 'duration':
      // a filter compares with what answers show
      return { kind: description.out === 'text' ? 'string' : 'int64' };
    case 'object': {
      const struct = structOf(description.fields);
      return description.nullable ? { kind: 'pointer', to: struct } : struct;
    }
    case 'list':
      return { kind: 'list', of: valueShape(description.of.description) };
    case 'map':
      return { kind: 'map', key: 'string', of: valueShape(description.of.description) };
    case 'free':
    case 'foreign':
      return { kind: 'any (not filterable)' };
  }
}
