import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { differenceLines, pathText } from '../../src/cli/print/diff-view.js';
import { type Plan, type PlannedChange, planLines } from '../../src/cli/print/plan-view.js';

const UPDATE = {
  Ref: 'policy/default/ops',
  Type: 'policy',
  Namespace: 'default',
  Name: 'ops',
  ID: 'x',
  Action: 'update',
  ExpectedIndex: 42,
  Owner: 'pay',
  Allowed: true,
  Diff: [
    { Type: 'Edited', Path: '/Description', Old: 'old', New: 'new' },
    { Type: 'Edited', Path: '/Rules', Old: 'a\nb\nc\nd\ne\nf\n', New: 'a\nb\nc\nd\nE\nf\n' },
    { Type: 'Added', Path: '/Policies/a~1b', New: { Name: 'a/b' } },
    { Type: 'Deleted', Path: '/Datacenters/0', Old: 'dc1' },
  ],
  // The API declares old and new values as objects.
} as unknown as PlannedChange;

const PLAN: Plan = {
  Index: 131,
  Valid: true,
  Digest: 'sha256:9f',
  Owner: 'pay',
  Summary: { Create: 0, Update: 1, Delete: 0, Unchanged: 2, Hidden: 0 },
  Changes: [UPDATE],
  Expected: {},
  Problems: [],
  Asserts: [],
  Parts: [],
};

async function shown(plan: Partial<Plan>, places: Record<string, string> = {}): Promise<string> {
  const style = {
    colour: false,
    placeOf: ({ Ref = '', Pointer = '' }) => places[Ref || Pointer],
  };
  return (await planLines({ ...PLAN, ...plan }, style)).join('\n');
}

/** What a result of an explanation has that does not matter here. */
const RESULT = {
  Resource: 'acl',
  Access: 'write',
  Namespace: 'default',
  Allow: true,
  Reason: 'rule',
  Level: 'write',
  Text: 'acl:write is allowed by acl in policy "ops", line 3',
  Winner: {
    Resource: 'acl',
    Match: 'scalar',
    Level: 'write',
    Rule: 'acl',
    MoreSources: 0,
    Sources: [
      {
        Path: [
          { Type: 'draft', ID: '', Name: '' },
          { Type: 'policy', ID: 'x', Name: 'ops' },
        ],
        Line: 3,
        Column: 1,
        Level: 'write',
        Counts: true,
      },
    ],
  },
  Candidates: [],
  MoreCandidates: 0,
} as unknown as Plan['Asserts'][number]['Result'];

