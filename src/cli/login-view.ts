/** Explanations of logins: what the API answers, and how people see it. Pure. */
import type { Right } from './explain-view.js';
import { identityTexts, type Links, linkNames } from './links.js';
import type { Column } from './output.js';
import type { Cell, Field } from './table.js';

/** A test of a selector, or several that are joined. */
export interface Clause {
  readonly Type: 'match' | 'and' | 'or' | 'not';
  readonly Text: string;
  readonly Result: boolean;
  readonly Terms?: readonly Clause[];
  readonly Actual?: unknown;
  readonly Missing?: boolean;
}

/** What a binding rule does for a login. */
export interface RuleOutcome {
  readonly ID: string;
  readonly Description?: string;
  readonly BindType: string;
  readonly BindName: string;
  readonly Selector?: string;
  readonly Matches: boolean;
  readonly Clause: Clause | null;
  readonly Name?: string | null;
  readonly Effect: string;
  readonly Problem?: string;
}

/** The answer of `/v1/acl/login/explain`. */
export interface LoginExplanation {
  readonly AuthMethod: string;
  readonly Type: string;
  readonly Outcome: 'granted' | 'refused';
  readonly ReasonCode: string;
  readonly Reason: string;
  readonly Checks: readonly {
    readonly Name: string;
    readonly Result: string;
    readonly Detail?: string;
  }[];
  readonly Values: Readonly<Record<string, string>>;
  readonly Lists: Readonly<Record<string, readonly string[]>>;
  readonly Missing: { readonly Values: readonly string[]; readonly Lists: readonly string[] };
  readonly Unmapped: readonly string[];
  readonly TokenNamespace?: string;
  readonly Rules: readonly RuleOutcome[];
  readonly MoreRules?: number;
  readonly Token: (Links & { readonly ExpirationTTL?: string }) | null;
  readonly Rights?: readonly Right[] | null;
}

/** Returns the tests because of which a selector does not hold. */
export function failedTests(clause: Clause): readonly Clause[] {
  if (clause.Result) return [];
  const terms = clause.Terms ?? [];
  // A negation fails because what it negates holds: it is told as a whole.
  if (clause.Type === 'not' || terms.length === 0) return [clause];
  return terms.flatMap(failedTests);
}

function testText({ Text, Type, Missing, Actual }: Clause): string {
  if (Type !== 'match') return `✗ ${Text}`;
  return `✗ ${Text} (${Missing ? 'missing' : `is ${JSON.stringify(Actual ?? null)}`})`;
}

function whyOf({ Clause: clause, Effect, Matches, Name, Problem }: RuleOutcome): string {
  if (Problem) return Problem;
  if (!Matches) return clause === null ? '' : failedTests(clause).map(testText).join('  ');
  return Effect === 'missing_target' ? `there is no ${Name ?? 'such target'}` : '';
}

/** The columns of binding rules. */
export const OUTCOME_COLUMNS: readonly Column<RuleOutcome>[] = [
  { head: 'RULE', cell: ({ ID }) => ID.slice(0, 8) },
  {
    head: 'MATCHES',
    cell: ({ Matches }) =>
      Matches ? { text: 'yes', paint: 'green' } : { text: 'no', paint: 'dim' },
  },
  { head: 'EFFECT', cell: ({ Effect }) => Effect },
  { head: 'BINDS', cell: ({ BindType, BindName, Name }) => `${BindType} ${Name || BindName}` },
  { head: 'WHY', cell: whyOf },
];

/** Returns the checks by result; those that failed with what is wrong. */
function checksOf(checks: LoginExplanation['Checks']): Cell[] {
  const of = (result: string): string[] =>
    checks.filter(({ Result }) => Result === result).map(({ Name }) => Name);
  const failed = checks.filter(({ Result }) => Result === 'failed');
  const listed = (result: string, names: readonly string[]): string =>
    names.length === 0 ? '' : `${result}: ${names.join(', ')}`;
  return [
    ...failed.map(({ Name, Detail }): Cell => {
      const text = `failed: ${Name}${Detail ? ` (${Detail})` : ''}`;
      return { text, paint: 'red' };
    }),
    listed('passed', of('passed')),
    listed('skipped', of('skipped')),
  ];
}

/** Returns a login as lines. */
export function loginFields(one: LoginExplanation): readonly Field[] {
  const { Checks, Lists, Missing, Token, Unmapped, Values } = one;
  const refused = `refused: ${one.Reason} (${one.ReasonCode})`;
  return [
    ['Method', `${one.AuthMethod} (${one.Type})`],
    [
      'Outcome',
      one.Outcome === 'granted'
        ? { text: 'granted', paint: 'green' }
        : { text: refused, paint: 'red' },
    ],
    ['Checks', checksOf(Checks)],
    ['Values', Object.entries(Values).map(([name, value]) => `${name} = ${value}`)],
    ['Lists', Object.entries(Lists).map(([name, values]) => `${name} = ${values.join(', ')}`)],
    ['Missing', [...Missing.Values, ...Missing.Lists].join(', ')],
    ['Not mapped', Unmapped.join(', ')],
    ['Namespace', one.TokenNamespace ?? ''],
    ['Policies', linkNames(Token?.Policies)],
    ['Roles', linkNames(Token?.Roles)],
    ['Identities', Token === null ? '' : identityTexts(Token)],
    ['Valid for', Token?.ExpirationTTL ?? ''],
  ];
}
