/** `doctor`: looks for what an operator should mend, and exits with 1 if there is anything. */
import type { Command } from 'commander';
import type { Findings } from '../../api/endpoints/lint.js';
import type { Call, Cli } from '../cli.js';
import { type ClusterView, clusterOf, serversOf } from '../client/cluster.js';
import type { CommonOptions } from '../client/environment.js';
import { CliError } from '../print/error.js';
import type { Shape } from '../print/output.js';
import { sizeText } from '../print/progress.js';
import { counted, oneLine } from '../print/text.js';
import { certificateEnd } from './certificate.js';

/** What was looked at, and what was found. */
export interface Finding {
  readonly Check: string;
  readonly Result: 'ok' | 'warning' | 'error';
  readonly Text: string;
}

/** A day, in milliseconds. */
const DAY_MS = 86_400_000;
/** A certificate that ends sooner is found: time enough to renew it. */
const CERTIFICATE_DAYS = 30;
/** Difference of clocks that is found. The header has whole seconds, and travels. */
const CLOCK_SECONDS = 5;
/** An older backup is found: a daily one has failed. */
const BACKUP_MS = 2 * DAY_MS;
/** Seconds for which a disk may hold a write. */
const DISK_SECONDS = 1;

const SHAPE: Shape<Finding> = {
  columns: [
    {
      head: '',
      cell: ({ Result }) => ({
        text: Result,
        paint: Result === 'ok' ? 'green' : Result === 'error' ? 'red' : 'yellow',
      }),
    },
    { head: 'CHECK', cell: ({ Check }) => Check },
    { head: 'FOUND', cell: ({ Text }) => Text },
  ],
  ref: ({ Check }) => `check/${Check}`,
};

export function addDoctor(program: Command, cli: Cli): void {
  program
    .command('doctor')
    .description(
      'check the cluster for problems: members, level, disks, certificates, backups, policies',
    )
    .option('--all', 'show every check, not only one line for several that are in order')
    .addHelpText(
      'after',
      '\nErrors come first, then warnings. ' +
        'List all nodes in --http-addr to have each of them checked.\n' +
        'A node knows only the backups that it has sent since it started.\n' +
        'Exits with 1 if it finds a problem. Needs operator:read and agent:read.',
    )
    .action(
      cli.action<{ readonly all?: boolean }>(async (call) => {
        const found = bySeverity(await diagnose(cli, call));
        const bad = found.filter(({ Result }) => Result !== 'ok');
        const shown = call.options.all === true ? found : [...bad, ...summary(found)];
        // What is to be mended is read in full, so no line of it is cut.
        if (call.print.format === 'table') call.print.text(shown.map(lineOf));
        else await call.print.list(found, SHAPE);
        if (bad.length > 0) call.fails();
      }),
    );
}

const SEVERITIES: readonly Finding['Result'][] = ['error', 'warning', 'ok'];

/** Returns findings with the worst first. */
export const bySeverity = (found: readonly Finding[]): readonly Finding[] =>
  SEVERITIES.flatMap((severity) => found.filter(({ Result }) => Result === severity));

/** Returns one line for each check that is in order, however often it was made. */
export function summary(found: readonly Finding[]): readonly Finding[] {
  const good = found.filter(({ Result }) => Result === 'ok');
  return [...new Set(good.map(({ Check }) => Check))].map((check) => {
    const same = good.filter(({ Check }) => Check === check);
    return same.length === 1 ? same[0]! : ok(check, `${same.length} in order`);
  });
}

const lineOf = ({ Check, Result, Text }: Finding): string =>
  `${(Result === 'ok' ? 'ok' : Result).padEnd(7)}  ${Check.padEnd(12)}  ${oneLine(Text)}\n`;

