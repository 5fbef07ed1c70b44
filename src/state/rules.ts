/** Binding rules: what the tokens of an auth method's logins are linked to. */
import { BIND_TYPES } from '../acl/binding.js';
import { type Refusal, refusal } from '../base/errors.js';
import { always, type Infer, nonEmpty, text } from '../languages/fields.js';
import { templateVariables } from './grants.js';
import { keys } from './keys.js';
import { namespaceProblem, refused, stored } from './lists.js';
import {
  type Commands,
  type Content,
  defineObject,
  description,
  indexes,
  type ObjectSet,
  putObject,
} from './object.js';
import { ACL_WRITE, existenceProblem, standardCommands } from './object-commands.js';
import type { ApplyContext, Handler } from './types.js';

const fields = {
  ID: always('The ID of the rule.', text()),
  Description: always('A human-readable description of the rule.', description),
  AuthMethod: always(
    'The auth method to whose logins the rule applies. It cannot be changed later.',
    text(),
  ),
  Selector: nonEmpty('Which logins the rule applies to. Empty means all.', text()),
  BindType: always(
    'What BindName names: a service, a node, a role, a policy or a templated policy.',
    text({ values: BIND_TYPES, limits: { needed: true } }),
  ),
  BindName: always(
    'The name of what tokens are linked to. It may contain claims, such as ${value.name}.',
    text(),
  ),
  BindVars: nonEmpty('The variables of a templated policy.', templateVariables),
  Namespace: always('The namespace of the rule.', text()),
  ...indexes,
};

/** A binding rule as it is stored and answered. */
export type BindingRule = Readonly<Infer<typeof fields>>;

/**
 * Creates or replaces a rule. Its selector and names were checked against the auth method before
 * the proposal.
 */
interface RuleSet extends ObjectSet {
  readonly id: string;
  /** `AuthMethod` is empty on an update that keeps it. */
  readonly rule: Content<BindingRule>;
}

export const rules = defineObject<BindingRule, typeof fields>({
  table: 'rule',
  description: 'A rule that determines what the tokens of an auth method are linked to.',
  noun: 'binding rule',
  identity: 'ID',
  columns: 'ID, AuthMethod as Method, BindType BindName as Binds, Selector, Description',
  lines: 'ID, AuthMethod, Namespace, Description, BindType BindName as Binds, BindVars, Selector',
  fields,
  recordTables: ['rule-by-method'],
  key: keys.rule,
  records: ({ ID, AuthMethod, Namespace }) => [[keys.ruleByMethod(Namespace, AuthMethod, ID), '']],
});

const setRule: Handler<RuleSet> = (context, command) => {
  const { draft, index } = context;
  const { ns, id, rule } = command;
  const before = stored<BindingRule>(draft, keys.rule(ns, id));
  const method = rule.AuthMethod === '' ? (before?.AuthMethod ?? '') : rule.AuthMethod;
  const problem =
    existenceProblem(draft, rules, command, before) ??
    namespaceProblem(draft, ns) ??
    methodProblem(context, ns, method, before);
  if (problem !== undefined) return refused(problem);
  const { AuthMethod: _sent, Description, ...rest } = rule;
  const after: BindingRule = {
    ID: id,
    Description,
    AuthMethod: before?.AuthMethod ?? method,
    ...rest,
    CreateIndex: before?.CreateIndex ?? index,
    ModifyIndex: index,
    Namespace: ns,
  };
  return { ok: true, value: putObject(context, rules, after, before) };
};

/** Why the auth method of a rule is refused. */
export const METHOD_FAULTS = {
  immutable: 'the AuthMethod field of an Binding Rule is immutable',
  none: 'no AuthMethod is set',
  unknown: (name: string): string => `cannot find auth method with name ${JSON.stringify(name)}`,
} as const;

function methodProblem(
  { draft }: ApplyContext,
  ns: string,
  name: string,
  before: BindingRule | undefined,
): Refusal | undefined {
  const pointer = '/AuthMethod';
  if (before !== undefined && before.AuthMethod !== name) {
    return refusal('invalid', METHOD_FAULTS.immutable, { pointer });
  }
  if (name === '') {
    return refusal('invalid', `Invalid Binding Rule: ${METHOD_FAULTS.none}`, { pointer });
  }
  if (draft.get(keys.method(ns, name)) === undefined) {
    return refusal('unknown_reference', METHOD_FAULTS.unknown(name), { pointer });
  }
  return undefined;
}

export const ruleCommands: Commands = {
  ...standardCommands(rules),
  'rule.set': { right: ACL_WRITE, apply: setRule },
};
