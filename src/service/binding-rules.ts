/** Use cases of binding rules. */
import { randomUUID } from 'node:crypto';
import { checkBindingRule } from '../acl/binding.js';
import { ApiError, reject } from '../errors.js';
import { keys } from '../state/keys.js';
import { keysBelow, lastPart, stored } from '../state/lists.js';
import type { AuthMethod } from '../state/methods.js';
import type { BindingRule, RuleDelete, RuleSet } from '../state/rules.js';
import { keyOf } from '../state/types.js';
import { type Decoded, description, index, text } from './decode.js';
import type { FilterOf } from './filters.js';
import { templateVariables } from './grants.js';
import type { ListPlan } from './lists.js';
import type { AuthMethodTypes } from './login/index.js';
import { listedNamespaces, listPosition, mustBeUuid, mustRead, readText } from './reading.js';
import type { ReadUseCase, Service } from './types.js';
import { mayWrite, mustMatchPath, propose, settled, type Write } from './writing.js';

export const RULE_FIELDS = {
  ID: text,
  Description: description,
  AuthMethod: text,
  Selector: text,
  BindType: text,
  BindName: text,
  BindVars: templateVariables,
  Namespace: text,
  CreateIndex: index,
  ModifyIndex: index,
};
export type RuleBody = Decoded<typeof RULE_FIELDS>;

/** Creates a rule (`id` undefined) or replaces one; gives it as answered. */
export async function writeRule(
  service: Service,
  write: Write,
  types: AuthMethodTypes,
  id: string | undefined,
  body: RuleBody,
): Promise<string> {
  mustMatchPath(body.ID, id, 'BindingRule');
  await mayWrite(service, write);
  const lowerId = id === undefined ? undefined : mustBeUuid(id, 'Binding Rule ID invalid UUID');
  const method = await methodOf(service, write, lowerId, body);
  const rule = {
    Description: body.Description ?? '',
    AuthMethod: body.AuthMethod ?? '',
    ...(body.Selector ? { Selector: body.Selector } : {}),
    BindType: body.BindType ?? '',
    BindName: body.BindName ?? '',
    ...(body.BindVars === undefined ? {} : { BindVars: body.BindVars }),
  };
  const shape = types.get(method.Type)!.shapeOf(method.Config);
  const problem = checkBindingRule(rule, shape, write.ns);
  if (problem !== undefined) throw new ApiError(problem);
  const command: RuleSet = {
    type: 'rule.set',
    v: 1,
    ns: write.ns,
    id: lowerId ?? randomUUID(),
    create: id === undefined,
    rule,
  };
  return propose(service, write, command);
}

/** The auth method that a rule is checked against. What apply decides is refused here in the same words. */
async function methodOf(
  service: Service,
  write: Write,
  id: string | undefined,
  body: RuleBody,
): Promise<AuthMethod> {
  const { ns } = write;
  const pointer = '/AuthMethod';
  let name = body.AuthMethod ?? '';
  if (id !== undefined) {
    const before = await settled(service, write, (view) =>
      stored<BindingRule>(view, keys.rule(ns, id)),
    );
    if (before === undefined) reject('not_found', `cannot find binding rule ${id}`);
    if (name !== '' && name !== before.AuthMethod) {
      const why = 'the AuthMethod field of an Binding Rule is immutable';
      reject('invalid', why, { pointer });
    }
    name = before.AuthMethod;
  }
  if (name === '') reject('invalid', 'Invalid Binding Rule: no AuthMethod is set', { pointer });
  const method = await settled(service, write, (view) =>
    stored<AuthMethod>(view, keys.method(ns, name)),
  );
  const why = `cannot find auth method with name ${JSON.stringify(name)}`;
  return method ?? reject('unknown_reference', why, { pointer });
}

/** Deletes a rule; `true` or `false`. */
export async function deleteRule(service: Service, write: Write, id: string): Promise<string> {
  await mayWrite(service, write);
  const command: RuleDelete = {
    type: 'rule.delete',
    v: 1,
    ns: write.ns,
    id: mustBeUuid(id, 'binding rule ID'),
  };
  return propose(service, write, command);
}

export const readRule =
  (ns: string, id: string): ReadUseCase<string | undefined> =>
  ({ view, authorizer }) => {
    mustRead(authorizer, ns);
    return readText(view, keys.rule(ns, mustBeUuid(id, 'binding rule ID')), 'rule', ns);
  };

/** The rules of a namespace (`*`: of all), by ID; with `authmethod` only those of that method. */
export const listRules =
  (
    ns: string,
    options: { authmethod?: string | undefined; filter: FilterOf },
  ): ReadUseCase<ListPlan> =>
  ({ view, authorizer }) => {
    const { shown, filtered } = listedNamespaces(view, authorizer, ns);
    const matches = options.filter('rule');
    const method = options.authmethod?.toLowerCase();
    const candidates = shown.flatMap((each) => {
      if (method === undefined) return [...keysBelow(view, 'rule', each)];
      const ids = [...view.keys(keyOf('rule-by-method', each, method, ''))].map(lastPart);
      return ids.map((id) => keys.rule(each, id));
    });
    const render: ListPlan['render'] = (of, key) => {
      const text = of.get(key);
      return text !== undefined && matches(JSON.parse(text) as object) ? text : undefined;
    };
    return { value: { candidates, render }, filtered, ...listPosition(view, 'rule', ns, shown) };
  };
