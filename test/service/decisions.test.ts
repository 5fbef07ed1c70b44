import { hash } from 'node:crypto';
import { expect } from 'chai';
import { denialOf, deniedIn } from '../../src/acl/denial.js';
import type { Decision, Decisions } from '../../src/service/explain/decisions.js';
import type { Answer } from '../support/client.js';
import { SoloClient } from './client.js';
import { Solo } from './solo.js';

/** Lets a request come as far as the question about its own object. */
const OTHERS = 'service "other" { policy = "write" intentions = "write" }';
const ANONYMOUS = '00000000-0000-0000-0000-000000000002';

describe('denied accesses', () => {
  const denied = {
    resource: 'service',
    access: 'read',
    segment: 'web',
    namespace: 'team',
  } as const;
  const who = { accessor: ANONYMOUS, anonymous: true };

  it('are known from a refusal without its words', () => {
    const why = denialOf(who, denied);
    expect(deniedIn(why)).to.deep.equal(denied);
    expect(deniedIn({ ...why, message: 'no' })).to.deep.equal(denied);
    const { about: _, ...told } = why;
    expect(deniedIn(told)).to.equal(undefined);
  });

  it('tell the spelling that was sent, never the stored one', () => {
    const why = denialOf(who, denied, { sent: 'WEB' });
    expect(JSON.stringify(why)).to.contain('WEB').and.not.contain('web');
  });

  it('of a later release are none', () => {
    const about = { ...denied, kind: 'denied' } as const;
    for (const later of [{ resource: 'quota' }, { access: 'grant' }]) {
      const why = {
        code: 'permission_denied',
        message: '',
        about: { ...about, ...later },
      } as const;
      expect(deniedIn(why)).to.equal(undefined);
    }
  });
});