async function diagnose(cli: Cli, call: Call<object>): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const { addresses } = call.surroundings;
  const nodes: Node[] = [];
  for (const address of addresses) nodes.push(await look(cli, call, address));
  for (const { findings } of nodes) found.push(...findings);
  const versions = new Set(nodes.flatMap(({ version }) => version ?? []));
  if (nodes.length > 1 && versions.size > 0)
    found.push(
      versions.size === 1
        ? ok('version', [...versions][0]!)
        : warning('version', `nodes run ${[...versions].join(' and ')}: finish the upgrade`),
    );
  found.push(
    ...backupFinding(
      nodes.flatMap(({ saves }) => saves ?? []),
      Date.now(),
    ),
  );
  const answering = nodes.find(({ version }) => version !== undefined);
  if (answering === undefined) return found;
  const first = cli.callOf<object>(asking(call, answering.address));
  try {
    const view = await clusterOf(first);
    return [...found, ...clusterFindings(view), ...(view.isStale ? [] : [await lint(first)])];
  } finally {
    await first.api.close();
  }
}

/** Returns the options with one address. `url` counts before all else that names addresses. */
const asking = ({ options }: Call<object>, { href }: URL): CommonOptions => ({
  ...options,
  url: href,
});

const ok = (Check: string, Text: string): Finding => ({ Check, Result: 'ok', Text });
const warning = (Check: string, Text: string): Finding => ({ Check, Result: 'warning', Text });
const error = (Check: string, Text: string): Finding => ({ Check, Result: 'error', Text });

/** A node that was asked for. */
interface Node {
  readonly address: URL;
  /** Undefined if it does not answer. */
  readonly version: string | undefined;
  readonly findings: readonly Finding[];
  /** Undefined if the node does not tell it. */
  readonly saves?: Saves | undefined;
}

/** What a node knows of backups: nothing from before its start. */
export interface Saves {
  readonly place: string;
  /** Unix time in milliseconds at which its process started. */
  readonly startedMs: number;
  /** When it sent the last archive; undefined if it sent none. */
  readonly savedMs: number | undefined;
}

async function look(cli: Cli, call: Call<object>, address: URL): Promise<Node> {
  const one = cli.callOf<object>(asking(call, address));
  const { api } = one;
  const plain = { isPlain: true, isOnce: true };
  const place = address.host;
  try {
    const answer = await api.get('/v1/agent/version', { ...plain, withToken: false });
    const { HumanVersion: version } = answer.json<{ HumanVersion: string }>();
    const isReady = await ready(one, place);
    const text = await metricsOf(one);
    const findings = [
      isReady,
      ...metricFindings(text, place),
      ...clock(place, answer.header('Date')),
      ...(await certificate(one, address)),
    ];
    return { address, version, findings, saves: savesIn(text, place) };
  } catch (problem) {
    if (!(problem instanceof CliError)) throw problem;
    const text = [problem.message, problem.details.hint].filter(Boolean).join('; ');
    const code = problem.details.code;
    if (code === 'permission_denied' || code === 'acl_not_found') throw problem;
    return { address, version: undefined, findings: [error('node', text)] };
  } finally {
    await api.close();
  }
}

async function ready({ api }: Call<object>, place: string): Promise<Finding> {
  try {
    await api.get('/v1/health/ready', { isPlain: true, isOnce: true, withToken: false });
    return ok('node', `${place} is ready`);
  } catch (problem) {
    if (!(problem instanceof CliError)) throw problem;
    return error('node', `${place}: ${problem.message}`);
  }
}

/** A line of Prometheus' text: its labels as text, and its value. */
interface Sample {
  readonly labels: string;
  readonly value: number;
}

