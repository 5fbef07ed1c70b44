import { expect } from 'chai';
import type { Finding } from '../../src/api/migration-report.js';
import type { Converted, MovedItem, Shown } from '../../src/migrate/source/types.js';
import { converted, stateOf } from './reading.js';
import { type Json, recordedSource } from './stand-in.js';

const ID = '3c1b0a5e-8d5c-4f7e-9a34-52f1f5f6b001';
const ROLE = '3c1b0a5e-8d5c-4f7e-9a34-52f1f5f6b002';

/** Returns the objects of a type that are written. */
const written = ({ parts }: Converted, type: string): readonly Shown[] =>
  parts
    .flatMap(({ items }): readonly MovedItem[] => items)
    .flatMap((item) => (item.Type === type ? [item.Object] : []));
/** Returns the findings, without the words that each code has. */
const found = ({ findings }: Converted): readonly Partial<Finding>[] =>
  findings.map(({ Lost: _lost, Do: _do, ...rest }) => rest);
const brief = ({ findings }: Converted): readonly unknown[] =>
  findings.map(({ Ref, Code, LeftOut }) => [Ref, Code, LeftOut]);

describe('the conversion of ACL objects', () => {
  const policy = (more: Json = {}): Json => ({ ID, Name: 'ops', Rules: 'acl = "read"', ...more });
  const role = (more: Json = {}): Json => ({ ID: ROLE, Name: 'ops', ...more });
  const jwt = (more: Json = {}): Json => ({
    Name: 'jwt1',
    Type: 'jwt',
    Config: { JWKSURL: 'https://issuer.test/keys', ClaimMappings: { sub: 'name' } },
    ...more,
  });
  const rule = (more: Json = {}): Json => ({
    ID,
    AuthMethod: 'jwt1',
    BindType: 'service',
    BindName: '${value.name}',
    ...more,
  });

  it('keeps IDs, names, descriptions and links, and leaves out what the server adds', () => {
    const result = converted(
      stateOf({
        Policies: [policy({ Description: 'd', Datacenters: ['dc1'], Hash: 'h', ModifyIndex: 7 })],
        Roles: [role({ Policies: [{ ID, Name: 'ops' }], CreateIndex: 8 })],
      }),
    );
    expect(result.findings).to.deep.equal([]);
    expect(result.parts).to.deep.equal([
      {
        step: 'policy',
        items: [
          {
            Type: 'policy',
            Namespace: 'default',
            Object: {
              ID,
              Name: 'ops',
              Description: 'd',
              Rules: 'acl = "read"',
              Datacenters: ['dc1'],
            },
          },
        ],
      },
      {
        step: 'role',
        items: [
          {
            Type: 'role',
            Namespace: 'default',
            Object: { ID: ROLE, Name: 'ops', Policies: [{ ID }] },
          },
        ],
      },
    ]);
  });

  it('writes nothing that is built in', () => {
    const { Policies } = recordedSource('community');
    const builtIn = Policies.filter((one) => String(one['ID']).startsWith('00000000'));
    expect(builtIn).to.have.length(2);
    expect(converted(stateOf({ Policies: builtIn })).parts).to.deep.equal([]);
  });

  it('rules: leaves out a policy that is refused here, and the links to it', () => {
    const Rules = 'acl = "read"\nservce "web" { policy = "write" }\n';
    const result = converted(
      stateOf({
        Policies: [policy({ Rules })],
        Roles: [role({ Policies: [{ ID, Name: 'ops' }] })],
      }),
    );
    expect(written(result, 'policy')).to.deep.equal([]);
    expect(written(result, 'role')).to.deep.equal([{ ID: ROLE, Name: 'ops', Policies: [] }]);
    const [refused, link] = found(result);
    expect(refused).to.deep.include({
      Ref: 'policy/default/ops',
      Code: 'rules',
      Line: 2,
      Column: 1,
      Pointer: '/Rules',
      Original: Rules,
      LeftOut: true,
    });
    expect(refused?.Message).to.contain('servce');
    expect(link).to.deep.include({ Ref: 'role/default/ops', Code: 'invalid', LeftOut: false });
    expect(link?.Message).to.contain('needs policy/default/ops');
  });

  it('rules: writes the mended text if that is asked for and there is one', () => {
    const state = stateOf({ Policies: [policy({ Rules: 'servce "a" {}' })] });
    const mendRules = () => '# was: servce "a" {}';
    const shown = converted(state, { mendRules });
    expect(written(shown, 'policy')).to.deep.equal([]);
    expect(shown.findings[0]).to.deep.include({ Mended: '# was: servce "a" {}', LeftOut: true });
    const mended = converted(state, { mendRules, mend: true });
    expect(written(mended, 'policy')[0]?.['Rules']).to.equal('# was: servce "a" {}');
    expect(mended.findings[0]).to.deep.include({ LeftOut: false, Code: 'rules' });
    const unmended = converted(state, { mendRules: () => undefined, mend: true });
    expect(written(unmended, 'policy')).to.deep.equal([]);
  });

  it('leaves out rules without a fault that grant more here, unless they are mended', () => {
    const state = stateOf({ Policies: [policy()] });
    const [Original, Mended] = ['acl = "read"', '# was: acl = "read"'];
    const mendRules = () => Mended;
    const message = 'this server reads more in the rules';
    const one = { Ref: 'policy/default/ops', Code: 'rules', Message: message, Pointer: '/Rules' };
    const unmended = converted(state, { mendRules });
    expect(found(unmended)).to.deep.equal([{ ...one, Original, Mended, LeftOut: true }]);
    const mended = converted(state, { mendRules, mend: true });
    expect(written(mended, 'policy')[0]!['Rules']).to.equal(Mended);
  });

  it('rules: leaves out a binding rule whose selector is refused', () => {
    const Selector = 'value.department == "it"';
    const result = converted(stateOf({ AuthMethods: [jwt()], BindingRules: [rule({ Selector })] }));
    expect(written(result, 'binding-rule')).to.deep.equal([]);
    expect(found(result)[0]).to.deep.include({
      Ref: `binding-rule/default/${ID}`,
      Code: 'rules',
      Pointer: '/Selector',
      Original: Selector,
      Line: 1,
    });
  });

  it('member: writes a method without the form of names of tokens', () => {
    const usual = '${auth_method_type}-${auth_method_name}';
    for (const [TokenNameFormat, codes] of [
      [usual, []],
      ['${value.sub}', ['member']],
    ] as const) {
      const result = converted(stateOf({ AuthMethods: [{ ...jwt(), TokenNameFormat }] }));
      expect(written(result, 'auth-method')[0]).to.not.have.property('TokenNameFormat');
      expect(result.findings.map(({ Code }) => Code)).to.deep.equal(codes);
      expect(result.findings.every(({ LeftOut }) => !LeftOut)).to.equal(true);
    }
  });

  it('dangling: leaves out links that show no name', () => {
    const gone = { ID: ROLE.replace('b002', 'b00f'), Name: '' };
    const result = converted(stateOf({ Roles: [role({ Policies: [gone] })] }));
    expect(written(result, 'role')).to.deep.equal([{ ID: ROLE, Name: 'ops', Policies: [] }]);
    expect(found(result)).to.deep.equal([
      {
        Ref: 'role/default/ops',
        Code: 'dangling',
        Message: `links to a policy that is gone: ${gone.ID}`,
        Pointer: '/Policies/0',
        LeftOut: false,
      },
    ]);
  });

  it('other_datacenter: writes policies and identities that grant nothing here', () => {
    const result = converted(
      stateOf({
        Policies: [policy({ Datacenters: ['dc2'] })],
        Roles: [
          role({
            ServiceIdentities: [{ ServiceName: 'web', Datacenters: ['dc1', 'dc2'] }],
            NodeIdentities: [{ NodeName: 'n1', Datacenter: 'dc3' }],
          }),
        ],
      }),
    );
    expect(written(result, 'policy')).to.have.length(1);
    expect(written(result, 'role')).to.have.length(1);
    expect(brief(result)).to.deep.equal([
      ['policy/default/ops', 'other_datacenter', false],
      ['role/default/ops', 'other_datacenter', false],
    ]);
  });

  it('invalid: leaves out names, identities and bound names that are refused', () => {
    const cases: [Parameters<typeof stateOf>[0], string][] = [
      [{ Policies: [policy({ Name: 'a b' })] }, 'policy/default/a b'],
      [{ Roles: [role({ ServiceIdentities: [{ ServiceName: 'Web' }] })] }, 'role/default/ops'],
      [
        { Roles: [role({ TemplatedPolicies: [{ TemplateName: 'builtin/x' }] })] },
        'role/default/ops',
      ],
      [
        { Roles: [role({ TemplatedPolicies: [{ TemplateName: 'builtin/node' }] })] },
        'role/default/ops',
      ],
      [
        { AuthMethods: [jwt()], BindingRules: [rule({ BindName: 'Web-${value.name}' })] },
        `binding-rule/default/${ID}`,
      ],
    ];
    for (const [recorded, ref] of cases) {
      expect(brief(converted(stateOf(recorded)))).to.deep.equal([[ref, 'invalid', true]]);
    }
  });

  it('invalid: leaves out what the target refused, with its sentence', () => {
    const refused = [{ Ref: 'role/default/OPS', Message: 'a sentence', Pointer: '/Name' }];
    const result = converted(stateOf({ Roles: [role()] }), { refused });
    expect(written(result, 'role')).to.deep.equal([]);
    expect(found(result)).to.deep.equal([
      {
        Ref: 'role/default/ops',
        Code: 'invalid',
        Message: 'a sentence',
        Pointer: '/Name',
        LeftOut: true,
      },
    ]);
  });

  it('member: leaves out an object with a member that this server does not have', () => {
    const result = converted(stateOf({ Roles: [role({ Later: 'x', Partition: 'default' })] }));
    expect(brief(result)).to.deep.equal([['role/default/ops', 'member', true]]);
    expect(result.findings[0]?.Pointer).to.equal('/Later');
    const empty = converted(stateOf({ Roles: [role({ Later: [], Partition: 'default' })] }));
    expect(empty.findings).to.deep.equal([]);
  });

  it('auth_method_type: leaves out the method, its binding rules and its tokens', () => {
    const result = converted(
      stateOf({
        AuthMethods: [jwt({ Type: 'aws-iam', Config: {} })],
        BindingRules: [rule()],
        Tokens: [{ AccessorID: ROLE, SecretID: ID, AuthMethod: 'jwt1' }],
      }),
    );
    expect(result.parts).to.deep.equal([]);
    expect(result.tokens).to.deep.equal([]);
    expect(brief(result)).to.deep.equal([
      ['auth-method/default/jwt1', 'auth_method_type', true],
      [`binding-rule/default/${ID}`, 'auth_method_type', true],
      [`token/${ROLE}`, 'auth_method_type', true],
    ]);
  });

  it('auth_method_type: takes type oidc at its level, without members that are refused', () => {
    const oidc = (more: Json = {}): Json =>
      jwt({ Type: 'oidc', Config: { OIDCDiscoveryURL: 'https://x.test', ...more } });
    const codes = (method: Json, isThere: boolean): readonly unknown[] =>
      brief(converted(stateOf({ AuthMethods: [method] }), { oidc: isThere })).map(
        (one) => (one as unknown[])[1],
      );
    expect(codes(oidc(), true)).to.deep.equal([]);
    expect(codes(oidc(), false)).to.deep.equal(['auth_method_type']);
    expect(codes(oidc({ OIDCACRValues: ['a'] }), true)).to.deep.equal(['auth_method_type']);
    expect(codes(oidc({ OIDCACRValues: [] }), true)).to.deep.equal([]);
  });

  it('hidden_secret: writes a method without its secret only if it is valid so', () => {
    const kubernetes = jwt({ Type: 'kubernetes', Config: { ServiceAccountJWT: '<hidden>' } });
    const left = converted(stateOf({ AuthMethods: [kubernetes] }));
    expect(brief(left)).to.deep.equal([['auth-method/default/jwt1', 'hidden_secret', true]]);
    const oidc = jwt({ Type: 'oidc', Config: { OIDCClientID: 'c', OIDCClientSecret: '<hidden>' } });
    const kept = converted(stateOf({ AuthMethods: [oidc] }));
    expect(brief(kept)).to.deep.equal([['auth-method/default/jwt1', 'hidden_secret', false]]);
    expect(written(kept, 'auth-method')[0]?.['Config']).to.deep.equal({ OIDCClientID: 'c' });
  });

  it('writes namespaces with their defaults, and links to their own policy by name', () => {
    const result = converted(
      stateOf({
        Namespaces: [{ Name: 'team-a', ACLs: { PolicyDefaults: [{ ID, Name: 'ops' }] } }],
        Policies: [policy(), { ID: ROLE, Name: 'namespace-management', Namespace: 'team-a' }],
        Roles: [
          role({ Namespace: 'team-a', Policies: [{ ID: ROLE, Name: 'namespace-management' }] }),
        ],
      }),
    );
    expect(result.findings).to.deep.equal([]);
    expect(result.parts.map(({ step }) => step)).to.deep.equal(['policy', 'namespace', 'role']);
    expect(written(result, 'namespace')).to.deep.equal([
      { Name: 'team-a', ACLs: { PolicyDefaults: [{ ID }], RoleDefaults: [] } },
    ]);
    expect(written(result, 'role')[0]?.['Policies']).to.deep.equal([
      { Name: 'namespace-management' },
    ]);
  });

  it('leaves out what is in a namespace that is left out', () => {
    const refused = [{ Ref: 'namespace/team-a', Message: 'a sentence' }];
    const recorded = { Namespaces: [{ Name: 'team-a' }], Roles: [role({ Namespace: 'team-a' })] };
    expect(brief(converted(stateOf(recorded), { refused }))).to.deep.equal([
      ['namespace/team-a', 'invalid', true],
      ['role/team-a/ops', 'invalid', true],
    ]);
  });
});
