import { expect } from 'chai';
import { changesBetween, memberChanges } from '../../src/cli/client/watch.js';
import { targetOf } from '../../src/cli/commands/watch-command.js';

describe('what differs between two answers', () => {
  const cases: readonly (readonly [before: unknown, after: unknown, expected: string[]])[] = [
    [{ Protocol: 'http' }, { Protocol: 'grpc' }, ['Protocol: "http" → "grpc"']],
    [{ A: 1 }, { A: 1, B: true }, ['B: true']],
    [{ A: 1, B: 2 }, { A: 1 }, ['B: 2 → none']],
    [{ L: [{ N: 'a' }] }, { L: [{ N: 'b' }, { N: 'c' }] }, ['L[0].N: "a" → "b"', 'L[1].N: "c"']],
    [{ A: 1, ModifyIndex: 3, Hash: 'x' }, { A: 1, ModifyIndex: 4, Hash: 'y' }, []],
    [{ A: { B: { C: null } } }, { A: { B: { C: 0 } } }, ['A.B.C: null → 0']],
  ];
  for (const [before, after, expected] of cases)
    it(`is ${JSON.stringify(expected)}`, () => {
      expect(memberChanges(before, after)).to.deep.equal(expected);
    });

  it('tells what was created, changed and deleted', () => {
    const before = new Map<string, unknown>([
      ['a', { X: 1 }],
      ['b', { X: 1 }],
      ['c', { X: 1 }],
    ]);
    const after = new Map<string, unknown>([
      ['d', { X: 1 }],
      ['c', { X: 1 }],
      ['b', { X: 2 }],
    ]);
    expect(changesBetween(before, after)).to.deep.equal([
      { ref: 'a', what: 'deleted', value: { X: 1 }, members: [] },
      { ref: 'b', what: 'changed', value: { X: 2 }, members: ['X: 1 → 2'] },
      { ref: 'd', what: 'created', value: { X: 1 }, members: ['X: 1'] },
    ]);
  });
});

describe('what can be watched', () => {
  const paths: Readonly<Record<string, string>> = {
    'service-defaults/web': '/v1/config/service-defaults/web',
    'service-defaults': '/v1/config/service-defaults',
    'later-kind/a/b': '/v1/config/later-kind/a%2Fb',
    'role/ops': '/v1/acl/role/name/ops',
    'policy/0b2b361f-b782-87e7-80f2-289645ed8d5d':
      '/v1/acl/policy/0b2b361f-b782-87e7-80f2-289645ed8d5d',
    'auth-method/ci': '/v1/acl/auth-method/ci',
    tokens: '/v1/acl/tokens',
    namespaces: '/v1/namespaces',
  };
  for (const [what, path] of Object.entries(paths))
    it(`${what} is at ${path}`, () => expect(targetOf(what).path).to.equal(path));

  for (const what of ['role', 'roles/ops', 'nothing', 'role/', 'mesh/'])
    it(`${what} is refused`, () => expect(() => targetOf(what)).to.throw('cannot be watched'));
});
