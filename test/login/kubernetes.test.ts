import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { authMethodTypes } from '../../src/service/login/index.js';
import type { Verdict } from '../../src/service/login/types.js';
import { LOGIN_DEFAULTS } from '../support/defaults.js';
import { CA } from './certificates.js';
import { TestServer } from './server.js';

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const JWT = `${part({ alg: 'RS256' })}.${part({ sub: 'reviewer' })}.c2ln`;
const REVIEW = '/apis/authentication.k8s.io/v1/tokenreviews';
const options = {
  ...LOGIN_DEFAULTS,
  limits: { ...LOGIN_DEFAULTS.limits, timeoutMs: 10_000, bodyBytesMax: 100_000 },
};

describe('login by kubernetes: the cluster reviews the token', () => {
  let cluster: TestServer;
  beforeEach(async () => {
    cluster = await TestServer.start(true);
    cluster.answers.set('/api/v1/namespaces/default/serviceaccounts/demo', { metadata: {} });
  });
  afterEach(() => cluster.stop());

  const validate = (more: object = {}, bearer = 'bearer-secret'): Promise<Verdict> | undefined =>
    authMethodTypes(options)
      .get('kubernetes')
      ?.validate({ Host: cluster.url, CACert: CA, ServiceAccountJWT: JWT, ...more }, bearer, {
        namespace: 'default',
        nowMs: 0,
      });
  const reviewed = (status: object): void => {
    cluster.answers.set(REVIEW, { kind: 'TokenReview', status });
  };
  const demo = {
    authenticated: true,
    user: { username: 'system:serviceaccount:default:demo', uid: 'u-1' },
  };

  it('returns namespace, name and uid of the service account', async () => {
    let sent: { authorization: string | undefined; body: unknown } | undefined;
    cluster.answers.set(REVIEW, (request: IncomingMessage, _: unknown, body: string) => {
      sent = { authorization: request.headers.authorization, body: JSON.parse(body) };
      return { status: demo };
    });
    const verdict = await validate();
    expect(verdict?.ok && verdict.identity.selectable).to.deep.equal({
      serviceaccount: { namespace: 'default', name: 'demo', uid: 'u-1' },
    });
    expect(verdict?.ok && [...verdict.identity.variables]).to.deep.equal([
      ['serviceaccount.namespace', 'default'],
      ['serviceaccount.name', 'demo'],
      ['serviceaccount.uid', 'u-1'],
    ]);
    expect(sent).to.deep.equal({
      authorization: `Bearer ${JWT}`,
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token: 'bearer-secret' },
      },
    });
  });
  it('takes the token of its own account with the line end of a file', async () => {
    const sent: (string | undefined)[] = [];
    cluster.answers.set(REVIEW, (request: IncomingMessage) => {
      sent.push(request.headers.authorization);
      return { status: demo };
    });
    for (const end of ['\n', '\r\n', ' '])
      expect(await validate({ ServiceAccountJWT: JWT + end })).to.have.property('ok', true);
    expect(sent).to.deep.equal(Array(3).fill(`Bearer ${JWT}`));
  });
  it('an annotation of the account may change the name, but not the identity', async () => {
    reviewed(demo);
    cluster.answers.set('/api/v1/namespaces/default/serviceaccounts/demo', {
      metadata: { annotations: { 'consul.hashicorp.com/service-name': 'web' } },
    });
    const verdict = await validate();
    expect(verdict?.ok && verdict.identity.variables.get('serviceaccount.name')).to.equal('web');
    expect(verdict?.ok && verdict.subject).to.equal('["default","demo","u-1"]');
  });
  it('logs the reason of a refusal, without a secret in it', async () => {
    const reason = async (more: object = {}, bearer?: string): Promise<string> => {
      const verdict = await validate(more, bearer);
      const message = verdict?.ok === false ? verdict.reason : 'accepted';
      expect(message).not.to.include('bearer-secret').and.not.to.include(JWT);
      return message;
    };
    reviewed({ authenticated: false, error: 'bearer-secret is bad' });
    expect(await reason()).to.equal('the token review does not authenticate the token');
    reviewed({ authenticated: true, user: { username: 'jane' } });
    expect(await reason()).to.equal('the token is not one of a service account');
    reviewed({ ...demo, error: 'bearer-secret has expired' });
    expect(await reason()).to.equal('the token review reports an error');
    reviewed({ authenticated: 'true', user: demo.user });
    expect(await reason()).to.match(/does not authenticate/);
    reviewed({ ...demo, user: { username: 'system:serviceaccount:default:gone' } });
    expect(await reason()).to.match(/^kubernetes: 127\.0\.0\.1:\d+ answers with status 404$/);
    cluster.answers.set(REVIEW, { kind: 'Status' });
    expect(await reason()).to.equal('kubernetes: the token review has no status');
    cluster.answers.set(
      REVIEW,
      (_: IncomingMessage, response: { writeHead(s: number, h: object): { end(): void } }) => {
        response.writeHead(307, { location: 'https://127.0.0.1:1/steal' }).end();
      },
    );
    expect(await reason()).to.match(/answers with status 307$/);
    reviewed(demo);
    const account = '/api/v1/namespaces/default/serviceaccounts/demo';
    cluster.answers.set(
      account,
      (_: IncomingMessage, response: { writeHead(s: number, h: object): { end(): void } }) => {
        response.writeHead(302, { location: '/moved' }).end();
      },
    );
    cluster.answers.set('/moved', { metadata: {} });
    expect(await reason(), 'the secret of the account follows no redirect').to.match(/status 302$/);
    expect(await reason({}, '')).to.equal('missing jwt');
    expect(await reason({ Host: 'https://127.0.0.1:1' })).to.equal(
      'kubernetes: 127.0.0.1:1: ECONNREFUSED',
    );
  });

  it('checks its Config in order, without contacting the cluster', async () => {
    const refusal = async (Config: object): Promise<string> =>
      authMethodTypes(options).get('kubernetes')?.checkConfig(Config, 'default')?.message ??
      'accepted';
    const Host = 'https://192.0.2.1:6443';
    expect(await refusal({ Foo: 1 })).to.match(
      /^Invalid Auth Method: error decoding config: .*has invalid keys: Foo/,
    );
    expect(await refusal({})).to.equal('Invalid Auth Method: Config.Host is required');
    expect(await refusal({ Host: 'http://x' })).to.match(/Config.Host is not an https URL/);
    expect(await refusal({ Host })).to.equal('Invalid Auth Method: Config.CACert is required');
    expect(await refusal({ Host, CACert: 'x' })).to.match(/error parsing kubernetes ca cert: /);
    expect(await refusal({ Host, CACert: CA })).to.equal(
      'Invalid Auth Method: Config.ServiceAccountJWT is required',
    );
    for (const ServiceAccountJWT of ['x', 'a.b.c', 'a.b', `${JWT}\nx`, `${JWT}ä`]) {
      const message = await refusal({ Host, CACert: CA, ServiceAccountJWT });
      expect(message).to.match(/Config.ServiceAccountJWT is not a valid JWT: /);
    }
    expect(await refusal({ Host, CACert: CA, ServiceAccountJWT: JWT })).to.equal('accepted');
    expect(cluster.seen).to.deep.equal([]);
  });
});
