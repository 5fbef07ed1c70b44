import { expect } from 'chai';
import { FILTERED, json, problem } from './fake-server.js';
import { fakeStage } from './fake-stage.js';
import { APPLIED, AT, ID, ITEM, PLAN, TIME, VERSIONS, version } from './history-answers.js';

describe('rollback', () => {
  const { run, bodies, urls } = fakeStage();
  const exported = (more: object) => json({ Index: 60, At: AT, Objects: [], ...more });

  it('applies what an object was', async () => {
    const other = { ...ITEM, Object: { ...ITEM.Object, ID: 'other' } };
    const answers = [exported({ Objects: [other, ITEM] }), json(PLAN), json(APPLIED)];
    const ran = await run(`rollback policy ${ID} --to 42 --yes`, answers);
    expect(ran.code).to.equal(0);
    expect(urls()).to.deep.equal([
      '/v1/export?types=policy&partial=true&at=42',
      '/v1/plan',
      '/v1/apply',
    ]);
    const set = { Objects: [ITEM], Delete: [], Assert: [] };
    expect(bodies()).to.deep.equal([set, { ...set, Digest: 'sha256:1' }]);
  });

  it('finds an entry by its kind and name', async () => {
    const entry = (Name: string) => ({
      Type: 'config',
      Object: { Kind: 'service-defaults', Name },
    });
    const answers = [exported({ Objects: [entry('a'), entry('web')] }), json(PLAN), json(APPLIED)];
    await run('rollback config/service-defaults/Web --to 42 --dry-run', answers);
    expect(urls()[0]).to.equal('/v1/export?kind=service-defaults&types=config&partial=true&at=42');
    expect(bodies()[0].Objects).to.deep.equal([entry('web')]);
  });

  it('deletes an object that did not exist then only with --delete', async () => {
    const young = json({ ...VERSIONS, Versions: [version(57, 'update'), version(50, 'create')] });
    const answers = [exported({}), young, young, json(PLAN), json(APPLIED)];
    const ran = await run(`rollback policy ${ID} --to 42 --yes`, answers);
    expect(ran.code).to.equal(1);
    expect(ran.err)
      .to.match(/^conclave: policy "ops" did not exist at index 42 \(2026-11-03 .*\n/)
      .and.include('--delete');
    expect(bodies()).to.deep.equal([]);
    expect((await run(`rollback policy ${ID} --to 42 --yes --delete`, answers)).code).to.equal(0);
    expect(bodies()[0]).to.deep.equal({
      Objects: [],
      Delete: [{ Type: 'policy', ID }],
      Assert: [],
    });
  });

  for (const [args, item, query] of [
    [
      'namespace Team-A',
      { Type: 'namespace', Object: { Name: 'team-a' } },
      'ns=Team-A&types=namespace',
    ],
    [
      'config mesh/mesh --namespace team-a',
      { Type: 'config', Namespace: 'default', Object: { Kind: 'mesh' } },
      'ns=default&kind=mesh&types=config',
    ],
    [
      'auth-method ci',
      { Type: 'auth-method', Namespace: 'of-the-token', Object: { Name: 'ci' } },
      'types=auth-method',
    ],
  ] as const)
    it(`finds ${args} where it lives`, async () => {
      const answers = [exported({ Objects: [item] }), json(PLAN), json(APPLIED)];
      const { code, err } = await run(`rollback ${args} --to 42 --yes --delete`, answers);
      expect(code, err).to.equal(0);
      expect(urls()[0]).to.equal(`/v1/export?${query}&partial=true&at=42`);
      expect(bodies()[0]).to.deep.equal({ Objects: [item], Delete: [], Assert: [] });
    });

  it('deletes nothing that the history does not prove to have been absent', async () => {
    const row = (Index: number, Operation: string, Size: number) =>
      version(Index, Operation, { Size });
    const Oldest = { Index: 50, Time: TIME };
    const unknown = problem(404, { code: 'not_found', detail: 'no longer known', Oldest });
    const having = (Versions: readonly object[], more: object = {}) =>
      json({ ...VERSIONS, Versions, ...more });
    const made = having([row(57, 'update', 9), row(50, 'create', 9)]);
    const trimmed = having([row(50, 'update', 9)]);
    for (const [list, from, why] of [
      [made, unknown, 'the oldest moment that is known is index 50 ('],
      [having([row(57, 'update', 9), row(41, 'update', 9)]), made, 'existed at index 42 ('],
      [having([row(57, 'create', 9)], { More: true }), trimmed, 'is no longer known'],
      [having([row(50, 'undo', 9)]), made, 'is no longer known'],
    ] as const) {
      const answers = [exported({ Unknown: ['policy/default/ops'] }), list, from, json(PLAN)];
      const ran = await run(`rollback policy ${ID} --to 42 --yes --delete`, answers);
      expect(ran.code, why).to.equal(1);
      expect(ran.err).to.include(why);
    }
    expect(bodies()).to.deep.equal([]);
    const between = having([row(57, 'create', 9), row(41, 'delete', 0), row(3, 'update', 9)]);
    const answers = [exported({}), between, between, json(PLAN), json(APPLIED)];
    expect((await run(`rollback policy ${ID} --to 42 --yes --delete`, answers)).code).to.equal(0);
  });

  it('looks behind more newer versions than one answer has', async () => {
    const page = (More: boolean, ...rows: readonly object[]) =>
      json({ ...VERSIONS, Versions: rows, More });
    const newer = page(true, version(58, 'update'), version(57, 'create'));
    const older = page(false, version(41, 'delete', { Size: 0 }), version(3, 'create'));
    const answers = [exported({}), newer, older, older, json(PLAN), json(APPLIED)];
    const { code, err } = await run(`rollback policy ${ID} --to 42 --yes --delete`, answers);
    expect(code, err).to.equal(0);
    const path = `/v1/history/policy/${ID}`;
    expect(urls().slice(1, 4)).to.deep.equal([
      `${path}?limit=1000`,
      `${path}?limit=1000&before=57`,
      `${path}?from=42`,
    ]);
    const early = page(false, version(41, 'update', { Time: '2026-11-01T00:00:00.000Z' }));
    const held = json({ Object: { AccessorID: ID } });
    const token = [newer, early, held, json(PLAN), json(APPLIED)];
    const ran = await run(`rollback token ${ID} --to 2026-11-02T00:00:00Z --yes`, token);
    expect(ran.code, ran.err).to.equal(0);
  });

  it('says the oldest moment that is known', async () => {
    const trimmed = json({ ...VERSIONS, Versions: [version(57, 'update'), version(50, 'update')] });
    const ran = await run(`rollback policy ${ID} --to 42 --yes --delete`, [exported({}), trimmed]);
    expect(ran.code).to.equal(1);
    expect(ran.err)
      .to.match(/what policy "ops" was at index 42 \(.*\) is no longer known \(not_found\)\n/)
      .and.match(/\n {2}the oldest moment that is known is index 50 \(2026-11-03 .*\)\n$/);
    const Oldest = { Index: 50, Time: TIME };
    const unknown = problem(404, { code: 'not_found', detail: 'no longer known', Oldest });
    const owned = await run('rollback --owner pay --to 42 --yes', [unknown]);
    expect(owned.err).to.match(/\n {2}the oldest moment that is known is index 50 \(/);
  });

  it('of an owner keeps what was made since, unless it prunes', async () => {
    const answers = [exported({ Objects: [ITEM] }), json(PLAN), json(APPLIED)];
    await run(`rollback --owner pay --to ${TIME} --yes`, answers);
    await run(`rollback --owner pay --to ${TIME} --yes --prune`, answers);
    expect(urls()[0]).to.equal(`/v1/export?owner=pay&ns=*&at=${encodeURIComponent(TIME)}`);
    const set = { Owner: 'pay', Objects: [ITEM], Delete: [], Assert: [] };
    expect(bodies()[0]).to.deep.equal(set);
    expect(bodies()[2]).to.deep.equal({ ...set, Prune: true });
    const some = [json({ Objects: [ITEM] }, FILTERED), json(PLAN)];
    const { err } = await run('rollback --owner pay --to 42 --dry-run', some);
    expect(err).to.include('what this token may not read is left out');
  });

  it('takes what a token was from its history', async () => {
    const held = { AccessorID: ID, Description: 'was' };
    const answers = [json(VERSIONS), json({ Object: held }), json(PLAN), json(APPLIED)];
    expect((await run(`rollback token ${ID} --to 57 --yes`, answers)).code).to.equal(0);
    expect(urls().slice(0, 2)).to.deep.equal([
      `/v1/history/token/${ID}?limit=1000`,
      `/v1/history/token/${ID}?version=57`,
    ]);
    expect(bodies()[0].Objects).to.deep.equal([{ Type: 'token', Object: held }]);
    const before = json({ ...VERSIONS, Versions: [] });
    expect((await run(`rollback token ${ID} --to 5 --yes`, [before])).err).to.include(
      'is not known',
    );
  });
});
