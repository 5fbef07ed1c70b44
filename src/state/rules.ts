/** Binding rules: what an auth method's logins are given. */
import { type Refusal, refusal } from '../errors.js';
import { keys } from './keys.js';
import { namespaceProblem, noteChange, noteDeletion, refused, stored } from './lists.js';
import type { AuthMethod } from './methods.js';
import type { ApplyContext, Command, Handler } from './types.js';

/** A binding rule as it is stored and answered. */
export interface BindingRule {
  readonly ID: string;
  readonly Description: string;
  readonly AuthMethod: string;
  /** Left out when empty. */
  readonly Selector?: string;
  readonly BindType: string;
  readonly BindName: string;
  readonly BindVars?: { readonly name?: string };
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly Namespace: string;
}

/** Creates a rule under a new id, or replaces one. Selector and names were checked against the auth method. */
export interface RuleSet extends Command {
  readonly type: 'rule.set';
  readonly ns: string;
  readonly id: string;
  readonly create: boolean;
  /** `AuthMethod` empty: on update, the stored one. */
  readonly rule: Omit<BindingRule, 'ID' | 'CreateIndex' | 'ModifyIndex' | 'Namespace'>;
}

export interface RuleDelete extends Command {
  readonly type: 'rule.delete';
  readonly ns: string;
  readonly id: string;
}

/** Stores a binding rule; answers it. */
export const setRule: Handler<RuleSet> = (context, { ns, id, create, rule }) => {
  const { draft, index } = context;
  const before = stored<BindingRule>(draft, keys.rule(ns, id));
  if (create !== (before === undefined)) {
    return refused(
      create
        ? refusal('conflict', `Binding Rule ID ${id} is already in use`)
        : refusal('not_found', `cannot find binding rule ${id}`),
    );
  }
  const method = rule.AuthMethod === '' ? (before?.AuthMethod ?? '') : rule.AuthMethod;
  const problem = namespaceProblem(draft, ns) ?? methodProblem(context, ns, method, before);
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
  const text = JSON.stringify(after);
  draft.put(keys.rule(ns, id), text);
  draft.put(keys.ruleByMethod(ns, after.AuthMethod, id), '');
  noteChange(context, 'rule', ns);
  return { ok: true, value: text };
};

function methodProblem(
  { draft }: ApplyContext,
  ns: string,
  name: string,
  before: BindingRule | undefined,
): Refusal | undefined {
  const pointer = '/AuthMethod';
  if (before !== undefined && before.AuthMethod !== name) {
    const why = 'the AuthMethod field of an Binding Rule is immutable';
    return refusal('invalid', why, { pointer });
  }
  if (name === '') {
    return refusal('invalid', 'Invalid Binding Rule: no AuthMethod is set', { pointer });
  }
  if (stored<AuthMethod>(draft, keys.method(ns, name)) === undefined) {
    const why = `cannot find auth method with name ${JSON.stringify(name)}`;
    return refusal('unknown_reference', why, { pointer });
  }
  return undefined;
}

/** Deletes a binding rule; `true` when there was one. */
export const deleteRule: Handler<RuleDelete> = (context, { ns, id }) => {
  const removed = removeRule(context, ns, id);
  return { ok: true, value: String(removed) };
};

/** Takes a rule out of the state; false when there was none. */
export function removeRule(context: ApplyContext, ns: string, id: string): boolean {
  const { draft } = context;
  const rule = stored<BindingRule>(draft, keys.rule(ns, id));
  if (rule === undefined) return false;
  draft.del(keys.rule(ns, id));
  draft.del(keys.ruleByMethod(ns, rule.AuthMethod, id));
  noteDeletion(context, 'rule', ns);
  return true;
}
