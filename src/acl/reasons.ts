/**
 * Why an access is allowed or denied: which rule of compiled rights decides, and which other rules
 * speak about the question. Walks the rules in the order of enforcement (authorizer.ts), which
 * keeps no trace of its own because it is faster without.
 */
import { CLUSTER_WIDE, type Layer, type Rights } from './layer.js';
import { grantsAccess, impliedIntentions, type RuleSet } from './rule-set.js';
import {
  type Access,
  isScalar,
  LAYERS,
  type LayerName,
  type Level,
  type Named,
  type Reason,
  type Resource,
  type RuleKey,
  type SpeakingRule,
  type Why,
} from './types.js';

/** A question with all of its parts. */
export interface Asked {
  readonly resource: Resource;
  readonly access: Access;
  readonly segment: string;
  readonly namespace: string;
}

/** Why a rule that matches a question does not decide it. */
export type WhyNot =
  | 'less_specific'
  | 'lower_layer'
  | 'fallback'
  | 'other_namespace_block'
  | 'not_for_anonymous';

/** A rule that matches a question and does not decide it. */
export interface OtherRule {
  readonly rule: SpeakingRule;
  readonly why: WhyNot;
}

/** Returns the decision on a question with its reason. */
export function whyOf(rights: Rights, anonymous: boolean, asked: Asked): Why {
  const { resource, access } = asked;
  const isOperatorOfAll = anonymous && resource === 'operator';
  if (isOperatorOfAll && access === 'write') return { allow: false, reason: 'never_by_default' };
  for (const [at, layer] of rights.layers.entries()) {
    const decided = decidedIn(layer, LAYERS[at]!, asked);
    if (decided !== undefined) return decided;
  }
  if (resource === 'namespace') return namespaceByOtherRights(rights, anonymous, asked);
  if (!rights.allowByDefault) return { allow: false, reason: 'default_policy' };
  return isOperatorOfAll || resource === 'acl'
    ? { allow: false, reason: 'never_by_default' }
    : { allow: true, reason: 'default_policy' };
}

/** Returns the decision of one layer; undefined if no rule of it decides. */
function decidedIn(layer: Layer, name: LayerName, asked: Asked): Why | undefined {
  const { resource, access, segment } = asked;
  if (access === 'write-prefix') return keyPrefix(layer, name, asked);
  if (resource === 'intention' && segment === '*') return allIntentions(layer, name, asked);
  const [rule] = rulesAbout(layer, name, asked);
  if (rule !== undefined) {
    return { allow: grantsAccess(rule.level, access), reason: ownReason(rule), rule };
  }
  if (!fallsBack(resource)) return undefined;
  const [operator] = operatorRules(layer, name);
  if (operator === undefined) return undefined;
  return { allow: grantsAccess(operator.level, access), reason: 'operator_rule', rule: operator };
}

const ownReason = ({ level, service }: SpeakingRule): Reason =>
  service !== undefined && level === impliedIntentions(service) ? 'service_rule' : 'rule';

/** Yields the merged rules about a question, the most specific first. */
function* rulesAbout(layer: Layer, name: LayerName, asked: Asked): Iterable<SpeakingRule> {
  const { resource, segment } = asked;
  if (resource === 'namespace') {
    for (const [place, { management: level }] of layer.placedSetsFor(segment)) {
      if (level === undefined) continue;
      yield { layer: name, place, resource, match: place.match, name: place.name, level };
    }
    return;
  }
  for (const [place, rules] of layer.placedSetsFor(namespaceOf(asked))) {
    if (isScalar(resource)) {
      const level = rules.scalars.get(resource);
      if (level === undefined) continue;
      yield { layer: name, place, resource, match: 'scalar', name: '', level };
    } else yield* namedRules(rules, { layer: name, place }, resource, segment);
  }
}

/** Where the rules of one set hold. */
export type Where = Pick<SpeakingRule, 'layer' | 'place'>;

