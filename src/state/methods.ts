/**
 * Auth methods. Deleting one takes its binding rules and tokens along; where these are many, a part is left to
 * `method.reap`: without their method such tokens count no more, and the name stays taken until they are gone.
 */
import { type Refusal, refusal } from '../errors.js';
import { keys } from './keys.js';
import { take } from './links.js';
import { lastPart, namespaceProblem, noteChange, noteDeletion, refused, stored } from './lists.js';
import { removeRule } from './rules.js';
import { removeTokensOfMethod } from './token-commands.js';
import type { ApplyContext, Command, Handler } from './types.js';

/** An auth method as it is stored and answered. */
export interface AuthMethod {
  /** Go duration text, left out when there is none. */
  readonly MaxTokenTTL?: string;
  readonly Name: string;
  readonly Type: string;
  readonly DisplayName?: string;
  readonly Description?: string;
  readonly TokenLocality?: string;
  readonly NamespaceRules?: readonly {
    readonly Selector: string;
    readonly BindNamespace: string;
  }[];
  /** As it was sent. */
  readonly Config: { readonly [key: string]: unknown };
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly Namespace: string;
}

/** Creates or replaces an auth method by name; its Config was checked against its Type. */
export interface MethodSet extends Command {
  readonly type: 'method.set';
  readonly ns: string;
  readonly method: Omit<AuthMethod, 'CreateIndex' | 'ModifyIndex' | 'Namespace'>;
}

export interface MethodDelete extends Command {
  readonly type: 'method.delete';
  readonly ns: string;
  readonly name: string;
}

/** Goes on with the removal of what a deleted method left; answers how much. */
export interface MethodReap extends Command {
  readonly type: 'method.reap';
  readonly ns: string;
  readonly name: string;
}

/** How many rules and tokens one command removes: it must not stall the heartbeats. */
export const CASCADE_MAX = 1000;

/** Stores an auth method; answers it. */
export const setMethod: Handler<MethodSet> = (context, { ns, method }) => {
  const { draft, index } = context;
  const key = keys.method(ns, method.Name);
  const before = stored<AuthMethod>(draft, key);
  const problem = namespaceProblem(draft, ns) ?? methodProblem(context, ns, method, before);
  if (problem !== undefined) return refused(problem);
  const after: AuthMethod = {
    ...method,
    CreateIndex: before?.CreateIndex ?? index,
    ModifyIndex: index,
    Namespace: ns,
  };
  const text = JSON.stringify(after);
  draft.put(key, text);
  noteChange(context, 'method', ns);
  return { ok: true, value: text };
};

function methodProblem(
  { draft }: ApplyContext,
  ns: string,
  method: MethodSet['method'],
  before: AuthMethod | undefined,
): Refusal | undefined {
  if (before !== undefined && before.Type !== method.Type) {
    const why = 'the Type field of an Auth Method is immutable';
    return refusal('invalid', why, { pointer: '/Type' });
  }
  if (draft.get(keys.methodRemains(ns, method.Name)) !== undefined) {
    const name = JSON.stringify(method.Name);
    const why = `An Auth Method with Name ${name} is still being deleted: its tokens are removed first`;
    return refusal('conflict', why, { pointer: '/Name' });
  }
  return undefined;
}

/** Deletes an auth method with its rules and tokens; `true` when there was one. */
export const deleteMethod: Handler<MethodDelete> = (context, { ns, name }) => {
  const method = stored<AuthMethod>(context.draft, keys.method(ns, name));
  if (method === undefined) return { ok: true, value: 'false' };
  removeMethod(context, method);
  return { ok: true, value: 'true' };
};

/** Takes a method out of the state; what it leaves behind is void. */
export function removeMethod(context: ApplyContext, { Namespace: ns, Name: name }: AuthMethod) {
  context.draft.del(keys.method(ns, name));
  noteDeletion(context, 'method', ns);
  if (removeRemains(context, ns, name) >= CASCADE_MAX) {
    context.draft.put(keys.methodRemains(ns, name), '');
  }
}

/** Removes another part of what a deleted method left. */
export const reapMethod: Handler<MethodReap> = (context, { ns, name }) => {
  const mark = keys.methodRemains(ns, name);
  if (context.draft.get(mark) === undefined) return { ok: true, value: '0' };
  const removed = removeRemains(context, ns, name);
  if (removed < CASCADE_MAX) context.draft.del(mark);
  return { ok: true, value: String(removed) };
};

function removeRemains(context: ApplyContext, ns: string, name: string): number {
  const prefix = keys.ruleByMethod(ns, name, '');
  const rules = take(context.draft.keys(prefix), CASCADE_MAX).map(lastPart);
  for (const id of rules) removeRule(context, ns, id);
  return rules.length + removeTokensOfMethod(context, ns, name, CASCADE_MAX - rules.length);
}
