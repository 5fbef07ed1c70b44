/** Explanations of logins, as people see them. Pure. */
import type { Clause, JudgedRule, LoginExplained } from '../../api/answers/answers.js';
import { identityTexts, linkNames } from '../commands/links.js';
import type { Column } from './output.js';
import type { Cell, Field } from './table.js';

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

function whyOf({ Clause: clause, Effect, Matches, Name, Problem }: JudgedRule): string {
  if (Problem) return Problem;
  if (!Matches) return clause === null ? '' : failedTests(clause).map(testText).join('  ');
  return Effect === 'missing_target' ? `there is no ${Name ?? 'such target'}` : '';
}

/** The columns of binding rules. */
export const OUTCOME_COLUMNS: readonly Column<JudgedRule>[] = [
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
function checksOf(checks: LoginExplained['Checks']): Cell[] {
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
export function loginFields(one: LoginExplained): readonly Field[] {
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
