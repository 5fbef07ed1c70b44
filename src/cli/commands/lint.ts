/**
 * `acl policy lint`, `acl binding-rule lint`, `acl lint`. The rules in files are judged without a
 * server. What is stored, and binding rules, which name an auth method, are judged by the server.
 */
import type { Command } from 'commander';
import type { Finding, Findings, Linted, StoredFinding } from '../../api/endpoints/lint.js';
import type { Call, Cli } from '../cli.js';
import { readInput } from '../files/files.js';
import { misused } from '../print/error.js';
import type { Column } from '../print/output.js';
import type { Paint } from '../print/table.js';
import { oneLine } from '../print/text.js';
import { RULE } from './acl.js';
import { bodyOf, kept, membersGiven, withFlags } from './object-commands.js';
import { find, TYPE } from './objects.js';

interface LintOptions {
  readonly strict?: boolean;
}

const PAINTS: Readonly<Record<Finding['Severity'], Paint>> = {
  error: 'red',
  warning: 'yellow',
  info: 'dim',
};

/** Returns a problem as a line that editors understand, followed by its hint. */
export function problemLines(name: string, one: Finding): string {
  const { Code, Column: column, Field: field, Fix, Hint, Line, Message, Severity } = one;
  const where = [name, field, Line, column].filter((part) => part !== undefined).join(':');
  // The message of a refusal names the place too.
  const message = Message.replace(` at ${Line}:${column}`, '');
  const help = [Hint, Fix].filter((text) => text !== undefined && text !== '');
  const below = help.map((text) => `  ${oneLine(text!)}\n`).join('');
  return `${oneLine(`${where}: ${Severity} ${Code}: ${message}`)}\n${below}`;
}

const COLUMNS: readonly Column<StoredFinding>[] = [
  {
    head: 'OBJECT',
    isWhole: true,
    cell: ({ Ref, Line }) => (Line === undefined ? Ref : `${Ref}:${Line}`),
  },
  { head: 'SEVERITY', cell: ({ Severity }) => ({ text: Severity, paint: PAINTS[Severity] }) },
  { head: 'CODE', cell: ({ Code }) => Code },
  { head: 'MESSAGE', cell: ({ Message }) => Message },
];

const withStrict = (command: Command): Command =>
  command.option('--strict', 'exit with 1 for warnings too');

/** Adds the commands to those of policies, of rules, and of access control. */
export function addLint(acl: Command, policy: Command, rule: Command, cli: Cli): void {
  withStrict(policy.command('lint').description('check the rules in files or in a stored policy'))
    .argument('[file...]', 'files with rules, or - for standard input; checked without a server')
    .option('--policy <name>', 'a stored policy, by name or ID')
    .addHelpText(
      'after',
      '\nRules are checked for the namespace in --namespace, or for default.' +
        '\nExits with 1 if the server would refuse the rules.',
    )
    .action(
      cli.action<LintOptions & { policy?: string }>(async (call, ...files) => {
        await tell(call, await judgedPolicies(call, files as string[]));
      }),
    );
  withStrict(withFlags(rule.command('lint').description('check a binding rule'), RULE.flags))
    .argument(
      '[binding-rule]',
      'ID of a stored rule, with the changes in the options; without it, they describe a new rule',
    )
    .action(
      cli.action<LintOptions>(async (call, id) => {
        const given = bodyOf((await membersGiven(call, RULE.flags)).sets);
        const stored = id === undefined ? undefined : await find(call, TYPE.rule, { text: id });
        const isChanged = Object.keys(given).length > 0;
        const body =
          stored === undefined
            ? given
            : { ID: stored['ID'], ...(isChanged && { ...kept(stored, RULE.kept), ...given }) };
        const path = '/v1/acl/binding-rule/lint';
        await tell(call, [
          await judgedByServer(call, path, String(stored?.['ID'] ?? 'binding rule'), body),
        ]);
      }),
    );
  withStrict(acl.command('lint').description('check all stored objects for likely mistakes'))
    .option(
      '--severity <least>',
      'lowest severity to show: error, warning or info (default: warning)',
    )
    .action(cli.action<LintOptions & { severity?: string }>(lintStored));
}

type Judged = Linted & { readonly File: string };

async function judgedPolicies(
  call: Call<{ policy?: string }>,
  files: readonly string[],
): Promise<readonly Judged[]> {
  const { io, options, surroundings } = call;
  const { policy } = options;
  if (files.length === 0 && policy === undefined) misused('give files or --policy');
  const { namespace = 'default' } = surroundings;
  if (namespace === '*' && files.length > 0)
    misused('--namespace: files are checked for one namespace');
  const judged: Judged[] = [];
  for (const file of files) {
    const rules = await readInput(io, 'cannot read the file', file);
    judged.push({ File: file, ...(await lintRules(rules, namespace)) });
  }
  if (policy === undefined) return judged;
  const found = await find(call, TYPE.policy, { text: policy });
  const body = { ID: found['ID'] };
  const ref = TYPE.policy.shape.ref(found);
  return [...judged, await judgedByServer(call, '/v1/acl/policy/lint', ref, body)];
}

/** Judges rules by the code of the server. */
async function lintRules(rules: string, namespace: string): Promise<Linted> {
  // Loaded here, because the grammar would delay the start of every command.
  const { lintPolicy } = await import('../../acl/lint/policy.js');
  const work = lintPolicy(rules, namespace);
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

async function judgedByServer(
  { api }: Call<object>,
  path: string,
  name: string,
  body: object,
): Promise<Judged> {
  const answer = await api.ask('POST', path, { body, isRead: true });
  return { File: name, ...answer.json<Linted>() };
}

async function tell(call: Call<LintOptions>, judged: readonly Judged[]): Promise<void> {
  const { print } = call;
  const problems = judged.flatMap(({ Problems }) => Problems);
  if (judged.some(({ Valid }) => !Valid) || isStrictly(call, problems)) call.fails();
  if (print.isForPrograms) {
    return print.value(judged.length === 1 ? judged[0] : judged);
  }
  for (const { File, Problems } of judged)
    print.text(Problems.map((one) => problemLines(File, one)));
  if (problems.length === 0) print.note('no problems found');
}

const isStrictly = (
  { options }: Call<LintOptions>,
  problems: readonly { readonly Severity: string }[],
): boolean => options.strict === true && problems.some(({ Severity }) => Severity !== 'info');

async function lintStored(call: Call<LintOptions & { severity?: string }>): Promise<void> {
  const { api, options, print } = call;
  const answer = await api.get('/v1/acl/lint', { query: { severity: options.severity } });
  const found = answer.json<Findings>();
  const hasErrors = found.Findings.some(({ Severity }) => Severity === 'error');
  if (hasErrors || isStrictly(call, found.Findings)) call.fails();
  if (print.format === 'name') return print.refs(found.Findings.map(({ Ref }) => Ref));
  if (print.format !== 'table') return print.value(found);
  if (found.Findings.length === 0) return print.note('no findings');
  print.table(COLUMNS, found.Findings);
  if (found.More) print.note(`${found.More} more findings are not shown`);
}
