/** What the editor offers while somebody types rules. */
import { expect } from 'chai';
import fc from 'fast-check';
import { NAMED, SCALARS } from '../../src/acl/types.js';
import * as words from '../../src/ui/schema/rules-text.js';

/** The labels that are offered at the end of a text; undefined for none. */
const at = (text: string): readonly string[] | undefined =>
  words.ruleOffers(text)?.offers.map(({ label }) => label);

describe('ui: help for rules', () => {
  it('knows the resources of the rules language', () => {
    expect(words.SCALARS).to.deep.equal(SCALARS);
    expect(words.NAMED).to.deep.equal(NAMED);
  });

  it('offers resources where a rule begins', () => {
    for (const text of ['', '  ser', '# all\n', 'service "a" { policy = "read" }\nop'])
      expect(at(text)).to.include.members(['service', 'service_prefix', 'operator', 'namespace']);
    expect(at('namespace "a" {\n  ')).to.include.members(['service', 'key_prefix', 'policy']);
    expect(at('namespace "a" {\n  ')).not.to.include('operator');
    expect(at('namespace "a" { service "b" { policy = "read" } ')).to.include('node');
  });

  it('offers what a block of a resource may have', () => {
    expect(at('service "web" { ')).to.deep.equal(['policy', 'intentions']);
    expect(at('key "web" {\n pol')).to.deep.equal(['policy']);
    expect(at('service_prefix "" {\n  policy = "read"\n  ')).to.deep.equal([
      'policy',
      'intentions',
    ]);
  });

  it('offers levels, with list for keys', () => {
    expect(at('acl = ')).to.deep.equal(['read', 'write', 'deny']);
    expect(at('service "web" { policy = "')).to.deep.equal(['read', 'write', 'deny']);
    expect(at('key_prefix "a/" { policy = "l')).to.deep.equal(['read', 'write', 'deny', 'list']);
    const [inQuotes, bare] = ['acl = "', 'acl = '].map((text) => words.ruleOffers(text)!);
    expect(inQuotes!.offers[0]!.insert).to.equal('read');
    expect(bare!.offers[0]!.insert).to.equal('"read"');
  });

  it('wants names of services and namespaces', () => {
    expect(words.ruleOffers('service "we')).to.deep.include({ names: 'service', from: 9 });
    expect(words.ruleOffers('service_prefix "')).to.deep.include({ names: 'service' });
    expect(words.ruleOffers('namespace "')).to.deep.include({ names: 'namespace' });
    expect(words.ruleOffers('key "a')).to.equal(undefined);
  });

  it('offers nothing in comments, after a resource, and in a name that is closed', () => {
    for (const text of ['# ser', 'acl = "read" // ser', '/* ser', 'service ', 'service "web" '])
      expect(at(text), text).to.equal(undefined);
  });

  it('reads any text', () => {
    const part = fc.constantFrom(...'service|"|{|}|=|\n| |#|policy|read|\\|/*|*/|//'.split('|'));
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const text = parts.join('');
        const { from = 0 } = words.ruleOffers(text) ?? {};
        expect(from).to.be.within(0, text.length);
      }),
    );
  });
});
