/** What the records of an audit log say: why, where, and no secret. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { ApiError, refusal } from '../../src/base/errors.js';
import type { ApiRequest, Route } from '../../src/http/routes/types.js';
import { startFront } from '../http/harness.js';
import { type Signer, signer } from '../login/signers.js';
import { send } from '../support/client.js';
import { type Audited, audited } from './audited.js';

const REASON = { headers: { 'x-consul-reason': 'of the header' } };
const HIDDEN = '<hidden>';

/** A request of which the client leaves before it is answered. */
const late = { begun: () => {}, isRefused: true };

/** Answers once the client has left. */
async function whenGone(request: ApiRequest, audit: () => Audited): Promise<void> {
  const left = new Promise((resolve) => request.incoming.socket.once('close', resolve));
  const { caller, timeoutMs, notes } = request;
  await audit().solo.service.permit({ caller, timeoutMs, notes }, (authorizer) =>
    authorizer.denial('acl', 'write'),
  );
  late.begun();
  await left;
  if (late.isRefused) throw new ApiError(refusal('permission_denied', 'Permission denied: late'));
  request.answerJson('true');
}

describe('the records of the audit log', () => {
  let node: Audited;
  let key: Signer;
  const gone: Route = {
    path: '/v1/gone',
    GET: (request) => whenGone(request, () => node),
    PUT: (request) => whenGone(request, () => node),
  };
  before(async () => {
    key = await signer('EdDSA');
    node = await audited({}, [[gone]]);
    const Config = { JWTValidationPubKeys: [key.pem] };
    await node.client.must('PUT /acl/auth-method', { Name: 'jwt', Type: 'jwt', Config });
    const rule = { AuthMethod: 'jwt', BindType: 'service', BindName: 'web' };
    await node.client.must('PUT /acl/binding-rule', rule);
    await node.client.must('PUT /namespace', { Name: 'team-a' });
  });
  after(() => node.client.close());
  /** Resolves when the newest record is of this request, and fails if that never comes. */
  const recorded = async (endpoint: string): Promise<void> => {
    for (let turns = 0; turns < 10_000; turns += 1) {
      if (node.last().request.endpoint === endpoint) return;
      await nextTurn();
    }
    expect(node.last().request.endpoint).to.equal(endpoint);
  };

  it('have the reason of the body, if it gives one', async () => {
    const asked = async (call: string, body: object): Promise<string> => {
      const { status, text } = await node.client.ask(call, body, undefined, REASON);
      expect(status, text).to.equal(200);
      return node.last().reason;
    };
    expect(await asked('PUT /acl/policy', { Name: 'undone' })).to.equal('of the header');
    const Index = Number((await node.client.ask('GET /acl/policies')).index);
    const bodies: readonly (readonly [string, object])[] = [
      ['POST /undo', { Index }],
      ['POST /apply', { Owner: 'team', Objects: [{ Type: 'role', Object: { Name: 'set' } }] }],
      ['POST /acl/tokens/gc', { UnusedFor: '720h', DryRun: false }],
      ['POST /acl/tokens/import', { Source: 'dc2', Tokens: [] }],
      ['POST /acl/tokens/revoke', { AuthMethod: 'jwt', Subject: 'x', DryRun: false }],
      ['POST /owners/release', { Owner: 'team' }],
    ];
    for (const [call, body] of bodies) {
      expect(await asked(call, { ...body, Reason: 'of the body' }), call).to.equal('of the body');
      expect(node.last().request.endpoint).to.equal(`/v1${call.slice('POST '.length)}`);
    }
  });

  it('tell of what is refused although the client has left', async () => {
    const leave = async (method: string, isRefused: boolean): Promise<void> => {
      const leaving = new AbortController();
      late.isRefused = isRefused;
      late.begun = () => leaving.abort();
      const call = node.client.ask(`${method} /gone`, undefined, undefined, {
        signal: leaving.signal,
      });
      await call.then(
        () => expect.fail('it was answered'),
        () => {},
      );
      await recorded('/v1/gone');
      expect(node.last().response.status).to.equal('0');
    };
    for (const method of ['PUT', 'GET']) {
      await node.client.must('PUT /acl/policy', { Name: `before-${method}` });
      await leave(method, true);
      expect(node.last().granted_by).to.deep.equal([]);
      expect(node.last().decision).to.not.equal('');
    }
    await node.client.must('PUT /acl/policy', { Name: 'before-last' });
    await leave('PUT', false);
    expect(node.rules()).to.deep.equal(['acl:write global-management:1']);
  });

  it('tell of what is refused early, although the client has left', async () => {
    const { audit } = node;
    const front = await startFront([], { audit, allowedHosts: ['a.example'] });
    const req = new IncomingMessage(new Socket().destroy());
    Object.assign(req, { method: 'GET', url: '/v1/early' });
    req.headers = { host: 'b.example', 'x-service-token': 'x' };
    front.app.handler(req, new ServerResponse(req));
    await recorded('/v1/early');
    expect(node.last().response.status).to.equal('0');
    await front.close();
  });

  it('have the namespace that the body names', async () => {
    const role = { Name: 'here', Namespace: 'team-a' };
    await node.client.must('PUT /acl/role', role);
    expect(node.last().namespace).to.equal('team-a');
    expect(node.last().granted_by[0]!.namespace).to.equal('team-a');
    const secret = await node.client.secretWith('acl = "write"');
    const refused = await node.client.ask('PUT /acl/role', { ...role, Name: 'no' }, secret);
    expect(refused.status).to.equal(403);
    expect(node.solo.decisions.get(refused.decision!)!.Namespace).to.equal('team-a');
    expect(node.last().namespace).to.equal('team-a');
    const Tokens = [{ Namespace: 'team-a', AccessorID: '8a2d0000-1111-4222-8333-000000000001' }];
    const SecretID = '5ec7e701-1111-4222-8333-000000000001';
    const body = { Source: 'dc3', Tokens: [{ ...Tokens[0], SecretID }] };
    await node.client.must('POST /acl/tokens/import', body);
    expect(node.last().namespace).to.equal('default');
  });

  it('hide a SecretID in a path', async () => {
    const { AccessorID, SecretID } = await node.client.must('PUT /acl/token', {});
    const encoded = `%${SecretID.charCodeAt(0).toString(16)}${SecretID.slice(1)}`;
    for (const id of [SecretID, encoded]) {
      await node.client.ask(`DELETE /acl/token/${id}?ns=default`);
      expect(node.last().request.endpoint).to.equal(`/v1/acl/token/${HIDDEN}?ns=default`);
      const { decision } = await node.client.ask(`GET /acl/token/${id}/effective`, undefined, '');
      const endpoint = `/v1/acl/token/${HIDDEN}/effective`;
      expect(node.last().request.endpoint).to.equal(endpoint);
      expect(node.solo.decisions.get(decision!)!.Path).to.equal(endpoint);
    }
    const old = 'master-of-an-old-source';
    const Tokens = [{ AccessorID: '8a2d0000-1111-4222-8333-000000000002', SecretID: old }];
    await node.client.must('POST /acl/tokens/import', { Source: 'dc3', Tokens });
    await node.client.ask(`DELETE /acl/token/${old}`);
    expect(node.last().request.endpoint).to.equal(`/v1/acl/token/${HIDDEN}`);
    await node.client.ask(`DELETE /config/service-defaults/a?filter=a${SecretID}`);
    const { endpoint } = node.last().request;
    expect(endpoint).to.equal(`/v1/config/service-defaults/a?filter=${HIDDEN}`);
    await node.client.must(`DELETE /acl/token/${AccessorID}`);
    expect(node.last().request.endpoint).to.equal(`/v1/acl/token/${AccessorID}`);
  });

  it('hide what a provider of identities sends back to a page', async () => {
    const { audit, solo } = node;
    const front = await startFront([], {
      service: solo.service,
      audit,
      allowedHosts: ['a.example'],
    });
    const path = '/ui/oidc/callback?code=c0de&st%61te=5tate&iss=https%3A%2F%2Fidp.example';
    const { status } = await send(`http://127.0.0.1:${front.listener.port}`, `GET ${path}`);
    expect(status).to.equal(403);
    const { endpoint } = node.last().request;
    const iss = 'iss=https%3A%2F%2Fidp.example';
    expect(endpoint).to.equal(`/ui/oidc/callback?code=${HIDDEN}&st%61te=${HIDDEN}&${iss}`);
    await front.close();
  });

  it('do not say that there was no version before the end of a login', async () => {
    const now = Math.floor(node.solo.nowMs / 1000);
    const BearerToken = await key.sign({ iat: now - 10, exp: now + 600, sub: 'a' });
    const login = () => node.client.must('POST /acl/login', { AuthMethod: 'jwt', BearerToken }, '');
    const { SecretID, AccessorID } = await login();
    expect(node.last().objects[0]).to.include({ action: 'create', before: 0 });
    await node.client.must('POST /acl/logout', undefined, SecretID);
    const [ended] = node.last().objects;
    expect(ended).to.include({ type: 'token', id: AccessorID, action: 'delete', after: 0 });
    expect(ended).to.not.have.any.keys('before', 'changes');
    const made = await node.client.must('PUT /acl/token', {});
    await node.client.must(`DELETE /acl/token/${made.AccessorID}`);
    expect(node.last().objects[0]).to.include({ action: 'delete', before: made.CreateIndex });
  });
});
