/**
 * JSON Schemas of the rules between members (languages/rules.ts). A body may spell a member in
 * several ways, and null, an absent member and an empty one are often the same:
 *
 *     set('Peer')            {"anyOf": [{"required": ["Peer"], "properties": {"Peer": SET}},
 *                                       {"required": ["peer"], "properties": {"peer": SET}}]}
 *     not(set('Peer'))       {"not": …}
 *
 * A body that breaks the type of a member is refused anyway, so conditions need not look at it.
 */
import type { Condition, Description, Field, Fields, Rule } from '../../languages/fields.js';
import { holds } from '../../languages/rules.js';
import { type Form, inAnyCase, type JsonSchema, sentText, spellingsOf } from './text-schema.js';

type Member = Extract<Condition, { readonly member: string }>;

/** Returns the schema of a rule of an object with these fields. */
export const ruleSchema = (
  { description, condition }: Rule,
  fields: Fields,
  form: Form,
): JsonSchema => ({
  description,
  ...conditionSchema(condition, fields, form),
});

function conditionSchema(condition: Condition, fields: Fields, form: Form): JsonSchema {
  const parts = (of: readonly Condition[]): JsonSchema[] =>
    of.map((each) => conditionSchema(each, fields, form));
  switch (condition.is) {
    case 'all':
      return { allOf: parts(condition.of) };
    case 'any':
      return { anyOf: parts(condition.of) };
    case 'one':
      return { oneOf: parts(condition.of) };
    case 'not':
      return { not: conditionSchema(condition.of, fields, form) };
    default:
      return memberSchema(condition, fields, form);
  }
}

function memberSchema(condition: Member, fields: Fields, form: Form): JsonSchema {
  const { member } = condition;
  const field = fields[member]!;
  const schema = valueSchema(condition, field, form);
  const isMet = condition.is !== 'set' && holds(condition, { [member]: field.type.zero() });
  const orAbsent = { anyOf: [{ type: 'null' }, schema] };
  if (form.anyCase) {
    const pattern = `^${inAnyCase(member)}$`;
    return isMet
      ? { patternProperties: { [pattern]: orAbsent } }
      : { not: { patternProperties: { [pattern]: { not: schema } } } };
  }
  const names = form.lenient ? spellingsOf(member, field) : [member, ...(field.spellings ?? [])];
  if (isMet) return { properties: Object.fromEntries(names.map((name) => [name, orAbsent])) };
  const ways = names.map((name) => ({ required: [name], properties: { [name]: schema } }));
  return ways.length === 1 ? ways[0]! : { anyOf: ways };
}

/** The schema of a member that is given and fulfils the condition. */
function valueSchema(condition: Member, { type }: Field, form: Form): JsonSchema {
  const { description } = type;
  switch (condition.is) {
    case 'set':
      return setSchema(description);
    case 'among': {
      const isZero = condition.values.includes(String(type.zero() ?? ''));
      const values = [...new Set([...condition.values, ...(isZero ? [''] : [])])];
      const { change } = description as Extract<Description, { is: 'text' }>;
      return sentText(change === undefined ? { values } : { values, change });
    }
    case 'like':
      return { type: 'string', pattern: condition.pattern };
    case 'inside':
      return { type: 'object', ...conditionSchema(condition.of, fieldsOf(description), form) };
    case 'every':
      return { type: 'array', items: conditionSchema(condition.of, fieldsOf(description), form) };
  }
}

/** Returns the fields of an object, or of the items of a list. */
function fieldsOf(description: Description): Fields {
  if (description.is === 'list') return fieldsOf(description.of.description);
  if (description.is === 'object') return description.fields;
  throw new Error(`a rule looks into a ${description.is}`);
}

const NOT_ZERO: JsonSchema = { type: 'number', not: { const: 0 } };
/** Durations from one unit on. Whether a part of one rounds to zero, only the decoder knows. */
const SOME_TIME: JsonSchema = { type: 'string', pattern: '(^|[^.\\d])\\d*[1-9]' };

/** The schema of a value that is not empty. */
function setSchema(description: Description): JsonSchema {
  switch (description.is) {
    case 'text': {
      const { values = [], change = (value: string) => value } = description;
      const empty = values.filter((value) => change(value) === '');
      return { type: 'string', minLength: 1, ...(empty.length > 1 && { not: { enum: empty } }) };
    }
    case 'boolean':
      return { const: true };
    case 'whole':
    case 'fraction':
      return NOT_ZERO;
    case 'duration':
      return { anyOf: [NOT_ZERO, SOME_TIME] };
    case 'list': {
      const items = { type: 'array', minItems: 1 };
      return description.limits?.single ? { anyOf: [items, { type: 'string' }] } : items;
    }
    case 'map':
      return { type: 'object', minProperties: 1 };
    default:
      return { type: 'object' };
  }
}
