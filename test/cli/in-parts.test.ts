import { expect } from 'chai';
import { chunksOf, judgedAlone, partSets } from '../../src/cli/commands/in-parts.js';
import { documentsOf } from '../../src/cli/files/documents.js';
import { type ReadSet, setOf, type WholeSet } from '../../src/cli/files/sets.js';
import type { Plan, PlannedChange } from '../../src/cli/print/plan-view.js';

const setFrom = async (body: object): Promise<ReadSet> =>
  setOf(await documentsOf('a.json', JSON.stringify(body)));

const change = (Ref: string, more: Partial<PlannedChange> = {}): PlannedChange => ({
  Ref,
  Type: Ref.split('/')[0]!,
  Namespace: 'default',
  Name: Ref.split('/').slice(2).join('/'),
  Action: 'create',
  Owner: '',
  Allowed: true,
  ...more,
});

const PLAN: Plan = {
  Index: 1,
  Valid: true,
  Digest: 'd',
  Owner: 'pay',
  Summary: { Create: 0, Update: 0, Delete: 0, Unchanged: 0, Hidden: 0 },
  Changes: [],
  Expected: {},
  Problems: [],
  Asserts: [],
  Parts: [],
};

const names = (list: readonly { readonly Object?: object; readonly Name?: string }[]): unknown[] =>
  list.map(({ Name, Object: object }) => Name ?? (object as { Name: string }).Name);

describe('the parts of a set', () => {
  const policy = (Name: string, ID?: string): object => ({
    Type: 'policy',
    Object: { Name, ...(ID && { ID }) },
  });

  it('hold the objects and deletes that the plan names, with their versions', async () => {
    const set = await setFrom({
      Owner: 'pay',
      Prune: true,
      TakeOver: true,
      Reason: 'PAY-1',
      Objects: [policy('a'), policy('Old name', 'id-b'), policy('same')],
      Delete: [{ Type: 'role', Name: 'gone', IfUnused: true }],
      Assert: [{ Name: 'x' }],
    });
    const plan: Plan = {
      ...PLAN,
      Changes: [
        change('policy/default/A', { Action: 'update' }),
        change('policy/default/new name', { Action: 'update', ID: 'id-b' }),
        change('policy/default/same', { Action: 'unchanged' }),
        change('role/default/gone', { Action: 'delete' }),
        change('config/default/service-defaults/web', { Action: 'delete' }),
        change('binding-rule/default/h', { Action: 'delete', ID: 'id-h' }),
      ],
      Expected: { 'policy/default/A': 7, 'role/default/gone': 8, 'policy/default/same': 9 },
      Parts: [
        ['policy/default/A'],
        ['policy/default/new name', 'config/default/service-defaults/web'],
        ['role/default/gone', 'binding-rule/default/h'],
      ],
    };
    const common = { Owner: 'pay', TakeOver: true, Reason: 'PAY-1' };
    expect(partSets(set, plan).map(({ body }) => body)).to.deep.equal([
      {
        ...common,
        Objects: [policy('a')],
        Delete: [],
        Assert: [],
        Expected: { 'policy/default/A': 7 },
      },
      {
        ...common,
        Objects: [policy('Old name', 'id-b')],
        Delete: [{ Type: 'config', Namespace: 'default', Name: 'service-defaults/web' }],
        Assert: [],
        Expected: {},
      },
      {
        ...common,
        Objects: [],
        Delete: [
          { Type: 'role', Name: 'gone', IfUnused: true },
          { Type: 'binding-rule', Namespace: 'default', ID: 'id-h' },
        ],
        Assert: [{ Name: 'x' }],
        Expected: { 'role/default/gone': 8 },
      },
    ]);
  });

  it('hold both the object that takes a name and the one that gives it up', async () => {
    const set = await setFrom({ Owner: 'pay', Prune: true, Objects: [policy('a', 'id-b')] });
    const plan: Plan = {
      ...PLAN,
      Changes: [
        change('policy/default/a', { Action: 'update', ID: 'id-b' }),
        change('policy/default/a', { Action: 'delete', ID: 'id-a' }),
        change('policy/default/c', { Action: 'delete' }),
      ],
      Parts: [['policy/default/a', 'policy/default/a'], ['policy/default/c']],
    };
    const [part] = partSets(set, plan);
    expect(part!.body).to.deep.include({
      Objects: [policy('a', 'id-b')],
      Delete: [{ Type: 'policy', Namespace: 'default', Name: 'a' }],
    });
  });

  it('keep the places of their objects', async () => {
    const text =
      'Objects:\n- Type: policy\n  Object: {Name: a}\n- Type: role\n  Object: {Name: b}\n';
    const set = setOf(await documentsOf('a.yaml', text));
    const Changes = [change('policy/default/a'), change('role/default/b')];
    const Parts = Changes.map(({ Ref }) => [Ref]);
    const [, second] = partSets(set, { ...PLAN, Changes, Parts });
    expect(second!.placeOf({ Pointer: '/Objects/0/Object/Name' })).to.equal('a.yaml:5:18');
    expect(second!.placeOf({ Pointer: '/Delete/0' })).to.equal(undefined);
    expect(second!.placeOf({ Ref: 'role/default/b' })).to.equal('a.yaml:5:11');
  });

  it('are refused if the plan makes what is not in the set', async () => {
    const set = await setFrom({ Objects: [policy('a')] });
    const plan = { ...PLAN, Changes: [change('role/default/b')], Parts: [['role/default/b'], []] };
    expect(() => partSets(set, plan)).to.throw('role/default/b, which is not in the set');
  });
});

