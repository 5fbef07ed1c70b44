/** Explanations of rights and of logins, as people see them. Pure. */
import type {
  Decision,
  Effective,
  Group,
  Result,
  Right,
  Rule,
  Source,
  Step,
  WhoCan,
} from '../../api/endpoints/explain.js';
import type { Clause, JudgedRule, LoginExplained } from '../../api/endpoints/login-explain.js';
import { identityTexts, linkNames } from '../commands/links.js';
import type { Column } from './output.js';
import type { Cell, Field } from './table.js';
import { localTime } from './text.js';

/** Returns a question as the command line takes it: `service:write:web`. */
function questionOf({ Resource, Access, Segment, Namespace }: Result): string {
  const segment = Segment === undefined || Segment === '' ? '' : `:${Segment}`;
  const where = Namespace === undefined || Namespace === 'default' ? '' : ` in ${Namespace}`;
  return `${Resource}:${Access}${segment}${where}`;
}

const stepText = ({ Type, Name, ID }: Step): string => `${Type} ${Name || ID || ''}`.trimEnd();

/** Returns the way to a rule without the token itself: `role ops › policy ops-deny:2`. */
export function whereOf({ Path, Line }: Pick<Source, 'Path' | 'Line'>): string {
  const steps = Path.filter(({ Type }, at) => at > 0 || !/^(token|draft)$/.test(Type));
  const line = Line === null ? '' : `:${Line}`;
  return steps.length === 0 ? `rules${line}` : steps.map(stepText).join(' › ') + line;
}

/** Returns the ways to the rule that decided: the first one that counts, and how many more. */
export function whereDecided(rule: Pick<Rule, 'Sources' | 'MoreSources'> | null): string {
  const sources = rule?.Sources ?? [];
  const first = sources.find(({ Counts }) => Counts !== false) ?? sources[0];
  if (first === undefined) return '';
  const more = sources.length - 1 + (rule?.MoreSources ?? 0);
  return whereOf(first) + (more > 0 ? ` (+${more})` : '');
}

const yesNo = (allowed: boolean): Cell =>
  allowed ? { text: 'yes', paint: 'green' } : { text: 'no', paint: 'red' };

export const RESULT_COLUMNS: readonly Column<Result>[] = [
  { head: 'QUESTION', cell: questionOf },
  { head: 'ALLOWED', cell: ({ Allow }) => yesNo(Allow) },
  { head: 'WHY', cell: ({ Reason }) => Reason },
  { head: 'RULE', cell: ({ Winner, Level }) => ruleText(Winner?.Rule, Level) },
  { head: 'WHERE', cell: ({ Winner }) => whereDecided(Winner) },
];

function ruleText(rule: string | null | undefined, level: string | null): string {
  if (typeof rule !== 'string') return '';
  return typeof level === 'string' ? `${rule} = ${level}` : rule;
}

const prefixed = (match: string, name: string | undefined): string =>
  match === 'prefix' ? `${name ?? ''}*` : (name ?? '');

export const RIGHT_COLUMNS: readonly Column<Right>[] = [
  { head: 'NAMESPACE', cell: ({ Namespace }) => prefixed(Namespace.Match, Namespace.Name) },
  { head: 'RESOURCE', cell: ({ Resource }) => Resource },
  { head: 'NAME', cell: ({ Match, Name }) => prefixed(Match, Name) },
  {
    head: 'LEVEL',
    cell: ({ Level }) => (Level === 'deny' ? { text: Level, paint: 'red' } : Level),
  },
  { head: 'INTENTIONS', cell: ({ Intentions }) => Intentions ?? '' },
  { head: 'LAYER', cell: ({ Layer }) => Layer },
  {
    head: 'WHERE',
    cell: whereDecided,
  },
];

/** Returns whose rights they are. */
export const effectiveFields = (one: Effective): readonly Field[] => [
  ['Token', one.Anonymous ? 'the anonymous token: none was sent' : one.AccessorID],
  ['Namespace', one.Namespace],
  ['Default policy', one.DefaultPolicy],
  ['Expires', localTime(one.ExpirationTime)],
];

export const GROUP_COLUMNS: readonly Column<Group>[] = [
  { head: 'TOKENS', cell: ({ Tokens }) => String(Tokens) },
  { head: 'METHOD', cell: ({ AuthMethod }) => AuthMethod },
  { head: 'NAMESPACE', cell: ({ Namespace }) => Namespace },
  { head: 'WHERE', cell: ({ Result: { Winner } }) => whereDecided(Winner) },
  {
    head: 'SUCH AS',
    cell: ({ Sample: [first] }) =>
      first === undefined ? '' : `${first.AccessorID} ${first.Description}`.trimEnd(),
  },
];

/** Returns what a search for tokens found, in a sentence. */
export function whoCanText({ Allowed, Scanned, Truncated, Filtered }: WhoCan): string {
  const notes = [
    ...(Truncated ? ['the search stopped early'] : []),
    ...(Filtered ? ['namespaces that you may not read are left out'] : []),
  ];
  const more = notes.length === 0 ? '' : `; ${notes.join(', ')}`;
  return `${Allowed} of ${Scanned} tokens are allowed${more}`;
}

/** Returns a decision as lines. */
export function decisionFields(one: Decision): readonly Field[] {
  const { Login, Now, Then } = one;
  const asked =
    one.Resource === null
      ? ''
      : `${one.Resource}:${one.Access}${one.Segment ? `:${one.Segment}` : ''}`;
  const then = Then === null ? '' : [Then.Reason, ruleText(Then.Rule ?? undefined, Then.Level)];
  return [
    ['Decision', one.ID],
    ['Time', localTime(one.Time)],
    ['Node', one.Node],
    ['Request', `${one.Method} ${one.Path}`],
    ['From', one.RemoteAddr],
    ['Token', one.AccessorID ?? ''],
    ['Namespace', one.Namespace],
    ['Asked for', asked],
    ['Answer', one.Message],
    [
      'Why then',
      [then]
        .flat()
        .filter((text) => text !== '')
        .join(': '),
    ],
    ['Now', Now === null ? '' : [yesNo(Now.Allow), Now.Text]],
    ['Changed since', Now === null ? '' : one.Changed ? 'yes' : 'no'],
    ['Auth method', Login === null ? '' : `${Login.AuthMethod} in ${Login.Namespace}`],
    ['Login refused', Login === null ? '' : `${Login.Reason} (${Login.ReasonCode})`],
  ];
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

function whyOf({ Clause: clause, Effect, Matches, Name, Problem }: JudgedRule): string {
  if (Problem) return Problem;
  if (!Matches) return clause === null ? '' : failedTests(clause).map(testText).join('  ');
  return Effect === 'missing_target' ? `there is no ${Name ?? 'such target'}` : '';
}

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
