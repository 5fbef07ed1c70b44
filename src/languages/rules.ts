/**
 * Rules between the members of an object of the field language. A rule is a sentence and a
 * condition as data: the kind asks whether a value obeys it and words the refusal, and the JSON
 * Schema says the same to clients (api/document/rule-schemas.ts).
 *
 *     const oneSource = exactlyOne('JWKS', 'Filename');
 *     const local = ruled(object({ JWKS: …, Filename: … }), oneSource);
 *     …
 *     if (!oneSource.holds(value)) yield problem('must specify exactly one of …');
 */
import type { Condition, Rule, Type } from './field-types.js';
import { isObject } from './fields.js';

/** The member is given, and neither empty, false nor 0. */
export const set = (member: string): Condition => ({ is: 'set', member });
/** The text is one of these. An absent text is the empty one. */
export const among = (member: string, ...values: string[]): Condition => ({
  is: 'among',
  member,
  values,
});
/** The text matches a regular expression of JSON Schema. An absent text is the empty one. */
export const like = (member: string, pattern: string): Condition => ({
  is: 'like',
  member,
  pattern,
});
/** The members of an inner object fulfil a condition. */
export const inside = (member: string, of: Condition): Condition => ({ is: 'inside', member, of });
/** Each item of a list of objects fulfils a condition. */
export const every = (member: string, of: Condition): Condition => ({ is: 'every', member, of });
/** All conditions hold. */
export const all = (...of: Condition[]): Condition => ({ is: 'all', of });
/** At least one condition holds. */
export const any = (...of: Condition[]): Condition => ({ is: 'any', of });
/** Exactly one condition holds. */
const one = (...of: Condition[]): Condition => ({ is: 'one', of });
/** The condition does not hold. */
export const not = (of: Condition): Condition => ({ is: 'not', of });
/** If the first condition holds, then so does the second. */
export const when = (first: Condition, second: Condition): Condition => any(not(first), second);

/** A rule. `description` is a sentence for people. */
export const rule = (description: string, condition: Condition): Rule => ({
  description,
  condition,
  holds: (value) => holds(condition, value),
});

const listed = (members: readonly string[], word: string): string =>
  members.length < 2
    ? members.join()
    : `${members.slice(0, -1).join(', ')} ${word} ${members.at(-1)}`;

/** Exactly one of the members is set. */
export const exactlyOne = (...members: string[]): Rule =>
  rule(`Exactly one of ${listed(members, 'and')} is set.`, one(...members.map(set)));
/** At most one of the members is set. */
export const atMostOne = (...members: string[]): Rule => {
  const each = members.map(set);
  return rule(
    `At most one of ${listed(members, 'and')} is set.`,
    any(one(...each), not(any(...each))),
  );
};
/** At least one of the members is set. */
export const atLeastOne = (...members: string[]): Rule =>
  rule(`At least one of ${listed(members, 'and')} is set.`, any(...members.map(set)));
/** A member that is set needs another one. */
export const needs = (member: string, other: string): Rule =>
  rule(`${member} needs ${other}.`, when(set(member), set(other)));
/** A member that is set excludes others. */
export const excludes = (member: string, ...others: string[]): Rule =>
  rule(
    `${member} excludes ${listed(others, 'and')}.`,
    not(all(set(member), any(...others.map(set)))),
  );

/** Adds rules to the type of an object. Whoever checks its values asks the rules. */
export function ruled<T extends Type<unknown, unknown>>(type: T, ...rules: Rule[]): T {
  const { description } = type;
  return description.is === 'object' ? { ...type, description: { ...description, rules } } : type;
}

/** Whether an object fulfils a condition. */
export function holds(condition: Condition, value: object): boolean {
  switch (condition.is) {
    case 'all':
      return condition.of.every((each) => holds(each, value));
    case 'any':
      return condition.of.some((each) => holds(each, value));
    case 'one':
      return condition.of.filter((each) => holds(each, value)).length === 1;
    case 'not':
      return !holds(condition.of, value);
    default:
      // Any object may be read by name. What a member holds is looked at below.
      return memberHolds(condition, (value as Record<string, unknown>)[condition.member]);
  }
}

function memberHolds(
  condition: Extract<Condition, { readonly member: string }>,
  value: unknown,
): boolean {
  switch (condition.is) {
    case 'set':
      return isSet(value);
    case 'among':
      return condition.values.includes(String(value ?? ''));
    case 'like':
      return new RegExp(condition.pattern, 'u').test(String(value ?? ''));
    case 'inside':
      return holds(condition.of, isObject(value) ? value : {});
    case 'every':
      return !Array.isArray(value) || value.every((item) => holds(condition.of, item));
  }
}

/** An object is set even if it is empty: members that contain one are given or absent. */
const isSet = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : !['', false, 0, null, undefined].includes(value as null);
