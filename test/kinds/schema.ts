/** The fields of a kind as a JSON schema, from which the properties generate bodies. */

import { definitionOf } from '../../src/kinds/definitions.js';
import type { Kind } from '../../src/kinds/types.js';
import type { Fields, Type } from '../../src/languages/fields.js';

/** A JSON Schema (2020-12) as data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The schema of a kind as a client writes it, with the API's field names (other spellings are left
 * out).
 */
export function schemaOf(kind: Kind): JsonSchema {
  const { onlyName, type } = definitionOf(kind);
  return {
    ...objectSchema(type.fields),
    title: kind,
    required: ['Kind', ...(onlyName === '' ? ['Name'] : [])],
  };
}

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
    case 'links':
    case 'list':
      return {
        type: ['array', 'null'],
        items: description.is === 'list' ? typeSchema(description.of) : {},
      };
    case 'map':
      return { type: ['object', 'null'], additionalProperties: typeSchema(description.of) };
    case 'foreign':
      return { type: 'null', description: description.sentence };
  }
}
