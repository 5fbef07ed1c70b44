/** How long a revocation takes until the last cache knows of it. */
import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, HOST } from '../../src/dev/ports.js';
import { range, secretOf } from './deciders.js';
import type { Programs } from './decisions.js';
import { askOnce } from './line.js';
import { fill } from './load.js';
import { end, outputOf, startProgram, until } from './processes.js';
import { figure, row, title } from './report.js';
import { withCluster } from './setting.js';
import { wakeAll } from './watch.js';

/** OPAs that poll a bundle. */
const AGENTS = 5;
/** The longest of OPA's pauses between polls by default is 120 s. */
const POLLED_MS = 150_000;

/** Measures held feeds of a node, and OPAs that poll. */
export async function measureRevocations(caches: readonly number[], { opa }: Programs) {
  title('A revocation until the last cache knows of it', ['caches', 'half', 'last', 'memory']);
  for (const count of caches) await heldFeeds(count);
  if (opa === undefined) row(['OPA: not measured']);
  else await polledBundles(opa);
}

/** Tokens of one role, each with a held feed of its rights; the role loses its policy. */
async function heldFeeds(count: number): Promise<void> {
  const most = count + 100;
  const held = { held: most, heldPerClient: most, heldPerToken: most };
  const limits = { connections: most, connectionsPerAddress: most, ...held };
  await withCluster(
    1,
    async (setting) => {
      const Rules = 'key_prefix "orders/approve/" { policy = "read" }';
      await setting.put('/v1/acl/policy', { Name: 'shop', Rules });
      const role = await setting.put('/v1/acl/role', {
        Name: 'shop',
        Policies: [{ Name: 'shop' }],
      });
      const { ID } = JSON.parse(role.body.toString()) as { readonly ID: string };
      await fill(setting.targets, 16, count, (n) => ({
        method: 'PUT',
        path: '/v1/acl/token',
        body: JSON.stringify({ SecretID: secretOf(n), Roles: [{ Name: 'shop' }] }),
      }));
      const path = '/v1/acl/token/self/rights';
      const last = { method: 'GET', path, token: secretOf(count - 1) } as const;
      const { index } = await setting.ask(last);
      const before = await setting.residentMb();
      let after = before;
      const { halfMs, allMs } = await wakeAll({
        target: setting.targets[0]!,
        queries: range(count, (n) => ({
          method: 'GET',
          path: `${path}?index=${index}&wait=120s`,
          token: secretOf(n),
        })),
        write: {
          method: 'PUT',
          path: `/v1/acl/role/${ID}`,
          body: JSON.stringify({ Name: 'shop', Policies: [] }),
        },
        held: () => setting.held(0),
        onHeld: async () => {
          after = await setting.residentMb();
        },
      });
      row([
        `Conclave: ${figure(count)} held feeds`,
        ...[`${figure(halfMs)} ms`, `${figure(allMs)} ms`],
        `${figure(after)} MB, ${figure(((after - before) * 1024) / count)} kB for each`,
      ]);
    },
    { settings: { limits } },
  );
}

/** OPAs that get their rights by bundle, polled as by default. */
async function polledBundles(opa: string): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'conclave-bundles-'));
  const agents: ChildProcess[] = [];
  const bundles = await Promise.all([true, false].map((allow) => bundleOf(opa, dir, allow)));
  let now = 0;
  const server = createServer(({ headers }, response) => {
    const etag = `"${now}"`;
    const isKnown = headers['if-none-match'] === etag;
    response.writeHead(isKnown ? 304 : 200, { etag, 'content-type': 'application/gzip' });
    response.end(isKnown ? undefined : bundles[now]);
  });
  try {
    const [serving, ...ports] = await freePorts(1 + AGENTS);
    await new Promise<void>((done) => server.listen(serving, HOST, done));
    const config = join(dir, 'opa.json');
    await writeFile(
      config,
      JSON.stringify({
        services: { rights: { url: `http://${HOST}:${serving}` } },
        bundles: { shop: { service: 'rights', resource: 'shop.tar.gz' } },
      }),
    );
    const answers = (port: number, text: string) => async () => {
      const ask = { method: 'GET', path: '/v1/data/shop/allow' } as const;
      const { body } = await askOnce({ url: `http://${HOST}:${port}`, token: '' }, ask);
      return body.toString().includes(text);
    };
    for (const port of ports)
      agents.push(
        await startProgram(
          opa,
          [
            ...['run', '--server', `--addr=${HOST}:${port}`, '--log-level=error'],
            ...['--skip-version-check', `--config-file=${config}`],
          ],
          answers(port, 'true'),
        ),
      );
    now = 1;
    const begin = performance.now();
    const times = await Promise.all(
      ports.map(async (port) => {
        await until('OPA has polled', answers(port, 'false'), POLLED_MS);
        return (performance.now() - begin) / 1000;
      }),
    );
    times.sort((a, b) => a - b);
    const seconds = (at: number) => `${figure(times[at]!)} s`;
    const half = Math.floor(AGENTS / 2);
    row([`OPA: ${AGENTS} that poll a bundle, default`, seconds(half), seconds(AGENTS - 1), '']);
  } finally {
    await Promise.all(agents.map(end));
    server.close();
    await rm(dir, { recursive: true, force: true });
  }
}

async function bundleOf(opa: string, dir: string, allow: boolean): Promise<Buffer> {
  const source = join(dir, String(allow));
  await mkdir(source);
  await writeFile(join(source, 'shop.rego'), `package shop\nallow := ${allow}\n`);
  const file = `${source}.tar.gz`;
  outputOf(opa, ['build', '--bundle', source, `--output=${file}`]);
  return readFile(file);
}
