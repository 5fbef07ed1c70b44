/** The shapes that filters select from, derived from field declarations. */
import type { Shape } from './bexpr.js';
import type { Description, Field, Fields } from './fields.js';

interface Options {
  /**
   * Whether an object that may be absent is a pointer, in which a filter matches nothing if it is
   * absent. Otherwise its members then have their zero values.
   */
  readonly pointers: boolean;
  /** Names of members that cannot be selected. */
  readonly without?: readonly string[];
  /** Members that answers add. */
  readonly added?: Readonly<Record<string, Shape>>;
}

/** Returns the shape of an object: the members that answers contain. */
export function structOf(fields: Fields, options: Options): Shape {
  const shown: Record<string, Shape> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (field.mode !== 'never' && options.without?.includes(name) !== true) {
      shown[name] = memberShape(field, options.pointers);
    }
  }
  return { kind: 'struct', fields: { ...shown, ...options.added } };
}

function memberShape({ type, mode }: Field, pointers: boolean): Shape {
  const shape = valueShape(type.description, pointers);
  const isPointer = pointers && shape.kind === 'struct' && mode !== 'always';
  return isPointer ? { kind: 'pointer', to: shape } : shape;
}

/** The largest number of a uint32. */
const UINT32_MAX = 4_294_967_295;
const STRING: Shape = { kind: 'string' };

function valueShape(description: Description, pointers: boolean): Shape {
  switch (description.is) {
    case 'text':
    case 'time':
      return STRING;
    case 'whole':
      if (description.min !== 0) return { kind: 'int' };
      return { kind: description.max > UINT32_MAX ? 'uint64' : 'uint32' };
    case 'fraction':
      return { kind: 'float64' };
    case 'boolean':
      return { kind: 'bool' };
    case 'duration':
      // A filter compares with the form that answers contain.
      return { kind: description.out === 'text' ? 'string' : 'int64' };
    case 'object': {
      const struct = structOf(description.fields, { pointers });
      return description.nullable ? { kind: 'pointer', to: struct } : struct;
    }
    case 'list':
      return { kind: 'list', of: valueShape(description.of.description, pointers) };
    case 'links':
      return { kind: 'list', of: { kind: 'struct', fields: { ID: STRING, Name: STRING } } };
    case 'map':
      return { kind: 'map', key: 'string', of: valueShape(description.of.description, pointers) };
    case 'any':
    case 'free':
    case 'foreign':
      return { kind: 'any (not filterable)' };
  }
}
