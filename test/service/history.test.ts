import { expect } from 'chai';
import { signer } from '../login/signers.js';
import { SoloClient } from './client.js';

const CONFIGURATION = '/operator/history/configuration';

describe('the history', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.withHistory();
  });
  afterEach(() => client.close());

  const index = (): number => client.solo.machine.appliedIndex();
  const policy = (Rules: string, more: object = {}) => ({ Name: 'ops', Rules, ...more });

  it('of an object has its versions, the newest first, with their authors', async () => {
    const { ID } = await client.must('PUT /acl/policy', policy(''));
    const first = index();
    await client.must(`PUT /acl/policy/${ID}`, policy('acl = "read"'));
    const { Versions, ...head } = await client.must(`GET /history/policy/${ID}`);
    expect(head).to.deep.equal({
      Type: 'policy',
      ID,
      Name: 'ops',
      Namespace: 'default',
      Exists: true,
      More: false,
    });
    const own = await client.must('GET /acl/token/self');
    expect(Versions).to.have.length(2);
    expect(Versions[0]).to.include({ Index: index(), Operation: 'update', Current: true });
    expect(Versions[1]).to.include({ Index: first, Operation: 'create', Current: false });
    expect(Versions[0].Author.AccessorID).to.equal(own.AccessorID);
    const old = await client.must(`GET /history/policy/${ID}?version=${first}`);
    expect(old.Object).to.include({ ID, Name: 'ops', ModifyIndex: first });
    const { Diff } = await client.must(`GET /history/policy/${ID}?from=${first}`);
    expect(Diff).to.deep.equal([{ Type: 'Added', Path: '/Rules', New: 'acl = "read"' }]);
    const page = await client.must(`GET /history/policy/${ID}?limit=1&before=${index()}`);
    expect(page.Versions.map((one: { Index: number }) => one.Index)).to.deep.equal([first]);
  });

  it('of a deleted object stays, and that of nothing is a 404', async () => {
    const { ID } = await client.must('PUT /acl/policy', policy(''));
    await client.must(`DELETE /acl/policy/${ID}`);
    const { Exists, Versions } = await client.must(`GET /history/policy/${ID}`);
    expect(Exists).to.equal(false);
    expect(Versions[0]).to.include({ Operation: 'delete', Current: false, Size: 0 });
    const gone = await client.must(`GET /history/policy/${ID}?version=${index()}`);
    expect(gone.Object).to.equal(null);
    const none = await client.ask('GET /history/policy/0000000a-aaaa-4aaa-8aaa-000000000001');
    expect(none.status).to.equal(404);
    const trimmed = await client.ask(`GET /history/policy/${ID}?version=1`);
    expect(trimmed.status).to.equal(404);
    expect(trimmed.body.hint).to.match(/oldest version that is kept is \d+/);
  });

  it('hides secrets from everybody', async () => {
    const { AccessorID, SecretID } = await client.must('PUT /acl/token', { Description: 'a' });
    const made = index();
    await client.must(`PUT /acl/token/${AccessorID}`, { Description: 'b' });
    const old = await client.must(`GET /history/token/${AccessorID}?version=${made}`);
    expect(JSON.stringify(old)).to.include('<hidden>').and.not.to.include(SecretID);
    const present = await client.must(`GET /history/token/${AccessorID}?version=${index()}`);
    expect(JSON.stringify(present)).not.to.include(SecretID);
  });

  it('shows authors to those who may read ACL objects alone', async () => {
    const entry = { Kind: 'service-defaults', Name: 'web', Protocol: 'http' };
    await client.must('PUT /config', entry);
    const Rules = 'service_prefix "" { policy = "read" }';
    const reader = await client.must('PUT /acl/policy', { Name: 'reader', Rules });
    const { SecretID } = await client.must('PUT /acl/token', { Policies: [{ ID: reader.ID }] });
    const path = 'GET /history/config/service-defaults/web';
    const own = await client.must(path);
    expect(own.Versions[0].Author).not.to.equal(null);
    const theirs = await client.ask(path, undefined, SecretID);
    expect(theirs.body.Versions[0].Author).to.equal(null);
    const feed = await client.ask('GET /history', undefined, SecretID);
    expect(feed.body.Changes.map(({ Type }: { Type: string }) => Type)).to.deep.equal(['config']);
    expect(feed.headers['x-service-results-filtered-by-acls']).to.equal('true');
    const denied = await client.ask(`GET /history/policy/${reader.ID}`, undefined, SecretID);
    expect(denied.status).to.equal(403);
  });

  it('of all objects is a feed in either direction, and wakes who waits', async () => {
    const one = await client.must('PUT /acl/policy', policy(''));
    const role = await client.must('PUT /acl/role', { Name: 'r', Policies: [{ ID: one.ID }] });
    const { Changes, Index, More } = await client.must('GET /history?limit=1');
    expect([Changes[0].ID, Index, More]).to.deep.equal([role.ID, index(), true]);
    expect(Changes[0].Ref).to.equal('role/default/r');
    const oldest = await client.must('GET /history?after=0&types=policy');
    expect(oldest.Changes.map(({ ID }: { ID: string }) => ID)).to.deep.equal([one.ID]);
    const { woken } = await client.across('/history', () =>
      client.must(`DELETE /acl/role/${role.ID}`),
    );
    expect(woken?.body.Changes[0]).to.include({ Operation: 'delete', ID: role.ID });
    const author = (await client.must('GET /acl/token/self')).AccessorID;
    expect((await client.must(`GET /history?author=${author}`)).Changes).to.have.length(3);
    expect((await client.must(`GET /history?author=${one.ID}`)).Changes).to.have.length(0);
  });

  it('never ends a page of the feed inside an entry', async () => {
    const named = (Name: string) => ({ Type: 'policy', Object: { Name, Rules: '' } });
    const start = index();
    await client.must('POST /apply', { Objects: ['a', 'b', 'c'].map(named) });
    const first = index();
    await client.must('POST /apply', { Objects: ['d', 'e'].map(named) });
    const page = async (after: number, limit: number): Promise<unknown[]> => {
      const query = `after=${after}&limit=${limit}&types=policy`;
      const { Changes, More } = await client.must(`GET /history?${query}`);
      return [...Changes.map(({ Name }: { Name: string }) => Name), More];
    };
    expect(await page(start, 2)).to.deep.equal(['a', 'b', 'c', true]);
    expect(await page(start, 3)).to.deep.equal(['a', 'b', 'c', true]);
    expect(await page(start, 4)).to.deep.equal(['a', 'b', 'c', 'd', 'e', false]);
    expect(await page(first, 1)).to.deep.equal(['d', 'e', false]);
  });

  it('names a binding rule by the handle that it had', async () => {
    const Config = { JWTValidationPubKeys: [(await signer('EdDSA')).pem] };
    await client.must('PUT /acl/auth-method', { Name: 'jwt1', Type: 'jwt', Config });
    const rule = { Type: 'binding-rule', Handle: 'ci' };
    const web = { AuthMethod: 'jwt1', BindType: 'service', BindName: 'web' };
    await client.must('POST /apply', { Objects: [{ ...rule, Object: web }] });
    await client.must('POST /apply', { Objects: [], Delete: [rule] });
    const { Changes } = await client.must('GET /history?types=binding-rule');
    const refs = Changes.map(({ Ref }: { Ref: string }) => Ref);
    expect(refs).to.deep.equal(['binding-rule/default/ci', 'binding-rule/default/ci']);
  });

  it('refuses what it does not know', async () => {
    for (const path of [
      'history/thing/x',
      'history/config/web',
      'history/config/nothing/web',
      'history/policy/ops',
      'history?types=thing',
      'history?limit=0',
      'history?limit=1001',
      'history?logins=yes',
      'history?subject=nobody',
      'history?after=x',
      'history?dry-run=1',
      'history/policy/0000000a-aaaa-4aaa-8aaa-000000000001?to=5',
      'history/policy/0000000a-aaaa-4aaa-8aaa-000000000001?from=4&version=5',
      'history/policy/0000000a-aaaa-4aaa-8aaa-000000000001?limit=4&version=5',
    ]) {
      const reply = await client.ask(`GET /${path}`);
      expect(reply.status, path).to.equal(400);
    }
  });

  it('has bounds that operators set', async () => {
    const { ModifyIndex, ...defaults } = await client.must(`GET ${CONFIGURATION}`);
    expect(ModifyIndex).to.equal(0);
    expect(defaults).to.deep.equal({
      VersionsPerObject: 200,
      Bytes: 268_435_456,
      LoginBytes: 67_108_864,
      MaxAge: '8784h',
    });
    const set = await client.must(`PUT ${CONFIGURATION}`, { VersionsPerObject: 2, MaxAge: '48h' });
    expect(set).to.deep.equal({
      ...defaults,
      VersionsPerObject: 2,
      MaxAge: '48h',
      ModifyIndex: index(),
    });
    for (const bad of [
      { VersionsPerObject: 10_001 },
      { Bytes: 5 },
      { Bytes: 2 ** 20, LoginBytes: 2 ** 21 },
      { MaxAge: '5m' },
      { MaxAge: '90000h' },
      { Unknown: 1 },
    ]) {
      const reply = await client.ask(`PUT ${CONFIGURATION}`, bad);
      expect(reply.status, JSON.stringify(bad)).to.equal(400);
    }
    const stale = await client.ask(`PUT ${CONFIGURATION}`, {}, undefined, {
      headers: { 'If-Match': '"1"' },
    });
    expect(stale.status).to.equal(412);
  });

  it('needs its level', async () => {
    const low = await SoloClient.withHistory(1);
    try {
      const reply = await low.ask('GET /history');
      expect([reply.status, reply.body.code]).to.deep.equal([503, 'unavailable']);
    } finally {
      await low.close();
    }
  });
});

