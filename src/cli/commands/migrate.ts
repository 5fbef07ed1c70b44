/** `migrate`: moves policies, roles, tokens, logins and config entries from Consul to here. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Released } from '../../api/endpoints/imports.js';
import type { Report } from '../../api/migration-report.js';
import { parseDuration } from '../../languages/duration.js';
import { reportJson, reportText } from '../../migrate/report/report.js';
import { SourceError } from '../../migrate/source/types.js';
import { type Call, type Cli, sure, whole } from '../cli.js';
import { writePrivate } from '../files/files.js';
import { Follower } from '../migrate/follow.js';
import { Migration } from '../migrate/migration.js';
import { entriesOf } from '../migrate/of-ours.js';
import { type MigrateOptions, planOf } from '../migrate/options.js';
import { stopping } from '../migrate/outcome.js';
import { Progress } from '../migrate/progress.js';
import type { Round } from '../migrate/round.js';
import { clockOf, sourceApi, Way } from '../migrate/source-connection.js';
import { CliError, interruption } from '../print/error.js';
import { counted } from '../print/text.js';

/** Requests a second to the target, which only this command asks so. */
const TARGET_RATE = 5000;

export function addMigrate(program: Command, cli: Cli): void {
  program
    .command('migrate')
    .description('move ACLs and config entries from Consul, or another cluster, to this one')
    .requiredOption('--from <list>', 'address of the source; several, separated by commas')
    .option('--from-token-file <file>', 'file with its token (default: MIGRATE_FROM_TOKEN)')
    .option('--from-ca-file <file>', 'CA certificate to verify the source with')
    .option('--from-client-cert <file>', 'client certificate for the source')
    .option('--from-client-key <file>', 'private key of that certificate')
    .option('--from-tls-server-name <name>', 'name to expect in the certificate of the source')
    .option('--from-secondary', 'the source is a secondary datacenter: move its local tokens')
    .option('--dry-run', 'write nothing, and report what would be written')
    .option('--with-secrets', 'move tokens too, with their SecretIDs')
    .option('--new-secrets <file>', 'file for new SecretIDs of tokens whose own is not shown')
    .option('--login-tokens <yes|no>', 'whether tokens of logins are moved too', 'yes')
    .option('--namespaces <list>', 'all, none, or names, separated by commas', 'all')
    .option('--only <types>', 'policy,role,token,auth-method,binding-rule,namespace,config')
    .option('--kinds <kinds>', 'only config entries of these kinds')
    .option('--mend', 'rewrite texts that this server refuses, so that they grant the same')
    .option('--force', 'take over objects of other owners, and overwrite changes made here')
    .option(
      '--ask <all|none|count>',
      'with how many tokens of equal grants to ask both servers',
      '1',
    )
    .option('--accept <codes>', 'differences that count as equal: rights_add_up,anonymous_operator')
    .option('--watch', 'keep running, and write what changes at the source')
    .option('--poll <duration>', 'with --watch: how often lists are read', durationMs, 5000)
    .option('--metrics-file <file>', 'with --watch: write metrics for a node exporter')
    .option('--finish', 'write once more, compare everything, and give up ownership')
    .option('--rate <count>', 'the most requests per second to the source', whole, 100)
    .option('--report <file>', 'write the report as JSON')
    .option('--yes', 'write without asking; needed without a terminal')
    .action(cli.action<MigrateOptions>((call) => migrate(call, cli)));
}

const durationMs = (text: string): number => {
  const parsed = parseDuration(text);
  if (!parsed.ok) throw new InvalidArgumentError(parsed.message);
  if (parsed.nanoseconds < 1e8) throw new InvalidArgumentError('expected at least 100ms');
  return parsed.nanoseconds / 1e6;
};

