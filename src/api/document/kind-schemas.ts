/** JSON Schemas of config entries: as clients write them, and as answers contain them. */
import { type AnyKind, definitionOf } from '../../kinds/definitions.js';
import type { Kind } from '../../kinds/types.js';
import { objectSchema } from './json-schema.js';
import type { JsonSchema } from './text-schema.js';

/** Members of answers that a body may contain, where they have no effect. */
const ANSWERED: Readonly<Record<string, JsonSchema>> = {
  CreateIndex: { description: 'The index at which the entry was created.', readOnly: true },
  ModifyIndex: { description: 'The index at which the entry was last changed.', readOnly: true },
  Hash: { description: 'A number that is equal for equal content.', readOnly: true },
  Namespace: {
    description: 'The namespace of the request, which the parameter ns chooses.',
    type: ['string', 'null'],
  },
};

/** Returns the schema of the entries of a kind as clients write them. `at`: where it stands. */
export function sentEntry(kind: Kind, at = '#'): JsonSchema {
  const definition = definitionOf(kind);
  const { onlyName, type } = definition;
  const schema = objectSchema(
    { fields: type.fields, rules: definition.rules },
    { of: 'sent', lenient: true, at },
    ANSWERED,
  );
  const properties = {
    ...(schema['properties'] as Record<string, JsonSchema>),
    Kind: { description: type.fields['Kind']!.description, type: 'string', const: kind },
    ...(onlyName === '' ? {} : { Name: onlyNamed(definition) }),
  };
  return { title: kind, description: definition.description, ...schema, properties };
}

const onlyNamed = ({ onlyName, type }: AnyKind): JsonSchema => ({
  description: type.fields['Name']!.description,
  enum: [onlyName, '', null],
  default: onlyName,
});

const CONDITION: JsonSchema = {
  type: 'object',
  required: ['Type', 'Status', 'Reason', 'Message', 'Resource', 'LastTransitionTime'],
  properties: {
    Type: { description: 'The type of the condition.', type: 'string' },
    Status: {
      description: 'Whether the condition is met.',
      type: 'string',
      enum: ['True', 'False'],
    },
    Reason: { description: 'The reason, in one word.', type: 'string' },
    Message: { description: 'The reason, in a sentence.', type: 'string' },
    Resource: {
      description: 'The listener or entry that it concerns; empty members mean the whole entry.',
      type: 'object',
      required: ['Kind', 'Name', 'SectionName'],
      properties: {
        Kind: { description: 'The kind of the entry.', type: 'string' },
        Name: { description: 'The name of the entry.', type: 'string' },
        SectionName: { description: 'The listener.', type: 'string' },
      },
      additionalProperties: false,
    },
    LastTransitionTime: {
      description: 'When the status last changed.',
      type: 'string',
      format: 'date-time',
    },
  },
  additionalProperties: false,
};

/** Returns the schema of the entries of a kind as answers contain them. */
export function answeredEntry(kind: Kind, at = '#'): JsonSchema {
  const { hasStatus, secrets, description, type } = definitionOf(kind);
  const index = { type: 'integer', minimum: 0 };
  const schema = objectSchema(
    { fields: type.fields },
    { of: 'answered', at },
    {
      CreateIndex: { description: ANSWERED['CreateIndex']!['description'], ...index },
      ModifyIndex: { description: ANSWERED['ModifyIndex']!['description'], ...index },
      Hash: { description: ANSWERED['Hash']!['description'], ...index },
      Namespace: { description: 'The namespace of the entry.', type: 'string' },
      ...(hasStatus && {
        Status: {
          description: 'The status that the server reports for the entry.',
          type: 'object',
          required: ['Conditions'],
          properties: {
            Conditions: {
              description: 'The conditions of the entry and of its listeners.',
              type: ['array', 'null'],
              items: CONDITION,
            },
          },
          additionalProperties: false,
        },
      }),
    },
  );
  const hidden = new Set<string>(secrets);
  const required = [...((schema['required'] as string[]) ?? []), 'CreateIndex', 'ModifyIndex'];
  return {
    title: kind,
    description,
    ...schema,
    required: required.filter((name) => !hidden.has(name)),
  };
}
