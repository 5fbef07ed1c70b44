/** What plan, apply and rollback share: a plan is shown, confirmed and applied. */
import type { Command } from 'commander';
import type { Applied as AppliedAnswer, Problem } from '../../api/endpoints/sets.js';
import { type Call, sure } from '../cli.js';
import type { Answer } from '../client/http.js';
import type { About, ReadSet, WholeSet } from '../files/sets.js';
import { CliError, misused } from '../print/error.js';
import { changesOf, type Plan, planLines, problemText } from '../print/plan-view.js';
import { counted } from '../print/text.js';

/** The options of commands that show and apply a plan. */
export interface ApplyOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** What the answers of `POST /v1/apply` and `POST /v1/undo` have in common. */
export type Applied = Pick<AppliedAnswer, 'Index' | 'Changes'>;

/** The most objects and deletes that a plan takes. */
export const ITEMS_MAX = 10_000;

/** Returns the number of objects and deletes of a set. */
export const sizeOf = ({ Objects, Delete }: WholeSet): number => Objects.length + Delete.length;

/** Milliseconds that the server may take for a large set, on top of the usual time. */
const LARGE_MS = 120_000;

/** Adds the options of commands that ask before a change. */
export const withQuestion = (command: Command): Command =>
  command
    .option('--yes', 'change it without asking; needed without a terminal')
    .option('--dry-run', 'only show what would change');

/** Throws if the command must ask but cannot. */
export function mayAsk({ io, options }: Call<ApplyOptions>): void {
  if (options.yes !== true && options.dryRun !== true && !io.canAsk)
    misused('--yes is required without a terminal');
}

/** Plans a set. */
export async function planOf(call: Call<object>, { body, placeOf }: ReadSet): Promise<Plan> {
  if (sizeOf(body) > ITEMS_MAX)
    throw new CliError(`the set has ${sizeOf(body)} objects; the limit of a plan is ${ITEMS_MAX}`, {
      code: 'too_large',
      hint: 'apply it in parts: conclave apply --in-parts',
    });
  return (await sent(call, '/v1/plan', body, placeOf)).json<Plan>();
}

/** Sends a set, or another request whose answer is a plan. */
export async function sent(
  { api }: Call<object>,
  path: string,
  body: object,
  placeOf: ReadSet['placeOf'] = () => undefined,
): Promise<Answer> {
  const isRead = path === '/v1/plan' || 'DryRun' in body;
  try {
    return await api.ask('POST', path, { body, isRead, isCurrent: true, heldMs: LARGE_MS });
  } catch (error) {
    throw error instanceof CliError ? withPlaces(error, placeOf) : error;
  }
}

/** What a refusal says about objects. */
interface Refusal {
  readonly pointer?: string;
  readonly Problems?: readonly Problem[];
  readonly Conflicts?: readonly {
    readonly Ref: string;
    readonly Expected: number;
    readonly Actual: number | null;
  }[];
  readonly Denied?: readonly string[];
}

/** Returns a refusal with the places of the objects that it is about. */
function withPlaces(failure: CliError, placeOf: ReadSet['placeOf']): CliError {
  const { hint, problem = {} } = failure.details;
  const { Conflicts = [], Denied = [], Problems = [], pointer = '' } = problem as Refusal;
  const place = placeOf({ Pointer: pointer });
  const at = (about: About): string => {
    const found = placeOf(about);
    return found === undefined ? '' : `${found}: `;
  };
  const lines = [
    ...Problems.map((one) => problemText(one, placeOf)),
    ...Conflicts.map(({ Ref, Expected, Actual }) => {
      const now = Actual === null ? 'it does not exist' : `it is ${Actual}`;
      const then =
        Expected === 0 ? 'expected that it does not exist' : `expected ModifyIndex ${Expected}`;
      return `${at({ Ref })}${Ref}: ${then}, ${now}`;
    }),
    ...Denied.map((Ref) => `${at({ Ref })}${Ref}: not allowed`),
    ...(hint === undefined ? [] : [hint]),
  ];
  const message = place === undefined ? failure.message : `${place}: ${failure.message}`;
  return new CliError(message, {
    ...failure.details,
    ...(lines.length > 0 && { hint: lines.join('\n  ') }),
  });
}

/** Prints a plan, and makes the command fail if it is not valid. */
export async function showPlan(
  call: Call<object>,
  plan: Plan,
  { placeOf }: Pick<ReadSet, 'placeOf'>,
): Promise<void> {
  const { print } = call;
  if (!plan.Valid) call.fails();
  if (print.format === 'name') return print.refs(changesOf(plan).map(({ Ref }) => Ref));
  if (print.format !== 'table') return print.value(plan);
  const shown = await planLines(plan, { colour: print.style.colour, placeOf });
  print.text(shown.map((line) => `${line}\n`));
}

/**
 * Shows a plan, and asks. Returns whether to go on: not after a dry run, and not if the plan is not
 * valid, which makes the command fail.
 */
export async function isAgreed(
  call: Call<ApplyOptions>,
  plan: Plan,
  { placeOf }: Pick<ReadSet, 'placeOf'>,
): Promise<boolean> {
  const { io, options, print } = call;
  const isTold = options.dryRun === true || !plan.Valid || print.format === 'table';
  if (isTold) await showPlan(call, plan, { placeOf });
  if (options.dryRun === true || !plan.Valid) return false;
  const changes = changesOf(plan).length;
  if (changes === 0 || options.yes === true) return true;
  // The result is for a program; who is asked sees the plan all the same.
  if (!isTold)
    for (const line of await planLines(plan, { colour: false, placeOf })) io.err.write(`${line}\n`);
  await sure(call, `apply ${counted(changes, 'change')}?`);
  return true;
}

const DONE: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'updated',
  delete: 'deleted',
};

/** Prints what was changed, and returns it. */
export async function tellApplied({ print }: Call<object>, applied: Applied): Promise<void> {
  const { Changes, Index } = applied;
  if (print.isForPrograms) return print.value(applied);
  const changed = Changes.filter(({ Action }) => DONE[Action] !== undefined);
  print.refs(
    changed.map(({ Action, Ref }) => (print.format === 'name' ? Ref : `${DONE[Action]} ${Ref}`)),
  );
  print.note(
    changed.length === 0
      ? 'nothing to change'
      : `applied ${counted(changed.length, 'change')} at index ${Index}`,
  );
}
