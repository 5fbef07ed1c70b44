/**
 * JSON Schemas (2020-12) of what is declared in the field language. A schema of a body takes all
 * that the server takes, and refuses what breaks a declared limit or rule. What only code knows,
 * such as other objects, is beyond it.
 */
import { DURATION_LENGTH_MAX } from '../../languages/duration.js';
import {
  type Description,
  type Field,
  type Fields,
  ITEMS_MAX,
  type Rule,
  type Type,
} from '../../languages/fields.js';
import { rule, set } from '../../languages/rules.js';
import { ruleSchema } from './rule-schemas.js';
import {
  below,
  type Form,
  inAnyCase,
  type JsonSchema,
  sentText,
  spellingsOf,
} from './text-schema.js';

const NULL = { type: 'null' };
/** The only admin partition, as a member of a body. */
export const PARTITION: JsonSchema = {
  description: 'The admin partition. Only default is supported, and naming it has no effect.',
  enum: ['default', '', null],
};
/** A sum of numbers with units, as parseDuration takes it. */
const DURATION = '(?:0|(?:(?:\\d+\\.?\\d*|\\.\\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)';
/** A point in time, as RFC 3339 writes it. */
const TIME = '^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$';

/** Returns the schema of a type. */
export function schemaOf(type: Type<unknown, unknown>, form: Form): JsonSchema {
  if (type.computed !== undefined && form.of === 'sent') return { readOnly: true };
  const { description } = type;
  if (form.of === 'sent') return sentSchema(description, form);
  const schema = answeredSchema(description, form);
  return type.zero() === null ? orNull(schema) : schema;
}

interface Declared {
  readonly fields: Fields;
  readonly rules?: readonly Rule[];
}

/** Returns the schema of an object as it is declared. `more` are members beside its own. */
export function objectSchema(
  { fields, rules = [] }: Declared,
  form: Form,
  more: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  const isSent = form.of === 'sent';
  const shown = Object.entries(fields).filter(([, { mode }]) => isSent || mode !== 'never');
  const properties = Object.fromEntries([
    ...shown.map(([name, field]) => [name, memberSchema(field, below(form, 'properties', name))]),
    ...(isSent ? spellings(fields, form) : []),
    ...Object.entries(more),
  ]) as Record<string, JsonSchema>;
  const required = shown.filter(([, { mode, type }]) =>
    isSent ? isNeeded(type) : mode === 'always',
  );
  const isRespelled = form.lenient || form.anyCase;
  const named = isRespelled ? [] : required.map(([name]) => name);
  const allOf = [
    ...(form.lenient ? required.map(([name, field]) => neededMember(name, field)) : []),
    ...(form.anyCase ? required.map(([name]) => ruleSchema(isGiven(name), fields, form)) : []),
    ...(isSent ? rules.map((each) => ruleSchema(each, fields, form)) : []),
  ];
  return {
    type: 'object',
    ...(named.length > 0 && { required: named }),
    ...(allOf.length > 0 && { allOf }),
    properties,
    ...(form.anyCase && { patternProperties: anyCaseProperties(fields, form) }),
    additionalProperties: false,
  };
}

const isGiven = (name: string): Rule => rule(`${name} is needed.`, set(name));

/** A member that must be given, in any of its spellings. */
const neededMember = (name: string, field: Field<unknown>): JsonSchema => ({
  anyOf: spellingsOf(name, field).map((spelling) => ({ required: [spelling] })),
});

const anyCaseProperties = (fields: Fields, form: Form): JsonSchema =>
  Object.fromEntries(
    Object.keys(fields).map((name) => [
      `^${inAnyCase(name)}$`,
      { $ref: below(form, 'properties', name).at },
    ]),
  );

/** Whether a body must have the member, not empty. */
function isNeeded({ description }: Type<unknown, unknown>): boolean {
  switch (description.is) {
    case 'text':
      return description.limits?.needed === true;
    case 'list':
      return description.limits?.needed === true;
    case 'whole':
      return (description.limits?.min ?? 0) > 0;
    default:
      return false;
  }
}

