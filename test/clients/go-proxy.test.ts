/** The example of the Go libraries: a proxy that guards a server by the rights of its callers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { goVersion, runGo } from '../../scripts/clients/run-go.js';
import { until } from '../cluster/operator.js';
import { send } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';

const RULES = [
  'key_prefix "orders/get/" { policy = "read" }',
  'key "orders/post/17" { policy = "read" }',
  'key_prefix "session/get/" { policy = "read" }',
].join('\n');

describe('the proxy of the Go libraries', function () {
  this.timeout(300_000);
  if (goVersion() === undefined) {
    console.log('no go was found in PATH: the proxy of the Go libraries is not tested');
    return;
  }
  const dir = mkdtempSync(join(tmpdir(), 'conclave-proxy-'));
  let cluster: RealCluster;
  let upstream: Server;
  let proxy: ChildProcess;
  let url: string;
  let caller: { readonly AccessorID: string; readonly SecretID: string };
  let policy: { readonly ID: string };

  before(async () => {
    cluster = await RealCluster.open(1);
    policy = await cluster.must('PUT /acl/policy', { Name: 'orders', Rules: RULES });
    caller = await cluster.must('PUT /acl/token', { Policies: [{ ID: policy.ID }] });
    upstream = createServer(({ method, url: path, headers }, answer) => {
      answer.end(`${method} ${path} ${headers.authorization ?? 'without a token'}`);
    });
    await once(upstream.listen(0, '127.0.0.1'), 'listening');
    const { port } = upstream.address() as AddressInfo;
    const program = join(dir, 'proxy');
    const built = runGo(['go', 'build', '-o', program, './examples/proxy']);
    expect(built.status, built.stderr).to.equal(0);
    const places = ['-upstream', `http://127.0.0.1:${port}`, '-nodes', cluster.url];
    proxy = spawn(program, ['-listen', '127.0.0.1:0', ...places], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface(proxy.stdout!), 'line')) as [string];
    url = `http://${line.replace('listening on ', '')}`;
  });
  after(async () => {
    proxy?.kill();
    upstream?.close();
    await cluster?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const ask = (call: string, secret = caller.SecretID) =>
    send(url, call, { headers: { authorization: `Bearer ${secret}` } });
  const statusOf = async (call: string, secret?: string) => (await ask(call, secret)).status;

  it('passes on what the token of a request allows, without the token', async () => {
    const { status, text } = await ask('GET /orders/18?full=1');
    expect([status, text]).to.deep.equal([200, 'GET /orders/18?full=1 without a token']);
    expect(await statusOf('POST /orders/17')).to.equal(200);
    expect(await statusOf('POST /orders/18')).to.equal(403);
    expect(await statusOf('GET /bills/1')).to.equal(403);
    expect(await statusOf('GET /session/1')).to.equal(200);
  });

  it('refuses requests without a live token', async () => {
    expect((await send(url, 'GET /orders/18')).status).to.equal(401);
    const unknown = await ask('GET /orders/18', 'd0a3c6f0-0000-4000-8000-000000000000');
    expect(unknown.status).to.equal(401);
    expect(unknown.headers['www-authenticate']).to.match(/^Bearer /);
  });

  it('refuses paths that the server behind could read in another way', async () => {
    for (const path of ['/orders/../bills/1', '/orders//18', '/orders%2F18', '/./orders/18'])
      expect(await statusOf(`GET ${path}`), path).to.equal(400);
    expect(await statusOf('GET /orders/18/')).to.equal(200);
  });

  it('follows what is taken, and decides while no node answers', async () => {
    const Rules = 'key "orders/get/18" { policy = "read" }';
    await cluster.must(`PUT /acl/policy/${policy.ID}`, { Name: 'orders', Rules });
    await until(
      () => statusOf('GET /orders/17'),
      (status) => status === 403,
    );
    expect(await statusOf('GET /orders/18')).to.equal(200);
    const other = await cluster.must('PUT /acl/token', { Policies: [{ ID: policy.ID }] });
    await cluster.must(`DELETE /acl/token/${caller.AccessorID}`);
    await until(
      () => statusOf('GET /orders/18'),
      (status) => status === 401,
    );
    expect(await statusOf('GET /orders/18', other.SecretID)).to.equal(200);
    await cluster.nodes[0]!.kill('SIGKILL');
    expect(await statusOf('GET /orders/18', other.SecretID)).to.equal(200);
    expect(await statusOf('GET /orders/17', other.SecretID)).to.equal(403);
    expect(await statusOf('GET /orders/18', 'd0a3c6f0-0000-4000-8000-000000000001')).to.equal(503);
  });
});