/** Returns the samples of a metric in Prometheus' text. */
export const samplesIn = (text: string, name: string): readonly Sample[] =>
  text.split('\n').flatMap((line) => {
    const [, labels, value] = /^[a-z_]+(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const isIt = line.startsWith(`${name} `) || line.startsWith(`${name}{`);
    return isIt && value !== undefined ? [{ labels: labels ?? '', value: Number(value) }] : [];
  });

async function metricsOf({ api }: Call<object>): Promise<string> {
  const query = { format: 'prometheus' };
  return (await api.get('/v1/agent/metrics', { query, isPlain: true, isOnce: true })).text;
}

function metricFindings(text: string, place: string): readonly Finding[] {
  const differs = (samplesIn(text, 'conclave_state_differing_total')[0]?.value ?? 0) > 0;
  return [
    diskFinding(text, place),
    ...(differs ? [error('state', `${place}: a member's state differs from the others'`)] : []),
    ...auditFindings(text, place),
    ...endingFindings(text, place),
  ];
}

/** What the metrics of a node say about the end of its certificates and of its revocation lists. */
export const endingFindings = (text: string, place: string, nowMs?: number): readonly Finding[] =>
  samplesIn(text, 'conclave_tls_not_after_timestamp_seconds').map(({ labels, value }) => {
    const use = /use="([^"]*)"/.exec(labels)?.[1] ?? 'TLS';
    const what = use === 'raft_crl' ? 'list of revoked certificates' : `certificate for ${use}`;
    return ending(`${place}: the ${what}`, new Date(value * 1000), nowMs);
  });

/** What the metrics of a node say about its audit log. */
export const auditFindings = (text: string, place: string): readonly Finding[] =>
  samplesIn(text, 'conclave_audit_dropped_total').map(({ labels, value }) => {
    const sink = /sink="([^"]*)"/.exec(labels)?.[1] ?? '';
    return value === 0
      ? ok('audit', `${place} has all records of the audit sink ${sink}`)
      : warning(
          'audit',
          `${place} has lost ${value} records of the audit sink ${sink}: see its log`,
        );
  });

/** What the metrics of a node say about its disk. */
export function diskFinding(text: string, place: string): Finding {
  const of = (name: string): number | undefined => samplesIn(text, name)[0]?.value;
  const waits = ['conclave_raft_log_wait_seconds', 'conclave_state_wait_seconds'];
  const longest = Math.max(...waits.map((name) => of(name) ?? 0));
  const free = of('conclave_disk_free_bytes');
  const room = free === undefined ? 'has room' : `has ${sizeText(free)} free`;
  if ((of('conclave_faulted') ?? 0) > 0)
    return error('disk', `${place}: a disk is down to its reserve, or hangs: see its log`);
  if (longest > DISK_SECONDS)
    return warning('disk', `${place}: a disk has delayed a write for ${longest.toFixed(1)} s`);
  return ok('disk', `${place} ${room} and makes progress`);
}

function savesIn(text: string, place: string): Saves | undefined {
  const [saved] = samplesIn(text, 'conclave_snapshot_last_save_timestamp_seconds');
  const [started] = samplesIn(text, 'process_start_time_seconds');
  if (saved === undefined || started === undefined) return undefined;
  const savedMs = saved.value === 0 ? undefined : saved.value * 1000;
  return { place, startedMs: started.value * 1000, savedMs };
}

/** What the nodes know of the last backup. Nothing is found where none of them knows anything. */
export function backupFinding(nodes: readonly Saves[], nowMs: number): readonly Finding[] {
  if (nodes.length === 0) return [];
  const { savedMs, place } = nodes.reduce((one, other) =>
    (other.savedMs ?? 0) > (one.savedMs ?? 0) ? other : one,
  );
  const how = 'run conclave snapshot save';
  if (savedMs !== undefined) {
    const what = `saved ${ageText(nowMs - savedMs)} ago through ${place}`;
    if (nowMs - savedMs <= BACKUP_MS) return [ok('backup', what)];
    return [warning('backup', `the last known one was ${what}: ${how}`)];
  }
  const knownMs = nowMs - Math.min(...nodes.map(({ startedMs }) => startedMs));
  const places = nodes.map((node) => node.place).join(', ');
  if (knownMs > DAY_MS)
    return [
      warning('backup', `none was saved through ${places} in the last ${ageText(knownMs)}: ${how}`),
    ];
  const since = `since the nodes started ${ageText(knownMs)} ago`;
  return [ok('backup', `none was saved ${since}; earlier ones are not known`)];
}