/** Yields the rules of a set for a name: the exact one, then prefixes, longest first. */
function* namedRules(
  rules: RuleSet,
  where: Where,
  asked: Named | 'intention',
  segment: string,
): Iterable<SpeakingRule> {
  const found = rules.named.get(asked);
  if (found === undefined) return;
  const exact = found.exact.get(segment);
  if (exact !== undefined) yield namedRule(rules, where, asked, ['exact', segment, exact]);
  for (const [prefix, level] of found.coveringAll(segment)) {
    yield namedRule(rules, where, asked, ['prefix', prefix, level]);
  }
}

/** Yields every rule of a set for a named resource. */
function* allNamed(
  rules: RuleSet,
  where: Where,
  asked: Named | 'intention',
): Iterable<SpeakingRule> {
  for (const match of ['exact', 'prefix'] as const) {
    for (const [name, level] of rules.named.get(asked)?.[match] ?? []) {
      yield namedRule(rules, where, asked, [match, name, level]);
    }
  }
}

/** Returns a rule of a set for a named resource; for intentions that of the service. */
export function namedRule(
  { named }: RuleSet,
  where: Where,
  asked: Named | 'intention',
  [match, name, level]: readonly ['exact' | 'prefix', string, Level],
): SpeakingRule {
  const { layer, place } = where;
  if (asked !== 'intention') return { layer, place, resource: asked, match, name, level };
  const service = named.get('service')![match].get(name)!;
  return { layer, place, resource: 'service', match, name, level, service };
}

/** Yields the operator rules, on which other resources fall back. */
const operatorRules = (layer: Layer, name: LayerName): Iterable<SpeakingRule> =>
  rulesAbout(layer, name, OPERATOR);
const OPERATOR: Asked = {
  resource: 'operator',
  access: 'read',
  segment: '',
  namespace: 'default',
};
const fallsBack = (resource: Resource): boolean => resource === 'mesh' || resource === 'peering';
const namespaceOf = ({ resource, namespace }: Asked): string =>
  CLUSTER_WIDE.has(resource) ? 'default' : namespace;

/** Decides write on all keys below a prefix. */
function keyPrefix(layer: Layer, name: LayerName, asked: Asked): Why | undefined {
  const { segment } = asked;
  let covering: SpeakingRule | undefined;
  for (const [place, rules] of layer.placedSetsFor(asked.namespace)) {
    const where = { layer: name, place };
    for (const rule of allNamed(rules, where, 'key')) {
      if (rule.level === 'write' || !rule.name.startsWith(segment)) continue;
      return { allow: false, reason: 'key_prefix', rule };
    }
    covering ??= prefixesOver(rules, where, segment)[0];
  }
  if (covering === undefined) return undefined;
  return { allow: covering.level === 'write', reason: 'key_prefix', rule: covering };
}

const prefixesOver = (rules: RuleSet, where: Where, segment: string): SpeakingRule[] =>
  [...namedRules(rules, where, 'key', segment)].filter(({ match }) => match === 'prefix');

/** Decides access to intentions on `*`. */
function allIntentions(layer: Layer, name: LayerName, asked: Asked): Why | undefined {
  const { access } = asked;
  const reason = access === 'read' ? 'any_service' : 'every_service';
  let first: SpeakingRule | undefined;
  let root: SpeakingRule | undefined;
  for (const [place, rules] of layer.placedSetsFor(asked.namespace)) {
    for (const rule of allNamed(rules, { layer: name, place }, 'intention')) {
      first ??= rule;
      if (rule.match === 'prefix' && rule.name === '') root ??= rule;
      const grants = grantsAccess(rule.level, access);
      if (grants === (access === 'read')) return { allow: grants, reason, rule };
    }
  }
  const decisive = access === 'read' ? first : root;
  return decisive && { allow: access !== 'read', reason, rule: decisive };
}

/** Decides access to a namespace by operator rights, or by any right in it. */
function namespaceByOtherRights(rights: Rights, anonymous: boolean, asked: Asked): Why {
  const reason = 'operator_or_any';
  const { access, segment } = asked;
  const operator = whyOf(rights, anonymous, { ...OPERATOR, access });
  const byOperator = operator.rule === undefined ? {} : { rule: operator.rule };
  if (operator.allow) return { allow: true, reason, ...byOperator };
  if (access === 'read') {
    if (rights.allowByDefault) return { allow: true, reason };
    for (const rule of allRules(rights, segment))
      if (rule.level !== 'deny') return { allow: true, reason, rule };
  }
  return { allow: false, reason, ...byOperator };
}

