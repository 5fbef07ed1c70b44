/** The shapes that filters over config entries select from. */
import type { Shape } from '../languages/bexpr.js';
import { structOf } from '../languages/filter-shape.js';
import { definitionOf } from './definitions.js';
import type { Kind } from './types.js';

/** The Hash of an entry, which answers add. */
const Hash: Shape = { kind: 'uint64' };

/** Returns the shape of the entries of a kind. */
export function shapeOf(kind: Kind): Shape {
  let shape = shapes.get(kind);
  if (shape === undefined) {
    shape = structOf(definitionOf(kind).type.fields, { pointers: true, added: { Hash } });
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
    Hash,
  },
};