describe('the chunks of a set', () => {
  const config = (Kind: string, Name: string) => ({ Type: 'config', Object: { Kind, Name } });
  const SET = {
    Owner: 'pay',
    Objects: [
      config('service-router', 'web'),
      config('service-defaults', 'web'),
      { Type: 'role', Namespace: 'team', Object: { Name: 'of team' } },
      { Type: 'namespace', Object: { Name: 'team' } },
      { Type: 'role', Object: { Name: 'ops' } },
      { Type: 'policy', Object: { Name: 'ops' } },
    ],
    Delete: [
      { Type: 'policy', Name: 'old' },
      { Type: 'config', Name: 'service-defaults/old' },
      { Type: 'config', Name: 'service-router/old' },
    ],
    Assert: [{ Name: 'x' }],
  };
  const bytes = 1e6;

  it('are one where a plan takes all', async () => {
    const [one, ...others] = chunksOf(await setFrom(SET), { items: 9, bytes });
    expect(others).to.deep.equal([]);
    expect(names(one!.body.Objects)).to.deep.equal(['ops', 'ops', 'team', 'of team', 'web', 'web']);
    expect(one!.body.Assert).to.deep.equal([{ Name: 'x' }]);
  });

  it('are in the order in which objects can be made, deletes last in reverse', async () => {
    const chunks = chunksOf(await setFrom(SET), { items: 1, bytes });
    const shown = chunks.map(({ body: { Objects, Delete } }) =>
      [
        ...Objects.map(({ Type, Object: { Kind, Name } }) => `${Kind ?? Type} ${Name}`),
        ...Delete.map(({ Type, Name }) => `- ${Type} ${Name}`),
      ].join(', '),
    );
    expect(shown).to.deep.equal([
      'policy ops',
      'role ops',
      'namespace team',
      'role of team',
      'service-defaults web',
      'service-router web',
      '- config service-router/old',
      '- config service-defaults/old',
      '- policy old',
    ]);
    expect(chunks.map(({ body }) => body.Assert.length)).to.deep.equal([0, 0, 0, 0, 0, 0, 0, 0, 1]);
    expect(chunks[3]!.placeOf({ Pointer: '/Objects/0' })).to.match(/^a\.json:1:/);
  });

  it('have the versions that the set expects, each of its own objects', async () => {
    const Expected = {
      'policy/default/Ops': 7,
      'namespace/team': 0,
      'role/team/of team': 8,
      'config/default/service-router/old': 9,
    };
    const set = await setFrom({ ...SET, Expected });
    const chunks = chunksOf(set, { items: 2, bytes });
    expect(chunks.map(({ body }) => body.Expected)).to.deep.equal([
      { 'policy/default/Ops': 7 },
      { 'namespace/team': 0, 'role/team/of team': 8 },
      undefined,
      { 'config/default/service-router/old': 9 },
      undefined,
    ]);
    const other = await setFrom({ ...SET, Expected: { 'role/default/other': 3 } });
    expect(() => chunksOf(other)).to.throw('Expected names role/default/other');
  });

  it('have the digest of a plan only if they are one', async () => {
    const set = await setFrom({ ...SET, Digest: 'sha256:1' });
    expect(chunksOf(set).map(({ body }) => body.Digest)).to.deep.equal(['sha256:1']);
    expect(() => chunksOf(set, { items: 2, bytes })).to.throw('Digest is of one plan');
  });

  it('have whole types where they fit', async () => {
    const Objects = [1, 2, 3, 4, 5].map((at) => ({
      Type: at < 3 ? 'policy' : 'role',
      Object: { Name: `${at}` },
    }));
    const set = await setFrom({ Objects });
    const chunks = chunksOf(set, { items: 4, bytes });
    expect(chunks.map(({ body }) => names(body.Objects))).to.deep.equal([
      ['1', '2'],
      ['3', '4', '5'],
    ]);
    const small = chunksOf(set, { items: 4, bytes: 80 });
    expect(small.map(({ body }) => body.Objects.length)).to.deep.equal([2, 2, 1]);
  });
});

describe('the plan of a chunk', () => {
  const WHOLE: WholeSet = { Owner: 'pay', Prune: true, Objects: [], Delete: [], Assert: [] };
  const missing = { Ref: 'role/default/a', Code: 'unknown_reference', Message: 'no', Pointer: '' };

  it('misses nothing that an earlier chunk makes, in a dry run', () => {
    const plan = {
      ...PLAN,
      Valid: false,
      Changes: [change('role/default/a')],
      Problems: [missing],
    };
    const judged = judgedAlone(plan, WHOLE, true);
    expect(judged).to.include({ Valid: true }).and.to.deep.include({ Problems: [] });
    expect(judged.Changes[0]!.Warnings![0]).to.include({ Message: 'depends on an earlier chunk' });
    expect(judgedAlone(plan, WHOLE, false)).to.deep.include({ Valid: false, Problems: [missing] });
    const other = { ...missing, Code: 'invalid' };
    const both = { ...plan, Problems: [missing, other] };
    expect(judgedAlone(both, WHOLE, true)).to.deep.include({ Valid: false, Problems: [other] });
  });

  it('takes nothing without an owner where the set prunes', () => {
    const Changes = [
      change('role/default/a', { Action: 'unchanged' }),
      change('role/default/b', { Action: 'update', Owner: 'pay' }),
      change('role/default/c'),
    ];
    const refs = (whole: Partial<WholeSet>): string[] =>
      judgedAlone({ ...PLAN, Changes }, { ...WHOLE, ...whole }, false).Problems.map(
        ({ Code, Ref }) => `${Code} ${Ref}`,
      );
    expect(refs({})).to.deep.equal(['unowned role/default/a']);
    expect(refs({ TakeOver: true })).to.deep.equal([]);
    expect(refs({ Prune: false })).to.deep.equal([]);
  });
});