async function migrate(call: Call<MigrateOptions>, cli: Cli): Promise<void> {
  const plan = planOf(call);
  const api = sourceApi(call);
  const clock = clockOf(call.io.signal);
  const source = new Way(api, 'source', { clock, rate: call.options.rate });
  const target = new Way(call.api, 'target', { clock, rate: TARGET_RATE });
  const progress = new Progress(call.io.err, call.options.quiet === true);
  const migration = new Migration({ call, plan, source, target, progress });
  try {
    await migration.meet();
    const { exit, round } = await once(call, migration);
    cli.exit = exit;
    if (call.options.watch === true)
      cli.exit = await new Follower({ call, migration, source, first: round, exit }).run();
  } catch (error) {
    if (call.io.signal.aborted) throw interruption();
    if (error instanceof SourceError) throw new CliError(error.message, { hint: error.hint });
    throw error;
  } finally {
    progress.end();
    await api.close();
  }
}

async function once(
  call: Call<MigrateOptions>,
  migration: Migration,
): Promise<{ readonly exit: number; readonly round: Round }> {
  const { options, print } = call;
  const round = await migration.round();
  if (round.tokens?.areSecretsCompared === false) print.note('secrets were not compared');
  const refused = stopping(round);
  const isWriting = options.dryRun !== true && refused.length === 0;
  const isAsked = isWriting && options.yes !== true && !round.isIdle;
  if (!isWriting || isAsked) {
    const found = await migration.rights(round, 'planned');
    const report = migration.report(round, found, 0);
    await tell(call, report, isAsked);
    if (refused.length > 0)
      throw new CliError(
        `refused: ${counted(refused.length, 'object')} cannot be written, so nothing is`,
        { hint: 'the lines that begin with PROBLEM say why; --force takes what others own here' },
      );
    if (!isWriting) return { exit: report.Exit, round };
  }
  if (isAsked) await sure(call, `write ${wordsOf(round)}?`);
  const written = await migration.write(round);
  const found = await migration.rights(round, 'written');
  const report = migration.report(round, found, written.index);
  await tell(call, report);
  if (written.entries === 0) print.note('nothing to write');
  else print.note(`${counted(written.changed, 'change')} written, index ${written.index}`);
  if (options.finish === true) await finish(call, migration, round, report);
  return { exit: report.Exit, round };
}

async function finish(
  { api, print }: Call<MigrateOptions>,
  migration: Migration,
  round: Round,
  { Problems, Rights, Source, Target }: Report,
): Promise<void> {
  if (Rights?.Equal !== true) return print.note('rights differ: ownership is not released');
  if (Problems !== undefined)
    return print.note('what was changed here is left as it is: ownership is not released');
  const left = await migration.uncompared(round);
  if (left.length > 0)
    throw new CliError(
      'ownership is not released: ' +
        `this run has not compared ${counted(left.length, 'object')}, such as ${left[0]}`,
      { hint: 'use --namespaces and --with-secrets as when they were moved' },
    );
  const asked = { body: { Owner: migration.owner }, isPlain: true };
  const { Index } = (await api.ask('POST', '/v1/owners/release', asked)).json<Released>();
  const at = Object.entries(Source.Indexes).map(([list, index]) => `${list} ${index}`);
  const last = Math.max(Index, Target.Index);
  print.note(`switched: 0 differences at source indexes ${at.join(', ')}, index ${last}`);
}

/** Returns what a round writes, in words. */
function wordsOf({ objects, ours, tokens }: Round): string {
  const planned = objects.changes.filter(({ Action }) => Action !== 'unchanged').length;
  const changed = planned + entriesOf(ours);
  const lists = [tokens?.created, tokens?.updated, tokens?.deleted];
  const moved = lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);
  return `${counted(changed, 'object')} and ${counted(moved, 'token')}`;
}

/** Prints a report, and writes it to the file of the user. `isQuestion`: one is asked after it. */
async function tell(
  { io, options, print }: Call<MigrateOptions>,
  report: Report,
  isQuestion = false,
): Promise<void> {
  if (options.report !== undefined && !isQuestion)
    await writePrivate(options.report, reportJson(report));
  if (isQuestion) io.err.write(reportText(report));
  else if (print.format === 'table') io.out.write(reportText(report));
  // What follows are lines.
  else if (options.watch === true)
    io.out.write(`${JSON.stringify(JSON.parse(reportJson(report)))}\n`);
  else io.out.write(reportJson(report));
}
