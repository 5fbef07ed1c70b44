/** Plans of sets, as people see them. */
import type { Plan as PlanAnswer, Problem } from '../../api/endpoints/sets.js';
import type { About } from '../files/sets.js';
import { differenceLines, SIGNS } from './diff-view.js';
import { whereDecided } from './explain-view.js';
import { type Paint, painted } from './table.js';
import { counted, oneLine } from './text.js';

export type PlannedChange = PlanAnswer['Changes'][number];

interface RightChange {
  readonly Namespace: string;
  readonly Resource: string;
  readonly Match: string;
  readonly Name: string;
  readonly Before: string;
  readonly After: string;
}

interface ImpactGroup {
  readonly Tokens: number;
  readonly Removed: boolean;
  readonly Policies: readonly { readonly Name?: string }[];
  readonly Roles: readonly { readonly Name?: string }[];
  readonly Sample: readonly { readonly AccessorID: string; readonly Description: string }[];
  readonly Gains: readonly RightChange[];
  readonly Loses: readonly RightChange[];
}

/** The answer of `POST /v1/plan`. */
export interface Plan extends Omit<PlanAnswer, 'Impact'> {
  readonly Impact?: {
    readonly Tokens: {
      readonly Affected: number;
      /** Whether there is more than was looked at. */
      readonly Truncated: boolean;
      /** Whether tokens are left out that the caller may not read. */
      readonly Hidden: boolean;
      readonly Groups: readonly ImpactGroup[];
    };
  };
}

/** What a view needs besides the plan. */
export interface PlanStyle {
  readonly colour: boolean;
  /** Where that stands of which a problem speaks. */
  placeOf(about: About): string | undefined;
}

const isChange = ({ Action }: PlannedChange): boolean => Action !== 'unchanged';

/** Returns the changes of a plan, without what stays. */
export const changesOf = ({ Changes }: Plan): readonly PlannedChange[] => Changes.filter(isChange);

/** Returns the lines of the changes: each object, and what differs in it. */
export async function changeLines(plan: Plan, { colour }: PlanStyle): Promise<string[]> {
  const shown: string[] = [];
  for (const change of changesOf(plan)) {
    const [sign, paint] = SIGNS[change.Action]!;
    const head = painted(`${sign} ${oneLine(change.Ref)}`, paint, colour);
    const notes = notesOf(change, plan).map((note) => painted(`  ${note}`, 'dim', colour));
    shown.push(head + notes.join(''));
    // What a delete takes is the object, which its Ref names.
    if (change.Action !== 'delete')
      shown.push(...(await differenceLines(change.Diff ?? [], colour)));
    for (const { Severity, Code, Message, Line } of change.Warnings ?? []) {
      const where = Line === undefined ? '' : ` line ${Line}:`;
      const text = oneLine(`${Severity} ${Code}:${where} ${Message}`);
      shown.push(`    ${painted(`! ${text}`, 'yellow', colour)}`);
    }
  }
  return shown;
}

/** Returns what is to be said about a change in the line of its object. */
function notesOf(change: PlannedChange, { Owner = '' }: Plan): string[] {
  const { Action, Allowed, Diff = [], Owner: before = '' } = change;
  const isHandle = Action === 'update' && change.Type === 'binding-rule' && Diff.length === 0;
  const isOwned = Action === 'update' && Owner !== '' && before !== Owner;
  return [
    ...(isOwned ? [`owner: ${oneLine(before) || 'none'} → ${oneLine(Owner)}`] : []),
    ...(isHandle && !isOwned ? ['its handle changes'] : []),
    ...(Action === 'hidden' ? ['this token may not read it'] : []),
    ...(Allowed ? [] : ['not allowed with this token']),
  ];
}

/** Returns a plan as lines: changes, rights, assertions, problems, and how many of each. */
export async function planLines(plan: Plan, style: PlanStyle): Promise<string[]> {
  const parts = [
    await changeLines(plan, style),
    impactLines(plan, style),
    assertLines(plan, style),
    problemLines(plan, style),
    [summaryOf(plan, style)],
  ];
  return parts
    .filter((lines) => lines.length > 0)
    .flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}

function impactLines({ Impact }: Plan, { colour }: PlanStyle): string[] {
  const { Affected = 0, Groups = [], Hidden = false, Truncated = false } = Impact?.Tokens ?? {};
  const hidden = Hidden ? ['Rights change for tokens that this token may not read, too.'] : [];
  if (Affected === 0) return hidden;
  const count = `${Truncated ? 'at least ' : ''}${counted(Affected, 'token')}`;
  const lines = Groups.flatMap((group) => [
    `  ${groupText(group)}`,
    ...group.Gains.map((right) => rightLine(right, 'Added', colour)),
    ...group.Loses.map((right) => rightLine(right, 'Deleted', colour)),
  ]);
  return [painted(`Rights change for ${count}:`, 'bold', colour), ...lines, ...hidden];
}

