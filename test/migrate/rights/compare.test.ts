import { expect } from 'chai';
import { ANONYMOUS_ACCESSOR, BUILT_IN_POLICIES } from '../../../src/acl/builtin.js';
import { compareRights, grantClasses } from '../../../src/migrate/rights/compare.js';
import type { CompareOptions, RightsState } from '../../../src/migrate/rights/types.js';
import { policyOf, sideOf, stateOf, tokenOf } from './states.js';

/** Returns the differences between two sides as short lines. */
function differences(source: RightsState, target: RightsState, options?: CompareOptions): string[] {
  const { Differences } = compareRights(source, target, options);
  return Differences.map(({ Code, Resource, Access, Segment, Namespace, Source, Target }) => {
    const where = Namespace === 'default' ? '' : ` in ${Namespace}`;
    const [was, is] = [Source.Allow, Target.Allow].map((allow) => (allow ? 'yes' : 'no'));
    return `${Code}: ${Resource}:${Access} "${Segment}"${where} ${was} ${is}`;
  });
}
const between = (text: string, here: string): string[] =>
  differences(sideOf('community', text), sideOf('ours', here));

describe('the comparison of rights', () => {
  it('finds a planted difference of each kind of rule', () => {
    expect(between('acl = "read"', 'acl = "write"')).to.deep.equal([
      'unexplained: acl:write "" no yes',
    ]);
    expect(between('key "a" { policy = "list" }', 'key "a" { policy = "read" }')).to.deep.equal([
      'unexplained: key:list "a" yes no',
    ]);
    const write = 'key_prefix "a" { policy = "write" }';
    expect(between(write, `${write} key "ab" { policy = "write" }`)).to.deep.equal([]);
    expect(between(write, `${write} key "ab" { policy = "list" }`)).to.deep.equal(
      ['unexplained: key:write "ab" yes no', 'unexplained: key:write-prefix "" no no']
        .slice(0, 1)
        .concat([
          'unexplained: key:write-prefix "a" yes no',
          'unexplained: key:write-prefix "ab" yes no',
        ]),
    );
    expect(
      between(
        'service_prefix "" { policy = "read" }',
        'service_prefix "" { policy = "read" intentions = "deny" }',
      ),
    ).to.deep.equal([
      'unexplained: intention:read "*" yes no',
      'unexplained: intention:read "a" yes no',
    ]);
    expect(between('', 'namespace_prefix "t" { mesh = "read" }')).to.deep.equal([
      'unexplained: mesh:read "" in ta no yes',
      'unexplained: namespace:read "ta" no yes',
    ]);
  });

  it('finds a level that the source merges otherwise, because of its letter case', () => {
    const side = (reader: RightsState['reader'], one: string): RightsState =>
      stateOf({
        reader,
        policies: [policyOf('p1', one), policyOf('p2', 'key "a" { policy = "read" }')],
        tokens: [tokenOf('t', ['p1', 'p2'])],
      });
    const source = side('community', 'key "a" { policy = "WRITE" }');
    expect(differences(source, side('ours', 'key "a" { policy = "write" }'))).to.deep.equal([
      'unexplained: key:list "a" no yes',
      'unexplained: key:write "a" no yes',
    ]);
    expect(differences(source, side('ours', 'key "a" { policy = "read" }'))).to.deep.equal([]);
  });

  it('finds a link that was dropped, for the tokens that had it, once for each class', () => {
    const tokens = ['t1', 't2', 't3'].map((id) => tokenOf(id, ['p', 'q']));
    const policies = [policyOf('p', 'acl = "read"'), policyOf('q', 'mesh = "read"')];
    const source = stateOf({ policies, tokens });
    const here = [...tokens.slice(0, 1), ...['t2', 't3'].map((id) => tokenOf(id, ['p']))];
    const found = compareRights(source, stateOf({ reader: 'ours', policies, tokens: here }));
    expect(found).to.include({ Tokens: 3, Classes: 2, Equal: false });
    expect(found.Differences).to.have.length(1);
    const [difference] = found.Differences;
    expect(difference).to.deep.include({
      Code: 'unexplained',
      Tokens: 2,
      Sample: ['t2', 't3'],
      Resource: 'mesh',
      Source: { Allow: true, Rule: 'mesh' },
    });
    expect(difference!.Target).to.include({ Allow: false, Reason: 'default_policy' });
  });

  it('explains what decides here, with the way from the token to the text', () => {
    const roles = [{ ID: 'r', Name: 'ops', Policies: [{ ID: 'p' }] }];
    const tokens = [{ AccessorID: 't', Roles: [{ ID: 'r' }] }];
    const at = (reader: RightsState['reader'], text: string) =>
      stateOf({ reader, policies: [policyOf('p', text)], roles, tokens });
    const { Differences } = compareRights(at('community', ''), at('ours', '\nacl = "read"'));
    expect(Differences[0]!.Target['Text']).to.equal(
      'acl:read is allowed by acl in policy "p", line 2, by way of role "ops"',
    );
  });

  it('calls a narrower identity of one holder that takes nothing here rights_add_up', () => {
    const side = (reader: RightsState['reader']): RightsState =>
      stateOf({
        reader,
        roles: [
          { ID: 'r', Name: 'r', ServiceIdentities: [{ ServiceName: 'web', Datacenters: ['dc2'] }] },
        ],
        tokens: [
          { AccessorID: 't', Roles: [{ ID: 'r' }], ServiceIdentities: [{ ServiceName: 'web' }] },
        ],
      });
    const found = differences(side('community'), side('ours'));
    expect(found).to.include('rights_add_up: service:write "web" no yes');
    for (const line of found) expect(line).to.match(/^rights_add_up: .* no yes$/);
    const accept = new Set(['rights_add_up'] as const);
    expect(compareRights(side('community'), side('ours'), { accept }).Equal).to.equal(true);
    expect(compareRights(side('community'), side('ours')).Equal).to.equal(false);
  });

  it('accepts nothing that is unexplained', () => {
    const accept = new Set(['unexplained', 'rights_add_up'] as const);
    const [source, target] = [sideOf('community', 'acl = "read"'), sideOf('ours', '')];
    expect(compareRights(source, target, { accept }).Equal).to.equal(false);
  });

  it('merges identities of one holder as the source does', () => {
    const ServiceIdentities = [
      { ServiceName: 'web', Datacenters: ['dc2'] },
      { ServiceName: 'web', Datacenters: null },
    ];
    const tokens = [{ AccessorID: 't', ServiceIdentities }];
    const [source, target] = [stateOf({ tokens }), stateOf({ reader: 'ours', tokens })];
    expect(differences(source, target)).to.deep.equal([]);
    const [granted] = grantClasses(source, target);
    const asked = {
      resource: 'service',
      access: 'write',
      segment: 'web',
      namespace: 'default',
    } as const;
    expect(granted!.expected(asked)).to.equal(false);
  });

  it('calls what the anonymous token never has here anonymous_operator', () => {
    const tokens = [tokenOf(ANONYMOUS_ACCESSOR, [])];
    const allow = { defaultPolicy: 'allow', tokens } as const;
    expect(differences(stateOf(allow), stateOf({ reader: 'ours', ...allow }))).to.deep.equal([
      'anonymous_operator: operator:read "" yes no',
      'anonymous_operator: operator:write "" yes no',
      'anonymous_operator: namespace:write "default" yes no',
      'anonymous_operator: namespace:write "a" yes no',
    ]);
  });

  it('calls what follows from different default policies default_policy', () => {
    const found = differences(
      sideOf('community', 'key "a" { policy = "read" }', { defaultPolicy: 'allow' }),
      sideOf('ours', 'key "a" { policy = "read" }'),
    );
    expect(found).to.include('default_policy: key:read "b" yes no');
    for (const line of found) expect(line).to.match(/^default_policy: /);
  });

  it('names what was left out where a difference follows from it', () => {
    const policies = [policyOf('p', 'acl = "read"'), policyOf('q', 'mesh = "read"')];
    const source = stateOf({ policies, tokens: [tokenOf('t', ['p', 'q']), tokenOf('u', ['p'])] });
    const target = stateOf({
      reader: 'ours',
      policies: policies.slice(1),
      tokens: [tokenOf('t', ['q'])],
    });
    const leftOut = new Set(['policy/default/p', 'token/u', 'policy/default/other']);
    const { Differences } = compareRights(source, target, { leftOut });
    expect(
      Differences.map(({ Code, LeftOut, Sample, Access }) => [Code, LeftOut, Sample, Access]),
    ).to.deep.equal([
      ['left_out', ['policy/default/p'], ['t'], 'read'],
      ['left_out', ['token/u', 'policy/default/p'], ['u'], 'read'],
    ]);
    expect(differences(source, target)).to.deep.equal(['unexplained: acl:read "" yes no']);
  });

  it('refuses everything to a token with a policy that the source cannot read', () => {
    const side = (reader: RightsState['reader'], text: string): RightsState =>
      sideOf(reader, text, { defaultPolicy: 'allow' });
    const found = differences(side('community', 'acl = read'), side('ours', ''));
    expect(found).to.include('unexplained: key:read "a" no yes');
  });

  it('leaves read on all intentions to a default of allow as the source does', () => {
    const text = 'service "a" { policy = "deny" }';
    const allow = { defaultPolicy: 'allow' } as const;
    expect(
      differences(sideOf('community', text, allow), sideOf('ours', text, allow)),
    ).to.deep.equal(['unexplained: intention:read "*" yes no']);
    const root = `${text} service_prefix "" { policy = "deny" }`;
    expect(
      differences(sideOf('community', root, allow), sideOf('ours', root, allow)),
    ).to.deep.equal([]);
  });

  it('takes built-in policies and identities to reach all namespaces', () => {
    const tokens = [
      tokenOf('t1', [BUILT_IN_POLICIES[0].ID]),
      { AccessorID: 't2', NodeIdentities: [{ NodeName: 'n', Datacenter: 'dc1' }] },
    ];
    const source = stateOf({
      policies: [
        { ...BUILT_IN_POLICIES[0], Rules: BUILT_IN_POLICIES[0].Rules.split('namespace_')[0]! },
      ],
      tokens,
    });
    const target = stateOf({
      reader: 'ours',
      policies: BUILT_IN_POLICIES,
      tokens,
      namespaces: [{ Name: 'team' }],
    });
    expect(differences(source, target)).to.deep.equal([]);
  });

  it('follows the defaults of a namespace, whose policies are in default', () => {
    const side = (reader: RightsState['reader'], names: string[]): RightsState =>
      stateOf({
        reader,
        namespaces: [{ Name: 'team', ACLs: { PolicyDefaults: names.map((Name) => ({ Name })) } }],
        policies: [policyOf('p', 'key_prefix "" { policy = "read" }')],
        tokens: [{ AccessorID: 't', Namespace: 'team' }],
      });
    expect(differences(side('enterprise', ['p']), side('ours', ['p']))).to.deep.equal([]);
    expect(differences(side('enterprise', ['p']), side('ours', []))).to.include(
      'unexplained: key:read "a" in team yes no',
    );
  });

  it('compares two sides of this server', () => {
    const text = 'namespace "x" { acl = "write" }';
    expect(differences(sideOf('ours', text), sideOf('ours', text))).to.deep.equal([]);
    expect(differences(sideOf('ours', text), sideOf('ours', ''))).to.include(
      'unexplained: acl:write "" in x yes no',
    );
  });
});

describe('live questions', () => {
  it('are about objects in namespaces that exist, with what the source should say', () => {
    const text = 'acl = "read"\nnamespace "x" { key "k" { policy = "read" } }';
    const source = sideOf('enterprise', text, { namespaces: [{ Name: 'default' }, { Name: 'y' }] });
    const [one] = grantClasses(source, sideOf('ours', text));
    const questions = [...one!.questions()];
    expect(one!.accessors).to.deep.equal(['t']);
    expect(new Set(questions.map(({ namespace }) => namespace))).to.deep.equal(
      new Set(['default', 'y']),
    );
    expect(questions.some(({ resource }) => resource === 'namespace')).to.equal(false);
    const allowed = questions.filter((asked) => one!.expected(asked));
    expect(allowed.map(({ resource, access }) => `${resource}:${access}`)).to.deep.equal([
      'acl:read',
    ]);
  });
});
