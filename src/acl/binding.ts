/**
 * Binding rules: the checks when a rule is written, and the rights that the rules of an auth method
 * bind to an identity at login. All matching rules add up.
 */
import { type Refusal, refusal } from '../base/errors.js';
import {
  BudgetError,
  type Compiled,
  compileExpression,
  EVALUATION_BUDGET,
  type Shape,
} from '../languages/bexpr.js';
import type { Expression } from '../languages/bexpr.peggy.js';
import { interpolate } from '../languages/hil.js';
import { didYouMean } from '../languages/suggest.js';
import { type Problem, positionAt } from '../languages/syntax.js';
import { isIdentityName, isPolicyName, isRoleName } from './names.js';
import type { Steps } from './steps.js';
import {
  TEMPLATES,
  type TemplateVariables,
  templateByName,
  templateId,
  variablesProblem,
} from './templates.js';

/** A binding rule, with only the fields that this file reads. */
export interface BindingRule {
  readonly ID?: string;
  readonly Selector?: string;
  readonly BindType: string;
  readonly BindName: string;
  readonly BindVars?: TemplateVariables | null;
}

/** The data that an auth method provides about the identities it verifies. */
export interface IdentityShape {
  /** The shape of `Identity.selectable`. */
  readonly selectable: Shape;
  /** The possible keys of each map of `selectable`. A selector over any other key never matches. */
  readonly mapped: Readonly<Record<string, readonly string[]>>;
  /** The names of `Identity.variables`. */
  readonly variables: readonly string[];
}

/** An identity that an auth method has verified. */
export interface Identity {
  /** The data on which selectors are evaluated. */
  readonly selectable: Readonly<Record<string, unknown>>;
  /** The values for BindName and BindVars: every variable of the shape, empty if it has none. */
  readonly variables: ReadonlyMap<string, string>;
}

/** The rights that a login binds, as members of a token. Empty lists are absent. */
export interface Bound {
  readonly Policies?: readonly { readonly ID: string; readonly Name: string }[];
  readonly Roles?: readonly { readonly ID: string; readonly Name: string }[];
  readonly ServiceIdentities?: readonly { readonly ServiceName: string }[];
  readonly NodeIdentities?: readonly { readonly NodeName: string; readonly Datacenter: string }[];
  readonly TemplatedPolicies?: readonly {
    readonly TemplateID: string;
    readonly TemplateName: string;
    readonly TemplateVariables?: TemplateVariables;
  }[];
}
/** The outcome of bind. `reason` is for the log; the client learns only that access is denied. */
export type BindOutcome =
  | { readonly ok: true; readonly bound: Bound }
  | {
      readonly ok: false;
      readonly code: 'no_rule' | 'bad_name' | 'nothing_bound';
      readonly reason: string;
    };

/** What BindName may name. */
export const BIND_TYPES = ['service', 'node', 'role', 'policy', 'templated-policy'] as const;
export type BindType = (typeof BIND_TYPES)[number];

const NAME_RULE: Readonly<
  Record<Exclude<BindType, 'templated-policy'>, (name: string) => boolean>
> = { service: isIdentityName, node: isIdentityName, role: isRoleName, policy: isPolicyName };

// ---- Checks when a rule is written.

/** A fault of a rule. */
export interface RuleFault {
  readonly field: 'Selector' | 'BindType' | 'BindName' | 'BindVars';
  /** The beginning of the sentence of a refusal. */
  readonly lead: string;
  readonly message: string;
  /** Where in the text of the field. */
  readonly line: number;
  readonly column: number;
}

/**
 * Checks a rule, but not its auth method. `namespace` is the namespace of the tokens it creates.
 */
export function checkBindingRule(
  rule: BindingRule,
  shape: IdentityShape,
  namespace = 'default',
): Refusal | undefined {
  for (const { field, lead, message } of ruleFaults(rule, shape, namespace)) {
    return refusal('invalid', lead + message, { pointer: `/${field}` });
  }
  return undefined;
}