describe('decision ids', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  const refused = async (call: string, body?: object, token?: string): Promise<Answer> => {
    const reply = await client.ask(call, body, token);
    expect(reply.status, reply.text).to.equal(403);
    return reply;
  };
  const decisionOf = async ({ decision }: Answer, token?: string) =>
    (await client.must(`GET /acl/decision/${decision}`, undefined, token)) as Decision & {
      Now: { Reason: string; Allow: boolean; Text: string } | null;
      Changed: boolean;
    };

  it('stand on every 403 under both prefixes, and in its problem details', async () => {
    const { headers } = await client.ask('GET /acl/roles', undefined, '');
    const id = headers['x-service-decision'];
    expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{16}$/);
    expect(headers['x-consul-decision']).to.equal(id);
    const json = { headers: { accept: 'application/json' } };
    const { body, decision } = await client.ask('GET /acl/roles', undefined, '', json);
    expect(body).to.include({ decision });
    expect(decision).to.be.a('string');
    const fine = await client.ask('GET /acl/roles');
    expect([fine.status, fine.decision]).to.deep.equal([200, null]);
    expect((await client.ask('GET /nothing')).decision).to.equal(null);
  });

  it('lead to what was asked, why it was refused then, and what holds now', async () => {
    const secret = await client.secretWith(`service_prefix "web" { policy = "read" } ${OTHERS}`);
    const { AccessorID } = await client.must('GET /acl/token/self', undefined, secret);
    const entry = { Kind: 'service-defaults', Name: 'web-1' };
    const reply = await refused('PUT /config?a=b', entry, secret);
    const decision = await decisionOf(reply);
    const { Now, ...rest } = decision;
    expect(rest).to.deep.equal({
      ID: reply.decision,
      Time: new Date(client.solo.nowMs).toISOString(),
      Node: 'solo',
      Type: 'authorization',
      Method: 'PUT',
      Path: '/v1/config',
      RemoteAddr: '127.0.0.1',
      AccessorID,
      Identity: null,
      Namespace: 'default',
      Resource: 'service',
      Access: 'write',
      Segment: 'web-1',
      Message: reply.text.trim(),
      TraceID: '',
      AppliedIndex: client.solo.machine.appliedIndex(),
      Then: { Reason: 'rule', Level: 'read', Rule: 'service_prefix "web"' },
      Changed: false,
      Login: null,
    });
    expect(Now).to.include({ Allow: false, Reason: 'rule' });
    const [policy] = (await client.must(`GET /acl/token/${AccessorID}`)).Policies;
    const Rules = `service_prefix "web" { policy = "write" } ${OTHERS}`;
    await client.must(`PUT /acl/policy/${policy.ID}`, { Name: policy.Name, Rules });
    const later = await decisionOf(reply);
    expect(later.Now).to.include({ Allow: true });
    expect([later.Changed, later.Then]).to.deep.equal([true, decision.Then]);
    await client.must(`DELETE /acl/token/${AccessorID}`);
    expect(await decisionOf(reply)).to.include({ Now: null, Changed: true });
  });

  it('say that no rule was there, and what it takes', async () => {
    const decision = await decisionOf(await refused('GET /acl/roles', undefined, ''));
    expect(decision.Then).to.deep.equal({ Reason: 'default_policy', Level: null, Rule: null });
    expect(decision).to.include({ AccessorID: ANONYMOUS, Segment: '' });
    expect(decision.Now).to.include({ Reason: 'default_policy' });
  });

  it('of entries are about the entry, even if the token may write none', async () => {
    const secret = await client.secretWith('service_prefix "web" { policy = "read" }');
    const entry = { Kind: 'service-defaults', Name: 'web-1' };
    const reply = await refused('PUT /config', entry, secret);
    expect(reply.text).to.match(/lacks permission 'service:write' on "web-1"$/);
    const { Segment, Then } = await decisionOf(reply);
    expect([Segment, Then]).to.deep.equal([
      'web-1',
      { Reason: 'rule', Level: 'read', Rule: 'service_prefix "web"' },
    ]);
    const none = /of which an entry needs one$/;
    const wrong = [
      { ...entry, Protocol: 7 },
      { Kind: 'nothing', Name: 'x' },
      { ...entry, Meta: { long: 'x'.repeat(4096) } },
    ];
    for (const body of wrong)
      expect((await refused('PUT /config', body, secret)).text).to.match(none);
    for (const query of ['?cas=x', '?ns=!'])
      expect((await refused(`PUT /config${query}`, entry, secret)).text).to.match(none);
  });

  it('of written intention levels have the reason that explanations have', async () => {
    const secret = await client.secretWith(
      `service "a" { policy = "read" intentions = "read" } ${OTHERS} ` +
        'service "b" { policy = "read" }',
    );
    for (const [Name, Reason] of [
      ['a', 'rule'],
      ['b', 'service_rule'],
    ]) {
      const entry = { Kind: 'service-intentions', Name, Sources: [{ Name: 'x', Action: 'allow' }] };
      const decision = await decisionOf(await refused('PUT /config', entry, secret));
      expect(decision.Then).to.include({ Reason, Level: 'read' });
    }
  });

  it('keep nothing of a token that is not known', async () => {
    const secret = '0f0f0f0f-1111-4222-8333-444444444444';
    const reply = await refused('GET /acl/roles', undefined, secret);
    const { text } = await client.ask(`GET /acl/decision/${reply.decision}`);
    expect(text).not.to.include(secret);
    const nothing = { AccessorID: null, Resource: null, Access: null, Then: null, Now: null };
    expect(JSON.parse(text)).to.deep.include({ Type: 'unknown_token', ...nothing });
  });

  it('of a refused login tell the reason to those who may read the method', async () => {
    const PEM = [
      '-----BEGIN PUBLIC KEY-----',
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqRpGmmzvm8YlBnMAfdGvzoaB7ugR',
      'csj5v1pQlMOllerstsi0VQb5nDYQHD7iwnjmy/wdSWAeK0DDNOLWyUUEgg==',
      '-----END PUBLIC KEY-----\n',
    ];
    const Config = { JWTValidationPubKeys: [PEM.join('\n')] };
    await client.must('PUT /acl/auth-method', { Name: 'jwt1', Type: 'jwt', Config });
    const BearerToken = 'secretsecretsecret';
    const body = { AuthMethod: 'jwt1', BearerToken };
    const reply = await refused('POST /acl/login', body, '');
    expect(reply.text).to.equal('Permission denied');
    const decision = await decisionOf(reply);
    expect(decision).to.deep.include({
      Type: 'login',
      Now: null,
      Login: {
        AuthMethod: 'jwt1',
        Namespace: 'default',
        ReasonCode: 'form',
        Reason: 'error parsing token: not three parts in base64url',
      },
    });
    expect(JSON.stringify(decision)).not.to.include(BearerToken);
    expect(
      (await client.ask(`GET /acl/decision/${reply.decision}`, undefined, '')).status,
    ).to.equal(404);
    const unknown = await refused('POST /acl/login', { ...body, AuthMethod: 'none' }, '');
    expect((await decisionOf(unknown)).Login).to.include({ ReasonCode: 'unknown_method' });
  });

  it('are for readers of ACL objects, and for the token that was refused', async () => {
    const mine = await client.secretWith('key "a" { policy = "read" }');
    const other = await client.secretWith('key "a" { policy = "read" }');
    const reader = await client.secretWith('acl = "read"');
    const reply = await refused('GET /acl/roles', undefined, mine);
    const ask = async (token: string) => {
      const { status, text } = await client.ask(
        `GET /acl/decision/${reply.decision}`,
        undefined,
        token,
      );
      return [status, text];
    };
    expect((await ask(mine))[0]).to.equal(200);
    expect((await ask(reader))[0]).to.equal(200);
    const missing = await client.ask(
      'GET /acl/decision/12345678-1234567812345678',
      undefined,
      other,
    );
    expect(await ask(other)).to.deep.equal([404, missing.text]);
    expect(missing.body.detail).to.include('10 minutes');
    expect((await client.ask('GET /acl/decision/x')).status).to.equal(404);
  });

  it('tell nothing of the rules of a token that the reader may not read', async () => {
    await client.must('PUT /namespace', { Name: 'team' });
    const secret = await client.secretWith('key "a" { policy = "read" }');
    const reply = await refused('GET /acl/roles?ns=team', undefined, secret);
    const reader = await client.secretWith('acl = "read"', 'team');
    const decision = await decisionOf(reply, reader);
    expect(decision).to.include({ Namespace: 'team', Now: null, Then: null, Changed: false });
    const { AccessorID } = await client.must('GET /acl/token/self', undefined, secret);
    await client.must(`DELETE /acl/token/${AccessorID}`);
    expect(await decisionOf(reply, reader)).to.deep.equal(decision);
    expect((await decisionOf(reply)).Then).to.include({ Reason: 'default_policy' });
  });

  it('do not show a secret that stood in the path or in a name', async () => {
    const { SecretID } = await client.must('PUT /acl/token', {});
    const nobody = await client.secretWith(OTHERS);
    const inPath = await refused(`GET /acl/token/${SecretID}`, undefined, nobody);
    const entry = { Kind: 'service-defaults', Name: SecretID };
    const inName = await refused('PUT /config', entry, nobody);
    for (const { decision } of [inPath, inName]) {
      const { text } = await client.ask(`GET /acl/decision/${decision}`);
      expect(text).not.to.include(SecretID);
      expect(text).to.include('hidden');
    }
  });

  const noteOf = (decisions: Decisions, tokenKey: string | null) =>
    decisions.note({
      method: 'GET',
      path: '/v1/acl/roles',
      traceId: '',
      remoteAddress: '127.0.0.1',
      caller: { tokenKey },
      namespace: 'default',
      refusal: { code: 'permission_denied', message: 'Permission denied' },
    });

  it('of a valid token are not pushed out by those of strangers', async () => {
    const { solo } = client;
    const tokenKey = hash('sha256', await client.secretWith(OTHERS));
    const mine = noteOf(solo.decisions, tokenKey)!;
    for (const stranger of [null, hash('sha256', 'nobody')]) {
      for (let n = 0; n < 120; n += 1) {
        solo.nowMs += 1000;
        for (let at = 0; at < 200; at += 1) noteOf(solo.decisions, stranger);
        expect(noteOf(solo.decisions, tokenKey)).not.to.equal(undefined);
      }
    }
    expect(solo.decisions.get(mine)).to.include({ ID: mine });
  });

  it('are remembered for ten minutes, the last 5,000, and at most 50 of a second', () => {
    const { solo } = client;
    const { decisions } = solo;
    const note = () => noteOf(decisions, null);
    solo.nowMs = Math.ceil(solo.nowMs / 1000) * 1000;
    const first = note()!;
    solo.nowMs += 10 * 60_000 - 1;
    expect(decisions.get(first)).to.include({ ID: first });
    solo.nowMs += 1;
    expect(decisions.get(first)).to.equal(undefined);
    const inSecond = Array.from({ length: 150 }, note).filter((id) => id !== undefined);
    expect(inSecond).to.have.length(50);
    const all: (string | undefined)[] = [...inSecond];
    for (let n = 0; n < 100; n++) {
      solo.nowMs += 1000;
      all.push(...Array.from({ length: 50 }, note));
    }
    const known = all.filter((id) => id !== undefined && decisions.get(id) !== undefined);
    expect(known).to.deep.equal(all.slice(-5_000));
  });
});

