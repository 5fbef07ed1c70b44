import { expect } from 'chai';
import fc from 'fast-check';
import { type Difference, differences } from '../../../src/service/change/diff.js';
import { HIDDEN } from '../../../src/state/put-form.js';

type Body = Record<string, unknown>;
const short = ({ Type, Path, Old, New }: Difference) => [Type, Path, Old, New];
const between = (before: Body | undefined, after: Body | undefined) =>
  differences('role', before, after).map(short);

describe('the differences of two objects', () => {
  it('are members that were added, deleted or edited, by JSON pointer', () => {
    const before = { Name: 'a', Gone: 1, Map: { 'x/y': 1, same: true }, List: [1, 2] };
    const after = { Name: 'b', New: null, Map: { 'x/y': 2, same: true }, List: [1, 3, 4] };
    expect(between(before, after)).to.deep.equal([
      ['Edited', '/Name', 'a', 'b'],
      ['Deleted', '/Gone', 1, undefined],
      ['Edited', '/Map/x~1y', 1, 2],
      ['Edited', '/List/1', 2, 3],
      ['Added', '/List/2', undefined, 4],
      ['Added', '/New', undefined, null],
    ]);
    expect(differences('role', { Gone: 1 }, {})[0]).to.not.have.property('New');
    expect(differences('role', {}, { New: 1 })[0]).to.not.have.property('Old');
  });

  it('are all members of an object that is created or deleted', () => {
    expect(between(undefined, { Name: 'a' })).to.deep.equal([['Added', '/Name', undefined, 'a']]);
    expect(between({ Name: 'a' }, undefined)).to.deep.equal([['Deleted', '/Name', 'a', undefined]]);
  });

  it('compare lists of objects with names by these', () => {
    const before = { Policies: [{ Name: 'a' }, { Name: 'b', X: 1 }] };
    const after = { Policies: [{ Name: 'new' }, { Name: 'b', X: 2 }] };
    expect(between(before, after)).to.deep.equal([
      ['Deleted', '/Policies/a', { Name: 'a' }, undefined],
      ['Edited', '/Policies/b/X', 1, 2],
      ['Added', '/Policies/new', undefined, { Name: 'new' }],
    ]);
    const identities = (...names: string[]) => ({
      ServiceIdentities: names.map((ServiceName) => ({ ServiceName })),
    });
    expect(between(identities('a', 'b'), identities('b'))).to.deep.equal([
      ['Deleted', '/ServiceIdentities/a', { ServiceName: 'a' }, undefined],
    ]);
  });

  it('compare by position what changed places, has no name, or a name twice', () => {
    const list = (...Names: string[]) => ({ L: Names.map((Name) => ({ Name })) });
    expect(between(list('a', 'b'), list('b', 'a'))).to.deep.equal([
      ['Edited', '/L/0/Name', 'a', 'b'],
      ['Edited', '/L/1/Name', 'b', 'a'],
    ]);
    expect(between(list('a', 'a,a'), list('a,a', 'a'))).to.have.length(2);
    expect(between(list('a', 'a'), list('a'))).to.deep.equal([
      ['Deleted', '/L/1', { Name: 'a' }, undefined],
    ]);
    expect(between({ L: [{ P: 1 }] }, { L: [{ P: 2 }] })).to.deep.equal([
      ['Edited', '/L/0/P', 1, 2],
    ]);
  });

  it('show the first 4 KiB of a long value, whole characters only', () => {
    const [edited] = differences('policy', { Rules: 'a' }, { Rules: `a${'é'.repeat(4000)}` });
    expect(edited).to.deep.equal({
      Type: 'Edited',
      Path: '/Rules',
      Old: 'a',
      New: `a${'é'.repeat(2047)}`,
      Cut: true,
    });
    const [added] = differences('policy', {}, { Datacenters: Array(5000).fill('x') });
    expect(added).to.include({ Type: 'Added', Cut: true });
    expect(added!.New).to.be.a('string').with.length(4096);
    expect(differences('policy', {}, { Rules: 'a'.repeat(4096) })[0]).to.not.have.property('Cut');
  });

  it('never show a secret, and say that one changed', () => {
    const method = (jwt: string) => ({ Name: 'k', Config: { ServiceAccountJWT: jwt } });
    const texts = [
      differences('method', method('one'), method('two')),
      differences('method', undefined, method('two')),
      differences('method', method('one'), undefined),
      differences('token', { SecretID: 'one' }, { SecretID: 'two' }),
    ].map((found) => JSON.stringify(found));
    for (const text of texts)
      expect(text)
        .to.contain(HIDDEN)
        .and.not.match(/one|two/);
    const path = '/Config/ServiceAccountJWT';
    expect(JSON.parse(texts[0]!)).to.deep.equal([
      { Type: 'Edited', Path: path, Old: HIDDEN, New: HIDDEN },
    ]);
    expect(differences('method', method('one'), method('one'))).to.deep.equal([]);
  });

  it('are none for equal objects, and some for all others', () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const body = fc.dictionary(fc.string(), value);
    fc.assert(
      fc.property(body, body, (before, after) => {
        expect(differences('role', before, structuredClone(before))).to.deep.equal([]);
        const same = JSON.stringify(sorted(before)) === JSON.stringify(sorted(after));
        expect(differences('role', before, after).length === 0).to.equal(same);
      }),
    );
  });
});

/** A value with the members of objects in order, because their order does not matter. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, item]) => [name, sorted(item)]);
}
