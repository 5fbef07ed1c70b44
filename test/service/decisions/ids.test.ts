/** What is remembered of denials, and who may read it. */
import { expect } from 'chai';
import { signer } from '../../login/signers.js';
import type { Reply } from '../../support/authzen.js';
import { Decider } from './decider.js';

const RULES =
  'key_prefix "orders/" { policy = "read" }\nkey "orders/approve/17" { policy = "deny" }';
const RULE = 'key "orders/approve/17"';

describe('denials of decisions', () => {
  let decider: Decider;
  let clerk: { readonly AccessorID: string; readonly SecretID: string };
  let gateway: string;
  beforeEach(async () => {
    decider = await Decider.open();
    clerk = await decider.token(RULES);
    gateway = (await decider.token('')).SecretID;
  });
  afterEach(() => decider.close());

  const question = (type: string, id: string, more: object = {}) => ({
    subject: { type, id, ...more },
    action: { name: 'approve' },
    resource: { type: 'orders', id: '17' },
  });
  const denied = async (body: object, token = gateway, headers = {}): Promise<string> => {
    const reply = await decider.ask('evaluation?reasons=all', body, { token, headers });
    expect(reply.body.decision, reply.text).to.equal(false);
    return reply.body.context.decision_id;
  };
  const read = (id: string, token?: string) =>
    decider.client.ask(`GET /acl/decision/${id}`, undefined, token);
  const statusOf = async (id: string, token?: string) => (await read(id, token)).status;
  const remembered = async (id: string, token?: string) => {
    const { status, text, body } = await read(id, token);
    expect(status, text).to.equal(200);
    return body;
  };

  it('say what was asked, why it was denied then, and what holds now', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const headers = { 'x-request-id': 'r-1', traceparent };
    const id = await denied(question('token_secret', clerk.SecretID), gateway, headers);
    const { Now, ...decision } = await remembered(id);
    const { Message } = decision;
    expect(Message).to.match(/^key:read on "orders\/approve\/17" is denied by key "orders/);
    expect(decision).to.deep.include({
      ID: id,
      Type: 'evaluation',
      Method: 'POST',
      Path: '/access/v1/evaluation',
      AccessorID: clerk.AccessorID,
      Identity: null,
      Namespace: 'default',
      Resource: 'key',
      Access: 'read',
      Segment: 'orders/approve/17',
      SubjectType: 'token_secret',
      RequestID: 'r-1',
      Changed: false,
      Login: null,
      TraceID: '0af7651916cd43dd8448eb211c80319c',
      Then: { Reason: 'rule', Level: 'deny', Rule: RULE },
    });
    expect(decision).not.to.have.any.keys('CallerID', 'Home');
    expect(Now).to.include({ Allow: false });
    const [policy] = (await decider.client.must(`GET /acl/token/${clerk.AccessorID}`)).Policies;
    const Rules = 'key "orders/approve/17" { policy = "read" }';
    await decider.client.must(`PUT /acl/policy/${policy.ID}`, { Name: policy.Name, Rules });
    const later = await remembered(id);
    expect([later.Now.Allow, later.Changed, later.Then]).to.deep.equal([true, true, decision.Then]);
    await decider.client.must(`DELETE /acl/token/${clerk.AccessorID}`);
    expect(await remembered(id)).to.include({ Now: null, Changed: true });
  });

  it('of roles and logins have no token, and nothing that holds now', async () => {
    await decider.client.must('PUT /acl/role', { Name: 'r' });
    const key = await signer('EdDSA');
    const Config = { JWTValidationPubKeys: [key.pem] };
    await decider.client.must('PUT /acl/auth-method', { Name: 'm', Type: 'jwt', Config });
    const rule = { AuthMethod: 'm', BindType: 'role', BindName: 'r' };
    await decider.client.must('PUT /acl/binding-rule', rule);
    const iat = Math.floor(decider.client.solo.nowMs / 1000);
    const jwt = await key.sign({ sub: 'ann', iat, exp: iat + 600 });
    const subject = question('jwt', jwt, { properties: { auth_method: 'm' } });
    const ofJwt = await remembered(await denied(subject));
    expect(ofJwt).to.deep.include({
      AccessorID: '',
      Now: null,
      Changed: false,
      SubjectType: 'jwt',
      Segment: RULE.slice(5, -1),
      Identity: { AuthMethod: 'm', Namespace: 'default', Subject: 'ann' },
    });
    const refused = question('jwt', `${jwt}x`, { properties: { auth_method: 'm' } });
    expect(await remembered(await denied(refused))).to.deep.include({
      AccessorID: '',
      Identity: null,
      Resource: null,
      Segment: null,
      Then: null,
      Message: 'the login is refused',
    });
    const admin = decider.client.token;
    const ofRole = await remembered(await denied(question('role', 'r'), admin));
    expect(ofRole).to.deep.include({ AccessorID: '', Identity: null, SubjectType: 'role' });
  });

  it('are for readers of ACLs there, the token itself, and who asked', async () => {
    await decider.client.must('PUT /namespace', { Name: 'team' });
    const here = (await decider.token('acl = "read"')).SecretID;
    const there = (await decider.token('namespace "team" { acl = "read" }')).SecretID;
    const other = (await decider.token('')).SecretID;
    const team = await decider.client.must('PUT /acl/token?ns=team', {});
    const id = await denied(question('token_secret', team.SecretID));
    const may = async (token: string) => (await statusOf(id, token)) === 200;
    expect(await may(there)).to.equal(true);
    expect(await may(team.SecretID)).to.equal(true);
    expect(await may(gateway)).to.equal(true);
    for (const token of [here, other, '']) expect(await may(token)).to.equal(false);
    expect(await remembered(id, gateway)).to.deep.include({ Then: null, Now: null });
  });

  it('of a login are for readers of ACLs where its method is', async () => {
    await decider.client.must('PUT /namespace', { Name: 'team' });
    const here = (await decider.token('acl = "read"')).SecretID;
    const there = (await decider.token('namespace "team" { acl = "read" }')).SecretID;
    const properties = { auth_method: 'none', namespace: 'team' };
    const id = await denied(question('jwt', 'x', { properties }));
    expect([await statusOf(id, here), await statusOf(id, there)]).to.deep.equal([404, 200]);
  });

  it('are remembered for ten minutes, a hundred of a second', async () => {
    const first = await denied(question('token_secret', 'x'));
    const evaluations = Array(150).fill({});
    const body = { ...question('token_secret', clerk.SecretID), evaluations };
    const batch = async (): Promise<readonly (string | undefined)[]> => {
      const { body: answer }: Reply = await decider.ask('evaluations', body, { token: gateway });
      return answer.evaluations.map(
        ({ context }: { context: { decision_id?: string } }) => context.decision_id,
      );
    };
    const kept = (await batch()).filter((id) => id !== undefined);
    expect(kept).to.have.length(99);
    decider.client.solo.nowMs += 599_000;
    expect(await statusOf(first)).to.equal(200);
    decider.client.solo.nowMs += 1_000;
    expect(await statusOf(first)).to.equal(404);
    // 10,000 others push out the oldest.
    const oldest = await denied(question('token_secret', 'x'));
    for (let count = 0; count < 100; count++) {
      expect(await statusOf(oldest)).to.equal(200);
      decider.client.solo.nowMs += 1_000;
      await batch();
    }
    expect(await statusOf(oldest)).to.equal(404);
  });

  it('do not push out refused requests, nor are they counted as such', async () => {
    const refused = await decider.client.ask('GET /acl/roles', undefined, gateway);
    const { evaluations } = (
      await decider.ask(
        'evaluations',
        { ...question('token_secret', 'x'), evaluations: Array(256).fill({}) },
        { token: gateway },
      )
    ).body;
    expect(evaluations).to.have.length(256);
    expect(await statusOf(refused.decision!)).to.equal(200);
  });
});
