/** `operator`: the members of the cluster, what autopilot goes by, and limits of logins. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Joining, RaftConfiguration } from '../../api/endpoints/operator.js';
import { type Call, type Cli, sure, whole } from '../cli.js';
import type { Ask } from '../client/http.js';
import { CliError, misused } from '../print/error.js';
import { ID_COLUMN, type Shape } from '../print/output.js';

const RAFT = '/v1/operator/raft';

/** A member as Raft knows it. */
type Peer = RaftConfiguration['Servers'][number];
/** What the servers of both lists have. */
export type Server = Pick<Peer, 'ID' | 'Node' | 'Address'>;

const roleOf = ({ Leader, Voter }: Peer): string =>
  Leader ? 'leader' : Voter ? 'voter' : 'learner';

const PEERS: Shape<Peer> = {
  columns: [
    { head: 'NAME', isWhole: true, cell: ({ Node }) => Node },
    { head: 'ADDRESS', isWhole: true, cell: ({ Address }) => Address },
    {
      head: 'ROLE',
      cell: (peer) => (peer.Leader ? { text: 'leader', paint: 'bold' } : roleOf(peer)),
    },
    { head: 'INDEX', cell: ({ LastIndex }) => String(LastIndex) },
    ID_COLUMN,
  ],
  ref: ({ Node }) => `member/${Node}`,
};

const JOINING: Shape<Joining> = {
  columns: [
    { head: 'NAME', isWhole: true, cell: ({ Node }) => Node },
    { head: 'ADDRESS', isWhole: true, cell: ({ Address }) => Address },
    {
      head: 'CERTIFICATE',
      isMinor: true,
      cell: ({ CertificateSubject = '' }) => CertificateSubject,
    },
    { head: 'KEY', isMinor: true, cell: ({ PublicKey = '' }) => PublicKey },
    { head: 'ID', isWhole: true, cell: ({ ID }) => ID },
  ],
  ref: ({ ID }) => `joining/${ID}`,
};

export function addOperator(program: Command, cli: Cli): void {
  const operator = program.command('operator').description('cluster members and configuration');
  addRaft(operator, cli);
  const autopilot = operator
    .command('autopilot')
    .description('when a member counts as healthy, and what happens to dead ones');
  autopilot
    .command('state')
    .description('show the health of the members as the leader sees it, as JSON')
    .action(cli.action((call) => showJson(call, '/v1/operator/autopilot/state')));
  addConfiguration(autopilot, cli, AUTOPILOT);
  const acl = operator
    .command('acl')
    .description('limits on the lifetime and number of login tokens');
  addConfiguration(acl, cli, ACL);
  operator
    .command('level')
    .description('show the level in force, and what each member supports, as JSON')
    .action(cli.action((call) => showJson(call, '/v1/operator/level')));
  operator
    .command('audit')
    .description('show where the contacted node writes its audit log, and whether it can, as JSON')
    .action(cli.action((call) => showJson(call, '/v1/operator/audit')));
  operator
    .command('oidc')
    .description('logins at OpenID providers')
    .command('rotate')
    .description('create a key for logins in progress and renewals; the previous one stays valid')
    .action(
      cli.action(async ({ api, print }) => {
        await api.ask('POST', '/v1/operator/oidc/rotate');
        print.say(
          'logins and renewals have a new key; only what this one or the last made is valid',
        );
      }),
    );
}

async function showJson({ api, print }: Call<object>, path: string): Promise<void> {
  await print.value((await api.get(path)).json());
}

