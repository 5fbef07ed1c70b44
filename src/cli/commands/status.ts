/** `status`, `members` and `health`. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Call, type Cli, oneNode } from '../cli.js';
import {
  type Autopilot,
  type ClusterView,
  clusterOf,
  type Server,
  serversOf,
} from '../client/cluster.js';
import { CliError } from '../print/error.js';
import { type Column, ID_COLUMN, type Shape } from '../print/output.js';
import type { Cell, Field } from '../print/table.js';
import { counted } from '../print/text.js';

/** Milliseconds between two health checks of a node. */
const AGAIN_MS = 200;

interface Member extends Server {
  readonly Level: number | null | undefined;
}

export function addStatus(program: Command, cli: Cli): void {
  program
    .command('status')
    .description('show the leader, the members, their health, indexes and level')
    .addHelpText(
      'after',
      '\nWithout a leader, it shows what the contacted node knows, and exits with 1.',
    )
    .action(cli.action(showStatus));
  program
    .command('members')
    .description('list the members of the cluster')
    .action(
      cli.action(async (call) => {
        const view = await clusterOf(call);
        noteStale(call, view);
        await call.print.list(
          membersOf(view),
          shapeOf(view),
          Object.values(view.autopilot.Servers),
        );
      }),
    );
  program
    .command('health')
    .description('check whether a node can serve requests, for probes; needs no token')
    .option('--live', 'check only whether the process answers')
    .option(
      '--cluster',
      'check whether all members are healthy; needs operator:read and agent:read',
    )
    .option('--wait', 'wait until the check succeeds, for at most --timeout')
    .addHelpText('after', '\nExits with 1 if the check fails.')
    .action(cli.action<HealthOptions>(showHealth));
}

const membersOf = (view: ClusterView): readonly Member[] =>
  serversOf(view).map((server) => ({
    ...server,
    Level: view.level.Members.find(({ ID }) => ID === server.ID)?.Supported,
  }));

const shapeOf = ({ isStale }: ClusterView, withId = true): Shape<Member> => ({
  columns: [
    { head: 'NAME', isWhole: true, cell: ({ Name }) => Name },
    { head: 'ADDRESS', isWhole: true, cell: ({ Address }) => Address },
    {
      head: 'ROLE',
      cell: ({ Status }) => (Status === 'leader' ? { text: Status, paint: 'bold' } : Status),
    },
    { head: 'HEALTH', cell: (server) => healthOf(server, isStale) },
    // Only the leader knows how far they are.
    ...(isStale ? [] : LEADERS_COLUMNS),
    ...(withId ? [ID_COLUMN] : []),
  ],
  ref: ({ Name }) => `member/${Name}`,
});

const LEADERS_COLUMNS: readonly Column<Member>[] = [
  { head: 'CONTACT', isMinor: true, cell: ({ LastContact }) => LastContact },
  { head: 'INDEX', cell: ({ LastIndex }) => String(LastIndex) },
  { head: 'LEVEL', isMinor: true, cell: ({ Level }) => String(Level ?? 'unknown') },
];

/** The health of a member; without a leader, whether the contacted node is connected to it. */
function healthOf({ Healthy, Meta, NodeStatus }: Member, isStale: boolean): Cell {
  const { problem } = Meta;
  if (problem !== undefined) return { text: problem, paint: 'red' };
  if (!isStale && Healthy) return { text: 'healthy', paint: 'green' };
  if (isStale && NodeStatus === 'alive') return 'connected';
  return { text: isStale ? 'not connected' : NodeStatus, paint: 'red' };
}

const nameOfSelf = ({ self }: ClusterView): string => self.Config.NodeName;

function noteStale({ print }: Call<object>, view: ClusterView): void {
  if (view.isStale)
    print.note(`this is what ${nameOfSelf(view)} knows, not what the leader reports`);
}

