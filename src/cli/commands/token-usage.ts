/** `usage` of tokens and auth methods, and `acl token gc`: the last use, and a clean-up. */
import type { Command } from 'commander';
import type { Cleaned, MethodUse, TokenUse, Unused } from '../../api/endpoints/usage.js';
import { type Call, type Cli, sure, whole } from '../cli.js';
import { misused } from '../print/error.js';
import type { Column } from '../print/output.js';
import { counted, localTime } from '../print/text.js';
import { withOne } from './object-commands.js';
import { find, idIn, type OneOptions, pathOf, TYPE, wanted } from './objects.js';

type Row = Cleaned['Tokens'][number];

const columnsOf = (since?: string): readonly Column<Omit<Row, 'Why'>>[] => [
  { head: 'ACCESSOR', isWhole: true, cell: ({ AccessorID }) => AccessorID },
  { head: 'DESCRIPTION', cell: ({ Description }) => Description },
  { head: 'METHOD', isMinor: true, cell: ({ AuthMethod }) => AuthMethod },
  { head: 'SUBJECT', isMinor: true, cell: ({ Identity }) => Identity?.Subject ?? '' },
  { head: 'NAMESPACE', isMinor: true, cell: ({ Namespace }) => Namespace },
  { head: 'LAST USED', isWhole: true, cell: ({ LastUsed }) => usedText(LastUsed, since) },
];
const CLEANED: readonly Column<Row>[] = [
  ...columnsOf(),
  { head: 'WHY', isWhole: true, cell: ({ Why }) => Why },
];

const hourText = (time: string): string => localTime(time).replace(/:\d\d(?= )/, '');

/** `since`: from when on uses are known, where that is told. */
function usedText(time: string | null, since?: string): string {
  if (time !== null) return hourText(time);
  return since === undefined ? 'not known' : `not since ${hourText(since)}`;
}

interface UsageOptions {
  readonly unusedFor?: string;
  readonly method?: string;
  readonly limit?: number;
}

interface GcOptions extends UsageOptions {
  readonly olderThan?: string;
  readonly keepPerIdentity?: number;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

export function addTokenUsage(token: Command, cli: Cli): void {
  token
    .command('usage')
    .description('show when a token was used last, or list all, the longest unused first')
    .argument('[accessor]', 'its AccessorID, or a unique prefix')
    .option('--unused-for <duration>', 'only tokens that were unused for this long')
    .option('--method <name>', 'only tokens of the logins of an auth method')
    .option('--limit <count>', 'how many tokens to list (default: 100)', whole)
    .action(
      cli.action<UsageOptions>((call, accessor) =>
        accessor === undefined ? list(call) : one(call, accessor),
      ),
    );
  token
    .command('gc')
    .description('delete tokens that are not used')
    .option('--unused-for <duration>', 'tokens that were not used for this long')
    .option(
      '--keep-per-identity <count>',
      'all but this many of the newest tokens of each identity',
      whole,
    )
    .option('--older-than <duration>', 'only tokens that were created at least this long ago')
    .option('--method <name>', 'only tokens of the logins of an auth method')
    .option('--limit <count>', 'how many tokens to delete, at most 1000', whole)
    .option('--yes', 'delete without asking; without a terminal the default is a dry run')
    .option('--dry-run', 'only show what would be deleted')
    .action(cli.action<GcOptions>(cleanUp));
}

export function addMethodUsage(method: Command, cli: Cli): void {
  const usage = method
    .command('usage')
    .description('show when a login by an auth method was accepted last');
  withOne(usage, TYPE.method).action(
    cli.action<OneOptions>(async (call, argument) => {
      const { text } = wanted(TYPE.method, argument, call.options);
      tellUse(call, (await call.api.get(`${pathOf(TYPE.method, text)}/usage`)).json<MethodUse>());
    }),
  );
}

async function one(call: Call<UsageOptions>, text: string): Promise<void> {
  const { api } = call;
  const accessor = idIn(TYPE.token, await find(call, TYPE.token, { text, by: 'id' }));
  const use = (await api.get(`/v1/acl/token/${accessor}/usage`)).json<TokenUse>();
  return tellUse(call, use);
}

async function tellUse(call: Call<object>, use: MethodUse | TokenUse): Promise<void> {
  const { print } = call;
  if (print.format !== 'table') return print.value(use);
  print.say(`last used: ${usedText(use.LastUsed, use.Since)}`);
  tellNotes(call, use);
}

async function list(call: Call<UsageOptions>): Promise<void> {
  const { api, options, print } = call;
  const { unusedFor, method, limit } = options;
  const query = {
    'unused-for': unusedFor,
    authmethod: method,
    limit: limit === undefined ? undefined : String(limit),
  };
  const found = (await api.get('/v1/acl/usage', { query })).json<Unused>();
  if (print.format !== 'table') return print.value(found);
  print.table(columnsOf(found.Since), found.Tokens);
  const more = found.Total - found.Tokens.length;
  if (more > 0) print.note(`and ${counted(more, 'more token')}`);
  tellNotes(call, found);
}

function tellNotes(
  { print }: Call<object>,
  { Since, Complete }: Pick<Unused, 'Since' | 'Complete'>,
): void {
  print.note(`uses are known since ${localTime(Since)}`);
  if (!Complete) print.note('not every member has reported which tokens it has seen lately');
}

async function cleanUp(call: Call<GcOptions>): Promise<void> {
  const { api, io, options, print } = call;
  const { unusedFor, olderThan, keepPerIdentity, method, limit } = options;
  if (unusedFor === undefined && keepPerIdentity === undefined)
    misused('give --unused-for, --keep-per-identity or both');
  const body = {
    UnusedFor: unusedFor,
    OlderThan: olderThan,
    KeepPerIdentity: keepPerIdentity,
    AuthMethod: method,
    Limit: limit,
    Namespace: api.namespace,
  };
  const send = async (DryRun: boolean): Promise<Cleaned> => {
    const how = { isPlain: true, ...(DryRun && { isRead: true }) };
    const sent = { body: { ...body, DryRun }, ...how };
    return (await api.ask('POST', '/v1/acl/tokens/gc', sent)).json<Cleaned>();
  };
  const plan = await send(true);
  const isForPeople = print.format === 'table';
  if (isForPeople) {
    if (plan.Tokens.length > 0) print.table(CLEANED, plan.Tokens);
    for (const [why, count] of Object.entries(plan.Skipped))
      print.note(`${counted(count, 'token')} left out: ${why.replace('_', ' ')}`);
  }
  const isDryRun = options.dryRun === true || (options.yes !== true && !io.canAsk);
  if (isDryRun && !isForPeople) return print.value(plan);
  if (plan.Tokens.length > 0 && isDryRun) return print.note('nothing was deleted: --yes deletes');
  if (plan.Tokens.length === 0)
    return isForPeople ? print.say('there is nothing to delete') : print.value(plan);
  await sure(call, `delete ${counted(plan.Tokens.length, 'token')}?`);
  const done = await send(false);
  if (!isForPeople) return print.value(done);
  print.say(`${counted(done.Tokens.length, 'token')} deleted at index ${done.Index}`);
}