const LEAD = 'Invalid Binding Rule: ';
const NAME_LEAD = `${LEAD}invalid BindName or BindVars: `;

/** Yields the faults of a rule. The first one refuses it. */
export function* ruleFaults(
  rule: BindingRule,
  shape: IdentityShape,
  namespace: string,
): Iterable<RuleFault> {
  const { Selector = '', BindType, BindName, BindVars } = rule;
  const fault = (field: RuleFault['field'], message: string, lead = LEAD): RuleFault => ({
    field,
    lead,
    message,
    ...START,
  });
  const problem = Selector === '' ? undefined : selectorFault(Selector, shape);
  if (problem !== undefined) {
    const lead = 'invalid Binding Rule: Selector is invalid: ';
    yield { ...fault('Selector', at(problem), lead), ...placeOf(problem) };
  }
  if (BindType === '') yield fault('BindType', 'no BindType is set');
  if (BindName === '') yield fault('BindName', 'no BindName is set');
  const hasVars = BindVars !== undefined && BindVars !== null;
  if (hasVars && BindType !== 'templated-policy') {
    yield fault('BindVars', 'BindVars cannot be set when bind type is not templated-policy');
  }
  if (!isBindType(BindType)) {
    if (BindType === '') return;
    const hint = didYouMean(BindType, BIND_TYPES);
    const message = `unknown BindType ${JSON.stringify(BindType)}, expected one of ${BIND_TYPES.join(', ')}${hint}`;
    yield fault('BindType', message, NAME_LEAD);
    return;
  }
  if (namespace !== 'default' && (BindType === 'node' || BindName === 'builtin/node')) {
    yield fault('BindType', 'node identities are allowed only in the namespace "default"');
  }
  if (BindName === '') return;
  // Any value serves to try the names: each variable stands for one lower-case word.
  const tried = new Map(shape.variables.map((name) => [name, 'fake']));
  const computed = compute({ ...rule, BindType }, tried);
  if (computed.ok) return;
  const message = `failed to validate bindType ${JSON.stringify(BindType)}: ${computed.reason}`;
  yield { ...fault(computed.field, message, NAME_LEAD), ...placeOf(computed.problem) };
}

/** The place of a fault that concerns a whole text. */
const START = { line: 1, column: 1 };
const placeOf = ({ line, column }: Omit<Problem, 'message'> = START) => ({ line, column });

export const isBindType = (text: string): text is BindType =>
  (BIND_TYPES as readonly string[]).includes(text);
const at = ({ message, line, column }: Problem): string => `${message} at ${line}:${column}`;

/**
 * Checks a selector against the shape of its auth method. Returns the problem with its position.
 */
export function selectorProblem(selector: string, shape: IdentityShape): string | undefined {
  const problem = selectorFault(selector, shape);
  return problem && at(problem);
}

function selectorFault(selector: string, shape: IdentityShape): Problem | undefined {
  const compiled = compileExpression(selector, shape.selectable);
  if (!compiled.ok) return compiled.problem;
  const problem = unmapped(compiled.expression, shape);
  return problem && { message: problem.message, ...positionAt(selector, problem.at) };
}