describe('a plan for people', () => {
  it('shows an update by field, and texts by line', async () => {
    expect(await shown({})).to.equal(
      [
        '~ policy/default/ops',
        '    ~ Description  "old" → "new"',
        '    ~ Rules',
        '          … line 2',
        '          b',
        '          c',
        '          d',
        '        - e',
        '        + E',
        '          f',
        '    + Policies.a/b  {"Name":"a/b"}',
        '    - Datacenters[0]  "dc1"',
        '',
        'Plan: 0 to create, 1 to update, 0 to delete, 2 unchanged.',
      ].join('\n'),
    );
  });

  it('shows what is created with its fields, and what is deleted by its name', async () => {
    const whole = { Name: 'web', Rules: 'acl = "read"\nkey "" {}\n' };
    const create = { ...UPDATE, Action: 'create', Ref: 'policy/default/web' } as const;
    const Diff = [{ Type: 'Added', Path: '', New: whole }] as const;
    const gone = { ...UPDATE, Action: 'delete', Ref: 'role/default/old' } as const;
    const same = { ...UPDATE, Action: 'unchanged', Ref: 'role/default/same' } as const;
    expect(await shown({ Changes: [{ ...create, Diff }, gone, same] })).to.equal(
      [
        '+ policy/default/web',
        '    + Name  "web"',
        '    + Rules',
        '        + acl = "read"',
        '        + key "" {}',
        '- role/default/old',
        '',
        'Plan: 0 to create, 1 to update, 0 to delete, 2 unchanged.',
      ].join('\n'),
    );
  });

  for (const [what, change, head] of [
    ['whose object an owner takes', { Owner: 'x', Diff: [] }, '  owner: x → pay'],
    ['whose object has no owner', { Owner: '', Diff: [] }, '  owner: none → pay'],
    ['of a handle alone', { Type: 'binding-rule', Diff: [] }, '  its handle changes'],
    ['that the token may not make', { Allowed: false, Diff: [] }, '  not allowed with this token'],
  ] as const)
    it(`marks a change ${what}`, async () => {
      const [line] = (await shown({ Changes: [{ ...UPDATE, ...change }] })).split('\n');
      expect(line).to.equal(`~ policy/default/ops${head}`);
    });

  it('shows warnings below the object that they are about', async () => {
    const Warnings = [
      { Severity: 'warning', Code: 'broad_write', Message: 'writes all', Line: 1 },
    ] as unknown as NonNullable<PlannedChange['Warnings']>;
    expect(await shown({ Changes: [{ ...UPDATE, Diff: [], Warnings }] })).to.include(
      '\n    ! warning broad_write: line 1: writes all\n',
    );
  });

  it('shows which tokens gain and lose what', async () => {
    const right = { Namespace: 'default', Resource: 'service', Match: 'prefix', Name: 'w' };
    const group = {
      Tokens: 12,
      Removed: false,
      Policies: [{ Name: 'ops' }],
      Roles: [],
      Sample: [{ AccessorID: '8a2d31f0-x', Description: 'ci' }],
      Gains: [{ ...right, Before: 'read', After: 'write' }],
      Loses: [
        {
          Namespace: 'team',
          Resource: 'acl',
          Match: 'scalar',
          Name: '',
          Before: 'read',
          After: '',
        },
      ],
    };
    const Tokens = { Affected: 12, Truncated: true, Hidden: false, Groups: [group] };
    expect(await shown({ Changes: [], Impact: { Tokens } })).to.include(
      [
        'Rights change for at least 12 tokens:',
        '  12 tokens with policies ops, such as "ci"',
        '    + service w*: read → write',
        '    - acl in team: read → none',
      ].join('\n'),
    );
    const Hidden = { Tokens: { Affected: 0, Truncated: false, Hidden: true, Groups: [] } };
    expect(await shown({ Changes: [], Impact: Hidden })).to.include(
      'Rights change for tokens that this token may not read, too.',
    );
  });

  it('says why an assertion fails, where it stands, and where the rule does', async () => {
    const Asserts = [
      { Name: 'fine', Passed: true, Result: null },
      { Name: 'ci cannot touch ACLs', Passed: false, Result: RESULT },
      { Name: 'gone', Passed: false, Result: null, Problem: 'there is no role "ci"' },
    ];
    const Problems = [
      { Ref: '', Code: 'assert', Message: 'Assertion "gone" failed', Pointer: '/Assert/2' },
      { Ref: 'role/default/x', Code: 'unknown_reference', Message: 'no such policy', Pointer: '' },
    ];
    const places = { '/Assert/1': 'a.yaml:9:3', 'policy/default/ops': 'ops.yaml:1:1' };
    expect(await shown({ Valid: false, Changes: [], Asserts, Problems }, places)).to.equal(
      [
        'Assertions:',
        '  ✓ fine',
        '  ✗ ci cannot touch ACLs: acl:write is allowed by acl in policy "ops", line 3',
        '      a.yaml:9:3, the rule: policy ops:3, ops.yaml:1:1',
        '  ✗ gone: there is no role "ci"',
        '',
        'Problems:',
        '  role/default/x: no such policy (unknown_reference)',
        '',
        'Plan: 0 to create, 1 to update, 0 to delete, 2 unchanged. It cannot be applied as it is.',
      ].join('\n'),
    );
  });

  it('is the same with colours, and no name reaches the terminal as it is', async () => {
    const Ref = 'role/default/\u001b[2Jx';
    const plan = { ...PLAN, Changes: [UPDATE, { ...UPDATE, Ref, Allowed: false }] };
    const placeOf = (): undefined => undefined;
    const plain = await planLines(plan, { colour: false, placeOf });
    const coloured = await planLines(plan, { colour: true, placeOf });
    expect(coloured.join('')).to.include('\u001b[');
    expect(coloured.map(stripVTControlCharacters)).to.deep.equal(plain);
    expect(plain.join('\n')).to.include('role/default/\\u001b[2Jx').and.not.include('\u001b');
  });
});

describe('differences', () => {
  it('have paths as people write them', () => {
    expect(pathText('/Routes/0/Match/HTTP')).to.equal('Routes[0].Match.HTTP');
    expect(pathText('/Meta/a~1b~0c')).to.equal('Meta.a/b~c');
  });

  it('show long values below their field', async () => {
    const New = { Name: 'x'.repeat(80) };
    const lines = await differenceLines([{ Type: 'Edited', Path: '/A', Old: 1, New }], false);
    expect(lines).to.deep.equal(['    ~ A', '        - 1', `        + Name: ${'x'.repeat(80)}`]);
  });

  it('say that a value is cut', async () => {
    const [line] = await differenceLines(
      [{ Type: 'Added', Path: '/A', New: 'x', Cut: true }],
      false,
    );
    expect(line).to.equal('    + A  "x" (cut)');
  });
});
