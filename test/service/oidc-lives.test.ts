/** How long an OIDC login can be completed, and renewed without its user. */
import { expect } from 'chai';
import type { Command } from '../../src/state/types.js';
import type { Answer } from '../support/client.js';
import { type Forger, startForger } from '../support/oidc-forger.js';
import { SoloClient } from './client.js';
import { Solo } from './solo.js';

const LEVEL = { type: 'system.level', v: 1, level: 3 } as Command;
const CALLBACK = 'http://127.0.0.1:8500/ui/oidc/callback';
const STATE_MS = 10 * 60_000;
const RENEWAL_MS = 30 * 86_400_000;

describe('the time for an OIDC login', function () {
  this.timeout(60_000);
  let forger: Forger;
  let solo: Solo;
  let client: SoloClient;
  before(async () => {
    forger = await startForger();
  });
  after(() => forger.stop());
  beforeEach(async () => {
    solo = new Solo();
    client = await SoloClient.open([], solo);
    solo.must(LEVEL);
    const Config = {
      OIDCDiscoveryURL: forger.issuer,
      OIDCClientID: 'conclave',
      AllowedRedirectURIs: [CALLBACK],
    };
    const method = { Name: 'staff', Type: 'oidc', MaxTokenTTL: '1440h', Config };
    await client.must('PUT /acl/auth-method', method);
    const rule = { AuthMethod: 'staff', BindType: 'service', BindName: 'web' };
    await client.must('PUT /acl/binding-rule', rule);
  });
  afterEach(() => client.close());

  /** What the provider grants at the time of the node. */
  const honest = () => {
    const now = Math.floor(solo.nowMs / 1000);
    return { claims: { aud: 'conclave', iat: now, exp: now + 600 } };
  };
  const begin = async (): Promise<string> => {
    const body = { AuthMethod: 'staff', RedirectURI: CALLBACK, ClientNonce: 'n' };
    return (await client.must('POST /acl/oidc/auth-url', body, '')).AuthURL;
  };
  const complete = (url: string): Promise<Answer> => {
    const forged = { ...honest(), answer: { refresh_token: 'r1' } };
    const { searchParams } = new URL(forger.logIn(url, forged));
    const [State, Code] = [searchParams.get('state'), searchParams.get('code')];
    const body = { AuthMethod: 'staff', State, Code, ClientNonce: 'n' };
    return client.ask('POST /acl/oidc/callback', body, '');
  };
  const logIn = async (): Promise<Answer['body']> => {
    const { status, text, body } = await complete(await begin());
    expect(status, text).to.equal(200);
    return body;
  };
  const renew = ({ SecretID, Renewal }: Answer['body']): Promise<Answer> => {
    forger.grant('r1', honest());
    const body = { AuthMethod: 'staff', Renewal };
    return client.ask('POST /acl/oidc/renew', body, SecretID);
  };
  const whyNot = async ({ status, decision }: Answer): Promise<unknown[]> => {
    const { Login } = await client.must(`GET /acl/decision/${decision}`);
    return [status, Login.ReasonCode, Login.Reason];
  };

  it('is ten minutes to complete it', async () => {
    const [soon, late] = [await begin(), await begin()];
    solo.nowMs += STATE_MS - 1;
    const answer = await complete(soon);
    expect(answer.status, answer.text).to.equal(200);
    solo.nowMs += 1;
    expect(await whyNot(await complete(late))).to.deep.equal([
      403,
      'state',
      'the State is too old',
    ]);
  });

  it('is thirty days to renew it, counted anew from each renewal', async () => {
    const [soon, late] = [await logIn(), await logIn()];
    solo.nowMs += RENEWAL_MS - 1;
    const renewed = await renew(soon);
    expect(renewed.status, renewed.text).to.equal(200);
    solo.nowMs += 1;
    expect(await whyNot(await renew(late))).to.deep.equal([
      403,
      'renewal',
      'the Renewal is too old',
    ]);
    solo.nowMs += RENEWAL_MS - 2;
    expect((await renew(renewed.body)).status).to.equal(200);
  });
});
