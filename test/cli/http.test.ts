import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { certificateEnd } from '../../src/cli/commands/certificate.js';
import { CA, SERVER_CERTIFICATE, SERVER_KEY } from '../login/certificates.js';
import { json, problem, text } from './fake-server.js';
import { fakeStage } from './fake-stage.js';
import { type Given, User } from './harness.js';

describe('requests of the client', () => {
  const { user, fake } = fakeStage();
  const serve = (...answers: RequestListener[]): Promise<string> => fake.serve(...answers);
  const hangUp: RequestListener = (request) => request.socket.destroy();
  const policies = json([{ ID: 'a', Name: 'ops' }]);
  const list = (address: string, given: Given = {}, more: string[] = []) =>
    user.run(['acl', 'policy', 'list', '-o', 'name', '--http-addr', address, ...more], given);

  it('sends token, namespace and mode', async () => {
    const address = await serve(policies);
    const args = ['--namespace', 'team a', '--stale'];
    const { code } = await list(address, { env: { CONSUL_HTTP_TOKEN: ' secret-1\n' } }, args);
    expect(code).to.equal(0);
    expect(fake.seen[0]!.url).to.equal('/v1/acl/policies?ns=team+a&stale=');
    expect(fake.seen[0]!.headers).to.include({ 'x-consul-token': 'secret-1' });
  });

  const POLICY = { ID: 'a', Name: 'ops', Description: 'old', ModifyIndex: 7 };
  const policyWith = (address: string, ...args: string[]) =>
    user.run(['acl', 'policy', ...args, '--http-addr', address]);

  it('sends a reason with writes alone', async () => {
    const address = await serve(json(POLICY));
    const args = ['update', 'ops', '--description', 'x', '--reason', 'tidy – up'];
    expect((await policyWith(address, ...args)).code).to.equal(0);
    expect(
      fake.seen.map(({ method, headers }) => [method, headers['x-consul-reason']]),
    ).to.deep.equal([
      ['GET', undefined],
      ['PATCH', 'tidy%20%E2%80%93%20up'],
    ]);
  });

  const conditions: [args: string[], method: string, ifMatch: string | undefined, body: string][] =
    [
      [['update', 'ops', '--description', 'x', '--stale'], 'PATCH', '"7"', '{"Description":"x"}'],
      [['update', 'ops', '--name', 'y', '--if-match', '6'], 'PATCH', '"6"', '{"Name":"y"}'],
      [['update', 'ops', '--no-merge'], 'PUT', '"7"', '{"Name":"ops"}'],
      [['delete', 'ops', '--if-match', '7', '--quiet'], 'DELETE', '"7"', ''],
      [['delete', 'ops', '--quiet'], 'DELETE', undefined, ''],
    ];
  for (const [args, method, ifMatch, body] of conditions) {
    it(`changes the version that is meant: ${args.join(' ')}`, async () => {
      const address = await serve(json(POLICY));
      expect((await policyWith(address, ...args)).code).to.equal(0);
      const sent = fake.seen.at(-1)!;
      expect([sent.method, sent.headers['if-match'], sent.body]).to.deep.equal([
        method,
        ifMatch,
        body,
      ]);
      // An older version would undo what others wrote.
      expect(fake.seen.filter(({ url }) => url.includes('stale'))).to.deep.equal([]);
    });
  }

  it('says what others have changed', async () => {
    const detail = 'Precondition failed: policy "ops" has ModifyIndex 9';
    const moved = problem(412, { code: 'precondition_failed', detail, current: 9 });
    const now = { ...POLICY, Description: 'theirs', ModifyIndex: 9 };
    const hint = '  nothing was written: read it, and repeat the command if it still applies\n';
    const update = ['update', 'ops', '--description', 'x'];
    const told = await policyWith(await serve(json(POLICY), moved, json(now)), ...update);
    expect([told.code, told.err]).to.deep.equal([
      1,
      'conclave: the policy "ops" was changed meanwhile: Description: "old" → "theirs" ' +
        `(precondition_failed)\n${hint}`,
    ]);
    const missing = problem(404, { code: 'not_found', detail: 'none' });
    const gone = await policyWith(await serve(json(POLICY), moved, missing), ...update);
    expect(gone.err).to.equal(
      `conclave: the policy "ops" was deleted meanwhile (precondition_failed)\n${hint}`,
    );
    const named = await policyWith(await serve(json(POLICY), moved), ...update, '--if-match', '6');
    expect(named.err).to.equal(`conclave: ${detail} (precondition_failed)\n${hint}`);
  });

  it('asks for an archive in the mode of reads, and again without a leader', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
    const archive: RequestListener = (_request, response) => {
      response.writeHead(200, { 'X-Consul-Index': '7' }).end(gzipSync('state'));
    };
    const noLeader = problem(503, { code: 'no_leader', detail: 'No cluster leader' });
    const file = join(folder, 'x.snap');
    try {
      for (const mode of ['stale', 'consistent']) {
        fake.forget();
        const address = await serve(noLeader, text(429, 'Too many snapshots'), archive);
        const args = ['snapshot', 'save', file, `--${mode}`, '--http-addr', address];
        const { code, err } = await user.run(args);
        expect(code, err).to.equal(0);
        const url = `/v1/snapshot?${mode}=`;
        expect(fake.seen.map((one) => one.url)).to.deep.equal([url, url, url]);
      }
      fake.forget();
      const address = await serve(noLeader, json({}));
      const restore = await user.run(['snapshot', 'restore', file, '--http-addr', address]);
      expect(restore.code, restore.err).to.equal(0);
      // The whole archive goes out again.
      const [first, again] = fake.seen.map(({ body }) => body);
      expect(again).to.equal(first).and.not.equal('');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('tries the next address, and reads again when a connection breaks', async () => {
    const [broken, good] = [await serve(hangUp), await serve(policies)];
    const { code, out } = await list(`127.0.0.1:1,${broken},${good}`);
    expect({ code, out }).to.deep.equal({ code: 0, out: 'policy/default/ops\n' });
  });

  it('names every address when none answers', async () => {
    const { code, err } = await list('127.0.0.1:1,127.0.0.1:2');
    expect(code).to.equal(1);
    expect(err).to.match(/^conclave: http:\/\/127.0.0.1:1 does not answer: .*; http:.*:2 does not/);
    expect(err).to.include('(unreachable)\n  is a node running there?');
  });

  it('does not send a write again when the connection breaks', async () => {
    const [broken, good] = [await serve(hangUp), await serve(json({ ID: 'a', Name: 'x' }))];
    const args = ['acl', 'policy', 'create', '--name', 'x', '--http-addr', `${broken},${good}`];
    const { code, err } = await user.run(args);
    expect(code).to.equal(1);
    expect(err).to.include('(outcome_unknown)').and.include('the write may have happened');
    expect(fake.seen).to.have.length(1);
  });

  it('repeats while there is no leader, and while there are too many requests', async () => {
    const address = await serve(
      problem(503, { code: 'no_leader', detail: 'No cluster leader' }),
      text(500, 'No cluster leader'),
      problem(429, { code: 'too_many', detail: 'too many' }, { 'Retry-After': '0' }),
      policies,
    );
    expect((await list(address)).code).to.equal(0);
    expect(fake.seen).to.have.length(4);
  });

  it('gives up at the timeout', async () => {
    const address = await serve(
      problem(503, { code: 'no_leader', detail: 'No cluster leader' }, { 'Retry-After': '60' }),
    );
    const { code, err } = await list(address, {}, ['--timeout', '1s']);
    expect({ code, err }).to.deep.equal({
      code: 1,
      err: 'conclave: No cluster leader (no_leader)\n',
    });
    expect(fake.seen).to.have.length(1);
  });

  it('says that the outcome of a write is unknown, and does not repeat it', async () => {
    const detail = 'the outcome is unknown';
    const address = await serve(problem(504, { code: 'outcome_unknown', detail }));
    const args = ['acl', 'policy', 'create', '--name', 'x', '--http-addr', address];
    const { code, err } = await user.run(args);
    expect(code).to.equal(1);
    expect(err).to.equal(
      `conclave: ${detail} (outcome_unknown)\n` +
        '  the write may have happened: read before you write again\n',
    );
    expect(fake.seen).to.have.length(1);
  });

  it('tells a refusal with its code, and the id of the decision', async () => {
    const refused = { code: 'permission_denied', detail: 'Permission denied: no' };
    const address = await serve(problem(403, refused, { 'X-Consul-Decision': 'aa-bb' }));
    expect(await list(address)).to.deep.equal({
      code: 1,
      out: '',
      err:
        'conclave: Permission denied: no (permission_denied, decision aa-bb)\n' +
        '  conclave acl decision aa-bb shows why\n',
    });
    const { err } = await list(address, {}, ['-o', 'json']);
    expect(JSON.parse(err)).to.include({ ...refused, status: 403, decision: 'aa-bb' });
  });

  it('tells a refusal of another server of the API, which is text', async () => {
    const address = await serve(text(403, 'Permission denied: lacks acl:read\n'));
    expect((await list(address)).err).to.equal(
      'conclave: Permission denied: lacks acl:read (permission_denied)\n',
    );
  });

  it('names its own options where the server names headers', async () => {
    const hint = 'send it as "X-Consul-Token: TOKEN"';
    const anonymous = "Permission denied: anonymous token lacks permission 'acl:read'";
    const address = await serve(
      problem(403, { code: 'acl_not_found', about: 'caller', detail: 'no such token', hint }),
      text(403, 'ACL not found\n'),
      problem(403, { code: 'permission_denied', detail: 'worded in another way', hint }),
      text(403, `${anonymous}\n`),
    );
    for (let n = 0; n < 2; n += 1)
      expect((await list(address)).err).to.match(
        /\n {2}this cluster does not know the token that was sent; if it came from a login, log in/,
      );
    for (let n = 0; n < 2; n += 1)
      expect((await list(address)).err)
        .to.include('--token-file')
        .and.not.to.include(hint);
  });

  it('says when the server does not have a method of an endpoint', async () => {
    const address = await serve(text(405, 'method PUT not allowed (this path takes GET)\n'));
    const args = ['acl', 'policy', 'create', '--name', 'x', '--http-addr', address];
    expect((await user.run(args)).err).to.include(
      'the server does not support PUT /v1/acl/policy (no_endpoint)',
    );
  });

  it('says when the server does not have an endpoint', async () => {
    const address = await serve(text(404, 'Invalid URL path: not a recognized HTTP API endpoint'));
    expect((await list(address)).err).to.include(
      'the server does not support GET /v1/acl/policies (no_endpoint)',
    );
  });

  it('says when the answer is not of this API', async () => {
    const address = await serve(text(200, '<html>'));
    expect((await list(address, {}, ['-o', 'json'])).err).to.include('not a server of this API');
  });

  it('never shows a token, whatever fails', async () => {
    const secret = '5ec2e700-1111-4222-8333-944455556666';
    const address = await serve(text(400, 'no'), hangUp, policies);
    const env = { CONCLAVE_HTTP_TOKEN: secret };
    const shown = [];
    for (let times = 0; times < 3; times += 1)
      shown.push(await list(address, { env }, ['--debug']));
    shown.push(await list(address, {}, ['--token', secret]));
    shown.push(await list(address, {}, [`-token=${secret}`]));
    shown.push(await list(address, {}, [`--tokn=${secret}`]));
    expect(shown.map(({ code }) => code)).to.deep.equal([1, 1, 0, 2, 2, 2]);
    expect(shown[2]!.err).to.match(/^GET http:\/\/127.0.0.1:\d+\/v1\/acl\/policies 200 \d+ ms\n$/);
    expect(shown[3]!.err).to.include('use CONCLAVE_HTTP_TOKEN');
    for (const { out, err } of shown) expect(out + err).not.to.include(secret);
  });

  it('names the option of a token file that does not exist, and a token that is none', async () => {
    expect(await list('127.0.0.1:1', {}, ['--token-file', '/none'])).to.include({
      code: 2,
      err: 'conclave: --token-file: /none does not exist\n',
    });
    expect(await list('127.0.0.1:1', {}, ['--token-file', '/dev/null'])).to.include({
      code: 2,
      err: 'conclave: --token-file: /dev/null is empty\n',
    });
    const bad = await list('127.0.0.1:1', { env: { CONSUL_HTTP_TOKEN: 'a b' } });
    expect(bad).to.include({
      code: 2,
      err: 'conclave: CONSUL_HTTP_TOKEN does not contain a valid token\n',
    });
  });

  it('hints at https where a plain connection breaks', async () => {
    const address = await serve(hangUp);
    expect((await list(address)).err).to.include(`it may speak https: try https://${address}`);
  });

  it('hints at the timeout where a server is silent', async () => {
    const address = await serve(() => {});
    const { code, err } = await list(address, {}, ['--timeout', '1s']);
    expect({ code, err }).to.deep.equal({
      code: 1,
      err:
        `conclave: http://${address} does not answer: no answer within 1 s (unreachable)\n ` +
        ` use --timeout to give the server more time\n`,
    });
  });

  it('ends with 130 when it is interrupted', async () => {
    const controller = new AbortController();
    const address = await serve(() => controller.abort());
    const { code, err } = await list(address, { signal: controller.signal });
    expect({ code, err }).to.deep.equal({
      code: 130,
      err: 'conclave: interrupted (interrupted)\n',
    });
  });
});

describe('requests of the client over TLS', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
  const user = new User();
  const servers: Server[] = [];
  const file = (name: string, content: string): string => {
    writeFileSync(join(dir, name), content);
    return join(dir, name);
  };
  const serve = async (requestCert: boolean): Promise<string> => {
    const options = { cert: SERVER_CERTIFICATE, key: SERVER_KEY, ca: CA, requestCert };
    const server = createServer(options, (_request, response) => response.end('[]'));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const list = (address: string, args: string[] = [], env: Record<string, string> = {}) =>
    user.run(['acl', 'policy', 'list', '-o', 'json', '--http-addr', address, ...args], { env });
  const ca = ['-ca-file', file('ca.pem', CA)];
  const own = [
    ...[
      '-client-cert',
      file('c.pem', SERVER_CERTIFICATE),
      '-client-key',
      file('k.pem', SERVER_KEY),
    ],
  ];
  after(() => {
    for (const server of servers) server.close().closeAllConnections();
    user.leave();
    rmSync(dir, { recursive: true, force: true });
  });

  it('trusts the authority that it is given, by option or variable', async () => {
    const address = await serve(false);
    expect((await list(`https://${address}`)).err).to.include('--ca-file or CONCLAVE_CACERT');
    expect(await list(`https://${address}`, ca)).to.include({ code: 0, out: '[]\n' });
    const env = { CONSUL_CACERT: ca[1]!, CONSUL_HTTP_SSL: 'true' };
    expect(await list(address, [], env)).to.include({ code: 0 });
    for (const no of ['false', 'F', '0'])
      expect(await list(`https://${address}`, [], { CONSUL_HTTP_SSL_VERIFY: no }), no).to.include({
        code: 0,
      });
  });

  it('reads when the certificate of a server ends, whoever signed it', async () => {
    const url = new URL(`https://${await serve(false)}`);
    const end = await certificateEnd(url, { verify: true });
    expect(end?.getTime()).to.equal(Date.parse(new X509Certificate(SERVER_CERTIFICATE).validTo));
    const refusing = await certificateEnd(new URL('https://127.0.0.1:1'), { verify: true });
    expect(refusing).to.equal(undefined);
  });

  it('names the option for another name in the certificate, and a missing file', async () => {
    const address = `https://${await serve(false)}`;
    const other = await list(address, [...ca, '-tls-server-name', 'other']);
    expect(other.err).to.include('use --tls-server-name to set the name');
    expect(await list(address, [...ca, '-tls-server-name', 'localhost'])).to.include({ code: 0 });
    const none = await list(address, ['-ca-file', join(dir, 'none')]);
    expect(none.code).to.equal(2);
    expect(JSON.parse(none.err).detail).to.equal(`--ca-file: ${join(dir, 'none')} does not exist`);
  });

  it('says which of its files cannot be used', async () => {
    const address = `https://${await serve(false)}`;
    const refused = async (...args: string[]): Promise<string> => {
      const { code, err } = await list(address, args);
      expect(code, args.join(' ')).to.equal(2);
      return JSON.parse(err).detail;
    };
    const text = file('text', 'not a certificate');
    for (const option of ['--ca-file', '--client-cert', '--client-key'])
      expect(await refused(option, text)).to.equal(`${option}: ${text} is not a PEM file`);
    const broken = file('broken', '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n');
    expect(await refused('--client-cert', broken)).to.match(
      /^the certificates or the key cannot be used: \w/,
    );
  });

  it('presents its certificate, and says what is wrong without one', async () => {
    const address = `https://${await serve(true)}`;
    expect(await list(address, [...ca, ...own])).to.include({ code: 0 });
    expect((await list(address, ca)).err).to.include('--client-cert and --client-key');
  });

  it('says that a port speaks https', async () => {
    const address = await serve(false);
    expect((await list(address)).err).to.include(`it may speak https: try https://${address}`);
  });
});
