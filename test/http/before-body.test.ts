/** Permissions are checked before the body is read: may the caller write anything of this kind? */
import { connect } from 'node:net';
import { expect } from 'chai';
import { SoloClient } from '../service/client.js';
import { MANAGEMENT_SECRET } from '../service/solo.js';
import { send } from '../support/client.js';

const ID = '11111111-aaaa-4bbb-8ccc-222222222222';
const WRITES: readonly (readonly [method: string, path: string])[] = [
  ['PUT', '/v1/acl/policy'],
  ['PUT', `/v1/acl/policy/${ID}`],
  ['PUT', '/v1/acl/role'],
  ['PUT', `/v1/acl/role/${ID}`],
  ['PUT', '/v1/acl/token'],
  ['PUT', `/v1/acl/token/${ID}`],
  ['PUT', `/v1/acl/token/${ID}/clone`],
  ['PUT', '/v1/acl/auth-method'],
  ['PUT', '/v1/acl/auth-method/m'],
  ['PUT', '/v1/acl/binding-rule'],
  ['PUT', `/v1/acl/binding-rule/${ID}`],
  ['PUT', '/v1/namespace'],
  ['PUT', '/v1/namespace/alpha'],
  ['PUT', '/v1/config'],
];

describe('http: the server, before it reads the body of a write', () => {
  let client: SoloClient;
  before(async () => {
    client = await SoloClient.open();
  });
  after(() => client.close());

  const ask = (call: string, token: string, body: string) =>
    send(client.url, call, { token, body });
  /** Announces a body but does not send it; returns the response once the connection closes. */
  const headersOnly = (call: string, token: string, length: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(client.listener.port, '127.0.0.1', () => {
        const named = token === '' ? '' : `X-Service-Token: ${token}\r\n`;
        socket.write(`${call} HTTP/1.1\r\nHost: x\r\n${named}Content-Length: ${length}\r\n\r\n`);
      });
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        // Nothing comes after the response: the server waits for the rest of the body.
        if (text.includes('\r\n\r\n')) socket.end();
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });

  for (const [method, path] of WRITES) {
    const call = `${method} ${path}`;
    it(`${call} refuses a caller without any such permission before it has the body`, async () => {
      const { SecretID } = await client.must('PUT /acl/token', { Description: 'no rights' });
      for (const token of ['', SecretID]) {
        const text = await headersOnly(call, token, 5000);
        expect(text).to.match(/^HTTP\/1.1 403 .*Permission denied/s);
      }
      const text = await headersOnly(call, ID, 5000);
      expect(text).to.match(/^HTTP\/1.1 403 .*ACL not found/s);
    });

    it(`${call} validates the body of permitted callers`, async () => {
      expect(await ask(call, MANAGEMENT_SECRET, '{')).to.include({ status: 400 });
      expect(await ask(call, '', `{${' '.repeat(5000)}`)).to.include({ status: 403 });
      expect(await ask(call, '', '{"Kind":1,"Name":{},"Stranger":[]}')).to.include({ status: 403 });
    });
  }

  it('accepts a body that names a namespace in which the caller may write', async () => {
    await client.must('PUT /namespace', { Name: 'alpha' });
    const Rules = 'namespace "alpha" { acl = "write" }';
    await client.must('PUT /acl/policy', { Name: 'alpha-admin', Rules });
    const { SecretID } = await client.must('PUT /acl/token', {
      Policies: [{ Name: 'alpha-admin' }],
    });
    const role = { Name: 'made-in-alpha', Namespace: 'alpha' };
    expect(await client.must('PUT /acl/role', role, SecretID)).to.include(role);
    const { status } = await ask('PUT /v1/acl/role', SecretID, '{"Name":"made-in-default"}');
    expect(status).to.equal(403);
  });

  it('accepts any caller who may write some service, intention or mesh entry', async () => {
    const rights = [
      ['service "web" { policy = "write" }', { Kind: 'service-defaults', Name: 'web' }],
      ['operator = "write"', { Kind: 'mesh' }],
      [
        'service_prefix "w" { intentions = "write" policy = "read" }',
        { Kind: 'service-intentions', Name: 'web', Sources: [{ Name: 'a', Action: 'deny' }] },
      ],
    ] as const;
    for (const [Rules, entry] of rights) {
      const { ID: id } = await client.must('PUT /acl/policy', { Name: `c${Rules.length}`, Rules });
      const { SecretID } = await client.must('PUT /acl/token', { Policies: [{ ID: id }] });
      expect(await client.must('PUT /config', entry, SecretID)).to.equal(true);
      const other = JSON.stringify({ Kind: 'service-defaults', Name: 'other' });
      expect((await ask('PUT /v1/config', SecretID, other)).status).to.equal(403);
    }
  });

  it('limits logins and bootstraps to smaller bodies', async () => {
    const body = JSON.stringify({ Description: 'x'.repeat(70_000) });
    for (const call of ['POST /v1/acl/login', 'PUT /v1/acl/bootstrap']) {
      for (const token of ['', MANAGEMENT_SECRET]) {
        const { status, text } = await ask(call, token, body);
        expect(status, call).to.equal(413);
        expect(text).to.include('65536 bytes').and.to.include('limits.anonymousBodyBytes');
      }
    }
    expect((await ask('PUT /v1/acl/policy', MANAGEMENT_SECRET, body)).status).to.equal(400);
  });

  it('takes who sends the secret of the anonymous token for a caller without a token', async () => {
    const body = JSON.stringify({ Description: 'x'.repeat(70_000) });
    for (const token of ['', 'anonymous'])
      expect((await ask('POST /v1/acl/authorize/explain', token, body)).status).to.equal(413);
    const own = await ask('GET /v1/acl/token/self', 'anonymous', '');
    expect(own.status).to.equal(200);
    expect(JSON.parse(own.text)).to.include({ Description: 'Anonymous Token' });
  });

  it('closes a connection whose unwanted body would be long to read', async () => {
    const head = async (length: number) =>
      (await headersOnly('PUT /v1/config', '', length)).split('\r\n\r\n')[0];
    expect(await head(5000)).to.match(/connection: keep-alive/i);
    expect(await head(900_000)).to.match(/connection: close/i);
  });
});
