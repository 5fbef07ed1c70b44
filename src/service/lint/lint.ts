/**
 * Use cases of lint: what is wrong with a policy or binding rule, or likely not meant. They write
 * nothing.
 */

import { byBinding, lintBindingRule, type RuleSurroundings } from '../../acl/lint/binding-rule.js';
import { type Finding, type Lint, lintOf } from '../../acl/lint/findings.js';
import { lintPolicy } from '../../acl/lint/policy.js';
import { parseRules } from '../../acl/rules.js';
import type { Authorizer } from '../../acl/types.js';
import type { POLICY_LINT } from '../../api/endpoints/lint.js';
import { ApiError, type refusal, reject } from '../../base/errors.js';
import type { Sent } from '../../languages/fields.js';
import { keys } from '../../state/keys.js';
import { stored } from '../../state/lists.js';
import type { AuthMethod } from '../../state/methods.js';
import type { Policy } from '../../state/policies.js';
import { type BindingRule, METHOD_FAULTS, rules } from '../../state/rules.js';
import type { View } from '../../state/types.js';
import { contentOf, type LintMode } from '../acl/objects.js';
import { inSlices } from '../common/event-loop.js';
import { made, mustBeUuid, mustRead, readState } from '../common/reading.js';
import type { ReadOutcome, Service, StateRead } from '../common/types.js';
import type { Write } from '../common/writing.js';
import type { AuthMethodTypes } from '../login/index.js';
import { rulesOf } from '../login/judge.js';

/** Lints a policy. The value is undefined if the stored one does not exist. Throws ApiError. */
export async function policyLint(
  service: Service,
  { caller, ns, options }: StateRead,
  { Rules: sent, ID }: Sent<(typeof POLICY_LINT)['fields']>,
): Promise<ReadOutcome<string | undefined>> {
  if ((sent === undefined) === (ID === undefined)) {
    reject('invalid', 'exactly one of Rules and ID is needed', { pointer: '' });
  }
  const id = ID === undefined ? undefined : mustBeUuid(ID, 'policy ID');
  const outcome = await readState(service, { caller, options }, ({ view, authorizer }) => {
    mustRead(authorizer, ns);
    return id === undefined ? sent : stored<Policy>(view, keys.policy(ns, id))?.Rules;
  });
  return made(outcome, async (rules) => shown(await inSlices(lintPolicy(rules, ns), 'lint')));
}

const shown = (lint: Lint): string => JSON.stringify(lint);

/** The body of a lint of a binding rule: the rule, or the ID alone of a stored one. */
type RuleBody = Sent<typeof rules.fields>;

/** Members that a body with an ID of a stored rule may have beside it. */
const BESIDE_ID: ReadonlySet<string> = new Set(['ID', 'Namespace']);

/**
 * Lints a binding rule. One with the ID of a stored rule is judged as that rule's next content. The
 * value is undefined if the stored rule does not exist. Throws ApiError.
 */
export async function ruleLint(
  parts: { readonly service: Service; readonly methodTypes: AuthMethodTypes },
  { caller, ns, options }: StateRead,
  body: RuleBody,
): Promise<ReadOutcome<string | undefined>> {
  const id = (body.ID ?? '') === '' ? undefined : mustBeUuid(body.ID!, 'binding rule ID');
  const { service } = parts;
  const outcome = await readState(service, { caller, options }, ({ view, authorizer }) => {
    mustRead(authorizer, ns);
    const before = id === undefined ? undefined : stored<BindingRule>(view, keys.rule(ns, id));
    if (id !== undefined && before === undefined) return undefined;
    const isStored = Object.keys(body).every((name) => BESIDE_ID.has(name));
    // The cast holds: `contentOf` adds all fields that are always present.
    const sent = contentOf(rules, body) as unknown as BindingRule;
    const rule = before !== undefined && isStored ? before : sent;
    const mayRead = readerOf(authorizer);
    return ruleJob(parts.methodTypes, view, mayRead, { ns, before, rule });
  });
  return made(outcome, async ({ rule, surroundings, problems }) => {
    const more = surroundings && (await inSlices(lintBindingRule(rule, surroundings), 'lint'));
    return shown(lintOf([...problems, ...(more ?? [])]));
  });
}

/** What is to be linted, and the faults that are known already. */
interface RuleJob {
  readonly rule: BindingRule;
  readonly problems: readonly Finding[];
  /** Absent if the rule has no auth method to judge it by. */
  readonly surroundings?: RuleSurroundings;
}