/** Yields every rule of a set, those of services a second time with the level of intentions. */
function* everyRule(rules: RuleSet, where: Where): Iterable<SpeakingRule> {
  const { management, scalars } = rules;
  const { match, name } = where.place;
  if (management !== undefined)
    yield { ...where, resource: 'namespace', match, name, level: management };
  for (const [resource, level] of scalars) {
    yield { ...where, resource, match: 'scalar', name: '', level };
  }
  for (const resource of rules.named.keys()) yield* allNamed(rules, where, resource);
}

/**
 * Yields every rule of some rights, or of those in a namespace; the rules of services a second
 * time, for their intentions.
 */
export function* allRules({ layers }: Rights, ns?: string): Iterable<SpeakingRule> {
  for (const [at, layer] of layers.entries()) {
    const sets = ns === undefined ? layer.placedSets() : layer.placedSetsFor(ns);
    for (const [place, rules] of sets) yield* everyRule(rules, { layer: LAYERS[at]!, place });
  }
}

/** Yields the rules that speak about a question and do not decide it, the nearest first. */
export function* othersOf(rights: Rights, asked: Asked, decided: Why): Iterable<OtherRule> {
  for (const [at, layer] of rights.layers.entries()) {
    for (const [rule, isFallback] of allAbout(layer, LAYERS[at]!, asked)) {
      if (decided.rule !== undefined && isSame(rule, decided.rule)) continue;
      yield { rule, why: whyNot(rule, isFallback, asked, decided) };
    }
  }
}

/** Yields the rules of a layer about a question, and whether each is only a fallback. */
export function* allAbout(
  layer: Layer,
  name: LayerName,
  asked: Asked,
): Iterable<readonly [rule: SpeakingRule, isFallback: boolean]> {
  const { resource, access, segment } = asked;
  const isAll = resource === 'intention' && segment === '*';
  if (access === 'write-prefix' || isAll) {
    for (const [place, rules] of layer.placedSetsFor(asked.namespace)) {
      const where = { layer: name, place };
      const found = isAll ? allNamed(rules, where, 'intention') : keysAround(rules, where, segment);
      for (const rule of found) yield [rule, false];
    }
    return;
  }
  for (const rule of rulesAbout(layer, name, asked)) yield [rule, false];
  if (!fallsBack(resource) && resource !== 'namespace') return;
  for (const rule of operatorRules(layer, name)) yield [rule, true];
}

/** Yields the rules of prefixes that cover a key prefix, then those of the keys below it. */
function* keysAround(rules: RuleSet, where: Where, segment: string): Iterable<SpeakingRule> {
  const over = prefixesOver(rules, where, segment);
  yield* over;
  for (const rule of allNamed(rules, where, 'key'))
    if (rule.name.startsWith(segment) && !over.some((each) => isSame(each, rule))) yield rule;
}

function whyNot(
  rule: SpeakingRule,
  isFallback: boolean,
  { resource }: Asked,
  { rule: winner, reason }: Why,
): WhyNot {
  if (winner === undefined)
    return reason === 'never_by_default' ? 'not_for_anonymous' : 'less_specific';
  if (rule.layer !== winner.layer && winner.layer === 'own') return 'lower_layer';
  if (isFallback && reason === 'rule') return 'fallback';
  const isElsewhere =
    rule.place.match !== winner.place.match || rule.place.name !== winner.place.name;
  return isElsewhere && resource !== 'namespace' ? 'other_namespace_block' : 'less_specific';
}

/** Returns a key that is the same for rules that merge, and different for all others. */
export const keyText = ({ place, resource, match, name }: RuleKey): string =>
  [place.match, place.name, resource, match, name].join('\u0000');
const isSame = (a: SpeakingRule, b: SpeakingRule): boolean =>
  a.layer === b.layer && keyText(a) === keyText(b);
