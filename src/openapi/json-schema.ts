/**
 * JSON Schemas (2020-12) of what is declared in the field language. A schema of a body takes all
 * that the decoder takes; rules between fields are beyond it.
 */
import { DURATION_LENGTH_MAX } from '../languages/duration.js';
import type { Description, Field, Fields, TextRules, Type } from '../languages/fields.js';
import { ITEMS_MAX } from '../languages/fields.js';

/** A JSON Schema, or a part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Which schema is made of a declaration. */
export interface Form {
  /** Whether it is of what a client sends or of what the server answers. */
  readonly of: 'sent' | 'answered';
  /**
   * Whether members may have their second spellings, and any object names the partition `default`:
   * the bodies of config entries.
   */
  readonly lenient?: boolean;
  /** Where the schema stands in its document, as the fragment of a URI. */
  readonly at: string;
}

const NULL = { type: 'null' };
/** The only admin partition, as a member of a body. */
export const PARTITION: JsonSchema = {
  description: 'The admin partition. The only one is default, and naming it has no effect.',
  enum: ['default', '', null],
};
/** A sum of numbers with units, as parseDuration takes it. */
const DURATION = '(?:0|(?:(?:\\d+\\.?\\d*|\\.\\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)';
/** A point in time, as RFC 3339 writes it. */
const TIME = '^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$';

/** Returns the form of a part of a document, by the steps that lead there. */
export const below = (form: Form, ...steps: string[]): Form => ({
  ...form,
  at: [form.at, ...steps.map(escaped)].join('/'),
});
/** A step of a JSON pointer in the fragment of a URI. */
const escaped = (step: string): string =>
  encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));

/** Returns the schema of a type. */
export function schemaOf(type: Type<unknown, unknown>, form: Form): JsonSchema {
  if (type.computed !== undefined && form.of === 'sent') return { readOnly: true };
  const { description } = type;
  if (form.of === 'sent') return sentSchema(description, form);
  const schema = answeredSchema(description, form);
  return type.zero() === null ? orNull(schema) : schema;
}

/** Returns the schema of an object with the given fields. `more` are members beside them. */
export function objectSchema(
  fields: Fields,
  form: Form,
  more: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  const isSent = form.of === 'sent';
  const shown = Object.entries(fields).filter(([, { mode }]) => isSent || mode !== 'drop');
  const properties = Object.fromEntries([
    ...shown.map(([name, field]) => [name, memberSchema(field, below(form, 'properties', name))]),
    ...(isSent ? spellings(fields, form) : []),
    ...Object.entries(more),
  ]) as Record<string, JsonSchema>;
  const required = shown.filter(([, { mode, type }]) =>
    isSent ? isNeeded(type) : mode === 'keep',
  );
  return {
    type: 'object',
    ...(form.lenient ? neededMembers(required) : requiredMembers(required)),
    properties,
    additionalProperties: false,
  };
}

const requiredMembers = (members: readonly [string, unknown][]): JsonSchema =>
  members.length === 0 ? {} : { required: members.map(([name]) => name) };

/** The members that must be given, in any of their spellings. */
const neededMembers = (members: readonly [string, Field<unknown>][]): JsonSchema =>
  members.length === 0
    ? {}
    : {
        allOf: members.map(([name, field]) => ({
          anyOf: spellingsOf(name, field).map((spelling) => ({ required: [spelling] })),
        })),
      };

/** Whether a body must have the member, not empty. */
function isNeeded({ description }: Type<unknown, unknown>): boolean {
  switch (description.is) {
    case 'text':
      return description.limits?.needed === true;
    case 'list':
      return description.needed === true;
    case 'whole':
      return (description.limits?.min ?? 0) > 0;
    default:
      return false;
  }
}

const spellingsOf = (name: string, { spellings }: Field<unknown>): readonly string[] => [
  ...new Set([name, ...(spellings ?? [name.toLowerCase()])]),
];

function memberSchema({ says, type, mode }: Field<unknown>, form: Form): JsonSchema {
  const schema = schemaOf(type, form);
  const described = { description: says, ...schema };
  if (form.of === 'answered') return described;
  const value = mode === 'keep' || mode === 'omit' ? defaultOf(type) : undefined;
  const nullable = isNeeded(type) ? described : orNull(described);
  return { ...nullable, ...(value === undefined ? {} : { default: value }) };
}

/** The value that stands for an absent one, where it says something. */
function defaultOf(type: Type<unknown, unknown>): unknown {
  if (type.computed !== undefined) return undefined;
  const { is } = type.description;
  if (is === 'boolean') return false;
  const zero = is === 'text' || is === 'whole' ? type.zero() : undefined;
  return zero === '' || zero === 0 ? undefined : zero;
}

/** The second spellings of members, and the partition, as members of their own. */
function spellings(fields: Fields, form: Form): [string, JsonSchema][] {
  const others = Object.entries(fields).flatMap(([name, field]) =>
    (form.lenient ? spellingsOf(name, field) : [name, ...(field.spellings ?? [])])
      .slice(1)
      .map((spelling): [string, JsonSchema] => [
        spelling,
        { $ref: below(form, 'properties', name).at },
      ]),
  );
  const partitions = form.lenient ? ['Partition', 'partition'] : [];
  const partition = partitions
    .filter((name) => !(name in fields) && !others.some(([other]) => other === name))
    .map((name): [string, JsonSchema] => [name, PARTITION]);
  return [...others, ...partition];
}

