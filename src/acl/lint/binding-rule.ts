/** Lint of binding rules: whom a rule lets in by mistake, and what it cannot bind. */
import { compileExpression } from '../../languages/bexpr.js';
import { partsOf } from '../../languages/hil.js';
import { positionAt } from '../../languages/syntax.js';
import { type BindingRule, type IdentityShape, ruleFaults } from '../binding.js';
import type { Finding, Linting } from './findings.js';
import { lintSelector } from './selector.js';

/** What a rule is judged against. */
export interface RuleSurroundings {
  readonly shape: IdentityShape;
  readonly namespace: string;
  /** The rules of its auth method by what they bind (`byBinding`), itself among them or not. */
  readonly rules: ReadonlyMap<string, readonly BindingRule[]>;
  /**
   * Whether a role or policy exists where tokens of the rule may get it; undefined if that depends
   * on the identity.
   */
  readonly exists: (type: 'role' | 'policy', name: string) => boolean | undefined;
}

/** Returns what lint finds in a binding rule. */
export function* lintBindingRule(
  rule: BindingRule,
  { shape, namespace, rules, exists }: RuleSurroundings,
): Linting<Finding[]> {
  const linter = new RuleLinter(rule, shape);
  for (const { field, message, line, column } of ruleFaults(rule, shape, namespace)) {
    linter.problems.push({
      Severity: 'error',
      Code: 'invalid',
      Message: message,
      Field: field,
      Line: line,
      Column: column,
    });
  }
  const tested = yield* linter.selector();
  linter.names(tested);
  linter.target(exists);
  linter.covered(rules.get(boundBy(rule)) ?? []);
  return linter.problems;
}

class RuleLinter {
  readonly problems: Finding[] = [];
  readonly #rule: BindingRule;
  readonly #shape: IdentityShape;

  constructor(rule: BindingRule, shape: IdentityShape) {
    this.#rule = rule;
    this.#shape = shape;
  }

  #add(
    field: 'Selector' | 'BindName' | 'BindVars',
    found: Pick<Finding, 'Severity' | 'Code' | 'Message' | 'Claim' | 'Fix' | 'Hint'>,
    offset = 0,
  ): void {
    const text = field === 'Selector' ? (this.#rule.Selector ?? '') : this.#rule.BindName;
    const { line, column } = positionAt(text, offset);
    const { Severity, Code, Message, ...more } = found;
    const place = { Field: field, Line: line, Column: column };
    this.problems.push({ Severity, Code, Message, ...place, ...more });
  }

  /** Lints the selector. Returns the claims that it tests; undefined if it cannot be read. */
  *selector(): Linting<ReadonlySet<string> | undefined> {
    const { Selector = '' } = this.#rule;
    if (Selector === '') {
      const Message = 'the rule has no Selector: everyone whom the auth method verifies matches';
      this.#add('Selector', { Severity: 'warning', Code: 'matches_everyone', Message });
      return new Set();
    }
    if (this.problems.some(({ Field }) => Field === 'Selector')) return undefined;
    const compiled = compileExpression(Selector, this.#shape.selectable);
    if (!compiled.ok) return undefined;
    const found = yield* lintSelector(compiled.expression, this.#shape);
    for (const { claim, at, presence } of found.absent) {
      const kept = 'someone with some value of it is not';
      const Message = `someone without ${claim} is let in, and ${kept}`;
      const Fix = `${presence} and (${Selector})`;
      const Code = 'absent_claim_passes';
      this.#add('Selector', { Severity: 'warning', Code, Message, Claim: claim, Fix }, at);
    }
    if (found.unjudged !== undefined) {
      const why = `the Selector has ${found.unjudged} tests`;
      const Message = `${why}: whether an absent claim passes is not judged`;
      this.#add('Selector', { Severity: 'info', Code: 'not_judged', Message });
    }
    for (const at of found.unanchored) {
      const Message = 'the regular expression is anchored at neither end, so it matches any part';
      const Hint = 'begin it with ^ and end it with $';
      this.#add('Selector', { Severity: 'warning', Code: 'unanchored', Message, Hint }, at);
    }
    return found.tested;
  }

  /** Lints what is interpolated. `tested`: the claims that the selector tests. */
  names(tested: ReadonlySet<string> | undefined): void {
    const { BindType, BindName, BindVars } = this.#rule;
    const { variables } = partsOf(BindName);
    this.#lowerCased('BindName', BindName);
    this.#lowerCased('BindVars', BindVars?.name ?? '');
    if (tested === undefined || (BindType !== 'role' && BindType !== 'policy')) return;
    const seen = new Set<string>();
    for (const { name, at } of variables) {
      if (tested.has(name) || seen.has(name)) continue;
      seen.add(name);
      const who = `who sets the claim chooses the ${BindType}`;
      const Message = `${name} names the ${BindType}, and the Selector does not test it: ${who}`;
      const Hint = `test ${name} in the Selector`;
      const found = {
        Severity: 'warning',
        Code: 'name_from_claim',
        Message,
        Claim: name,
        Hint,
      } as const;
      this.#add('BindName', found, at);
    }
  }

  #lowerCased(field: 'BindName' | 'BindVars', text: string): void {
    const { literals, variables } = partsOf(text);
    const capitals = literals.find((literal) => /[A-Z]/.test(literal));
    if (capitals === undefined || variables.length === 0) return;
    const kept = `${JSON.stringify(capitals)} around it keeps its upper case`;
    const Message = `an interpolated value is converted to lower case, ${kept}`;
    this.#add(field, { Severity: 'info', Code: 'lower_cased', Message });
  }

  /** Finds a role or policy that does not exist. */
  target(exists: RuleSurroundings['exists']): void {
    const { BindType, BindName } = this.#rule;
    if (BindType !== 'role' && BindType !== 'policy') return;
    if (BindName === '' || BindName.includes('${')) return;
    if (this.problems.some(({ Field }) => Field === 'BindName')) return;
    if (exists(BindType, BindName) !== false) return;
    const Message = `there is no ${BindType} ${JSON.stringify(BindName)}: the rule binds nothing`;
    this.#add('BindName', { Severity: 'warning', Code: 'missing_target', Message });
  }

  /** Finds another rule, of those that bind the same, that matches whenever this one does. */
  covered(same: readonly BindingRule[]): void {
    const { ID = '', Selector = '' } = this.#rule;
    const selectors = ['', Selector];
    const other = same.find((each) => each.ID !== ID && selectors.includes(each.Selector ?? ''));
    if (other === undefined) return;
    const how = (other.Selector ?? '') === '' ? 'has no Selector' : 'has the same Selector';
    const Message = `binding rule ${other.ID} binds the same and ${how}`;
    this.#add('Selector', { Severity: 'warning', Code: 'covered', Message });
  }
}

/** Returns rules by what they bind. */
export function byBinding(
  rules: readonly BindingRule[],
): ReadonlyMap<string, readonly BindingRule[]> {
  const found = new Map<string, BindingRule[]>();
  for (const rule of rules) {
    const known = found.get(boundBy(rule));
    if (known === undefined) found.set(boundBy(rule), [rule]);
    else known.push(rule);
  }
  return found;
}

const boundBy = ({ BindType, BindName, BindVars }: BindingRule): string =>
  JSON.stringify([BindType, BindName, BindVars?.name ?? null]);
