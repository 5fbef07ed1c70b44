/** Auth methods reveal nothing about the node's network to those who may write them. */
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { authMethodTypes } from '../../src/service/login/index.js';
import { LoginRefusals } from '../../src/service/login/refusals.js';
import type { Command } from '../../src/state/types.js';
import { TestServer } from '../login/server.js';
import { type Signer, signer } from '../login/signers.js';
import { LOGIN_DEFAULTS } from '../support/defaults.js';
import { SoloClient } from './client.js';

const UNREACHABLE =
  /^Invalid Auth Method: error checking \w+: the keys of the issuer cannot be fetched \(the log of the node that answered has the reason\)$/;

describe('the issuer of an auth method', () => {
  let client: SoloClient;
  let inside: TestServer;
  let issuer: Signer;
  let admin: string;
  before(async () => {
    issuer = await signer('ES256', 'k1');
  });
  beforeEach(async () => {
    client = await SoloClient.open();
    inside = await TestServer.start();
    inside.answers.set('/keys', { keys: [issuer.jwk] });
    await client.must('PUT /namespace', { Name: 'alpha' });
    admin = await client.secretWith('acl = "write"', 'alpha');
  });
  afterEach(async () => {
    await inside.stop();
    await client.close();
  });

  const put = (Config: object, ns: string, more: object = {}) =>
    client.ask(
      `PUT /acl/auth-method?ns=${ns}`,
      { Name: 'm', Type: 'jwt', Config, ...more },
      ns === 'alpha' ? admin : undefined,
    );

  it('is not fetched from internal addresses outside the default namespace', async () => {
    const port = new URL(inside.url).port;
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '0x7f.1', '10.0.0.1', '169.254.169.254'])
      for (const Config of [
        { JWKSURL: `http://${host}:${port}/keys` },
        { JWKSURL: `https://${host}:${port}/keys` },
        { OIDCDiscoveryURL: `https://${host}:${port}` },
      ]) {
        const refused = await put(Config, 'alpha');
        expect(refused.status, JSON.stringify(Config)).to.equal(400);
        expect(refused.text).to.match(/^Invalid Auth Method: error checking \w+: /);
        expect(refused.text).not.to.match(/ECONN|EPROTO|ENETUNREACH|status|no reply/);
      }
    expect(inside.seen).to.deep.equal([]);
  });

  it('causes the same error text whatever is at its address', async () => {
    inside.answers.set('/away', (_: unknown, response: ServerResponse) => {
      response.writeHead(302, { location: 'http://192.0.2.1/' }).end();
    });
    const answers = new Set<string>();
    for (const JWKSURL of ['http://127.0.0.1:1/', `${inside.url}/none`, `${inside.url}/away`]) {
      const refused = await put({ JWKSURL }, 'default');
      expect(refused.status).to.equal(400);
      expect(refused.text).to.match(UNREACHABLE);
      answers.add(refused.text);
    }
    expect(answers.size).to.equal(1);
    expect((await put({ OIDCDiscoveryURL: inside.url }, 'default')).text).to.match(UNREACHABLE);
    expect((await put({ JWKSURL: `${inside.url}/keys` }, 'default')).status).to.equal(200);
  });

  it('is contacted only after everything else was found valid', async () => {
    const Config = { JWKSURL: `${inside.url}/keys` };
    for (const more of [
      { NamespaceRules: [{ Selector: 'value.x == y', BindNamespace: 'a' }] },
      { NamespaceRules: [{ BindNamespace: 'Not_A_Label' }] },
      { MaxTokenTTL: '1s' },
      { TokenLocality: 'nowhere' },
      { Name: 'not a name' },
    ])
      expect((await put(Config, 'default', more)).status).to.equal(400);
    await client.must('PUT /acl/auth-method', {
      Name: 'm',
      Type: 'jwt',
      Config: { ...Config, ClaimMappings: { sub: 'name' } },
    });
    const rule = { AuthMethod: 'm', BindType: 'service', BindName: '${value.name}' };
    await client.must('PUT /acl/binding-rule', rule);
    const before = inside.seen.length;
    expect((await put(Config, 'default')).status).to.equal(409);
    expect(inside.seen).to.have.lengthOf(before);
    expect(before).to.equal(1);
  });

  it('is not named in explanations and decisions that the owner of a method reads', async () => {
    const logged: string[] = [];
    const logger = { warn: (fields: object) => void logged.push(JSON.stringify(fields)) };
    const refusals = new LoginRefusals(logger, () => client.solo.nowMs);
    const rules = { allowedHosts: [], privateAddresses: true, plainHttp: true };
    const methodTypes = authMethodTypes({ ...LOGIN_DEFAULTS, rules });
    const own = await SoloClient.open([], client.solo, {}, { refusals, logger, methodTypes });
    // Its server was there when it was written.
    const JWKSURL = 'http://127.0.0.1:1/keys';
    const method = { Name: 'm', Type: 'jwt', TokenLocality: 'local', Config: { JWKSURL } };
    client.solo.must({ type: 'method.set', v: 1, ns: 'alpha', method } as unknown as Command);
    const BearerToken = await issuer.sign({ sub: 'a' });
    const body = { AuthMethod: 'm', BearerToken, Namespace: 'alpha' };
    const explain = 'POST /acl/login/explain?ns=alpha';
    const login = await own.ask('POST /acl/login?ns=alpha', body);
    const operator = await client.secretWith(
      'acl = "read" operator = "read" namespace "alpha" { acl = "read" }',
    );
    for (const [call, sent] of [
      [explain, body],
      [`GET /acl/decision/${login.decision}`, undefined],
    ] as const) {
      const shown = await own.ask(call, sent, admin);
      expect(shown.status, shown.text).to.equal(200);
      expect(shown.text).to.include('unreachable');
      expect(shown.text).to.include('the log of the node that answered has the reason');
      // A decision names the address of the client too.
      const { RemoteAddr: _, ...about } = shown.body;
      expect(JSON.stringify(about)).not.to.match(/127\.0|:1\b.*keys|ECONN|no reply/);
      const whole = await own.ask(call, sent, operator);
      expect(whole.text).to.include('127.0.0.1:1');
    }
    expect(logged.filter((line) => line.includes('issuer_unusable')).join()).to.include(
      '127.0.0.1:1',
    );
    await own.close();
  });
});