/** Lets a schema take null, which stands for an absent member. */
function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, anyOf } = schema;
  if (type === undefined && values === undefined && anyOf === undefined) return schema;
  return {
    ...schema,
    ...(type === undefined ? {} : { type: [type, 'null'].flat() }),
    ...(values === undefined ? {} : { enum: [...(values as unknown[]), null] }),
    ...(anyOf === undefined ? {} : { anyOf: [...(anyOf as unknown[]), NULL] }),
  };
}

function sentSchema(description: Description, form: Form): JsonSchema {
  switch (description.is) {
    case 'text':
      return sentText(description);
    case 'duration': {
      const { isPositive, mayBeEmpty } = description;
      const signed = `${isPositive ? '\\+?' : '[-+]?'}${DURATION}`;
      return {
        type: ['string', 'integer'],
        pattern: mayBeEmpty ? `^(?:${signed})?$` : `^${signed}$`,
        ...(isPositive ? { minimum: 0 } : {}),
        maxLength: DURATION_LENGTH_MAX,
        examples: ['10s', '1h30m'],
      };
    }
    case 'foreign':
      return UNSET;
    case 'object':
      return objectSchema(description.fields, form);
    default:
      return commonSchema(description, form);
  }
}

function answeredSchema(description: Description, form: Form): JsonSchema {
  switch (description.is) {
    case 'text': {
      const { values, change = (value: string) => value } = description;
      if (values === undefined) return { type: 'string' };
      return { type: 'string', enum: [...new Set(values.map(change))] };
    }
    case 'duration':
      return { type: description.out === 'text' ? 'string' : 'integer' };
    case 'object':
      return objectSchema(description.fields, form);
    case 'whole':
      return { type: 'integer' };
    default:
      return commonSchema(description, form);
  }
}

/** What is the same in both directions. */
function commonSchema(description: Description, form: Form): JsonSchema {
  switch (description.is) {
    case 'whole': {
      const { min, max, limits } = description;
      return {
        type: 'integer',
        minimum: limits?.min ?? min,
        maximum: limits?.max ?? max,
      };
    }
    case 'fraction':
      return { type: 'number' };
    case 'boolean':
      return { type: 'boolean' };
    case 'time':
      return { type: 'string', format: 'date-time', pattern: TIME };
    case 'list': {
      const items = schemaOf(description.of, below(form, 'items'));
      if (form.of === 'answered') return { type: 'array', items };
      const least = description.needed ? { minItems: 1 } : {};
      return { type: 'array', ...least, maxItems: ITEMS_MAX, items };
    }
    case 'links':
      return { type: 'array', items: linkSchema(form) };
    case 'map':
      return mapSchema(description, form);
    default:
      return { type: 'object' };
  }
}

/** Clients name what they link to; answers have both members. */
const linkSchema = ({ of }: Form): JsonSchema => {
  const type = of === 'sent' ? ['string', 'null'] : 'string';
  return {
    type: 'object',
    ...(of === 'sent' ? {} : { required: ['ID', 'Name'] }),
    properties: {
      ID: { description: 'The ID of the object.', type },
      Name: { description: 'The name of the object. A link with an ID needs none.', type },
    },
    additionalProperties: false,
  };
};

function mapSchema({ of, limits }: Extract<Description, { is: 'map' }>, form: Form): JsonSchema {
  const values = schemaOf(of, below(form, 'additionalProperties'));
  if (form.of === 'answered') return { type: 'object', additionalProperties: values };
  const { count = ITEMS_MAX, key, pattern, value } = limits ?? {};
  const names = {
    ...(key === undefined ? {} : { maxLength: key }),
    ...(pattern === undefined ? {} : { pattern }),
  };
  return {
    type: 'object',
    maxProperties: count,
    ...(limits === undefined ? {} : { propertyNames: names }),
    additionalProperties: value === undefined ? values : { ...values, maxLength: value },
  };
}

function sentText({ values, examples, change, limits = {}, ...rules }: TextRules): JsonSchema {
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
  const isAnyCase = change !== undefined && values.every(isSame);
  if (!isAnyCase) return { type: 'string', enum: values };
  const pattern = `^(?:${values.map(inAnyCase).join('|')})$`;
  return { type: 'string', anyOf: [{ enum: values }, { pattern }] };
}

const swapped = (text: string): string =>
  text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase();
const inAnyCase = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);

const BLANK = { enum: [null, false, 0, ''] };
const EMPTY_LIST = { type: 'array', maxItems: 0 };
/** A value in which nothing is set: see `later` of the field language. */
const UNSET: JsonSchema = {
  anyOf: [
    BLANK,
    EMPTY_LIST,
    { type: 'object', additionalProperties: { anyOf: [BLANK, EMPTY_LIST] } },
  ],
};
