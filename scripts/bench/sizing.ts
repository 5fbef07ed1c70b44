/** What objects cost a node, by their kind and number: memory, disk, archive, time of a start. */
import { randomUUID } from 'node:crypto';
import type { Ask } from './line.js';
import { fill } from './load.js';
import { figure, row, title } from './report.js';
import { diskBytes, putEntry, type Setting, withCluster } from './setting.js';

const CONNECTIONS = 64;
const POLICIES = 10;
const MB = 2 ** 20;

/** The `n`th object of a kind. */
const OBJECTS: readonly (readonly [string, (n: number) => Ask])[] = [
  ['config entries', (n) => putEntry(`entry-${n}`, n)],
  ['roles', (n) => put('/v1/acl/role', { Name: `role-${n}`, Policies: [policyOf(n)] })],
  ['tokens', (n) => put('/v1/acl/token', { SecretID: randomUUID(), Policies: [policyOf(n)] })],
];

const policyOf = (n: number): { Name: string } => ({ Name: `policy-${n % POLICIES}` });
const put = (path: string, body: unknown): Ask => ({
  method: 'PUT',
  path,
  body: JSON.stringify(body),
});

/** Writes each number of objects of each kind to a node of its own, and starts it again. */
export async function measureSizing(sizes: readonly number[]): Promise<void> {
  title('What objects cost a node', [
    'objects',
    'MB after writing',
    'MB after a start',
    'disk: state MB, bytes each',
    'disk: log MB',
    'archive MB',
    'start ms',
  ]);
  await withCluster(1, async (setting) => {
    await measured(setting, 'none', 0);
  });
  for (const [what, request] of OBJECTS)
    for (const size of sizes)
      await withCluster(1, async (setting) => {
        for (let n = 0; n < POLICIES; n++) {
          const Rules = `service_prefix "team-${n}-" { policy = "write" }`;
          await setting.put('/v1/acl/policy', { Name: `policy-${n}`, Rules });
        }
        await fill(setting.targets, CONNECTIONS, size, request);
        await measured(setting, `${figure(size)} ${what}`, size);
      });
}

async function measured(setting: Setting, what: string, count: number): Promise<void> {
  const written = await setting.residentMb();
  const { body: archive } = await setting.ask({ method: 'GET', path: '/v1/snapshot' });
  const node = setting.cluster.nodes[0]!;
  await node.kill('SIGTERM');
  const log = await diskBytes(node, 'log');
  const state = await diskBytes(node, 'state');
  const begin = performance.now();
  node.start();
  await node.ready();
  const ms = performance.now() - begin;
  row([
    what,
    figure(written),
    figure(await setting.residentMb()),
    `${figure(state / MB)}, ${count === 0 ? '-' : figure(state / count)}`,
    figure(log / MB),
    figure(archive.length / MB),
    figure(ms),
  ]);
}
