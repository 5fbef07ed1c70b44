/**
 * Auth methods. The deletion of a method removes its binding rules and tokens too. If there are
 * many of them, `method.reap` removes the rest. Tokens without their method are not valid, and the
 * name of the method stays in use until all are removed.
 */
import { isMethodName } from '../acl/names.js';
import { refusal } from '../base/errors.js';
import {
  always,
  anyObject,
  type Infer,
  items,
  nonEmpty,
  object,
  text,
  timeToLive,
} from '../languages/fields.js';
import { dropIdentityBlocks } from './identity-blocks.js';
import { keys } from './keys.js';
import { take } from './links.js';
import { lastPart, stored } from './lists.js';
import {
  type Commands,
  type Content,
  defineObject,
  description,
  indexes,
  type ObjectSet,
  removeObject,
} from './object.js';
import { standardCommands } from './object-commands.js';
import { plantOidcKey } from './oidc.js';
import { type BindingRule, rules } from './rules.js';
import { removeTokensOfMethod } from './tokens.js';
import type { ApplyContext, Command, Handler } from './types.js';

const namespaceRule = object({
  Selector: always('Which logins the rule applies to. Empty means all.', text()),
  BindNamespace: always(
    'The namespace of the tokens. It may contain claims, such as ${value.name}.',
    text(),
  ),
});

/** The types of auth methods. The service knows what each does. */
const METHOD_TYPES = ['jwt', 'kubernetes', 'oidc'] as const;
export type MethodType = (typeof METHOD_TYPES)[number];

const fields = {
  Name: always('The name of the auth method.', text()),
  Type: always(
    'How identities are verified. It cannot be changed later.',
    text({ values: ['', ...METHOD_TYPES] }),
  ),
  DisplayName: nonEmpty('A human-readable name of the auth method.', description),
  Description: nonEmpty('A human-readable description of the auth method.', description),
  MaxTokenTTL: nonEmpty(
    'How long the tokens of its logins are valid, at least one minute.',
    timeToLive,
  ),
  TokenLocality: nonEmpty(
    'Whether tokens belong to one datacenter. This has no other effect.',
    text({ values: ['', 'local', 'global'] }),
  ),
  NamespaceRules: nonEmpty(
    'Rules that choose the namespace of a token by its login, instead of that of the method.',
    items(namespaceRule),
  ),
  // Stored as it was sent.
  Config: always('Settings of the type.', anyObject),
  Namespace: always('The namespace of the auth method.', text()),
  ...indexes,
};

/** An auth method as it is stored and answered. */
export type AuthMethod = Readonly<Infer<typeof fields>>;

/** Creates or replaces an auth method by name. Its Config was checked against its Type. */
export interface MethodSet extends ObjectSet {
  readonly method: Content<AuthMethod>;
  /** Its Config says which claim names who logs in: releases of level 2 refuse its logins. */
  readonly identityClaim?: true;
  /** For type oidc: the key of oidc.ts, unless there is one. Releases of level 2 lack the type. */
  readonly oidcKey?: string;
}

/** Removes more rules and tokens of a deleted method. Answers how many. */
export interface MethodReap extends Command {
  readonly type: 'method.reap';
  readonly ns: string;
  readonly name: string;
}

/** Maximum number of objects that one command removes, because it must not delay heartbeats. */
export const CASCADE_MAX = 1000;

export const methods = defineObject<AuthMethod, typeof fields>({
  table: 'method',
  description: 'A way to log in, and how it verifies identities.',
  noun: 'auth method',
  identity: 'Name',
  columns: 'Name, Type, MaxTokenTTL as Max TTL, DisplayName?, Description',
  lines:
    'Name, Type, Namespace, DisplayName, Description, MaxTokenTTL, TokenLocality, NamespaceRules',
  below: 'Config',
  idLabel: 'auth method name',
  fields,
  unlisted: ['NamespaceRules', 'Config'],
  secretKeys: { Config: new Set(['serviceaccountjwt', 'oidcclientsecret']) },
  secretLeaves: 'when changed',
  key: keys.method,
  nameProblem(name) {
    if (name === '') return 'Invalid Auth Method: no Name is set';
    return isMethodName(name)
      ? undefined
      : 'Invalid Auth Method: invalid Name. ' +
          "Only alphanumeric characters, '-' and '_' are allowed, 1 to 128 of them";
  },
  decide({ draft }, command, before) {
    const { ns, method } = command as MethodSet;
    if (before !== undefined && before.Type !== method.Type) {
      const why = 'the Type field of an Auth Method is immutable';
      return refusal('invalid', why, { pointer: '/Type' });
    }
    if (draft.get(keys.methodRemains(ns, method.Name)) !== undefined) {
      const name = JSON.stringify(method.Name);
      const what = `An Auth Method with Name ${name} is still being deleted`;
      const why = `${what}: its tokens are removed first`;
      return refusal('conflict', why, { pointer: '/Name' });
    }
    return undefined;
  },
  removed(context, { Namespace: ns, Name: name }) {
    dropIdentityBlocks(context, { ns, name });
    if (removeRemains(context, ns, name) >= CASCADE_MAX) {
      context.draft.put(keys.methodRemains(ns, name), '');
    }
  },
});

/** Removes more of the rules and tokens of a deleted method. */
const reapMethod: Handler<MethodReap> = (context, { ns, name }) => {
  const mark = keys.methodRemains(ns, name);
  if (context.draft.get(mark) === undefined) return { ok: true, value: '0' };
  const removed = removeRemains(context, ns, name);
  if (removed < CASCADE_MAX) context.draft.del(mark);
  return { ok: true, value: String(removed) };
};

function removeRemains(context: ApplyContext, ns: string, name: string): number {
  const prefix = keys.ruleByMethod(ns, name, '');
  const ids = take(context.draft.keys(prefix), CASCADE_MAX).map(lastPart);
  for (const id of ids) {
    const rule = stored<BindingRule>(context.draft, keys.rule(ns, id));
    if (rule !== undefined) removeObject(context, rules, rule);
    // It was lost, and a recovery accepted that.
    else context.draft.del(`${prefix}${id}`);
  }
  return ids.length + removeTokensOfMethod(context, ns, name, CASCADE_MAX - ids.length);
}

const standard = standardCommands(methods);

/** Creates or replaces a method, and plants the key of its type. */
const setMethod: Handler<MethodSet> = (context, command) => {
  const result = standard['method.set']!.apply(context, command);
  if (result.ok && command.oidcKey !== undefined) plantOidcKey(context, command.oidcKey);
  return result;
};

export const methodCommands: Commands = {
  ...standard,
  'method.set': { ...standard['method.set']!, apply: setMethod },
  'method.reap': { right: 'internal', apply: reapMethod },
};
