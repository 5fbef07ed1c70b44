import { expect } from 'chai';
import fc from 'fast-check';
import { contentHash, policyHash, roleHash, tokenHash } from '../../src/acl/hash.js';
import {
  isIdentityName,
  isMethodName,
  isNamespaceName,
  isPolicyName,
  isRoleName,
  isUuid,
  policyNameProblem,
} from '../../src/acl/names.js';
import { parseRules } from '../../src/acl/rules.js';
import { templateGrant } from '../../src/acl/synthetic.js';
import {
  nodePolicy,
  servicePolicy,
  syntheticPolicy,
  TEMPLATES,
  templateByName,
  templateId,
  variablesProblem,
} from '../../src/acl/templates.js';

/** Characters that have a special meaning somewhere. */
const ODD = [...'aZ0-_/."\\${}\n\0 İßé\ufffd\u2028😀'];

describe('hashes', () => {
  it('are BLAKE2b-256 in base64 with padding', () => {
    // Computed with another implementation of the algorithm.
    expect(contentHash(['a', '', 'bc'])).to.equal('vd2BPGNCOXIxce8/7phXm5SWTjuxyz5CcmLIwGjVIxk=');
    expect(contentHash([])).to.equal('DldRwCblQ7Loqy6wYJnaodHl30d3j3eH+qtFzfEv46g=');
    expect(contentHash(['x'.repeat(128)])).to.equal('Fk/7cIm65vWmL7B5XnUdyeiOrJLhpbL6/pOiWr8tnDs=');
    const long = 'role ü'.repeat(100_000);
    expect(contentHash([long])).to.equal('rkqaNlJh4lf62C+BdS5j/ojZsUZSGMJWUihzD9K1YMA=');
    const all = Array.from({ length: 401 }, (_, n) =>
      contentHash(['é€x'.repeat(n), '😀'.slice(0, 2 * (n % 2))]),
    );
    expect(contentHash(all)).to.equal('ERl7LXADJF/62LXOn0hMfR9hNS2WVAY8G7jR1rkH4Gs=');
  });
  it('cover the fields in their documented order', () => {
    const policy = { Name: 'n', Description: 'd', Rules: 'r' };
    expect(policyHash({ ...policy, Datacenters: ['dc1', 'dc2'] })).to.equal(
      contentHash(['ndrdc1dc2']),
    );
    expect(policyHash({ ...policy, Datacenters: null })).to.equal(policyHash(policy));
    const links = {
      Policies: [{ ID: 'p1' }, { ID: 'p2' }],
      ServiceIdentities: [{ ServiceName: 's', Datacenters: ['x'] }, { ServiceName: 't' }],
      NodeIdentities: [{ NodeName: 'n', Datacenter: 'y' }],
      TemplatedPolicies: [
        {
          TemplateID: 'i',
          TemplateName: 't',
          TemplateVariables: { name: 'v' },
          Datacenters: ['z'],
        },
      ],
    };
    expect(roleHash({ Name: 'N', Description: 'D', ...links })).to.equal(
      contentHash(['N', 'D', 'p1', 'p2', 's', 'x', 't', 'n', 'y', 'i', 't', 'v', 'z']),
    );
    const token = { Description: 'D', Local: true, ...links, Roles: [{ ID: 'r1' }] };
    expect(tokenHash(token)).not.to.equal(tokenHash({ ...token, Local: false }));
    expect(tokenHash(token)).to.equal(tokenHash(structuredClone(token)));
  });
});

describe('the check of names', () => {
  const cases: [string, (name: string) => boolean, string[], string[]][] = [
    [
      'identity',
      isIdentityName,
      ['1', 'a_b-c', 'a'.repeat(256)],
      ['', 'a-', '_a', 'a.b', 'Web', 'a'.repeat(257), 'ó', 'a\n'],
    ],
    ['role', isRoleName, ['A_b-1', 'a'.repeat(256)], ['', 'a/b', 'a b', 'a'.repeat(257), 'a\n']],
    ['method', isMethodName, ['A_b-1', 'a'.repeat(128)], ['', 'a.b', 'a'.repeat(129)]],
    [
      'policy',
      isPolicyName,
      ['a', 'a/', 'a/b', '-', 'x'.repeat(128)],
      ['', '/a', 'a/b/c', 'builtin/a', 'a b', 'x'.repeat(129), 'a\n'],
    ],
    [
      'namespace',
      isNamespaceName,
      ['a', 'team-1', 'a'.repeat(63)],
      ['', '-a', 'a-', 'A', 'a.b', 'a'.repeat(64)],
    ],
    [
      'uuid',
      isUuid,
      ['0a6e6f64-655f-4078-9ab2-ABCDEF012345'],
      ['', '0a6e6f64655f40789ab2abcdef012345', 'z'.repeat(36)],
    ],
  ];
  for (const [what, is, good, bad] of cases) {
    it(what, () => {
      for (const name of good) expect(is(name), name).to.equal(true);
      for (const name of bad) expect(is(name), name).to.equal(false);
    });
  }
  it('reports what is wrong with a policy name in the documented order', () => {
    expect(policyNameProblem('')).to.match(/no Name is set/);
    expect(policyNameProblem(`/${'a'.repeat(200)}`)).to.match(/Length must be/);
    expect(policyNameProblem('builtin/x')).to.match(/Names cannot be prefixed with/);
    expect(policyNameProblem('a b')).to.match(
      /Only alphanumeric characters, a single '\/', '-' and '_' are allowed/,
    );
  });
});