/** Returns an age as a whole number of its largest unit. */
function ageText(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes === 0) return 'less than a minute';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}

function clock(place: string, date: string | undefined): readonly Finding[] {
  const aheadMs = Date.parse(date ?? '') - Date.now();
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  if (Number.isNaN(seconds) || seconds <= CLOCK_SECONDS) return [];
  const way = aheadMs > 0 ? 'ahead of' : 'behind';
  return [
    warning('clock', `${place} is ${seconds} s ${way} this machine: tokens expire by its clock`),
  ];
}

async function certificate(call: Call<object>, address: URL): Promise<readonly Finding[]> {
  const { host } = address;
  if (address.protocol !== 'https:') {
    const isLocal = /^(localhost|127\.|\[::1\])/.test(address.hostname);
    return isLocal
      ? []
      : [warning('certificate', `${host} speaks http: tokens travel in the clear`)];
  }
  const end = await certificateEnd(address, call.surroundings.tls);
  return end === undefined ? [] : [ending(`${host}: the certificate`, end)];
}

/** Returns what is found about a certificate that expires at `end`. */
export function ending(what: string, end: Date, nowMs = Date.now()): Finding {
  const days = Math.floor((end.getTime() - nowMs) / DAY_MS);
  const day = end.toISOString().slice(0, 10);
  if (days < 0) return error('certificate', `${what} expired on ${day}`);
  const left = days === 0 ? 'less than a day' : counted(days, 'day');
  const text = `${what} expires on ${day}, in ${left}`;
  return days < CERTIFICATE_DAYS ? warning('certificate', text) : ok('certificate', text);
}

/** What the members as a whole are found to be. */
export function clusterFindings(view: ClusterView): readonly Finding[] {
  const { autopilot, level } = view;
  const servers = serversOf(view);
  const leader = servers.find(({ Status }) => Status === 'leader');
  if (view.isStale || leader === undefined)
    return [error('leader', 'there is none: too few voters can reach each other')];
  const ill = servers.filter(({ Healthy }) => !Healthy).map(({ Name }) => Name);
  const voters = autopilot.Voters?.length ?? 0;
  const learners = servers.filter(({ Status }) => Status === 'non-voter').map(({ Name }) => Name);
  const { Level, Supported, Waiting } = level;
  return [
    ok('leader', `${leader.Name} at ${leader.Address}`),
    ill.length > 0
      ? error('members', `not healthy: ${ill.join(', ')}`)
      : ok('members', `${servers.length} healthy`),
    autopilot.FailureTolerance === 0 && voters > 1
      ? error('tolerance', 'losing one more voter stops all writes')
      : ok('tolerance', `${autopilot.FailureTolerance} of ${voters} voters can be lost`),
    ...(voters % 2 === 0
      ? [warning('voters', `${voters} voters survive no more failures than ${voters - 1}`)]
      : []),
    ...(learners.length > 0
      ? [warning('learners', `do not vote yet: ${learners.join(', ')}`)]
      : []),
    Level < Supported
      ? warning('level', `${Level} of ${Supported}: waiting for ${Waiting.join(', ')}`)
      : ok('level', String(Level)),
  ];
}

async function lint({ api }: Call<object>): Promise<Finding> {
  try {
    const answer = await api.get('/v1/acl/lint', { isPlain: true, isOnce: true });
    const { Findings: all } = answer.json<Findings>();
    const bad = all.filter(({ Severity }) => Severity !== 'info');
    if (bad.length === 0) return ok('policies', 'no findings');
    return warning('policies', `${counted(bad.length, 'finding')}: see conclave acl lint`);
  } catch (problem) {
    const isOld = problem instanceof CliError && problem.details.code === 'no_endpoint';
    if (isOld) return ok('policies', 'not checked: the server has no lint');
    throw problem;
  }
}
