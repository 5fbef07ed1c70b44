/** `conclave migrate` from a real Consul to three nodes, which are read and written meanwhile. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { FILLING, range, secretOf } from './deciders.js';
import { PEERS, withPeer } from './decision-peers.js';
import type { Ask, Target } from './line.js';
import { fill } from './load.js';
import { Pace } from './pace.js';
import { peakMbOf } from './processes.js';
import { figure, row, title } from './report.js';
import { type Setting, withCluster } from './setting.js';

/** How many objects of each kind are moved. */
export interface Moved {
  readonly policies: number;
  readonly roles: number;
  readonly tokens: number;
  readonly entries: number;
}

/** Reads and writes of the target a second: few enough to wait for the command alone. */
const PACE = 200;
/** Rules of a policy. */
const RULES = 10;
/** How long the target is measured alone. */
const ALONE_MS = 10_000;
const SAMPLE_MS = 100;
/** Beyond the number of the token that Consul is started with. */
const FIRST_TOKEN = 1_000_000;
/** Requests a second at the source: the command's default, and as many as it can. */
const RATES = ['100', '100000'];

/** Measures a first and a second run at each rate; `program` is Consul. */
export async function measureMoving(program: string | undefined, moved: Moved): Promise<void> {
  const { policies, roles, tokens, entries } = moved;
  title(
    `Moving ${figure(policies)} policies, ${figure(roles)} roles, ${figure(tokens)} tokens and ` +
      `${figure(entries)} config entries`,
    ['run', 'seconds', 'log entries', 'MB at most', 'the target meanwhile: reads', 'writes'],
  );
  if (program === undefined) return row(['Consul: not measured']);
  await withPeer(PEERS.consul, program, { key: '', team: '' }, async ({ target: source }) => {
    await fillSource(source, moved);
    for (const rate of RATES)
      await withCluster(3, async (setting) => {
        await inTime(setting, 'the target alone', () => sleep(ALONE_MS).then(() => 0));
        for (const run of ['first', 'second'])
          await inTime(setting, `${run} run, ${rate} requests a second`, () =>
            migrated(setting, source, rate),
          );
      });
  });
}

/** Prints how long something takes, and how the target is read and written meanwhile. */
async function inTime(setting: Setting, what: string, work: () => Promise<number>): Promise<void> {
  const entry = '/v1/config/service-defaults/paced-0';
  const applied = () => setting.metric('conclave_raft_applied_index');
  const before = await applied();
  const writes = new Pace(setting, [0, 1, 2], PACE);
  const reads = new Pace(setting, [0, 1, 2], PACE, () => ({ method: 'GET', path: entry }));
  const begin = performance.now();
  const megabytes = await work();
  const seconds = (performance.now() - begin) / 1000;
  await Promise.all([reads.stop(), writes.stop()]);
  const own = (await applied()) - before - writes.answered;
  row([what, ...[seconds, own, megabytes].map(figure), reads.figures(), writes.figures()]);
}

/** Runs the command to its end. Returns the megabytes that it used at most. */
async function migrated(setting: Setting, source: Target, rate: string): Promise<number> {
  const { url, token } = setting.targets[0]!;
  const words = ['--from', source.url, '--with-secrets', '--yes', '--rate', rate, '--ask', 'none'];
  const child = spawn(process.execPath, ['dist/program/main.js', 'migrate', ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      CONCLAVE_HTTP_ADDR: url,
      CONCLAVE_HTTP_TOKEN: token,
      MIGRATE_FROM_TOKEN: source.token,
    },
  });
  const ended = once(child, 'exit');
  const megabytes = await peakOf(child);
  const [code] = await ended;
  // 4: some objects of the source, such as its own tokens, have no counterpart
  if (code !== 0 && code !== 4) throw new Error(`migrate ended with ${code}`);
  return megabytes;
}

async function peakOf(child: ChildProcess): Promise<number> {
  let megabytes = 0;
  while (child.exitCode === null && child.signalCode === null) {
    megabytes = Math.max(megabytes, peakMbOf(child) ?? 0);
    await sleep(SAMPLE_MS);
  }
  return megabytes;
}

const put = (path: string, body: unknown): Ask => ({
  method: 'PUT',
  path,
  body: JSON.stringify(body),
});

async function fillSource(source: Target, moved: Moved): Promise<void> {
  const each = (count: number, request: (n: number) => Ask) =>
    fill([source], FILLING, count, request);
  await each(moved.policies, (n) => {
    const rules = range(RULES, (rule) => `service_prefix "s${n}-${rule}-" { policy = "write" }`);
    return put('/v1/acl/policy', { Name: `policy-${n}`, Rules: rules.join('\n') });
  });
  await each(moved.roles, (n) => {
    const Policies = [n, n + 1].map((of) => ({ Name: `policy-${of % moved.policies}` }));
    return put('/v1/acl/role', { Name: `role-${n}`, Policies });
  });
  await each(moved.tokens, (n) =>
    put('/v1/acl/token', {
      SecretID: secretOf(FIRST_TOKEN + n),
      Description: `token ${n}`,
      Roles: [{ Name: `role-${n % moved.roles}` }],
    }),
  );
  await each(moved.entries, (n) =>
    put('/v1/config', { Kind: 'service-defaults', Name: `service-${n}`, Protocol: 'http' }),
  );
}