function addRaft(operator: Command, cli: Cli): void {
  const raft = operator.command('raft').description('the members of the cluster');
  raft
    .command('list-peers')
    .description('list the members in the Raft configuration')
    .action(
      cli.action(async (call) => {
        const peers = await peersOf(call);
        await call.print.list(peers, PEERS);
      }),
    );
  raft
    .command('transfer-leader')
    .description('hand leadership over to a voter (default: the most advanced one)')
    .argument('[member]', 'its name, ID or address')
    .option('--id <id>', 'its ID, as in Consul')
    .action(
      cli.action<MemberOptions>(async (call, argument) => {
        const which = memberNamed(argument, call.options);
        const to = which === undefined ? undefined : chosen(await peersOf(call), which, 'member');
        await call.api.ask('POST', `${RAFT}/transfer-leader`, { query: { id: to?.ID } });
        const leader = (await peersOf(call)).find(({ Leader }) => Leader);
        call.print.say(`${leader?.Node ?? to?.Node ?? 'another member'} is the leader now`);
      }),
    );
  raft
    .command('remove-peer')
    .description('remove a member that will not come back')
    .argument('[member]', 'its name, ID or address')
    .option('--id <id>', 'its ID, as in Consul')
    .option('--address <address>', 'its address, as in Consul')
    .option('--yes', 'remove without asking')
    .action(
      cli.action<MemberOptions & { yes?: boolean }>(async (call, argument) => {
        const which =
          memberNamed(argument, call.options) ??
          misused('no member given: use its name, its ID or its address');
        const { ID, Node, Address } = chosen(await peersOf(call), which, 'member');
        await sure(call, `remove ${Node} at ${Address} from the cluster?`);
        await call.api.ask('DELETE', `${RAFT}/peer`, { query: { id: ID } });
        call.print.say(`${Node} is no longer a member`);
      }),
    );
  addJoining(raft, cli);
}

function addJoining(raft: Command, cli: Cli): void {
  raft
    .command('joining')
    .description('list the servers that wait for an operator to admit them')
    .action(cli.action(async (call) => call.print.list(await joiningOf(call), JOINING)));
  raft
    .command('admit')
    .description('let a waiting server join')
    .argument('<server>', 'its name, ID or address')
    .option('--yes', 'admit without asking')
    .action(
      cli.action<{ yes?: boolean }>(async (call, which) => {
        const { ID, Node, Address, PublicKey } = chosen(
          await joiningOf(call),
          which!,
          'waiting server',
        );
        const key = PublicKey === undefined ? '' : `, key ${PublicKey}`;
        await sure(call, `let ${Node} at ${Address} (${ID}${key}) join the cluster?`);
        await call.api.ask('PUT', `${RAFT}/joining/${encodeURIComponent(ID)}`);
        call.print.say(`${Node} is joining`);
      }),
    );
}

/** Reads the members in the configuration of Raft. */
export const peersOf = async ({ api }: Call<object>): Promise<readonly Peer[]> =>
  (await api.get(`${RAFT}/configuration`)).json<RaftConfiguration>().Servers;
/** Reads the servers that ask to join. */
export const joiningOf = async ({ api }: Call<object>): Promise<readonly Joining[]> =>
  (await api.get(`${RAFT}/joining`)).json<readonly Joining[]>();

/** The options by which Consul names a member. */
interface MemberOptions {
  readonly id?: string;
  readonly address?: string;
}

/** Returns the only name of a member that is given; undefined if there is none. */
function memberNamed(
  argument: string | undefined,
  { id, address }: MemberOptions,
): string | undefined {
  const given = [argument, id, address].filter((one) => one !== undefined);
  return given.length > 1 ? misused('more than one member given') : given[0];
}

/** Returns the server of a name, an ID or an address. Throws unless there is exactly one. */
function chosen<T extends Server>(servers: readonly T[], which: string, noun: string): T {
  const found = servers.filter(({ ID, Node, Address }) => [ID, Node, Address].includes(which));
  const [one] = found;
  if (one !== undefined && found.length === 1) return one;
  const called = JSON.stringify(which);
  if (found.length > 1)
    throw new CliError(`${called} is the name of several servers`, {
      hint: `use an ID: ${found.map(({ ID }) => ID).join(', ')}`,
    });
  const names = servers.map(({ Node }) => Node).join(', ');
  throw new CliError(`there is no ${noun} ${called}`, {
    code: 'not_found',
    hint: names === '' ? 'the list is empty' : `there are ${names}`,
  });
}

