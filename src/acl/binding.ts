/**
 * Binding rules: what a rule may say when it is written, and what the rules of a method give an
 * identity at login. All rules that match add up.
 */
import { type Refusal, refusal } from '../errors.js';
import {
  BudgetError,
  type Compiled,
  compileExpression,
  EVALUATION_BUDGET,
  type Expression,
  type Shape,
} from '../languages/bexpr.js';
import { interpolate } from '../languages/hil.js';
import { didYouMean } from '../languages/suggest.js';
import { type Problem, positionAt } from '../languages/syntax.js';
import { isIdentityName, isPolicyName, isRoleName } from './names.js';
import {
  TEMPLATES,
  type TemplateVariables,
  templateByName,
  templateId,
  variablesProblem,
} from './templates.js';

/** A rule as it is stored and answered, without the fields that do not matter here. */
export interface BindingRule {
  readonly ID?: string;
  readonly Selector?: string;
  readonly BindType: string;
  readonly BindName: string;
  readonly BindVars?: TemplateVariables | null;
}

/** What an auth method can tell about those who log in by it. */
export interface IdentityShape {
  /** Of `Identity.selectable`. */
  readonly selectable: Shape;
  /**
   * Keys that the maps of `selectable` can have, by the map's name: a selector over any other never
   * matches.
   */
  readonly mapped: Readonly<Record<string, readonly string[]>>;
  /** Names of `Identity.variables`. */
  readonly variables: readonly string[];
}

/** Someone whom an auth method has verified. */
export interface Identity {
  /** The data that selectors are evaluated on. */
  readonly selectable: Readonly<Record<string, unknown>>;
  /**
   * What BindName and BindVars may interpolate: every variable of the shape, empty when it has no
   * value.
   */
  readonly variables: ReadonlyMap<string, string>;
}

/** What a login binds; the members of a token, left out when empty. */
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
/** `reason` is for the log: the caller learns only that permission is denied. */
export type BindOutcome =
  | { readonly ok: true; readonly bound: Bound }
  | { readonly ok: false; readonly reason: string };

const BIND_TYPES = ['service', 'node', 'role', 'policy', 'templated-policy'] as const;
type BindType = (typeof BIND_TYPES)[number];

const NAME_RULE: Readonly<
  Record<Exclude<BindType, 'templated-policy'>, (name: string) => boolean>
> = { service: isIdentityName, node: isIdentityName, role: isRoleName, policy: isPolicyName };

// ---- when a rule is written

/**
 * Checks all of a rule but its auth method; `namespace` is where the tokens of the rule will live.
 */
export function checkBindingRule(
  rule: BindingRule,
  shape: IdentityShape,
  namespace = 'default',
): Refusal | undefined {
  const { Selector = '', BindType, BindName, BindVars } = rule;
  const invalid = (message: string, field: string): Refusal =>
    refusal('invalid', message, { pointer: `/${field}` });
  const selector = Selector === '' ? undefined : selectorProblem(Selector, shape);
  if (selector !== undefined) {
    return invalid(`invalid Binding Rule: Selector is invalid: ${selector}`, 'Selector');
  }
  if (BindType === '') return invalid('Invalid Binding Rule: no BindType is set', 'BindType');
  if (BindName === '') return invalid('Invalid Binding Rule: no BindName is set', 'BindName');
  if (BindVars !== undefined && BindVars !== null && BindType !== 'templated-policy') {
    const message = 'BindVars cannot be set when bind type is not templated-policy';
    return invalid(`Invalid Binding Rule: ${message}`, 'BindVars');
  }
  if (!isBindType(BindType)) {
    const hint = didYouMean(BindType, BIND_TYPES);
    const message = `unknown BindType ${JSON.stringify(BindType)}, expected one of ${BIND_TYPES.join(', ')}${hint}`;
    return invalid(`Invalid Binding Rule: invalid BindName or BindVars: ${message}`, 'BindType');
  }
  if (namespace !== 'default' && (BindType === 'node' || BindName === 'builtin/node')) {
    const message = 'node identities are allowed only in the namespace "default"';
    return invalid(`Invalid Binding Rule: ${message}`, 'BindType');
  }
  // any value will do to try the names: each variable stands for one lower-case word
  const tried = new Map(shape.variables.map((name) => [name, 'fake']));
  const computed = compute({ ...rule, BindType }, tried);
  if (computed.ok) return undefined;
  return invalid(
    `Invalid Binding Rule: invalid BindName or BindVars: failed to validate bindType ${JSON.stringify(BindType)}: ${computed.reason}`,
    computed.field,
  );
}

const isBindType = (text: string): text is BindType =>
  (BIND_TYPES as readonly string[]).includes(text);
const at = ({ message, line, column }: Problem): string => `${message} at ${line}:${column}`;

/**
 * Why a selector may not be stored for a method of this shape, with its place; undefined when it
 * may.
 */
export function selectorProblem(selector: string, shape: IdentityShape): string | undefined {
  const compiled = compileExpression(selector, shape.selectable);
  if (!compiled.ok) return at(compiled.problem);
  const problem = unmapped(compiled.expression, shape);
  return problem && at({ message: problem.message, ...positionAt(selector, problem.at) });
}

