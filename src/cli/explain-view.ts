/** Explanations of rights and logins: what the API answers, and how people see it. Pure. */
import type { Column } from './output.js';
import type { Cell, Field } from './table.js';
import { localTime } from './text.js';

/** A step on the way from a token to a rule. */
interface Step {
  readonly Type: string;
  readonly ID?: string;
  readonly Name?: string;
}

/** Where a rule stands. */
interface Source {
  readonly Path: readonly Step[];
  readonly Line?: number;
  readonly Column?: number;
  readonly Level?: string;
  readonly Counts?: boolean;
}

/** A rule that speaks about a question. */
interface Rule {
  readonly Rule: string;
  readonly Level?: string | null;
  readonly Sources: readonly Source[];
  readonly MoreSources?: number;
}

/** The answer to one question. */
export interface Result {
  readonly Resource: string;
  readonly Access: string;
  readonly Segment?: string;
  readonly Namespace?: string;
  readonly Allow: boolean;
  readonly Reason: string;
  readonly Layer?: string;
  readonly Level?: string | null;
  readonly Text: string;
  readonly Winner: Rule | null;
}

/** The answer of `/v1/acl/authorize/explain`. */
export interface Explanation {
  readonly AccessorID: string;
  readonly Description?: string;
  readonly Namespace: string;
  readonly Anonymous: boolean;
  readonly DefaultPolicy: string;
  readonly Index: number;
  readonly Results: readonly Result[];
}

/** Returns a question as the command line takes it: `service:write:web`. */
function questionOf({ Resource, Access, Segment, Namespace }: Result): string {
  const segment = Segment === undefined || Segment === '' ? '' : `:${Segment}`;
  const where = Namespace === undefined || Namespace === 'default' ? '' : ` in ${Namespace}`;
  return `${Resource}:${Access}${segment}${where}`;
}

const stepText = ({ Type, Name, ID }: Step): string => `${Type} ${Name || ID || ''}`.trimEnd();

/** Returns the way to a rule without the token itself: `role ops › policy ops-deny:2`. */
export function whereOf({ Path, Line }: Source): string {
  const steps = Path.filter(({ Type }, at) => at > 0 || !/^(token|draft)$/.test(Type));
  const line = Line === undefined || Line === 0 ? '' : `:${Line}`;
  return steps.length === 0 ? `rules${line}` : steps.map(stepText).join(' › ') + line;
}

/** Returns the ways to the rule that decided: the first one that counts, and how many more. */
function whereDecided(rule: Rule | null | undefined): string {
  const sources = rule?.Sources ?? [];
  const first = sources.find(({ Counts }) => Counts !== false) ?? sources[0];
  if (first === undefined) return '';
  const more = sources.length - 1 + (rule?.MoreSources ?? 0);
  return whereOf(first) + (more > 0 ? ` (+${more})` : '');
}

const yesNo = (allowed: boolean): Cell =>
  allowed ? { text: 'yes', paint: 'green' } : { text: 'no', paint: 'red' };

/** The columns of answers. */
export const RESULT_COLUMNS: readonly Column<Result>[] = [
  { head: 'QUESTION', cell: questionOf },
  { head: 'ALLOWED', cell: ({ Allow }) => yesNo(Allow) },
  { head: 'WHY', cell: ({ Reason }) => Reason },
  { head: 'RULE', cell: ({ Winner, Level }) => ruleText(Winner?.Rule, Level) },
  { head: 'WHERE', cell: ({ Winner }) => whereDecided(Winner) },
];

function ruleText(rule: string | undefined, level: string | null | undefined): string {
  if (rule === undefined) return '';
  return typeof level === 'string' ? `${rule} = ${level}` : rule;
}

/** A row of the rights of a token. */
export interface Right {
  readonly Layer: string;
  readonly Namespace: { readonly Match: string; readonly Name: string };
  readonly Resource: string;
  readonly Match: string;
  readonly Name?: string;
  readonly Level: string;
  readonly Intentions?: string;
  readonly Sources: readonly Source[];
}

/** The answer of `/v1/acl/token/…/effective`. */
export interface Effective {
  readonly AccessorID: string;
  readonly Namespace: string;
  readonly Anonymous: boolean;
  readonly DefaultPolicy: string;
  readonly ExpirationTime?: string;
  readonly Truncated?: boolean;
  readonly Rights: readonly Right[];
}

const prefixed = (match: string, name: string | undefined): string =>
  match === 'prefix' ? `${name ?? ''}*` : (name ?? '');

/** The columns of rights. */
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
    cell: ({ Sources }) => whereDecided({ Rule: '', Sources }),
  },
];

/** Returns whose rights they are. */
export const effectiveFields = (one: Effective): readonly Field[] => [
  ['Token', one.Anonymous ? 'the anonymous token: none was sent' : one.AccessorID],
  ['Namespace', one.Namespace],
  ['Default policy', one.DefaultPolicy],
  ['Expires', localTime(one.ExpirationTime)],
];

/** A set of tokens that are allowed something for the same reasons. */
export interface Group {
  readonly Tokens: number;
  readonly AuthMethod?: string;
  readonly Namespace?: string;
  readonly Policies?: readonly Step[];
  readonly Roles?: readonly Step[];
  readonly Sample: readonly { readonly AccessorID: string; readonly Description?: string }[];
  readonly Result: Result;
}

/** The answer of `/v1/acl/who-can`. */
export interface WhoCan {
  readonly Index: number;
  readonly Scanned: number;
  readonly Allowed: number;
  readonly Truncated?: boolean;
  readonly Filtered?: boolean;
  readonly Groups: readonly Group[];
}

/** The columns of groups of tokens. */
export const GROUP_COLUMNS: readonly Column<Group>[] = [
  { head: 'TOKENS', cell: ({ Tokens }) => String(Tokens) },
  { head: 'METHOD', cell: ({ AuthMethod }) => AuthMethod ?? '' },
  { head: 'NAMESPACE', cell: ({ Namespace }) => Namespace ?? '' },
  { head: 'WHERE', cell: ({ Result: { Winner } }) => whereDecided(Winner) },
  {
    head: 'SUCH AS',
    cell: ({ Sample: [first] }) =>
      first === undefined ? '' : `${first.AccessorID} ${first.Description ?? ''}`.trimEnd(),
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

/** The answer of `/v1/acl/decision/:id`. */
export interface Decision {
  readonly ID: string;
  readonly Time: string;
  readonly Node: string;
  readonly Type: string;
  readonly Method: string;
  readonly Path: string;
  readonly RemoteAddr?: string;
  readonly AccessorID: string | null;
  readonly Namespace: string;
  readonly Resource: string | null;
  readonly Access: string | null;
  readonly Segment?: string | null;
  readonly Message: string;
  readonly AppliedIndex?: number;
  readonly Then: {
    readonly Reason: string;
    readonly Level: string | null;
    readonly Rule: string | null;
  } | null;
  readonly Now: Result | null;
  readonly Changed?: boolean;
  readonly Login: {
    readonly AuthMethod: string;
    readonly Namespace: string;
    readonly ReasonCode: string;
    readonly Reason: string;
  } | null;
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
    ['From', one.RemoteAddr ?? ''],
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
    ['Changed since', one.Changed === undefined || Now === null ? '' : one.Changed ? 'yes' : 'no'],
    ['Auth method', Login === null ? '' : `${Login.AuthMethod} in ${Login.Namespace}`],
    ['Login refused', Login === null ? '' : `${Login.Reason} (${Login.ReasonCode})`],
  ];
}