async function showStatus(call: Call<object>): Promise<void> {
  const { print } = call;
  const view = await clusterOf(call);
  if (view.autopilot.Leader === '') call.fails();
  if (print.isForPrograms) {
    const { self, autopilot, level, isStale } = view;
    return print.value({ Stale: isStale, Self: self, Autopilot: autopilot, Level: level });
  }
  if (print.format === 'name') return print.list(membersOf(view), shapeOf(view));
  print.fields(statusFields(view));
  print.text(['\n']);
  await print.list(membersOf(view), shapeOf(view, false));
  noteStale(call, view);
}

function statusFields(view: ClusterView): readonly Field[] {
  const { self, autopilot, level, isStale } = view;
  const { raft } = self.Stats;
  const servers = serversOf(view);
  const leader = servers.find(({ Status }) => Status === 'leader');
  const voters = autopilot.Voters?.length ?? 0;
  const health = isStale
    ? 'unknown without a leader'
    : `${autopilot.Healthy ? '' : 'not '}healthy, ${toleranceOf(autopilot, voters)}`;
  const waiting = level.Waiting.length === 0 ? '' : `, waiting for ${level.Waiting.join(', ')}`;
  return [
    ['Cluster', `${self.Config.Datacenter}, ${counted(servers.length, 'member')}`],
    [
      'Leader',
      leader === undefined
        ? { text: 'none: writes and default reads wait for one', paint: 'red' }
        : `${leader.Name} at ${leader.Address}, term ${raft.term}`,
    ],
    ['Health', autopilot.Healthy || isStale ? health : { text: health, paint: 'red' }],
    [
      'Index',
      `${raft.commit_index} committed, ${raft.applied_index} applied by ${nameOfSelf(view)}`,
    ],
    ['Level', `${level.Level} of ${level.Supported}${waiting}`],
    ['Version', `${self.Config.Version} on ${nameOfSelf(view)}`],
  ];
}

const toleranceOf = ({ FailureTolerance }: Autopilot, voters: number): string =>
  `can lose ${FailureTolerance === 0 ? 'none' : FailureTolerance} of ${counted(voters, 'voter')}`;

interface HealthOptions {
  readonly live?: boolean;
  readonly cluster?: boolean;
  readonly wait?: boolean;
}

async function showHealth(call: Call<HealthOptions>): Promise<void> {
  const { io, options, timeoutMs } = call;
  oneNode(call, 'health');
  const deadline = performance.now() + timeoutMs;
  for (;;)
    try {
      return await (options.cluster === true ? clusterHealth(call) : nodeHealth(call));
    } catch (error) {
      const mayPass = options.wait === true && error instanceof CliError && isPassing(error);
      if (!mayPass || performance.now() + AGAIN_MS > deadline) throw error;
      await pause(AGAIN_MS, undefined, { signal: io.signal });
    }
}

const isPassing = ({ details: { code } }: CliError): boolean =>
  code === 'unreachable' || code === 'unavailable' || code === 'no_leader';

async function nodeHealth(call: Call<HealthOptions>): Promise<void> {
  const kind = call.options.live === true ? 'live' : 'ready';
  const ask = { withToken: false, isPlain: true, isOnce: true };
  const answer = await call.api.get(`/v1/health/${kind}`, ask);
  return say(call, answer.json(), kind);
}

async function clusterHealth(call: Call<HealthOptions>): Promise<void> {
  const { autopilot, isStale } = await clusterOf(call);
  const ill = Object.values(autopilot.Servers).filter(({ Healthy }) => !Healthy);
  if (isStale) throw new CliError('there is no leader', { code: 'no_leader' });
  if (ill.length > 0)
    throw new CliError(`not healthy: ${ill.map(({ Name }) => Name).join(', ')}`, {
      code: 'unavailable',
    });
  return say(call, autopilot, 'all members are healthy');
}

async function say({ print }: Call<object>, raw: unknown, text: string): Promise<void> {
  if (print.isForPrograms) return print.value(raw);
  print.text([`${text}\n`]);
}