/** A test over a claim that nothing produces is a mistake: with `!=` it would match everybody. */
function unmapped(
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

type Computed =
  | { readonly ok: true; readonly name: string; readonly variables?: TemplateVariables }
  | { readonly ok: false; readonly reason: string; readonly field: 'BindName' | 'BindVars' };

/** The name, and for a template its variables, that a rule gives for variables. */
function compute(
  rule: BindingRule & { readonly BindType: BindType },
  variables: ReadonlyMap<string, string>,
): Computed {
  const { BindType, BindName, BindVars } = rule;
  if (BindType === 'templated-policy') return computeTemplate(BindName, BindVars, variables);
  const name = interpolate(BindName, variables);
  if (!name.ok) {
    const reason = `error interpreting template: ${at(name.problem)}`;
    return { ok: false, reason, field: 'BindName' };
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
      return { ok: false, reason, field: 'BindVars' };
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

// ---- at login

export interface BindContext {
  readonly rules: readonly BindingRule[];
  readonly identity: Identity;
  readonly shape: IdentityShape;
  /** The local datacenter, for node identities. */
  readonly datacenter: string;
  /** Present role or policy of a name in the namespace of the token. */
  readonly roleByName: (name: string) => { readonly ID: string; readonly Name: string } | undefined;
  readonly policyByName: (
    name: string,
  ) => { readonly ID: string; readonly Name: string } | undefined;
}

/**
 * What the rules give an identity. One matching rule that computes an unusable name fails the whole
 * login.
 */
export function bind(context: BindContext): BindOutcome {
  const { rules, identity } = context;
  const matching = rules.filter(({ Selector = '' }) => selects(Selector, identity, context.shape));
  if (matching.length === 0) {
    return { ok: false, reason: `none of the ${rules.length} binding rules matches` };
  }
  const bound = new Collector(context);
  for (const rule of matching) {
    const { BindType } = rule;
    const computed: Computed = isBindType(BindType)
      ? compute({ ...rule, BindType }, identity.variables)
      : { ok: false, reason: `unknown BindType ${JSON.stringify(BindType)}`, field: 'BindName' };
    if (!computed.ok) return { ok: false, reason: `${label(rule)}: ${computed.reason}` };
    bound.add(BindType as BindType, computed.name, computed.variables);
  }
  return bound.outcome();
}

const label = ({ ID }: BindingRule): string =>
  ID === undefined ? 'a binding rule' : `binding rule ${ID}`;

/**
 * Whether a stored selector matches an identity. One that cannot be evaluated does not match, nor
 * does one over a claim that the method has ceased to map: `!=` would hold for everybody.
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

/** Characters of the selectors that are kept compiled: those of some thousand rules. */
const COMPILED_CHARS_MAX = 2 ** 18;
const compiled = { byShape: new WeakMap<Shape, Map<string, Compiled>>(), chars: 0 };

/**
 * A selector for data of a shape, kept compiled: each login asks all rules of its method, and
 * compiling is most of that.
 */
function compiledSelector(selector: string, shape: Shape): Compiled {
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

/** Gathers what rules bind, each thing once, in the order of the rules. */
class Collector {
  private readonly context: BindContext;
  private readonly services = new Set<string>();
  private readonly nodes = new Set<string>();
  private readonly roles = new Map<string, { ID: string; Name: string }>();
  private readonly policies = new Map<string, { ID: string; Name: string }>();
  private readonly templates = new Map<string, NonNullable<Bound['TemplatedPolicies']>[number]>();
  private readonly missing: string[] = [];

  constructor(context: BindContext) {
    this.context = context;
  }

  add(type: BindType, name: string, variables: TemplateVariables | undefined): void {
    if (type === 'service') this.services.add(name);
    else if (type === 'node') this.nodes.add(name);
    else if (type === 'templated-policy') this.addTemplate(name, variables);
    else this.addLink(type, name);
  }

  private addLink(type: 'role' | 'policy', name: string): void {
    const { roleByName, policyByName } = this.context;
    const found = type === 'role' ? roleByName(name) : policyByName(name);
    const links = type === 'role' ? this.roles : this.policies;
    if (found === undefined) this.missing.push(`${type} ${JSON.stringify(name)}`);
    else links.set(found.ID, { ID: found.ID, Name: found.Name });
  }

  private addTemplate(name: string, variables: TemplateVariables | undefined): void {
    const takesName = TEMPLATES[name]?.Schema !== '';
    const key = JSON.stringify([name, takesName ? variables?.name : null]);
    if (this.templates.has(key)) return;
    this.templates.set(key, {
      TemplateID: templateId(name) as string,
      TemplateName: name,
      ...(variables === undefined ? {} : { TemplateVariables: variables }),
    });
  }

  outcome(): BindOutcome {
    const lists = {
      Policies: [...this.policies.values()],
      Roles: [...this.roles.values()],
      ServiceIdentities: [...this.services].map((ServiceName) => ({ ServiceName })),
      NodeIdentities: [...this.nodes].map((NodeName) => ({
        NodeName,
        Datacenter: this.context.datacenter,
      })),
      TemplatedPolicies: [...this.templates.values()],
    };
    const filled = Object.entries(lists).filter(([, list]) => list.length > 0);
    if (filled.length > 0) return { ok: true, bound: Object.fromEntries(filled) };
    const reason = `the matching binding rules bind nothing: no ${this.missing.join(', no ')}`;
    return { ok: false, reason };
  }
}