describe('templated policies', () => {
  it('are seven; a schema says which need a name', () => {
    expect(Object.keys(TEMPLATES)).to.have.members(
      [
        'service',
        'node',
        'dns',
        'nomad-server',
        'workload-identity',
        'api-gateway',
        'nomad-client',
      ].map((n) => `builtin/${n}`),
    );
    for (const { TemplateName, Template, Schema } of Object.values(TEMPLATES)) {
      expect(Schema !== '', TemplateName).to.equal(Template.includes('{{.Name}}'));
      if (Schema !== '')
        expect(JSON.parse(Schema)).to.have.property('required').that.deep.equals(['name']);
    }
    expect(templateByName('BUILTIN/service')).to.equal(undefined);
    expect(templateByName('__proto__')).to.equal(undefined);
    expect(templateId('builtin/dns')).to.equal('00000000-0000-0000-0000-000000000005');
  });
  it('yield a synthetic policy whose id is the hex of its rules', () => {
    const policy = syntheticPolicy('builtin/node', { name: 'n1' });
    expect(policy.Rules).to.equal(
      '\nnode "n1" {\n\tpolicy = "write"\n}\nservice_prefix "" {\n\tpolicy = "read"\n}',
    );
    expect(policy.ID).to.equal(
      `${Buffer.from(policy.Rules).toString('hex')}6c62272e07bb014262b821756295c58d`,
    );
    expect(policy.Name).to.equal(`synthetic-policy-${policy.ID}`);
    expect(policy.Hash).to.equal(policyHash(policy));
    expect(policy).not.to.have.property('Datacenters');
    expect(nodePolicy('n1', 'dc1')).to.deep.include({ ID: policy.ID, Datacenters: ['dc1'] });
    expect(servicePolicy('web', [])).to.deep.equal(
      syntheticPolicy('builtin/service', { name: 'web' }),
    );
  });
  it('insert the name literally, whatever replacement patterns it contains', () => {
    expect(syntheticPolicy('builtin/api-gateway', { name: '$&$1' }).Rules).to.match(
      /service "\$&\$1" \{/,
    );
  });
  it('validate their variables', () => {
    expect(variablesProblem('builtin/service', {})).to.match(
      /^service identity "" has an invalid name\./,
    );
    expect(variablesProblem('builtin/node', { name: 'Bad' })).to.match(
      /^node identity "Bad" has an invalid name\./,
    );
    expect(variablesProblem('builtin/service', undefined)).to.equal(
      'Invalid type. Expected: object, given: null',
    );
    expect(variablesProblem('builtin/api-gateway', { name: '' })).to.equal('name is required');
    expect(variablesProblem('builtin/dns', { name: 'any thing' })).to.equal(undefined);
    expect(variablesProblem('builtin/api-gateway', { name: 'My GW' })).to.equal(undefined);
  });
  it('let no name add rules of its own, except in a preview', () => {
    const name = 'x" { policy = "write" } acl = "write" key "y';
    expect(variablesProblem('builtin/api-gateway', { name })).to.match(/must not contain/);
    expect(variablesProblem('builtin/api-gateway', { name }, true)).to.equal(undefined);
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...ODD) }), (any) => {
        if (variablesProblem('builtin/api-gateway', { name: any }) !== undefined) return;
        const { Rules } = syntheticPolicy('builtin/api-gateway', { name: any });
        expect(Rules.split('"')).to.have.length(
          TEMPLATES['builtin/api-gateway']!.Template.split('"').length,
        );
      }),
    );
  });
});

describe('grants of templates', () => {
  it("are those of the synthetic policy's text, for every accepted name", () => {
    const name = fc.oneof(
      fc.stringMatching(/^[a-z0-9]([a-z0-9_-]{0,8}[a-z0-9])?$/),
      fc.string({ unit: fc.constantFrom(...ODD, '{{.Name}}', '$&'), maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(TEMPLATES)), name, (template, value) => {
        const variables = { name: value };
        if (template === 'builtin/workload-identity') return;
        if (variablesProblem(template, variables) !== undefined) return;
        const parsed = parseRules(syntheticPolicy(template, variables).Rules);
        const { rules } = templateGrant(template, variables, 'default');
        if (!parsed.ok) throw new Error(parsed.refusal.message);
        expect(rules.scalars).to.deep.equal(parsed.rules.scalars);
        // Explanations need offsets in the template, not in the filled text.
        expect(rules.named.map(({ at: _, ...rule }) => rule)).to.deep.equal(parsed.rules.named);
      }),
      { numRuns: 500 },
    );
  });
});
