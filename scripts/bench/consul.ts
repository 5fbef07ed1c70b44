/**
 * The same requests to three nodes of this build and to three servers of Consul, in bursts in turn.
 * The members of both talk in plain text.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, HOST } from '../../src/dev/ports.js';
import { addAsking, NAMES, QUESTIONS, WORK } from './bursts.js';
import { secretOf } from './deciders.js';
import { askOnce, type Target } from './line.js';
import { fill } from './load.js';
import { cpuSecondsOf, end, outputOf, startProgram, until } from './processes.js';
import { putEntry, withCluster } from './setting.js';
import { compareSides, type PeerRow, type Side, sideOf } from './sides.js';

const NODES = 3;
/** Ports of a server: HTTP, RPC, and gossip in and between datacenters. */
const PORTS = 4;
const ALL = { ...WORK, ...QUESTIONS };
const rowOf = (what: keyof typeof ALL, connections = 64, atLeader = false): PeerRow => {
  return { what, peer: what, connections, atLeader, ours: ALL[what], theirs: ALL[what] };
};
const ROWS = [
  rowOf('write an entry'),
  rowOf('write an entry', 64, true),
  rowOf('write an entry', 256),
  rowOf('write an entry', 1, true),
  rowOf('write a role'),
  rowOf('write a role', 64, true),
  rowOf('read, stale'),
  rowOf('read, default'),
  rowOf('read, consistent'),
  rowOf('list of 1,000 entries'),
  rowOf('one question', 64, true),
  rowOf('64 questions', 64, true),
];

/** Measures both. `program` is that of Consul. */
export async function measureConsul(program: string, rounds: number): Promise<void> {
  console.log(`\n${outputOf(program, ['version']).split('\n', 1)[0]}`);
  const settings = { raft: { insecure: true, sharedKeyFile: undefined } };
  await withCluster(
    NODES,
    async (setting) => {
      const ours = await sideOf(setting);
      await withConsul(program, async (peer) => {
        for (const side of [ours, peer]) await fillSide(side);
        const members = 'in plain text';
        await compareSides({ ours, peer, name: 'Consul', members, rows: ROWS, rounds });
      });
    },
    { settings },
  );
}

async function fillSide({ targets, leader }: Side): Promise<void> {
  for (const [kind, name] of [
    ['service-defaults', 'read'],
    ['service-resolver', 'list'],
  ] as const)
    await fill(targets, 16, NAMES, (n) => putEntry(`${name}-${n}`, n, kind));
  await addAsking((path, body) =>
    askOnce(leader, { method: 'PUT', path, body: JSON.stringify(body) }),
  );
}

/** Runs `measure` with three servers of Consul, and ends them in any case. */
async function withConsul(program: string, measure: (peer: Side) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'conclave-consul-'));
  const ports = await freePorts(PORTS * NODES);
  const lan = Array.from({ length: NODES }, (_, at) => `${HOST}:${ports[PORTS * at + 2]}`);
  const token = secretOf(0);
  const servers: ChildProcess[] = [];
  try {
    const targets: Target[] = [];
    for (let at = 0; at < NODES; at += 1) {
      const [http, server, serf_lan, serf_wan] = ports.slice(PORTS * at);
      const config = {
        node_name: `c${at}`,
        server: true,
        bootstrap_expect: NODES,
        data_dir: join(dir, `c${at}`),
        bind_addr: HOST,
        retry_join: lan,
        log_level: 'ERROR',
        performance: { raft_multiplier: 1 },
        limits: { http_max_conns_per_client: 1000 },
        ports: { http, server, serf_lan, serf_wan, dns: -1, grpc: -1, grpc_tls: -1 },
        acl: { enabled: true, default_policy: 'deny', tokens: { initial_management: token } },
        disable_update_check: true,
      };
      const file = join(dir, `c${at}.json`);
      await writeFile(file, JSON.stringify(config));
      const args = ['agent', `-config-file=${file}`];
      servers.push(await startProgram(program, args, async () => true));
      targets.push({ url: `http://${HOST}:${http}`, token, tokenHeader: 'X-Consul-Token' });
    }
    const self = { method: 'GET', path: '/v1/acl/token/self' } as const;
    const isReady = async (target: Target): Promise<boolean> =>
      askOnce(target, self).then(
        () => true,
        () => false,
      );
    for (const target of targets) await until('Consul has a leader', () => isReady(target));
    const { body } = await askOnce(targets[0]!, { method: 'GET', path: '/v1/status/leader' });
    const address = JSON.parse(body.toString()) as string;
    const at = ports.indexOf(Number(address.split(':')[1]));
    const leader = targets[Math.floor(at / PORTS)]!;
    await measure({ targets, leader, cpuSeconds: async () => cpuSecondsOf(servers) });
  } finally {
    await Promise.all(servers.map(end));
    await rm(dir, { recursive: true, force: true });
  }
}