describe('decisions of another node', () => {
  const id = 'aaaaaaaa-0123456789abcdef';
  const peers = ['aaaaaaaa-1111-4111-8111-111111111111', 'bbbbbbbb-1111-4111-8111-111111111111'];

  async function ask(answers: (member: string) => string | undefined) {
    const solo = new Solo();
    const asked: unknown[] = [];
    const node = {
      id: 'solo',
      status: () => ({ peers: peers.map((peer) => ({ id: peer })) }) as never,
      decision: async (...[member, wanted, timeoutMs]: [string, string, number]) => {
        asked.push([member, wanted, timeoutMs]);
        return answers(member);
      },
    };
    const client = await SoloClient.open([], solo, {}, { node });
    const { status, text } = await client.ask(`GET /acl/decision/${id}`);
    await client.close();
    return { status, text, asked };
  }

  it('are asked for by the id, and explained by the state of this one', async () => {
    const made = {
      ID: id,
      Time: '2026-01-01T00:00:00Z',
      Node: 'n2',
      Type: 'authorization',
      Method: 'PUT',
      Path: '/v1/acl/role',
      RemoteAddr: '10.0.0.7',
      AccessorID: null,
      Namespace: 'default',
      Resource: 'acl',
      Access: 'write',
      Segment: '',
      Message: 'Permission denied',
      AppliedIndex: 118,
      Then: null,
      Login: null,
    };
    const { status, text, asked } = await ask(() => JSON.stringify(made));
    expect([status, asked]).to.deep.equal([200, [[peers[0], id, 1000]]]);
    expect(JSON.parse(text)).to.include({ ID: id, Changed: false });
  });

  it('that does not answer, or is too old to know the question, are a 404', async () => {
    expect((await ask(() => undefined)).status).to.equal(404);
  });
});