function ruleJob(
  types: AuthMethodTypes,
  view: View,
  mayRead: MayRead,
  {
    ns,
    before,
    rule,
  }: { readonly ns: string; readonly before: BindingRule | undefined; readonly rule: BindingRule },
): RuleJob {
  const problems: Finding[] = [];
  const name = rule.AuthMethod === '' ? (before?.AuthMethod ?? '') : rule.AuthMethod;
  const method = stored<AuthMethod>(view, keys.method(ns, name));
  if (before !== undefined && before.AuthMethod !== name) {
    problems.push(methodFault('invalid', METHOD_FAULTS.immutable));
  }
  if (name === '') problems.push(methodFault('invalid', METHOD_FAULTS.none));
  else if (method === undefined) {
    problems.push(methodFault('unknown_reference', METHOD_FAULTS.unknown(name)));
  }
  if (method === undefined) return { rule, problems };
  const places = { view, mayRead };
  const surroundings = surroundingsOf(types, places, method, rulesOf(view, method));
  return { rule: before === undefined ? rule : { ...rule, ID: before.ID }, problems, surroundings };
}

const methodFault = (Code: Parameters<typeof refusal>[0], Message: string): Finding => ({
  Severity: 'error',
  Code,
  Message,
  Field: 'AuthMethod',
  Line: 1,
  Column: 1,
});

/** Whether the caller may read ACL objects of a namespace. */
export type MayRead = (ns: string) => boolean;

/** Returns where a caller may read ACL objects. */
export const readerOf =
  (authorizer: Authorizer): MayRead =>
  (ns) =>
    authorizer.allowed('acl', 'read', undefined, ns);

/**
 * Returns what a rule of a method is judged against, among them all rules of the method. What is in
 * a namespace that the caller may not read is unknown.
 */
export function surroundingsOf(
  types: AuthMethodTypes,
  { view, mayRead }: { readonly view: View; readonly mayRead: MayRead },
  method: AuthMethod,
  others: readonly BindingRule[],
): RuleSurroundings {
  const namespace = method.Namespace;
  const named = (method.NamespaceRules ?? []).map(({ BindNamespace }) => BindNamespace);
  const all = [namespace, ...named];
  const places = all.filter(mayRead);
  const isOpen = places.length < all.length || named.some((each) => each.includes('${'));
  return {
    shape: types.get(method.Type)!.shapeOf(method.Config),
    namespace,
    rules: byBinding(others),
    exists(type, name) {
      const nameKey = type === 'role' ? keys.roleName : keys.policyName;
      const isThere = places.some((each) => view.get(nameKey(each, name)) !== undefined);
      return isThere || (isOpen ? undefined : false);
    },
  };
}

/** Characters of the header that tells warnings. */
const NOTE_LENGTH_MAX = 512;
/** Rules of one method that a write of a rule is compared with: reading them delays the write. */
const COMPARED_MAX = 500;

/**
 * Checks the rules of a policy that is written, and notes their warnings. Throws ApiError 400 for
 * faults, and in the mode `strict` for the first warning.
 */
export async function lintWrittenPolicy(
  mode: LintMode,
  { ns, noteLint }: Write,
  text: string,
): Promise<void> {
  const lint = mode === 'off' ? undefined : await inSlices(lintPolicy(text, ns), 'lint');
  if (lint?.Valid !== true) {
    const outcome = parseRules(text, ns);
    if (!outcome.ok) throw new ApiError(outcome.refusal);
  }
  if (lint !== undefined) noteWarnings(mode, lint.Problems, noteLint);
}

/** The same for a binding rule that its auth method accepts. */
export async function lintWrittenRule(
  mode: LintMode,
  { noteLint }: Write,
  {
    view,
    mayRead,
    types,
    method,
    rule,
  }: {
    readonly view: View;
    readonly mayRead: MayRead;
    readonly types: AuthMethodTypes;
    readonly method: AuthMethod;
    readonly rule: BindingRule;
  },
): Promise<void> {
  if (mode === 'off') return;
  const others = rulesOf(view, method, COMPARED_MAX);
  const surroundings = surroundingsOf(types, { view, mayRead }, method, others);
  const { Problems } = lintOf(await inSlices(lintBindingRule(rule, surroundings), 'lint'));
  noteWarnings(mode, Problems, noteLint);
}

function noteWarnings(
  mode: LintMode,
  problems: readonly Finding[],
  noteLint: Write['noteLint'],
): void {
  const warnings = problems.filter(({ Severity }) => Severity === 'warning');
  const [first] = warnings;
  if (first === undefined) return;
  if (mode === 'strict') {
    const { Message, Field = 'Rules', Hint } = first;
    const hint = Hint ?? (first.Fix === undefined ? undefined : `write ${first.Fix}`);
    const pointer = `/${Field}`;
    reject('invalid', Message, hint === undefined ? { pointer } : { pointer, hint });
  }
  let note = '';
  for (const { Code, Line, Column } of warnings) {
    const next = `${note}${note === '' ? '' : ', '}${Code}@${Line}:${Column}`;
    if (next.length > NOTE_LENGTH_MAX) break;
    note = next;
  }
  noteLint?.(note);
}
