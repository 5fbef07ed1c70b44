/** The library that decides by a feed of rights. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Rights } from '../../clients/typescript/src/rights.js';

type Members = Record<string, unknown>;
interface Vector {
  readonly Name: string;
  readonly Rights: Members;
  readonly Questions: readonly (readonly [string, string, string, string, boolean])[];
}
const { Cases }: { readonly Cases: readonly Vector[] } = JSON.parse(
  readFileSync('clients/vectors.json', 'utf8'),
);

/** A feed with one set of rules. */
function feedWith(set: Members, more: Members = {}): Members {
  const Sets = [{ Match: 'exact', Name: 'default', Scalars: {}, Named: {}, ...set }];
  return { ...Cases[0]!.Rights, Layers: [{ Layer: 'own', Sets }], ...more };
}
const keys = (Exact: Members, Prefix: Members = {}): Members => ({
  Named: { key: { Exact, Prefix, Other: [] } },
});

describe('conclave-client/rights', () => {
  it('decides all vectors as enforcement does', () => {
    let asked = 0;
    for (const { Name, Rights: feed, Questions } of Cases) {
      const rights = new Rights(feed);
      for (const [type, action, id, namespace, allow] of Questions) {
        const decided = rights.can(type, action, id, namespace);
        if (decided !== allow) expect.fail(`${Name}: ${type} ${action} ${id} ${namespace}`);
        asked += 1;
      }
    }
    expect(asked).to.be.at.least(100_000);
  });

  it('denies by a feed that it cannot read, and says so', () => {
    const { Layers, Grants, Application, Resources, ...head } = feedWith(keys({ read: ['k'] }));
    const whole = { ...head, Layers, Grants, Application, Resources };
    expect(new Rights(whole).decide('key', 'read', 'k').reason).to.equal('allowed');
    const scalar = { Form: 'scalar', Actions: ['read'], Default: 'allow' };
    const odd: readonly unknown[] = [
      ...[undefined, null, 'feed', [], {}],
      ...['Layers', 'Grants', 'Application', 'Resources', 'AnyByDefault', 'Version', 'Index'].map(
        (name) => ({ ...whole, [name]: undefined }),
      ),
      { ...whole, Layers: [{ Layer: 'own', Sets: [{ Match: 'like', Name: '' }] }] },
      { ...whole, Grants: { read: 'read' } },
      { ...whole, Grants: {} },
      { ...whole, Application: { Resource: 'app:key', Action: 'read' } },
      { ...whole, Application: { Resource: 'door', Action: 'read' } },
      { ...whole, Resources: { key: { ...scalar, Form: 'other' } } },
      { ...whole, Resources: { key: { ...scalar, Else: 'nothing' } } },
      { ...whole, Resources: { key: { ...scalar, Else: 'a' }, a: { ...scalar, Else: 'key' } } },
      feedWith(keys({ read: [7] })),
      feedWith(keys({ read: [{ Name: 'k' }] })),
      feedWith({ Scalars: { acl: { Level: 'own' } } }),
    ];
    for (const feed of odd) {
      const decided = new Rights(feed).decide('key', 'read', 'k');
      expect(decided, JSON.stringify(feed)).to.deep.equal({ allow: false, reason: 'invalid' });
    }
  });

  it('denies by a feed of a later version', () => {
    const rights = new Rights(feedWith(keys({ read: ['k'] }), { Version: 2 }));
    expect(rights.decide('key', 'read', 'k')).to.deep.equal({ allow: false, reason: 'version' });
  });

  it('denies questions that are no Unicode text', () => {
    const rights = new Rights(feedWith(keys({}, { write: [''] })));
    expect(rights.can('key', 'read', 'k')).to.equal(true);
    const invalid = { allow: false, reason: 'invalid' };
    for (const odd of [7, undefined, null, {}, '\ud800', 'x\udc00'] as string[]) {
      expect(rights.decide('key', 'read', odd)).to.deep.equal(invalid);
      expect(rights.decide('key', odd, 'k')).to.deep.equal(invalid);
      expect(rights.decide(odd, 'read', 'k')).to.deep.equal(invalid);
      if (odd !== undefined) expect(rights.decide('key', 'read', 'k', odd)).deep.equal(invalid);
    }
  });

  it('asks about the namespace of the token unless another is named', () => {
    const feed = feedWith({ Name: 'team', ...keys({ read: ['k'] }) }, { Namespace: 'team' });
    const rights = new Rights(feed);
    expect(rights.can('key', 'read', 'k')).to.equal(true);
    expect(rights.can('key', 'read', 'k', 'default')).to.equal(false);
  });

  it('reads the name of a namespace as the server does', () => {
    const set = (Match: string, Name: string, level: string): Members => ({
      Match,
      Name,
      Scalars: {},
      ...keys({}, { [level]: [''] }),
    });
    const Sets = [
      ...[set('exact', 'default', 'deny'), set('exact', 'team-a', 'deny')],
      set('prefix', '', 'write'),
    ];
    const rights = new Rights(feedWith({}, { Layers: [{ Layer: 'own', Sets }] }));
    const decided = (namespace: string) => rights.decide('key', 'write', 'k', namespace);
    const longest = 'n'.repeat(63);
    for (const name of ['b', 'B', '0', 'a--b', longest])
      expect(decided(name).allow, name).to.equal(true);
    for (const name of ['team-a', 'Team-A', 'TEAM-A', 'default', 'Default'])
      expect(decided(name).reason, name).to.equal('denied');
    const invalid = [
      '',
      '-a',
      'a-',
      'a_b',
      'a.b',
      'a/b',
      ' a',
      'a\n',
      'ä',
      `${longest}n`,
      '\u212a',
    ];
    for (const name of [...invalid, '*'])
      expect(decided(name), name).to.deep.equal({ allow: false, reason: 'invalid' });
  });

  it('names the rule that decides, and where it is written', () => {
    const chain = [{ Type: 'policy', ID: 'p', Name: 'shop' }];
    const from = { From: [[0, 4]] };
    const rights = new Rights(
      feedWith(keys({ deny: [{ Name: 'orders/approve/17', ...from }] }, { read: ['orders/'] }), {
        Origins: [chain],
      }),
    );
    const { rule, ...decided } = rights.decide('orders', 'approve', '17');
    expect(decided).to.deep.equal({ allow: false, reason: 'denied' });
    expect(rule).to.include({ layer: 'own', resource: 'key', match: 'exact', level: 'deny' });
    expect(rule!.name).to.equal('orders/approve/17');
    expect(rule!.namespace).to.deep.equal({ match: 'exact', name: 'default' });
    expect(rights.sourcesOf(rule!)).to.deep.equal([{ chain, line: 4 }]);
    expect(rights.decide('orders', 'approve', '18').rule!.name).to.equal('orders/');
    expect(rights.decide('service', 'read', 'web')).to.not.have.property('rule');
  });
});