describe('POST /v1/undo', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.withHistory();
  });
  afterEach(() => client.close());

  const index = (): number => client.solo.machine.appliedIndex();
  const undo = (Index: number, more: object = {}) => client.ask('POST /undo', { Index, ...more });

  it('takes an update back, and itself', async () => {
    const { ID } = await client.must('PUT /acl/policy', { Name: 'ops', Rules: '' });
    await client.must(`PUT /acl/policy/${ID}`, { Name: 'ops2', Rules: 'acl = "read"' });
    const changed = index();
    const { body } = await undo(changed);
    expect(body.Index).to.equal(changed + 1);
    expect(body.Changes[0]).to.include({ Action: 'update', ID, ModifyIndex: changed + 1 });
    expect(await client.must(`GET /acl/policy/${ID}`)).to.include({ Name: 'ops' });
    const { Versions } = await client.must(`GET /history/policy/${ID}`);
    expect(Versions[0].Operation).to.equal('undo');
    expect((await undo(changed)).body.Changes).to.deep.equal([]);
    await undo(changed + 1);
    const back = await client.must(`GET /acl/policy/${ID}`);
    expect(back).to.include({ Name: 'ops2', Rules: 'acl = "read"' });
  });

  it('makes again what was deleted, under its ID, so that links show it', async () => {
    const { ID } = await client.must('PUT /acl/policy', { Name: 'ops', Rules: 'acl = "read"' });
    const role = await client.must('PUT /acl/role', { Name: 'r', Policies: [{ ID }] });
    await client.must(`DELETE /acl/policy/${ID}`);
    expect((await client.must(`GET /acl/role/${role.ID}`)).Policies ?? []).to.deep.equal([]);
    const answer = await undo(index());
    expect(answer.status).to.equal(200);
    const { Policies } = await client.must(`GET /acl/role/${role.ID}`);
    expect(Policies).to.deep.equal([{ ID, Name: 'ops' }]);
  });

  it('plans without writing', async () => {
    const { ID } = await client.must('PUT /acl/policy', { Name: 'ops', Rules: '' });
    await client.must(`PUT /acl/policy/${ID}`, { Name: 'ops', Rules: 'acl = "read"' });
    const before = index();
    const { body } = await undo(before, { DryRun: true });
    expect(body).to.include({ Valid: true, Index: before });
    expect(body.Changes[0].Diff).to.deep.equal([
      { Type: 'Deleted', Path: '/Rules', Old: 'acl = "read"' },
    ]);
    expect(body.Impact.Tokens.Affected).to.equal(0);
    expect(index()).to.equal(before);
  });

  it('shows the links that objects have when all are back', async () => {
    const Objects = [
      { Type: 'policy', Object: { Name: 'ops' } },
      { Type: 'role', Object: { Name: 'ci', Policies: [{ Name: 'ops' }] } },
    ];
    await client.must('POST /apply', { Objects });
    await undo(index());
    const { Changes } = (await undo(index(), { DryRun: true })).body;
    const refs = Changes.map(({ Ref }: { Ref: string }) => Ref);
    expect(refs, 'in the order of plans').to.deep.equal(['policy/default/ops', 'role/default/ci']);
    const diffs = Changes.map(({ Diff }: { Diff: object[] }) => Diff.at(-1));
    expect(diffs).to.deep.include({ Type: 'Added', Path: '/Policies', New: [{ Name: 'ops' }] });
  });

  it('is refused for what has changed since, is not kept, or cannot come back', async () => {
    const { ID } = await client.must('PUT /acl/policy', { Name: 'ops', Rules: '' });
    await client.must(`PUT /acl/policy/${ID}`, { Name: 'ops', Rules: 'acl = "read"' });
    const changed = index();
    await client.must(`PUT /acl/policy/${ID}`, { Name: 'ops', Rules: 'acl = "write"' });
    const moved = await undo(changed);
    expect(moved.status).to.equal(412);
    const Conflicts = [{ Ref: 'policy/default/ops', Expected: changed, Actual: index() }];
    expect(moved.body.Conflicts).to.deep.equal(Conflicts);
    const plan = await undo(changed, { DryRun: true });
    expect([plan.status, plan.body.Valid]).to.deep.equal([200, false]);
    expect((await undo(1)).status).to.equal(404);
    const token = await client.must('PUT /acl/token', {});
    await client.must(`DELETE /acl/token/${token.AccessorID}`);
    expect((await undo(index())).status).to.equal(409);
    expect((await undo(0)).status).to.equal(400);
  });

  it('names what has changed while it was on its way to the leader', async () => {
    const { ID } = await client.must('PUT /acl/policy', { Name: 'ops', Rules: '' });
    await client.must(`PUT /acl/policy/${ID}`, { Name: 'ops', Rules: 'acl = "read"' });
    const changed = index();
    const { node } = client.solo;
    const { write } = node;
    node.write = async (request) => {
      node.write = write;
      await client.must(`PUT /acl/policy/${ID}`, { Name: 'ops', Rules: 'acl = "write"' });
      return write(request);
    };
    const { status, body } = await undo(changed);
    expect([status, body.code]).to.deep.equal([412, 'precondition_failed']);
    const Conflicts = [{ Ref: 'policy/default/ops', Expected: changed, Actual: changed + 1 }];
    expect(body.Conflicts).to.deep.equal(Conflicts);
  });

  it('is refused with 412 for what has changed since it was planned', async () => {
    const Ref = 'policy/default/ops';
    const { ID } = await client.must('PUT /acl/policy', { Name: 'ops', Rules: '' });
    const update = async (Rules: string): Promise<number> => {
      await client.must(`PUT /acl/policy/${ID}`, { Name: 'ops', Rules });
      return index();
    };
    const changed = await update('acl = "read"');
    const { Expected } = (await undo(changed, { DryRun: true })).body;
    expect(Expected).to.deep.equal({ [Ref]: changed });
    const other = await update('acl = "write"');
    const moved = await undo(changed, { Expected });
    expect([moved.status, moved.body.code]).to.deep.equal([412, 'precondition_failed']);
    const Conflicts = [{ Ref, Expected: changed, Actual: other }];
    expect(moved.body.Conflicts).to.deep.equal(Conflicts);
    const back = await update('');
    const restored = await undo(changed, { Expected });
    expect(restored.status, 'as it was, but written since').to.equal(412);
    expect(restored.body.Conflicts).to.deep.equal([{ Ref, Expected: changed, Actual: back }]);
    const same = await undo(changed, { Expected: { [Ref]: back } });
    expect([same.status, same.body.Changes, index()]).to.deep.equal([200, [], back]);
    for (const DryRun of [true, false]) {
      const foreign = await undo(changed, { Expected: { 'policy/default/web': 1 }, DryRun });
      expect([foreign.status, foreign.body.pointer]).to.deep.equal([
        400,
        '/Expected/policy~1default~1web',
      ]);
    }
  });

  it('needs the right to write each object', async () => {
    await client.must('PUT /acl/policy', { Name: 'ops', Rules: '' });
    const made = index();
    const reader = await client.must('PUT /acl/policy', { Name: 'r', Rules: 'acl = "read"' });
    const { SecretID } = await client.must('PUT /acl/token', { Policies: [{ ID: reader.ID }] });
    const denied = await client.ask('POST /undo', { Index: made }, SecretID);
    expect(denied.status).to.equal(403);
    expect(denied.body.Denied).to.deep.equal(['policy/default/ops']);
  });

  it('needs the right to write what an object was, too', async () => {
    const { ID } = await client.must('PUT /acl/policy', { Name: 'ops', Rules: 'acl = "write"' });
    await client.must('PUT /namespace', { Name: 'team', ACLs: { PolicyDefaults: [{ ID }] } });
    await client.must('PUT /namespace', { Name: 'team' });
    const operator = await client.secretWith('operator = "write"');
    const changed = (await client.must('GET /namespace/team')).ModifyIndex;
    for (const DryRun of [true, false]) {
      const denied = await client.ask('POST /undo', { Index: changed, DryRun }, operator);
      expect([denied.status, denied.body.Denied]).to.deep.equal([403, ['namespace/team']]);
      expect(denied.body.detail).to.include("'acl:write'");
    }
    expect((await client.must('GET /namespace/team')).ACLs.PolicyDefaults).to.deep.equal([]);
    expect((await undo(changed)).status).to.equal(200);
  });

  it('keeps the secret of an auth method, and undoes config entries', async () => {
    const splitter = { Kind: 'service-defaults', Name: 'web', Protocol: 'http' };
    await client.must('PUT /config', splitter);
    await client.must('PUT /config', { ...splitter, Protocol: 'tcp' });
    expect((await undo(index())).status).to.equal(200);
    expect(await client.must('GET /config/service-defaults/web')).to.include({ Protocol: 'http' });
    await client.must('DELETE /config/service-defaults/web');
    expect((await undo(index())).status).to.equal(200);
    expect(await client.must('GET /config/service-defaults/web')).to.include({ Protocol: 'http' });
  });
});
