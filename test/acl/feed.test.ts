import { expect } from 'chai';
import { compileRights } from '../../src/acl/authorizer.js';
import { writeLayers } from '../../src/acl/feed.js';
import { atOnce } from '../../src/acl/steps.js';
import { policyGrant } from '../../src/acl/synthetic.js';
import { checkLaw } from './feed-law.js';

/** The sets of a token with one policy of `default`. */
function setsOf(rules: string) {
  const rights = atOnce(compileRights([policyGrant(rules, 'default')], {}));
  let text = '';
  atOnce(writeLayers(rights, (piece) => (text += piece)));
  return JSON.parse(text)[0].Sets;
}
const rule = (name: string): string => `key "${name}" { policy = "read" }\n`;

describe('the feed of rights', () => {
  it('decides as enforcement does, whatever the rights and the question', () => {
    checkLaw(60_000);
  }).timeout(60_000);

  it('has names in the order of their bytes, also beyond U+FFFF and across many steps', () => {
    const words = ['b', '\u{1f600}', '\uffee', 'é', 'B', '', '\u{1f600}a'];
    const many = Array.from({ length: 1200 }, (_, n) => `k${(n * 7919) % 1200}`);
    for (const names of [words, many, [...words, ...many]]) {
      const [{ Named }] = setsOf(names.map(rule).join(''));
      const bytes = names.map((name) => Buffer.from(name)).sort(Buffer.compare);
      expect(Named.key.Exact.read).to.deep.equal(bytes.map(String));
    }
  });

  it('has exact sets by name, then prefixes, the longest first, and none without rules', () => {
    const block = (head: string): string => `${head} { acl = "read" }\n`;
    const heads = [
      'namespace_prefix "b"',
      'namespace "z"',
      'namespace_prefix "abc"',
      'namespace "b"',
      'namespace_prefix "a"',
      'namespace_prefix ""',
      'namespace "\\xff"',
    ];
    const sets = setsOf(heads.map(block).join(''));
    expect(sets.map(({ Match, Name }: Record<string, string>) => `${Match} ${Name}`)).to.deep.equal(
      ['exact b', 'exact z', 'prefix abc', 'prefix a', 'prefix b', 'prefix '],
    );
  });
});