/** Finds a test of a claim that is never mapped. Such a test with `!=` would match everybody. */
export function unmapped(
  expression: Expression,
  shape: IdentityShape,
): { readonly message: string; readonly at: number } | undefined {
  if (expression.type === 'not') return unmapped(expression.term, shape);
  if (expression.type !== 'match') {
    for (const term of expression.terms) {
      const problem = unmapped(term, shape);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  const [root = '', part] = expression.path;
  const known = Object.hasOwn(shape.mapped, root) ? shape.mapped[root] : undefined;
  const key = part ?? (expression.op === 'in' ? expression.value : undefined);
  if (known === undefined || key === undefined || known.includes(key)) return undefined;
  const claim = JSON.stringify(`${root}.${key}`);
  const hint = didYouMean(key, known);
  return {
    message: `${claim} is produced by no claim mapping of the auth method${hint}`,
    at: expression.at,
  };
}

/** The name that a rule binds, or why there is none. */
export type Computed =
  | { readonly ok: true; readonly name: string; readonly variables?: TemplateVariables }
  | {
      readonly ok: false;
      readonly reason: string;
      readonly field: 'BindName' | 'BindVars';
      readonly problem?: Problem;
    };

/** Computes the name that a rule binds, and the variables of a templated policy. */
export function compute(
  rule: BindingRule & { readonly BindType: BindType },
  variables: ReadonlyMap<string, string>,
): Computed {
  const { BindType, BindName, BindVars } = rule;
  if (BindType === 'templated-policy') return computeTemplate(BindName, BindVars, variables);
  const name = interpolate(BindName, variables);
  if (!name.ok) {
    const reason = `error interpreting template: ${at(name.problem)}`;
    return { ok: false, reason, field: 'BindName', problem: name.problem };
  }
  if (NAME_RULE[BindType](name.value)) return { ok: true, name: name.value };
  const shown = JSON.stringify(name.value.slice(0, 300));
  return { ok: false, reason: `invalid bind name: ${shown}`, field: 'BindName' };
}

function computeTemplate(
  name: string,
  vars: TemplateVariables | null | undefined,
  variables: ReadonlyMap<string, string>,
): Computed {
  if (templateByName(name) === undefined) {
    const reason = `templated policy name ${JSON.stringify(name)} does not match existing template name`;
    return { ok: false, reason, field: 'BindName' };
  }
  let computed: TemplateVariables | undefined = vars === null ? undefined : vars;
  if (computed?.name !== undefined) {
    const value = interpolate(computed.name, variables);
    if (!value.ok) {
      const reason = `failed to interpret templated policy variables: ${at(value.problem)}`;
      return { ok: false, reason, field: 'BindVars', problem: value.problem };
    }
    computed = { name: value.value };
  }
  const problem = variablesProblem(name, computed);
  if (problem !== undefined) {
    const reason = `templated policy failed validation: ${problem}`;
    return { ok: false, reason, field: 'BindVars' };
  }
  return computed === undefined ? { ok: true, name } : { ok: true, name, variables: computed };
}

// ---- Binding at login.

/** The input of bind. */
export interface BindContext {
  readonly rules: readonly BindingRule[];
  readonly identity: Identity;
  readonly shape: IdentityShape;
  /** The local datacenter, for node identities. */
  readonly datacenter: string;
  /** Returns an existing role or policy by its name in the namespace of the token. */
  readonly roleByName: (name: string) => { readonly ID: string; readonly Name: string } | undefined;
  readonly policyByName: (
    name: string,
  ) => { readonly ID: string; readonly Name: string } | undefined;
}

/**
 * Computes the rights that the rules bind to an identity, one rule in each step: a method may have
 * thousands of them. One matching rule with an invalid name fails the whole login.
 */
export function* bind(context: BindContext): Steps<BindOutcome> {
  const { rules, identity, shape } = context;
  const bound = new Collector(context);
  let matching = 0;
  for (const rule of rules) {
    yield;
    const { BindType, Selector = '' } = rule;
    if (!selects(Selector, identity, shape)) continue;
    matching += 1;
    const computed: Computed = isBindType(BindType)
      ? compute({ ...rule, BindType }, identity.variables)
      : { ok: false, reason: `unknown BindType ${JSON.stringify(BindType)}`, field: 'BindName' };
    if (!computed.ok) {
      return { ok: false, code: 'bad_name', reason: `${label(rule)}: ${computed.reason}` };
    }
    bound.add(BindType as BindType, computed.name, computed.variables);
  }
  if (matching > 0) return bound.outcome();
  const reason = `none of the ${rules.length} binding rules matches`;
  return { ok: false, code: 'no_rule', reason };
}

const label = ({ ID }: BindingRule): string =>
  ID === undefined ? 'a binding rule' : `binding rule ${ID}`;

/**
 * Whether a stored selector matches an identity. A selector that cannot be evaluated does not
 * match, and neither does one over a claim that the method no longer maps: `!=` would match
 * everybody.
 */
export function selects(selector: string, identity: Identity, shape: IdentityShape): boolean {
  if (selector === '') return true;
  const compiled = compiledSelector(selector, shape.selectable);
  if (!compiled.ok || unmapped(compiled.expression, shape) !== undefined) return false;
  try {
    return compiled.evaluate(identity.selectable, { left: EVALUATION_BUDGET });
  } catch (error) {
    if (error instanceof BudgetError) return false;
    throw error;
  }
}

/**
 * Maximum number of characters of the selectors in the cache: enough for about a thousand rules.
 */
const COMPILED_CHARS_MAX = 2 ** 18;
const compiled = { byShape: new WeakMap<Shape, Map<string, Compiled>>(), chars: 0 };

/**
 * Returns a compiled selector from the cache. Each login evaluates all rules of its method, and
 * compiling them takes most of that time.
 */
export function compiledSelector(selector: string, shape: Shape): Compiled {
  const known = compiled.byShape.get(shape)?.get(selector);
  if (known !== undefined) return known;
  compiled.chars += selector.length;
  if (compiled.chars > COMPILED_CHARS_MAX) {
    compiled.byShape = new WeakMap();
    compiled.chars = selector.length;
  }
  const fresh = compileExpression(selector, shape);
  const ofShape = compiled.byShape.get(shape);
  if (ofShape === undefined) compiled.byShape.set(shape, new Map([[selector, fresh]]));
  else ofShape.set(selector, fresh);
  return fresh;
}

/** Collects what rules bind, each item once, in the order of the rules. */
class Collector {
  readonly #context: BindContext;
  readonly #services = new Set<string>();
  readonly #nodes = new Set<string>();
  readonly #roles = new Map<string, { ID: string; Name: string }>();
  readonly #policies = new Map<string, { ID: string; Name: string }>();
  readonly #templates = new Map<string, NonNullable<Bound['TemplatedPolicies']>[number]>();
  readonly #missing: string[] = [];

  constructor(context: BindContext) {
    this.#context = context;
  }

  add(type: BindType, name: string, variables: TemplateVariables | undefined): void {
    if (type === 'service') this.#services.add(name);
    else if (type === 'node') this.#nodes.add(name);
    else if (type === 'templated-policy') this.#addTemplate(name, variables);
    else this.#addLink(type, name);
  }

  #addLink(type: 'role' | 'policy', name: string): void {
    const { roleByName, policyByName } = this.#context;
    const found = type === 'role' ? roleByName(name) : policyByName(name);
    const links = type === 'role' ? this.#roles : this.#policies;
    if (found === undefined) this.#missing.push(`${type} ${JSON.stringify(name)}`);
    else links.set(found.ID, { ID: found.ID, Name: found.Name });
  }

  #addTemplate(name: string, variables: TemplateVariables | undefined): void {
    const takesName = TEMPLATES[name]?.Schema !== '';
    const key = JSON.stringify([name, takesName ? variables?.name : null]);
    if (this.#templates.has(key)) return;
    this.#templates.set(key, {
      TemplateID: templateId(name) as string,
      TemplateName: name,
      ...(variables === undefined ? {} : { TemplateVariables: variables }),
    });
  }

  outcome(): BindOutcome {
    const lists = {
      Policies: [...this.#policies.values()],
      Roles: [...this.#roles.values()],
      ServiceIdentities: [...this.#services].map((ServiceName) => ({ ServiceName })),
      NodeIdentities: [...this.#nodes].map((NodeName) => ({
        NodeName,
        Datacenter: this.#context.datacenter,
      })),
      TemplatedPolicies: [...this.#templates.values()],
    };
    const filled = Object.entries(lists).filter(([, list]) => list.length > 0);
    if (filled.length > 0) return { ok: true, bound: Object.fromEntries(filled) };
    const reason = `the matching binding rules bind nothing: no ${this.#missing.join(', no ')}`;
    return { ok: false, code: 'nothing_bound', reason };
  }
}
