import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Command } from '../../../src/state/types.js';
import { SoloClient } from '../client.js';

const rows = JSON.parse(readFileSync('test/tables/config-decode.json', 'utf8')) as {
  name: string;
  input: object;
}[];
const CERTIFICATE = rows.find(({ name }) => name === 'inline-certificate: minimal entry #1')!
  .input as { readonly Name: string; readonly PrivateKey: string };
const raise = { type: 'system.level', v: 1, level: 3 } as Command;
const policy = (Name: string, Rules = 'operator = "read"', more: object = {}) => ({
  Type: 'policy',
  Object: { Name, Rules, ...more },
});
const role = (Name: string, ...names: string[]) => ({
  Type: 'role',
  Object: { Name, Policies: names.map((name) => ({ Name: name })) },
});
const entry = (Kind: string, Name: string, more: object = {}) => ({
  Type: 'config',
  Object: { Kind, Name, ...more },
});
const http = (name: string) => entry('service-defaults', name, { Protocol: 'http' });

describe('A set', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
    client.solo.must(raise);
  });
  afterEach(() => client.close());

  const index = () => client.solo.machine.appliedIndex();
  const apply = (body: object, token?: string) => client.ask('POST /apply', body, token);
  const applied = (body: object) => client.must('POST /apply', body);
  const planned = (body: object, token?: string) => client.must('POST /plan', body, token);
  /** Applies what must be refused: in the plan too, and without any change. */
  const refused = async (body: object, token?: string) => {
    const before = index();
    const answer = await apply(body, token);
    expect(answer.status, answer.text).to.be.within(400, 499);
    const { code, pointer, Problems } = answer.body;
    expect(index()).to.equal(before);
    return { status: answer.status, code, pointer, Problems, body: answer.body };
  };

  it('is planned and applied as one entry, whatever the order of its objects', async () => {
    const body = {
      Owner: 'gitops/payments',
      Objects: [entry('service-router', 'web'), http('web'), role('ops', 'ops'), policy('ops')],
    };
    const plan = await planned(body);
    expect(plan).to.deep.include({ Valid: true, Owner: 'gitops/payments', Problems: [] });
    expect(plan.Summary).to.deep.include({ Create: 4, Update: 0, Delete: 0, Unchanged: 0 });
    const refs = plan.Changes.map(({ Ref }: { Ref: string }) => Ref);
    expect(refs).to.deep.equal([
      'policy/default/ops',
      'role/default/ops',
      'config/default/service-defaults/web',
      'config/default/service-router/web',
    ]);
    const before = index();
    const done = await applied({ ...body, Digest: plan.Digest });
    expect(done).to.deep.include({ Index: before + 1, Changed: 4, Unchanged: 0 });
    for (const one of done.Changes) {
      expect(one).to.deep.include({ Action: 'create', ModifyIndex: before + 1 });
    }
    const role1 = await client.must('GET /acl/role/name/ops');
    expect(role1).to.deep.include({ CreateIndex: before + 1, ModifyIndex: before + 1 });
    expect(role1.Policies[0].Name).to.equal('ops');
    const again = await applied(body);
    expect(again).to.deep.include({ Index: before + 1, Changed: 0, Unchanged: 4 });
    expect(index()).to.equal(before + 1);
  });

  it('swaps names, and links what has the name in the end', async () => {
    const { Changes } = await applied({ Objects: [policy('a', 'mesh = "read"'), policy('b')] });
    const [a, b] = Changes.map(({ ID }: { ID: string }) => ID);
    await applied({ Objects: [role('r', 'a')] });
    const done = await applied({
      Objects: [
        role('r', 'a'),
        policy('b', 'mesh = "read"', { ID: a }),
        policy('a', 'operator = "read"', { ID: b }),
      ],
    });
    expect(done.Changed).to.equal(3);
    const found = await client.must('GET /acl/role/name/r');
    expect(found.Policies).to.deep.equal([{ ID: b, Name: 'a' }]);
    expect((await client.must('GET /acl/policy/name/b')).ID).to.equal(a);
    expect((await client.must('GET /acl/policy/name/a')).ID).to.equal(b);
  });

  it('deletes what depends on each other in any order, and hands a name on', async () => {
    await applied({ Objects: [entry('service-router', 'web'), http('web'), policy('old')] });
    const id = (await client.must('GET /acl/policy/name/old')).ID;
    const done = await applied({
      Objects: [policy('old', 'mesh = "read"', { ID: '7d0b6f4e-58d9-4a43-9d32-0f0c5e3b9a11' })],
      Delete: [
        { Type: 'config', Name: 'service-defaults/web' },
        { Type: 'config', Name: 'service-router/web' },
        { Type: 'config', Name: 'service-router/missing' },
      ],
    });
    // an ID that is unknown beside a name that is taken: the object of the name is meant
    expect(done.Changes[0]).to.deep.include({ ID: id, Action: 'update' });
    expect(done.Changed).to.equal(3);
    await applied({
      Objects: [policy('new'), { ...policy('old'), Object: { Name: 'old', Rules: '' } }],
    });
    const list = await client.must('GET /config/service-router');
    expect(list).to.deep.equal([]);
  });

  it('makes a namespace and fills it at once', async () => {
    const done = await applied({
      Objects: [
        { Type: 'role', Namespace: 'team-a', Object: { Name: 'web', Policies: [{ Name: 'p' }] } },
        { Type: 'policy', Namespace: 'team-a', Object: { Name: 'p', Rules: '' } },
        { Type: 'namespace', Object: { Name: 'team-a', Description: 'A' } },
      ],
    });
    expect(done.Changed).to.equal(3);
    const found = await client.must('GET /acl/role/name/web?ns=team-a');
    expect(found.Policies[0].Name).to.equal('p');
    const mark = await applied({ Delete: [{ Type: 'namespace', Name: 'team-a' }] });
    expect(mark.Changes[0]).to.deep.include({ Ref: 'namespace/team-a', Action: 'delete' });
    const late = await refused({
      Objects: [{ Type: 'policy', Namespace: 'team-a', Object: { Name: 'q', Rules: '' } }],
    });
    expect(late).to.deep.include({ status: 409, code: 'conflict' });
  });

  it('knows binding rules by their handles, each of which is unique', async () => {
    const method = {
      Type: 'auth-method',
      Object: {
        Name: 'jwt1',
        Type: 'jwt',
        Config: { JWTValidationPubKeys: [KEY], ClaimMappings: { team: 'team' } },
      },
    };
    const rule = (Handle: string, BindName: string) => ({
      Type: 'binding-rule',
      Handle,
      Object: { AuthMethod: 'jwt1', BindType: 'service', BindName, Selector: 'value.team == "a"' },
    });
    const first = await applied({ Objects: [rule('ci-web', 'web'), method], Owner: 'ci' });
    expect(first.Changes.map(({ Ref }: { Ref: string }) => Ref)).to.deep.equal([
      'auth-method/default/jwt1',
      'binding-rule/default/ci-web',
    ]);
    const id = first.Changes[1].ID;
    const second = await applied({ Objects: [rule('ci-web', 'api')], Owner: 'ci' });
    expect(second.Changes).to.have.length(1);
    expect(second.Changes[0]).to.deep.include({ ID: id, Action: 'update' });
    expect((await client.must(`GET /acl/binding-rule/${id}`)).BindName).to.equal('api');
    await applied({ Delete: [{ Type: 'binding-rule', Handle: 'ci-web' }] });
    expect((await client.must('GET /acl/binding-rules')).length).to.equal(0);
    const third = await applied({ Objects: [rule('ci-web', 'web')] });
    expect(third.Changes[0]).to.deep.include({ Action: 'create' });
    expect(third.Changes[0].ID).to.not.equal(id);
  });

  it('gives a handle to another rule in the entry in which one gives it up', async () => {
    const method = {
      Type: 'auth-method',
      Object: { Name: 'jwt1', Type: 'jwt', Config: { JWTValidationPubKeys: [KEY] } },
    };
    const rule = (Handle: string, BindName: string, ID?: string) => ({
      Type: 'binding-rule',
      Handle,
      Object: { AuthMethod: 'jwt1', BindType: 'service', BindName, ...(ID && { ID }) },
    });
    const { Changes } = await applied({ Objects: [method, rule('x', 'one'), rule('y', 'two')] });
    const [one, two] = [Changes[1].ID, Changes[2].ID];
    const done = await applied({ Objects: [rule('y', 'one', one), rule('x', 'two', two)] });
    // the content stays: only the owners' records change
    expect(done.Changes.map(({ Action }: { Action: string }) => Action)).to.deep.equal([
      'update',
      'update',
    ]);
    const gone = await applied({ Delete: [{ Type: 'binding-rule', Handle: 'y' }] });
    expect(gone.Changes[0].ID).to.equal(one);
    expect(await client.must(`GET /acl/binding-rule/${two}`)).to.include({ BindName: 'two' });
  });

  it('is refused for what cannot be meant, at its place', async () => {
    const cases: readonly (readonly [object, number, string | undefined])[] = [
      [{ Prune: true }, 400, '/Prune'],
      [{ Owner: 'a b' }, 400, '/Owner'],
      [{ Objects: [{ Type: 'polcy', Object: {} }] }, 400, '/Objects/0/Type'],
      [{ Objects: [policy('a'), policy('A')] }, 400, '/Objects/1'],
      [{ Objects: [{ Type: 'binding-rule', Object: { AuthMethod: 'x' } }] }, 400, '/Objects/0'],
      [
        { Objects: [{ Type: 'token', Object: { Description: 'x' } }] },
        400,
        '/Objects/0/Object/AccessorID',
      ],
      [{ Delete: [{ Type: 'token', ID: 'x' }] }, 400, '/Delete/0/Type'],
      [{ Delete: [{ Type: 'role' }] }, 400, '/Delete/0'],
      [{ Delete: [{ Type: 'role', Handle: 'a' }] }, 400, '/Delete/0/Handle'],
      [{ Delete: [{ Type: 'config', Name: 'web' }] }, 400, '/Delete/0/Name'],
      [{ Delete: [{ Type: 'config', Name: 'no-kind/web' }] }, 400, '/Delete/0/Name'],
      [{ Objects: [{ ...policy('a'), Handle: 'a' }] }, 400, '/Objects/0/Handle'],
      [
        { Objects: [policy('a')], Expected: { 'policy/default/b': 1 } },
        400,
        '/Expected/policy~1default~1b',
      ],
      [{ Objects: [policy('a', 'nonsense')] }, 400, '/Objects/0/Object/Rules'],
      [{ Objects: [role('a', 'missing')] }, 400, '/Objects/0/Object/Policies/0'],
      [{ Objects: [entry('no-kind', 'a')] }, 400, '/Objects/0/Object/Kind'],
      [{ Objects: [entry('service-router', 'web')] }, 400, '/Objects/0/Object/Routes'],
      [{ Reason: 'a\u0007' }, 400, '/Reason'],
      [{ Assert: [{ Resource: 'acl', Access: 'read', Expect: 'deny' }] }, 400, '/Assert/0/Subject'],
      [
        { Assert: [{ Subject: { Anonymous: true }, Resource: 'acl', Access: 'read' }] },
        400,
        '/Assert/0/Expect',
      ],
      [{ Unknown: 1 }, 400, '/Unknown'],
    ];
    for (const [body, status, pointer] of cases) {
      const answer = await refused(body);
      expect([answer.status, answer.pointer], JSON.stringify(body)).to.deep.equal([
        status,
        pointer,
      ]);
    }
  });

  it('is refused with 412 if an object is not as expected, or the plan is another', async () => {
    await applied({ Objects: [policy('a')] });
    const body = { Objects: [policy('a', 'mesh = "read"')] };
    const plan = await planned(body);
    const wrong = await refused({ ...body, Expected: { 'policy/default/a': 1 } });
    expect(wrong).to.deep.include({ status: 412, code: 'precondition_failed' });
    const present = plan.Expected['policy/default/a'];
    expect(wrong.body.Conflicts).to.deep.equal([
      { Ref: 'policy/default/a', Expected: 1, Actual: present },
    ]);
    const none = await refused({ Objects: [policy('b')], Expected: { 'policy/default/b': 9 } });
    expect(none.body.Conflicts[0].Actual).to.equal(null);
    const more = { ...body, Objects: [...body.Objects, policy('c')], Digest: plan.Digest };
    expect((await refused(more)).status).to.equal(412);
    await applied({ ...body, Digest: plan.Digest, Expected: plan.Expected });
    expect((await refused({ ...body, Digest: plan.Digest })).status).to.equal(412);
  });

  it('deletes IfUnused only what nothing refers to in the end', async () => {
    await applied({ Objects: [policy('a'), role('r', 'a'), policy('b')] });
    const used = await refused({ Delete: [{ Type: 'policy', Name: 'a', IfUnused: true }] });
    expect(used).to.deep.include({ status: 409 });
    expect(used.Problems[0].Ref).to.equal('policy/default/a');
    const done = await applied({
      Objects: [role('r', 'b')],
      Delete: [{ Type: 'policy', Name: 'a', IfUnused: true }],
    });
    expect(done.Changed).to.equal(2);
  });

  it('needs the right of each change, and names those that are missing', async () => {
    await applied({ Objects: [policy('a'), http('web')] });
    const secret = await client.secretWith('acl = "read"\nservice "web" { policy = "write" }');
    const body = {
      Objects: [
        policy('a', 'mesh = "read"'),
        entry('service-defaults', 'web', { Protocol: 'tcp' }),
      ],
    };
    const plan = await planned(body, secret);
    const allowed = plan.Changes.map(({ Allowed }: { Allowed: boolean }) => Allowed);
    expect(allowed).to.deep.equal([false, true]);
    const answer = await refused(body, secret);
    expect(answer).to.deep.include({ status: 403, code: 'permission_denied' });
    expect(answer.body.Denied).to.deep.equal(['policy/default/a']);
    const done = await apply({ Objects: [body.Objects[1]] }, secret);
    expect(done.status, done.text).to.equal(200);
  });

  it('shows nothing of objects that the token may not read', async () => {
    await applied({ Objects: [policy('a')] });
    const secret = await client.secretWith('service_prefix "" { policy = "write" }');
    const there = await planned({ Objects: [policy('a', 'nonsense')] }, secret);
    const missing = await planned({ Objects: [policy('b', 'nonsense')] }, secret);
    const shown = (plan: { Changes: object[]; Summary: object; Problems: object[] }) => ({
      Changes: plan.Changes.map((one) => ({ ...one, Ref: '', Name: '' })),
      Summary: plan.Summary,
      Problems: plan.Problems,
    });
    expect(shown(there)).to.deep.equal(shown(missing));
    expect(there.Changes).to.deep.equal([
      {
        Ref: 'policy/default/a',
        Type: 'policy',
        Namespace: 'default',
        Name: 'a',
        Action: 'hidden',
        Allowed: false,
      },
    ]);
    const answer = await refused({ Objects: [policy('a', 'nonsense')] }, secret);
    expect([answer.status, answer.body.Denied]).to.deep.equal([403, []]);
  });

  it('warns where an object keeps its own ID, even if nothing changes', async () => {
    await applied({ Objects: [policy('a')] });
    const ID = '7d3c2f0e-0000-4000-8000-000000000009';
    for (const [rules, Action] of [
      ['operator = "read"', 'unchanged'],
      ['mesh = "read"', 'update'],
    ]) {
      const [change] = (await planned({ Objects: [policy('a', rules, { ID })] })).Changes;
      expect(change).to.include({ Action });
      expect(change.Warnings.map(({ Code }: { Code: string }) => Code)).to.deep.equal(['other_id']);
    }
  });

  it('names no object twice, even if it does not exist', async () => {
    const Delete = [{ Type: 'policy', Name: 'A' }];
    const twice = { status: 400, pointer: '/Delete/0' };
    expect(await refused({ Objects: [policy('a')], Delete })).to.deep.include(twice);
    const again = await refused({ Delete: [...Delete, { Type: 'policy', Name: 'a' }] });
    expect(again).to.deep.include({ status: 400, pointer: '/Delete/1' });
  });

  it('changes at most 500 objects, and says how many it would', async () => {
    const Objects = Array.from({ length: 501 }, (_, i) => policy(`p${i}`));
    const answer = await refused({ Objects });
    expect(answer).to.deep.include({ status: 413, code: 'too_large' });
    expect(answer.body).to.deep.include({ Changes: 501, Limit: 500 });
    const plan = await planned({ Objects });
    expect(plan.Parts.map((part: string[]) => part.length)).to.deep.equal([500, 1]);
    expect((await applied({ Objects: Objects.slice(0, 500) })).Changed).to.equal(500);
  });

  it('updates the links of a token that exists, and keeps its secret', async () => {
    const token = await client.must('PUT /acl/token', { Description: 'ci' });
    const body = {
      Objects: [
        policy('a'),
        {
          Type: 'token',
          Object: { AccessorID: token.AccessorID, Description: 'ci', Policies: [{ Name: 'a' }] },
        },
      ],
    };
    const done = await applied(body);
    expect(done.Changes[1]).to.include({ Ref: `token/${token.AccessorID}`, Action: 'update' });
    const after = await client.must(`GET /acl/token/${token.AccessorID}`);
    expect([after.SecretID, after.Policies[0].Name]).to.deep.equal([token.SecretID, 'a']);
    expect((await planned(body)).Summary.Unchanged).to.equal(2);
  });

  it('shows no secret in a plan, and keeps the stored one for <hidden>', async () => {
    const certificate = (more: object) => ({ Type: 'config', Object: { ...CERTIFICATE, ...more } });
    const none = await refused({ Objects: [certificate({ PrivateKey: '<hidden>' })] });
    expect([none.status, none.pointer]).to.deep.equal([400, '/Objects/0/Object/PrivateKey']);
    const plan = await client.ask('POST /plan', { Objects: [certificate({})] });
    expect(plan.body).to.deep.include({ Valid: true });
    const { Diff } = plan.body.Changes[0];
    expect(Diff.find(({ Path }: { Path: string }) => Path === '/PrivateKey').New).to.equal(
      '<hidden>',
    );
    expect(plan.text).to.not.include('PRIVATE KEY-----');
    await applied({ Objects: [certificate({})] });
    const kept = certificate({ PrivateKey: '<hidden>', Meta: { a: 'b' } });
    expect((await applied({ Objects: [kept] })).Changed).to.equal(1);
    const { Name } = CERTIFICATE;
    const after = await client.must(`GET /config/inline-certificate/${Name}`);
    expect(after).to.deep.include({ PrivateKey: CERTIFICATE.PrivateKey, Meta: { a: 'b' } });
  });
});

const KEY = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9
q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==
-----END PUBLIC KEY-----`;