function memberSchema({ description, type, mode }: Field<unknown>, form: Form): JsonSchema {
  const schema = schemaOf(type, form);
  const described = { description, ...schema };
  if (form.of === 'answered') return described;
  const value = mode === 'always' || mode === 'nonEmpty' ? defaultOf(type) : undefined;
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

/** Lets a schema take null, which stands for an absent member. Its rules are those of an object. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, anyOf, allOf } = schema;
  if (type === undefined && values === undefined && anyOf === undefined) return schema;
  return {
    ...schema,
    ...(type === undefined ? {} : { type: [type, 'null'].flat() }),
    ...(values === undefined ? {} : { enum: [...(values as unknown[]), null] }),
    ...(anyOf === undefined ? {} : { anyOf: [...(anyOf as unknown[]), NULL] }),
    ...(allOf === undefined ? {} : { allOf: (allOf as JsonSchema[]).map(ruleOrNull) }),
  };
}

const ruleOrNull = ({ description, ...rule }: JsonSchema): JsonSchema => ({
  ...(description === undefined ? {} : { description }),
  anyOf: [rule, NULL],
});

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
      return objectSchema(description, form);
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
      return objectSchema(description, form);
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
      const { needed, min = needed ? 1 : 0, unique, single, ...limits } = description.limits ?? {};
      const max = limits.max ?? (form.anyCase ? undefined : ITEMS_MAX);
      const list = {
        type: 'array',
        ...(min > 0 && { minItems: min }),
        ...(max !== undefined && { maxItems: max }),
        ...(unique && uniqueItems(description.of.description)),
        items,
      };
      return single ? { anyOf: [items, list] } : list;
    }
    case 'any':
      return {};
    case 'free': {
      const lengths = Object.entries(description.lengths ?? {});
      if (form.of === 'answered' || lengths.length === 0) return { type: 'object' };
      const properties = lengths.map(([name, maxLength]) => [name, { maxLength }]);
      return { type: 'object', properties: Object.fromEntries(properties) };
    }
    case 'links':
      return { type: 'array', items: linkSchema(form) };
    case 'map':
      return mapSchema(description, form);
    default:
      return { type: 'object' };
  }
}

/** Texts that are normalised are equal if their normal forms are. */
const uniqueItems = (items: Description): JsonSchema =>
  items.is !== 'text' || items.values === undefined || items.change === undefined
    ? { uniqueItems: true }
    : {
        allOf: items.values.map((value) => ({
          description: `${value} is there at most once.`,
          contains: sentText({ ...items, values: [value] }),
          minContains: 0,
          maxContains: 1,
        })),
      };

/** Clients name what they link to; answers have both members. */
const linkSchema = ({ of }: Form): JsonSchema => {
  const type = of === 'sent' ? ['string', 'null'] : 'string';
  return {
    type: 'object',
    ...(of === 'sent' ? {} : { required: ['ID', 'Name'] }),
    properties: {
      ID: { description: 'The ID of the object.', type },
      Name: { description: 'The name of the object. Not needed in a link with an ID.', type },
    },
    additionalProperties: false,
  };
};

function mapSchema({ of, limits }: Extract<Description, { is: 'map' }>, form: Form): JsonSchema {
  const values = schemaOf(of, below(form, 'additionalProperties'));
  if (form.of === 'answered') return { type: 'object', additionalProperties: values };
  const { key, pattern, value } = limits ?? {};
  const count = limits?.count ?? (form.anyCase ? undefined : ITEMS_MAX);
  const names = {
    ...(key === undefined ? {} : { maxLength: key }),
    ...(pattern === undefined ? {} : { pattern }),
  };
  return {
    type: 'object',
    ...(count !== undefined && { maxProperties: count }),
    ...(limits === undefined ? {} : { propertyNames: names }),
    additionalProperties: value === undefined ? values : { ...values, maxLength: value },
  };
}

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