function groupText({ Tokens, Removed, Policies, Roles, Sample: [first] }: ImpactGroup): string {
  const names = (noun: string, links: ImpactGroup['Roles']): string[] =>
    links.length === 0 ? [] : [`${noun} ${links.map(({ Name }) => Name ?? '?').join(', ')}`];
  const links = [...names('roles', Roles), ...names('policies', Policies)].join('; ');
  const called = first && (first.Description || first.AccessorID.slice(0, 8));
  const such = called === undefined ? '' : `, ${Tokens > 1 ? 'such as ' : ''}"${called}"`;
  const gone = Removed ? ', deleted' : '';
  return oneLine(`${counted(Tokens, 'token')}${links && ` with ${links}`}${such}${gone}`);
}

function rightLine(right: RightChange, type: 'Added' | 'Deleted', colour: boolean): string {
  const { After, Before, Match, Name, Namespace, Resource } = right;
  const name = Match === 'prefix' ? ` ${Name}*` : Match === 'scalar' ? '' : ` ${Name}`;
  const where = Namespace === 'default' ? '' : ` in ${Namespace}`;
  const [sign, paint] = SIGNS[type]!;
  const levels = `${Before || 'none'} → ${After || 'none'}`;
  return painted(`    ${sign} ${oneLine(`${Resource}${name}${where}: ${levels}`)}`, paint, colour);
}

function assertLines({ Asserts }: Plan, { colour, placeOf }: PlanStyle): string[] {
  const lines = Asserts.flatMap((one, at) => {
    const { Name, Passed, Problem, Result } = one;
    const paint: Paint = Passed ? 'green' : 'red';
    const head = `  ${painted(`${Passed ? '✓' : '✗'} ${oneLine(Name)}`, paint, colour)}`;
    if (Passed) return [head];
    const winner = Result?.Winner ?? null;
    const policy = winner?.Sources[0]?.Path.at(-1);
    const where = [
      placeOf({ Pointer: `/Assert/${at}` }),
      ...(winner === null ? [] : [`the rule: ${whereDecided(winner)}`]),
      policy?.Type === 'policy' &&
        placeOf({ Ref: `policy/${Result?.Namespace ?? 'default'}/${policy.Name}` }),
    ].filter(Boolean);
    const below = where.length === 0 ? [] : [`      ${where.join(', ')}`];
    return [`${head}: ${oneLine(Problem ?? Result?.Text ?? '')}`, ...below];
  });
  return lines.length === 0 ? [] : [painted('Assertions:', 'bold', colour), ...lines];
}

function problemLines({ Problems }: Plan, { colour, placeOf }: PlanStyle): string[] {
  // What became of assertions is told with them.
  const others = Problems.filter(({ Code }) => Code !== 'assert');
  const lines = others.map(
    (problem) => `  ${painted(problemText(problem, placeOf), 'red', colour)}`,
  );
  return lines.length === 0 ? [] : [painted('Problems:', 'bold', colour), ...lines];
}

/** Returns a problem with its place: `ops.yaml:3:5: policy/default/ops: … (owned)`. */
export function problemText(problem: Problem, placeOf: PlanStyle['placeOf']): string {
  const { Code, Message, Pointer = '', Ref = '' } = problem;
  const place = placeOf(problem);
  const object = Ref === '' || Message.includes(Ref) ? '' : `${Ref}: `;
  const field = place === undefined && Pointer !== '' ? `${Pointer}: ` : '';
  return oneLine(`${place === undefined ? '' : `${place}: `}${object}${field}${Message} (${Code})`);
}

/** Returns how many objects a plan changes. */
function summaryOf({ Parts, Summary, Valid }: Plan, { colour }: PlanStyle): string {
  const { Create = 0, Delete = 0, Hidden = 0, Unchanged = 0, Update = 0 } = Summary;
  const counts = [
    painted(`${Create} to create`, Create > 0 ? 'green' : undefined, colour),
    painted(`${Update} to update`, Update > 0 ? 'yellow' : undefined, colour),
    painted(`${Delete} to delete`, Delete > 0 ? 'red' : undefined, colour),
    `${Unchanged} unchanged`,
    ...(Hidden > 0 ? [`${Hidden} hidden`] : []),
    ...(Parts.length > 1 ? [`in ${Parts.length} parts`] : []),
  ];
  const invalid = Valid ? '' : painted(' It cannot be applied as it is.', 'red', colour);
  return `${painted('Plan:', 'bold', colour)} ${counts.join(', ')}.${invalid}`;
}
