/** `acl identity`: revoke everything of one identity, and the blocks that keep it out. */
import type { Command } from 'commander';
import type { BlockRow, Revoked } from '../../api/endpoints/identities.js';
import { type Call, type Cli, sure } from '../cli.js';
import { misused } from '../print/error.js';
import { type Column, ID_COLUMN, type Shape } from '../print/output.js';
import { counted, localTime, oneLine } from '../print/text.js';
import { authorText } from './history.js';

interface RevokeOptions {
  readonly method: string;
  readonly subject?: string;
  readonly subjectPrefix?: string;
  readonly blockFor?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

const REVOKE = '/v1/acl/tokens/revoke';

const TOKENS: readonly Column<Revoked['Tokens'][number]>[] = [
  { head: 'ACCESSOR', isWhole: true, cell: ({ AccessorID }) => AccessorID },
  { head: 'SUBJECT', cell: ({ Subject }) => Subject },
  { head: 'DESCRIPTION', cell: ({ Description }) => Description },
  { head: 'NAMESPACE', isMinor: true, cell: ({ Namespace }) => Namespace },
  { head: 'CREATED', isWhole: true, cell: ({ CreateTime }) => localTime(CreateTime) },
];

const whomOf = ({ Subject, SubjectPrefix }: BlockRow): string => Subject ?? `${SubjectPrefix}*`;

const BLOCKS: Shape<BlockRow> = {
  columns: [
    { head: 'METHOD', cell: ({ AuthMethod }) => AuthMethod },
    { head: 'SUBJECT', cell: whomOf },
    {
      head: 'UNTIL',
      isWhole: true,
      cell: ({ Until }) => (Until === null ? 'forever' : localTime(Until)),
    },
    {
      head: 'AUTHOR',
      isMinor: true,
      cell: ({ Author }) => authorText(Author),
    },
    { head: 'REASON', cell: ({ Reason }) => Reason },
    ID_COLUMN,
  ],
  ref: ({ ID }) => `identity-block/${ID}`,
};

export function addIdentity(acl: Command, cli: Cli): void {
  const identity = acl
    .command('identity')
    .description('who logged in: end all their tokens, and refuse their logins');
  identity
    .command('revoke')
    .description('end every token of an identity at once')
    .requiredOption('--method <name>', 'the auth method it logged in with')
    .option('--subject <subject>', 'who: the Subject of the Identity of its tokens')
    .option('--subject-prefix <prefix>', 'every Subject with this prefix; empty for all')
    .option('--block-for <duration>', 'refuse its logins for this long: 1m to 8760h, or forever')
    .option('--yes', 'revoke without asking; needed without a terminal')
    .option('--dry-run', 'only show which tokens would end')
    .action(cli.action<RevokeOptions>(revoke));
  identity
    .command('blocks')
    .description('list the identities whose logins are refused')
    .option('--method <name>', 'only those of one auth method')
    .action(
      cli.action<{ method?: string }>(async ({ api, options, print }) => {
        const query = { authmethod: options.method };
        const blocks = (await api.get('/v1/acl/identity-blocks', { query })).json<BlockRow[]>();
        await print.list(blocks, BLOCKS);
      }),
    );
  identity
    .command('unblock')
    .description('permit the logins of an identity again')
    .argument('<id>', 'the ID of the block, from conclave acl identity blocks')
    .action(
      cli.action(async ({ api, print }, id) => {
        await api.ask('DELETE', `/v1/acl/identity-block/${encodeURIComponent(id!)}`);
        print.say(`block ${id} is lifted`);
      }),
    );
}

async function revoke(call: Call<RevokeOptions>): Promise<void> {
  const { api, options, print } = call;
  const { method: AuthMethod, subject: Subject, subjectPrefix: SubjectPrefix } = options;
  if ((Subject === undefined) === (SubjectPrefix === undefined))
    misused('give either --subject or --subject-prefix');
  const body = { AuthMethod, Subject, SubjectPrefix, BlockFor: options.blockFor };
  const planned = { body: { ...body, DryRun: true }, isRead: true, isCurrent: true };
  const plan = (await api.ask('POST', REVOKE, planned)).json<Revoked>();
  const isForPeople = print.format === 'table';
  if (options.dryRun === true && !isForPeople) return print.value(plan);
  if (isForPeople) showTokens(call, plan);
  if (options.dryRun === true) return;
  const whom = oneLine(Subject ?? `${SubjectPrefix}*`);
  const block = options.blockFor === undefined ? '' : `, and block it: ${options.blockFor}`;
  await sure(call, `end ${counted(plan.Total, 'token')} of ${AuthMethod}/${whom}${block}?`);
  const sent = { body: { ...body, DryRun: false } };
  const done = (await api.ask('POST', REVOKE, sent)).json<Revoked>();
  if (!isForPeople) return print.value(done);
  if (done.Index === 0) return print.say('there was nothing to revoke');
  const blocked = done.BlockID === '' ? '' : `; its logins are refused by block ${done.BlockID}`;
  print.say(`${counted(done.Total, 'token')} ended at index ${done.Index}${blocked}`);
}

function showTokens({ print }: Call<object>, { Tokens, More, Unknown }: Revoked): void {
  print.table(TOKENS, Tokens);
  if (More > 0) print.note(`and ${counted(More, 'older token')}`);
  if (Unknown === undefined) return;
  const why =
    Unknown === 1
      ? 'has no identity: it is older than level 3'
      : 'have no identity: they are older than level 3';
  print.note(`${counted(Unknown, 'token')} of the auth method ${why}`);
}
