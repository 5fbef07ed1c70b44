/** `plan`, `apply` and `diff`: sets of objects in files. */
import type { Command } from 'commander';
import { type Call, type Cli, several } from '../cli.js';
import { documentsIn } from '../files/documents.js';
import { type ReadSet, setOf } from '../files/sets.js';
import { CliError, EXIT, misused } from '../print/error.js';
import { changeLines, changesOf, type Plan, problemText } from '../print/plan-view.js';
import {
  type Applied,
  type ApplyOptions,
  isAgreed,
  mayAsk,
  planOf,
  sent,
  showPlan,
  tellApplied,
  withQuestion,
} from './apply-set.js';
import { applyInParts } from './in-parts.js';

interface FileOptions {
  readonly filename?: readonly string[];
  readonly owner?: string;
  readonly prune?: boolean;
  readonly takeOver?: boolean;
}

/** Adds the options that say which set is meant. */
const withFiles = (command: Command): Command =>
  command
    .option('-f, --filename <file>', 'file or folder of JSON or YAML, or - for input', several)
    .option('--owner <name>', 'the owner of the objects, such as gitops/payments')
    .option('--prune', 'delete the objects of the owner that are not in the files')
    .option('--take-over', 'take objects that have another owner, or none');

const FILES =
  '\nA document is a set, with Objects, Delete or Assert, or one object: Type, Namespace, Object.' +
  '\nFolders are read with the folders in them, without hidden files. All become one set.';

export function addSets(program: Command, cli: Cli): void {
  const withExitCode = (command: Command): Command =>
    withFiles(command).option('--exit-code', 'exit with 3 if there are changes');
  withExitCode(program.command('plan').description('show what apply would change'))
    .addHelpText('after', `${FILES}\nExits with 1 if apply would refuse the set.`)
    .action(
      cli.action<FileOptions & { exitCode?: boolean }>(async (call) => {
        const set = await setIn(call);
        const plan = await planOf(call, set);
        await showPlan(call, plan, set);
        endWith(cli, call, plan);
      }),
    );
  withExitCode(program.command('diff').description('show only the differences that plan shows'))
    .addHelpText('after', FILES)
    .action(
      cli.action<FileOptions & { exitCode?: boolean }>(async (call) => {
        const set = await setIn(call);
        const plan = await planOf(call, set);
        const { print } = call;
        const style = { colour: print.style.colour, placeOf: set.placeOf };
        if (print.format !== 'table') await showPlan(call, plan, set);
        else print.text((await changeLines(plan, style)).map((line) => `${line}\n`));
        for (const problem of plan.Problems) print.note(problemText(problem, set.placeOf));
        endWith(cli, call, plan);
      }),
    );
  withQuestion(
    withFiles(program.command('apply').description('make stored objects match the files')),
  )
    .option('--in-parts', 'apply a large set in parts, one after another')
    .addHelpText('after', `${FILES}\nExactly the plan that is shown is applied, or nothing.`)
    .action(
      cli.action<FileOptions & ApplyOptions & { inParts?: boolean }>(async (call) => {
        const set = await setIn(call);
        mayAsk(call);
        await (call.options.inParts ? applyInParts(call, set) : applyOnce(call, set));
      }),
    );
}

async function setIn({ api, io, options }: Call<FileOptions>): Promise<ReadSet> {
  const { filename = [] } = options;
  if (filename.length === 0) misused('--filename is missing: name a file, a folder, or -');
  return setOf(await documentsIn(io, filename, true), options, api.namespace);
}

function endWith(cli: Cli, { options, fails }: Call<{ exitCode?: boolean }>, plan: Plan): void {
  if (!plan.Valid) fails();
  else if (options.exitCode && changesOf(plan).length > 0) cli.exit = EXIT.changes;
}

async function applyOnce(call: Call<ApplyOptions>, set: ReadSet): Promise<void> {
  const plan = await planOf(call, set);
  const { Parts, Digest } = plan;
  if (Parts.length > 1 && call.options.dryRun !== true)
    throw new CliError(`the set needs ${Parts.length} entries, and apply writes one`, {
      code: 'too_large',
      hint: 'apply it in parts: conclave apply --in-parts',
    });
  if (!(await isAgreed(call, plan, set))) return;
  const body = { Digest, ...set.body };
  await tellApplied(call, (await sent(call, '/v1/apply', body, set.placeOf)).json<Applied>());
}
