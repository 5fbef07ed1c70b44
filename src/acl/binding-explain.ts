/** Explains what binding rules do for an identity: which match, why, and what each binds. */
import { BudgetError, EVALUATION_BUDGET } from '../languages/bexpr.js';
import { type Clause, clauseOf } from '../languages/bexpr-clauses.js';
import { cut, type Hide, SENTENCE_MAX } from '../languages/shown-values.js';
import {
  type BindContext,
  type BindingRule,
  type Computed,
  compiledSelector,
  compute,
  type Identity,
  type IdentityShape,
  isBindType,
  selects,
  unmapped,
} from './binding.js';
import { type TemplateVariables, templateId } from './templates.js';

/** What a rule would bind, as answers show it. */
type Target =
  | { readonly Type: string; readonly Exists: boolean; readonly ID: string; readonly Name: string }
  | { readonly Hidden: true };

/** What one binding rule does, as answers show it. */
export interface RuleExplanation {
  readonly ID: string;
  readonly Description: string;
  readonly BindType: string;
  readonly BindName: string;
  readonly Selector: string;
  readonly Matches: boolean;
  /** Null for an empty selector, and for one that cannot be evaluated. */
  readonly Clause: Clause | null;
  /** The name that the rule computes, whether it matches or not; null if it computes none. */
  readonly Name: string | null;
  readonly Vars: TemplateVariables | null;
  readonly Target: Target | null;
  readonly Effect: 'binds' | 'no_match' | 'missing_target' | 'fails_login';
  readonly Problem: string;
}

type StoredRule = BindingRule & { readonly ID: string; readonly Description?: string };

/** What rules are explained with. Without lookups, targets are hidden. */
export interface RuleContext {
  readonly identity: Identity;
  readonly shape: IdentityShape;
  /** The namespace of the token; undefined if there is none. */
  readonly namespace: string | undefined;
  /** Hides secrets in the texts of the answer. */
  readonly hide: Hide;
  readonly lookups: Pick<BindContext, 'roleByName' | 'policyByName'> | undefined;
}

/** Explains what one rule does. */
export function explainRule(rule: StoredRule, context: RuleContext): RuleExplanation {
  const { Selector = '', BindType, BindName } = rule;
  const { Matches, Clause, Problem } = explainSelector(Selector, context);
  const computed: Computed = isBindType(BindType)
    ? compute({ ...rule, BindType }, context.identity.variables)
    : { ok: false, reason: `unknown BindType ${JSON.stringify(BindType)}`, field: 'BindName' };
  const isForeignNode = BindType === 'node' && (context.namespace ?? 'default') !== 'default';
  const why = computed.ok
    ? isForeignNode && `node identities are not allowed in namespace ${context.namespace}`
    : computed.reason;
  const target = computed.ok ? targetOf(BindType, computed.name, context) : null;
  const isMissing = target !== null && 'Exists' in target && !target.Exists;
  const effect = why ? 'fails_login' : isMissing ? 'missing_target' : 'binds';
  return {
    ID: rule.ID,
    Description: rule.Description ?? '',
    BindType,
    BindName,
    Selector,
    Matches,
    Clause,
    Name: computed.ok ? computed.name : null,
    Vars: (computed.ok && computed.variables) || null,
    Target: target,
    Effect: Matches ? effect : 'no_match',
    Problem: cut(context.hide(Problem || (Matches && why) || ''), SENTENCE_MAX),
  };
}

/**
 * Explains whether a selector matches. Throws Error if its parts come to another result than a
 * login.
 */
function explainSelector(
  selector: string,
  { identity, shape, hide }: RuleContext,
): Pick<RuleExplanation, 'Matches' | 'Clause' | 'Problem'> {
  const Matches = selects(selector, identity, shape);
  if (selector === '') return { Matches, Clause: null, Problem: '' };
  const compiled = compiledSelector(selector, shape.selectable);
  if (!compiled.ok) return { Matches, Clause: null, Problem: compiled.problem.message };
  const { expression } = compiled;
  const { selectable: data } = identity;
  const part = { text: selector, expression, shape: shape.selectable, data, hide };
  try {
    const Clause = clauseOf(part, { left: EVALUATION_BUDGET });
    const missing = unmapped(expression, shape);
    if (missing !== undefined) return { Matches, Clause, Problem: missing.message };
    if (Clause.Result === Matches) return { Matches, Clause, Problem: '' };
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error;
    return { Matches, Clause: null, Problem: 'the selector takes too long on these claims' };
  }
  throw new Error(`a login finds ${Matches} for a selector, and its explanation the contrary`);
}

function targetOf(type: string, name: string, context: RuleContext): Target | null {
  const { lookups, namespace } = context;
  if (namespace === undefined) return null;
  if (lookups === undefined) return { Hidden: true };
  if (type === 'role' || type === 'policy') {
    const found = type === 'role' ? lookups.roleByName(name) : lookups.policyByName(name);
    return {
      Type: type,
      Exists: found !== undefined,
      ID: found?.ID ?? '',
      Name: found?.Name ?? name,
    };
  }
  const ID = type === 'templated-policy' ? (templateId(name) ?? '') : '';
  return { Type: type, Exists: true, ID, Name: name };
}
