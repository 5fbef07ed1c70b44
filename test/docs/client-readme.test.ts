/** The programs of the README of the library for TypeScript, pasted and run against a node. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePorts } from '../../src/dev/ports.js';
import { installed } from '../clients/installed.js';
import { until } from '../cluster/operator.js';
import { type Signer, signer } from '../login/signers.js';
import { type Reply, send } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';

const README = readFileSync('clients/typescript/README.md', 'utf8');
/** A block whose first line names its file. */
const PROGRAM = /^```js\n(?<text>\/\/ (?<name>[\w.]+)[\s\S]*?)^```$/gm;
const RULES =
  'key_prefix "orders/get/" { policy = "read" }\nkey "orders/post/17" { policy = "read" }';

describe('the README of conclave-client', () => {
  let folder: string;
  let cluster: RealCluster;
  const running: ChildProcess[] = [];
  before(async () => {
    ({ folder } = installed());
    for (const { groups } of README.matchAll(PROGRAM))
      writeFileSync(join(folder, groups!['name']!), groups!['text']!);
    cluster = await RealCluster.open(1);
    await cluster.must('PUT /acl/policy', { Name: 'shop', Rules: RULES });
  });
  after(async () => {
    for (const program of running) program.kill();
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a program of the README. Returns its URL once it listens. */
  async function start(name: string, more: Record<string, string> = {}): Promise<string> {
    const [port] = (await freePorts(1)) as [number];
    const env = { CONCLAVE: cluster.urls.join(), PORT: String(port), ...more };
    running.push(spawn(process.execPath, [name], { cwd: folder, env, stdio: 'inherit' }));
    const url = `http://127.0.0.1:${port}`;
    await until(
      () => send(url, 'GET /'),
      ({ status }) => status === 401,
    );
    return url;
  }
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

  it('guards the routes of a server by the rights of its callers', async () => {
    const url = await start('server.mjs');
    const { AccessorID, SecretID } = await cluster.must('PUT /acl/token', {
      Policies: [{ Name: 'shop' }],
    });
    const ask = async (call: string, secret = SecretID): Promise<number> =>
      (await send(url, call, { headers: bearer(secret) })).status;
    expect(await ask('GET /orders/17')).to.equal(200);
    expect(await ask('POST /orders/17')).to.equal(200);
    for (const call of ['POST /orders/18', 'DELETE /orders/17', 'GET /invoices/17'])
      expect(await ask(call), call).to.equal(403);
    expect(await ask('GET /orders/../17')).to.equal(404);
    expect(await ask('GET /orders/17', crypto.randomUUID())).to.equal(401);
    await cluster.must(`DELETE /acl/token/${AccessorID}`);
    await until(
      () => ask('GET /orders/17'),
      (status) => status === 401,
    );
  });

  describe('decides by JWT', () => {
    let key: Signer;
    let upstream: Server;
    let url: string;
    let accessor: string;
    before(async () => {
      key = await signer('EdDSA');
      const Config = { JWTValidationPubKeys: [key.pem] };
      await cluster.must('PUT /acl/auth-method', { Name: 'staff', Type: 'jwt', Config });
      const rule = { AuthMethod: 'staff', BindType: 'policy', BindName: 'shop' };
      await cluster.must('PUT /acl/binding-rule', rule);
      const { AccessorID, SecretID } = await cluster.must('PUT /acl/token', {});
      accessor = AccessorID;
      writeFileSync(join(folder, 'token'), `${SecretID}\n`, { mode: 0o600 });
      upstream = createServer((request, response) => {
        response.setHeader('x-path', request.url!);
        request.pipe(response);
      });
      await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done));
      const { port } = upstream.address() as AddressInfo;
      url = await start('gateway.mjs', {
        TOKEN_FILE: join(folder, 'token'),
        METHOD: 'staff',
        UPSTREAM: `http://127.0.0.1:${port}`,
      });
    });
    after(() => upstream.close());

    const jwt = (by = key, lifeSeconds = 600): Promise<string> => {
      const iat = Math.floor(Date.now() / 1000);
      return by.sign({ sub: 'ann', iat, exp: iat + lifeSeconds });
    };
    const ask = (call: string, secret: string, body = ''): Promise<Reply> =>
      send(url, call, { headers: bearer(secret), body });

    it('and lets through what a decision permits, unchanged', async () => {
      const ann = await jwt();
      const { status, text, headers } = await ask('POST /orders/17?full=1', ann, '{"a":1}');
      expect([status, text]).to.deep.equal([200, '{"a":1}']);
      expect(headers['x-path']).to.equal('/orders/17?full=1');
      for (const call of ['POST /orders/18', 'DELETE /orders/17', 'GET /invoices/17'])
        expect((await ask(call, ann)).status, call).to.equal(403);
      expect((await ask('GET /orders/%31%37', ann)).status).to.equal(404);
      expect((await ask('GET /orders/17', await jwt(key, -600))).status).to.equal(403);
      expect((await ask('GET /orders/17', await jwt(await signer('EdDSA')))).status).to.equal(403);
    });

    it('with the next token once its own has ended, and lets nothing through without', async () => {
      const ann = await jwt();
      await cluster.must(`DELETE /acl/token/${accessor}`);
      expect((await ask('GET /orders/17', ann)).status).to.equal(503);
      const { SecretID } = await cluster.must('PUT /acl/token', {});
      writeFileSync(join(folder, 'token'), SecretID);
      expect((await ask('GET /orders/17', ann)).status).to.equal(200);
    });
  });

  it('calls operations', async () => {
    const env = { CONCLAVE: cluster.urls.join(), TOKEN: cluster.token };
    const printed = 'key_prefix "orders/" { policy = "read" }\ntrue\n';
    for (const _ of ['made', 'there already'])
      expect(
        execFileSync(process.execPath, ['policy.mjs'], { cwd: folder, env, encoding: 'utf8' }),
      ).to.equal(printed);
  });
});
