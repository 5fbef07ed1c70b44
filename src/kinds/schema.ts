/**
 * The shapes that filters over config entries select from, derived from their field declarations.
 */
import type { Shape } from '../languages/bexpr.js';
import { definitionOf } from './definitions.js';
import type { Description, Field, Fields } from './fields.js';
import type { Kind } from './types.js';

/** Returns the shape of the entries of a kind. */
export function shapeOf(kind: Kind): Shape {
  let shape = shapes.get(kind);
  if (shape === undefined) {
    shape = structOf(definitionOf(kind).type.fields);
    shapes.set(kind, shape);
  }
  return shape;
}
const shapes = new Map<Kind, Shape>();

/** The shape of entries of any kind: the members that all kinds share. */
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

/** An object that may be absent is a pointer, in which a filter matches nothing if it is null. */
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
      // A filter compares with the form that answers contain.
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
