/**
 * The same work on three nodes of this build and on three of etcd (the program `etcd` in PATH, such
 * as Debian's package `etcd-server`), in bursts in turn. The members of both talk in the same mode:
 * plain, or with TLS. Clients use etcd's JSON gateway, as they use our API, over plain HTTP.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, HOST } from '../../src/dev/ports.js';
import { NAMES, type Next, WORK } from './bursts.js';
import { Line, type Target } from './line.js';
import { fill } from './load.js';
import { cpuSecondsOf, end } from './processes.js';
import { putEntry, withCluster } from './setting.js';
import { compareSides, type PeerRow, type Side, sideOf } from './sides.js';

const NODES = 3;
const POLL_MS = 50;
const READY_MS = 20_000;

/** How members of a cluster talk to each other. */
const MODES = ['plain', 'TLS'] as const;
type Mode = (typeof MODES)[number];

/** Work of ours, and the work of etcd that comes closest. */
const ROWS = [
  { what: 'write an entry', peer: 'put', connections: 64, atLeader: false },
  { what: 'write an entry', peer: 'put', connections: 64, atLeader: true },
  { what: 'write an entry', peer: 'put', connections: 256, atLeader: false },
  { what: 'write an entry', peer: 'put', connections: 1, atLeader: true },
  { what: 'write a role', peer: 'put', connections: 64, atLeader: false },
  { what: 'read, stale', peer: 'range, serializable', connections: 64, atLeader: false },
  { what: 'read, default', peer: 'range', connections: 64, atLeader: false },
  { what: 'read, consistent', peer: 'range', connections: 64, atLeader: false },
] as const;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const put = (key: string, value: string) =>
  ({
    method: 'POST',
    path: '/v3/kv/put',
    body: JSON.stringify({ key: base64(key), value: base64(value) }),
  }) as const;
const range =
  (more: object): Next =>
  (connection, n) => ({
    method: 'POST',
    path: '/v3/kv/range',
    body: JSON.stringify({ key: base64(`read-${(connection * 31 + n) % NAMES}`), ...more }),
  });

/** What etcd does for each kind of work. A value has the bytes of our entry. */
const PEER_WORK: Readonly<Record<(typeof ROWS)[number]['peer'], (run: string) => Next>> = {
  put: (run) => (connection, n) => {
    const key = `w-${run}-${connection}-${n}`;
    return put(key, putEntry(key, n).body!);
  },
  'range, serializable': () => range({ serializable: true }),
  range: () => range({}),
};

/** Measures both in each mode. */
export async function measureEtcd(rounds: number): Promise<void> {
  const { stdout, error } = spawnSync('etcd', ['--version'], { encoding: 'utf8' });
  if (error !== undefined) throw new Error('there is no program etcd in PATH');
  console.log(`\n${stdout.split('\n', 1)[0]}`);
  for (const mode of MODES) {
    const raft = mode === 'plain' ? { insecure: true, sharedKeyFile: undefined } : {};
    await withCluster(
      NODES,
      (ours) => withEtcd(mode, async (etcd) => compare(mode, await sideOf(ours), etcd, rounds)),
      { settings: { raft } },
    );
  }
}

async function compare(mode: Mode, ours: Side, etcd: Side, rounds: number): Promise<void> {
  await fill(ours.targets, 16, NAMES, (n) => putEntry(`read-${n}`, n));
  await fill(etcd.targets, 16, NAMES, (n) => put(`read-${n}`, putEntry(`read-${n}`, n).body!));
  const rows = ROWS.map(({ what, peer, ...how }): PeerRow => {
    return { ...how, what, peer, ours: WORK[what], theirs: PEER_WORK[peer] };
  });
  const members = mode === 'plain' ? 'in plain text' : 'with TLS';
  await compareSides({ ours, peer: etcd, name: 'etcd', members, rows, rounds });
}

/** Runs `measure` with three nodes of etcd, and ends them in any case. */
async function withEtcd(mode: Mode, measure: (etcd: Side) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'conclave-etcd-'));
  const ports = await freePorts(2 * NODES);
  const scheme = mode === 'plain' ? 'http' : 'https';
  const members = Array.from({ length: NODES }, (_, at) => ({
    name: `e${at}`,
    client: `http://${HOST}:${ports[2 * at]}`,
    peer: `${scheme}://${HOST}:${ports[2 * at + 1]}`,
  }));
  const initial = members.map(({ name, peer }) => `${name}=${peer}`).join();
  const processes = members.map(({ name, client, peer }) => {
    const values = {
      name,
      'data-dir': join(dir, name),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': initial,
      'initial-cluster-token': dir,
      'log-level': 'error',
      ...(mode === 'TLS' && { 'peer-auto-tls': 'true' }),
    };
    const options = Object.entries(values).map(([option, value]) => `--${option}=${value}`);
    return spawn('etcd', options, { stdio: 'ignore' });
  });
  try {
    const targets = members.map(({ client }) => ({ url: client, token: '' }));
    const leader = await leaderOf(targets);
    await measure({ targets, leader, cpuSeconds: async () => cpuSecondsOf(processes) });
  } finally {
    await Promise.all(processes.map(end));
    await rm(dir, { recursive: true, force: true });
  }
}

interface Status {
  readonly header: { readonly member_id: string };
  readonly leader?: string;
}

/** Waits until the nodes have a leader, and returns its address. */
async function leaderOf(targets: readonly Target[]): Promise<Target> {
  const until = performance.now() + READY_MS;
  while (performance.now() < until) {
    for (const target of targets) {
      const status = await statusOf(target).catch(() => undefined);
      if (status?.leader !== undefined && status.leader === status.header.member_id) return target;
    }
    await sleep(POLL_MS);
  }
  throw new Error(`etcd has no leader after ${READY_MS} ms`);
}

async function statusOf(target: Target): Promise<Status> {
  const line = new Line(target);
  const ask = { method: 'POST', path: '/v3/maintenance/status', body: '{}' } as const;
  const { body } = await line.ask(ask).finally(() => line.close());
  return JSON.parse(body.toString()) as Status;
}