/** A configuration of the cluster that is read and written as a whole. */
interface Configuration {
  readonly path: string;
  readonly what: string;
  /** Its fields: the member, the option without dashes, and what it means. */
  readonly fields: readonly (readonly [member: string, option: string, description: string])[];
  /** How a write says which version it replaces. */
  condition(index: string): Pick<Ask, 'query' | 'headers'>;
}

/** Members of an answer that a body does not have. */
const ANSWERED: ReadonlySet<string> = new Set(['CreateIndex', 'ModifyIndex']);

const AUTOPILOT: Configuration = {
  path: '/v1/operator/autopilot/configuration',
  what: 'autopilot',
  fields: [
    ['CleanupDeadServers', 'cleanup-dead-servers <boolean>', 'whether to remove dead members'],
    [
      'LastContactThreshold',
      'last-contact-threshold <duration>',
      'how long a healthy member may be out of contact',
    ],
    [
      'MaxTrailingLogs',
      'max-trailing-logs <count>',
      'how many entries a healthy member may be behind',
    ],
    ['MinQuorum', 'min-quorum <count>', 'how many voters must remain after a removal'],
    [
      'ServerStabilizationTime',
      'server-stabilization-time <duration>',
      'how long a new member must be healthy before it votes',
    ],
  ],
  condition: (index) => ({ query: { cas: index } }),
};

const ACL: Configuration = {
  path: '/v1/operator/acl/configuration',
  what: 'login',
  fields: [
    [
      'LoginTokenTTL',
      'login-token-ttl <duration>',
      'token lifetime for methods without a MaxTokenTTL',
    ],
    ['LoginTokenTTLMax', 'login-token-ttl-max <duration>', 'longest token lifetime of any method'],
    ['TokensPerIdentity', 'tokens-per-identity <count>', 'how many tokens one identity may have'],
    ['OnTokenLimit', 'on-token-limit <what>', 'what happens to a login beyond that limit'],
  ],
  condition: (index) => ({ headers: { 'If-Match': `"${index}"` } }),
};

function addConfiguration(
  parent: Command,
  cli: Cli,
  { path, what, fields, condition }: Configuration,
) {
  parent
    .command('get-config')
    .description(`show the ${what} configuration as JSON`)
    .action(cli.action((call) => showJson(call, path)));
  const change = parent
    .command('set-config')
    .description(`change the given fields of the ${what} configuration`);
  for (const [, option, description] of fields)
    change.option(`--${option}`, description, parserOf(option));
  change.action(
    cli.action<Readonly<Record<string, unknown>>>(async ({ api, options, print }) => {
      const given = fields.flatMap(([member, option]) => {
        const value = options[nameOf(option)];
        return value === undefined ? [] : [[member, value] as const];
      });
      if (given.length === 0) misused('give at least one option; see --help');
      const answer = await api.get(path);
      const held = answer.json<Readonly<Record<string, unknown>>>();
      const kept = Object.entries(held).filter(([member]) => !ANSWERED.has(member));
      const body = Object.fromEntries([...kept, ...given]);
      const index = String(held['ModifyIndex'] ?? 0);
      const done = await api.ask('PUT', path, { ...condition(index), body });
      if (done.json() === false)
        throw new CliError('it was changed in the meantime: nothing was written');
      print.say(`wrote the ${what} configuration`);
    }),
  );
}

function parserOf(option: string): (text: string) => unknown {
  if (option.endsWith('<count>')) return whole;
  if (!option.endsWith('<boolean>')) return (text) => text;
  return (text) => {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new InvalidArgumentError('expected true or false');
  };
}

/** Returns the name under which commander keeps an option. */
const nameOf = (option: string): string =>
  option.replace(/ .*/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
