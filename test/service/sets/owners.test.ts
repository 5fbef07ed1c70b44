import { expect } from 'chai';
import { historyRoutes } from '../../../src/http/routes/history.js';
import { SetDrift } from '../../../src/service/sets/drift.js';
import type { Command } from '../../../src/state/types.js';
import { signer } from '../../login/signers.js';
import { SoloClient } from '../client.js';
import { partsOf } from '../serve.js';
import { Solo } from '../solo.js';

const policy = (Name: string, Rules = 'operator = "read"') => ({
  Type: 'policy',
  Object: { Name, Rules },
});

describe('A set with an owner', () => {
  let client: SoloClient;
  let drift: SetDrift;
  beforeEach(async () => {
    const solo = new Solo();
    drift = new SetDrift();
    client = await SoloClient.open(historyRoutes(partsOf(solo)), solo, {}, { drift });
    solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
  });
  afterEach(() => client.close());

  const apply = (body: object) => client.ask('POST /apply', body);
  const applied = (body: object) => client.must('POST /apply', body);
  const planned = (body: object) => client.must('POST /plan', body);
  const refused = async (body: object) => {
    const answer = await apply(body);
    expect(answer.status, answer.text).to.be.within(400, 499);
    const { code, Problems } = answer.body;
    return { status: answer.status, code, Problems };
  };
  const body = { Owner: 'gitops/a', Prune: true, Objects: [policy('one'), policy('two')] };

  it('prunes what the owner has and the set does not hold, and nothing else', async () => {
    await applied({ Objects: [policy('free')] });
    await applied(body);
    const plan = await planned({ ...body, Objects: [policy('one')] });
    expect(plan.Changes.at(-1)).to.deep.include({ Ref: 'policy/default/two', Action: 'delete' });
    await applied({ ...body, Objects: [policy('one')] });
    const left = (await client.must('GET /acl/policies')).map(({ Name }: { Name: string }) => Name);
    expect(left).to.include.members(['one', 'free']);
    expect(left).to.not.include('two');
  });

  it('keeps the only entry of a kind, without its name and in lower case', async () => {
    await client.must('PUT /namespace', { Name: 'team' });
    const set = (...entries: object[]) => ({
      Owner: 'gitops/a',
      Prune: true,
      Objects: entries.map((entry) => ({ Type: 'config', Namespace: 'team', Object: entry })),
    });
    const Config = { protocol: 'http' };
    await applied(set({ Kind: 'proxy-defaults', Name: 'global', Config }, { Kind: 'mesh' }));
    const plan = await planned(set({ Kind: 'proxy-defaults', Config }, { kind: 'mesh' }));
    const found = plan.Changes.map(({ Ref, Action }: Record<string, string>) => [Ref, Action]);
    expect(found).to.deep.equal([
      ['config/default/mesh/mesh', 'unchanged'],
      ['config/default/proxy-defaults/global', 'unchanged'],
    ]);
    await applied(set({ kind: 'proxy-defaults', config: {} }, { kind: 'mesh', meta: { a: 'b' } }));
    expect((await client.must('GET /config/mesh/mesh')).Meta).to.deep.equal({ a: 'b' });
    expect((await client.must('GET /config/proxy-defaults/global')).Config).to.deep.equal({});
  });

  it('takes nothing from another owner, nor what has none if it prunes', async () => {
    await applied(body);
    await applied({ Objects: [policy('free')] });
    const other = { Owner: 'gitops/b', Objects: [policy('one', 'mesh = "read"')] };
    const owned = await refused(other);
    expect(owned).to.deep.include({ status: 409, code: 'conflict' });
    expect(owned.Problems[0]).to.include({ Code: 'owned', Ref: 'policy/default/one' });
    const remove = { Owner: 'gitops/b', Delete: [{ Type: 'policy', Name: 'one' }] };
    expect((await refused(remove)).Problems[0].Code).to.equal('owned');
    const unowned = await refused({ ...body, Objects: [...body.Objects, policy('free')] });
    expect(unowned.Problems[0].Code).to.equal('unowned');
    const plan = await planned({ ...body, Objects: [...body.Objects, policy('free')] });
    expect([plan.Valid, plan.Problems[0].Code]).to.deep.equal([false, 'unowned']);
    const taken = await applied({ ...other, TakeOver: true });
    expect(taken.Changed).to.equal(1);
    const silent = await applied({ Owner: 'gitops/b', Objects: [policy('free')] });
    expect(silent.Changes[0]).to.deep.include({ Ref: 'policy/default/free', Action: 'update' });
  });

  it('keeps its objects from sets whose Owner is empty, as from those without', async () => {
    const Config = { JWTValidationPubKeys: [(await signer('EdDSA')).pem] };
    await client.must('PUT /acl/auth-method', { Name: 'jwt1', Type: 'jwt', Config });
    const rule = (BindName: string) => ({
      Type: 'binding-rule',
      Handle: 'ci',
      Object: { AuthMethod: 'jwt1', BindType: 'service', BindName },
    });
    await applied({ Owner: 'gitops/a', Objects: [policy('one'), rule('web')] });
    for (const Owner of ['', undefined]) {
      const same = await applied({ Owner, Objects: [policy('one'), rule('web')] });
      expect(same).to.deep.include({ Changed: 0, Unchanged: 2 });
    }
    await applied({ Owner: '', Objects: [policy('one', 'mesh = "read"'), rule('api')] });
    const pruned = await planned({ Owner: 'gitops/a', Prune: true, Objects: [] });
    const refs = pruned.Changes.map(({ Ref }: { Ref: string }) => Ref);
    expect(refs).to.deep.equal(['binding-rule/default/ci', 'policy/default/one']);
  });

  it('leaves the index of an object whose owner alone changes, and wakes nobody', async () => {
    await applied({ Objects: [policy('one')] });
    const before = await client.must('GET /acl/policy/name/one');
    const across = await client.across('/acl/policy/name/one', async () => {
      const done = await applied({ Owner: 'gitops/a', Objects: [policy('one')] });
      expect(done).to.deep.include({ Changed: 1 });
      expect(done.Changes[0]).to.include({ ModifyIndex: before.ModifyIndex, Action: 'update' });
      await applied({ Objects: [policy('one', 'mesh = "read"')] });
    });
    expect(across.woken?.body.Rules).to.equal('mesh = "read"');
  });

  it('leaves a line of history, and no version, where it alone changes', async () => {
    await applied({ Objects: [policy('one')] });
    const { ID } = await client.must('GET /acl/policy/name/one');
    const versionsOf = async () => (await client.must(`GET /history/policy/${ID}`)).Versions;
    const before = await versionsOf();
    const done = await applied({ Owner: 'gitops/a', Objects: [policy('one')] });
    const { Changes } = await client.must('GET /history?limit=2');
    const about = { Type: 'policy', ID, Name: 'one', Operation: 'update' };
    expect(Changes[0]).to.deep.include({ Index: done.Index, ...about });
    expect(Changes[1].Index).to.be.lessThan(done.Index);
    expect(await versionsOf()).to.deep.equal(before);
    await applied({ Owner: 'gitops/a', Objects: [policy('one')] });
    expect((await client.must('GET /history?limit=1')).Changes).to.deep.equal([Changes[0]]);
  });

  it('gets back what was deleted by an undo, with the handles of binding rules', async () => {
    const Config = { JWTValidationPubKeys: [(await signer('EdDSA')).pem] };
    await client.must('PUT /acl/auth-method', { Name: 'jwt1', Type: 'jwt', Config });
    const ciRule = { AuthMethod: 'jwt1', BindType: 'service', BindName: 'web' };
    const rule = { Type: 'binding-rule', Handle: 'ci' };
    const Objects = [...body.Objects, { ...rule, Object: ciRule }];
    await applied({ ...body, Objects });
    await applied({ Objects: [policy('free'), { ...rule, Handle: 'other', Object: ciRule }] });
    const undo = async (Index: number): Promise<number> =>
      (await client.must('POST /undo', { Index })).Index;
    const Delete = [
      ...['one', 'free'].map((Name) => ({ Type: 'policy', Name })),
      ...['ci', 'other'].map((Handle) => ({ ...rule, Handle })),
    ];
    let { Index: deleted } = await applied({ Delete });
    for (let times = 0; times < 2; times++) {
      const made = await undo(deleted);
      const plan = await planned({ ...body, Objects });
      expect(plan.Summary).to.include({ Create: 0, Update: 0, Delete: 0, Unchanged: 3 });
      const found = await planned({ Objects: [{ ...rule, Handle: 'other', Object: ciRule }] });
      expect(found.Summary).to.include({ Create: 0, Unchanged: 1 });
      const free = await refused({ ...body, Objects: [...Objects, policy('free')] });
      expect(free.Problems[0]).to.include({ Code: 'unowned', Ref: 'policy/default/free' });
      deleted = await undo(made);
    }
  });

  it('cannot get a handle back that another rule has meanwhile', async () => {
    const Config = { JWTValidationPubKeys: [(await signer('EdDSA')).pem] };
    await client.must('PUT /acl/auth-method', { Name: 'jwt1', Type: 'jwt', Config });
    const ciRule = { AuthMethod: 'jwt1', BindType: 'service', BindName: 'web' };
    const rule = { Type: 'binding-rule', Handle: 'ci' };
    await applied({ Objects: [{ ...rule, Object: ciRule }] });
    const { Index } = await applied({ Delete: [rule] });
    await applied({ Objects: [{ ...rule, Object: ciRule }] });
    const { status, body: why } = await client.ask('POST /undo', { Index });
    expect([status, why.code, why.pointer]).to.deep.equal([409, 'conflict', '/Handle']);
  });

  it('is named by the header Owner of writes to its objects', async () => {
    await applied(body);
    const { ID } = await client.must('GET /acl/policy/name/one');
    const put = await client.ask(`PUT /acl/policy/${ID}`, { Name: 'one', Rules: '' });
    expect(put.headers['x-consul-owner']).to.equal('gitops/a');
    const set = await apply({ Objects: [policy('one', 'mesh = "read"')] });
    expect(set.headers['x-service-owner']).to.equal('gitops/a');
    const free = await client.ask('PUT /acl/policy', { Name: 'free', Rules: '' });
    expect(free.headers['x-consul-owner']).to.equal(undefined);
    const taken = await client.ask(`PUT /acl/policy/${ID}`, { Name: 'two', Rules: '' });
    expect([taken.status, taken.headers['x-consul-owner']]).to.deep.equal([409, undefined]);
    const gone = await client.ask(`DELETE /acl/policy/${ID}`);
    expect(gone.headers['x-consul-owner']).to.equal('gitops/a');
  });

  it('has the newest plan in its metrics, unless the caller of that sees too little', async () => {
    const body = { Owner: 'team/a', Objects: [policy('a'), policy('b')] };
    const unapplied = () => drift.list().map(({ unapplied: count }) => count);
    await planned(body);
    expect(unapplied()).to.deep.equal([2]);
    for (const Objects of [[], body.Objects]) {
      for (const path of ['/plan', '/apply']) {
        await client.ask(`POST ${path}`, { ...body, Objects }, '');
      }
    }
    expect(unapplied()).to.deep.equal([2]);
    await applied(body);
    expect(unapplied()).to.deep.equal([0]);
  });
});
