import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type BindContext,
  type BindingRule,
  type BindOutcome,
  bind,
  checkBindingRule,
  type IdentityShape,
} from '../../src/acl/binding.js';
import { atOnce } from '../../src/acl/steps.js';

/** Characters that have a special meaning somewhere. */
const ODD = [...'aZ0-_/."\\${}\n\0 İßé\ufffd\u2028😀'];

const text = { kind: 'string' } as const;
const SHAPE: IdentityShape = {
  selectable: {
    kind: 'struct',
    fields: {
      value: { kind: 'map', key: 'string', of: text },
      list: { kind: 'map', key: 'string', of: { kind: 'list', of: text } },
    },
  },
  mapped: { value: ['name', 'team'], list: ['groups'] },
  variables: ['value.name', 'value.team'],
};
const rule = (
  BindType: string,
  BindName: string,
  more: Partial<BindingRule> = {},
): BindingRule => ({
  BindType,
  BindName,
  ...more,
});
const refused = (r: BindingRule, namespace?: string): string =>
  checkBindingRule(r, SHAPE, namespace)?.message ?? 'accepted';

describe('binding rules when written', () => {
  it('every template of the table is accepted or refused for each bind type as recorded', () => {
    interface Row {
      template: string;
      vars: Record<string, string>;
      ruleAccepted: Record<string, boolean>;
    }
    const rows: Row[] = JSON.parse(readFileSync('test/tables/hil.json', 'utf8'));
    for (const [i, { template, vars, ruleAccepted }] of rows.entries()) {
      // Calls are refused here.
      if (template.includes('__builtin_')) continue;
      const shape = { ...SHAPE, variables: Object.keys(vars) };
      for (const [type, accepted] of Object.entries(ruleAccepted)) {
        const written =
          type === 'templated-policy'
            ? rule(type, 'builtin/service', { BindVars: { name: template } })
            : rule(type, template);
        const outcome = checkBindingRule(written, shape);
        expect(outcome === undefined, `row ${i} ${type} ${template}: ${outcome?.message}`).to.equal(
          accepted,
        );
      }
    }
  });
  it('are checked in order: selector, BindType, BindName, BindVars, kind of BindType, name', () => {
    const bad = { Selector: 'value.a ==', BindVars: {} };
    expect(refused(rule('', '', bad))).to.match(
      /^invalid Binding Rule: Selector is invalid: expected .* at 1:11$/,
    );
    expect(refused(rule('', '', { BindVars: {} }))).to.equal(
      'Invalid Binding Rule: no BindType is set',
    );
    expect(refused(rule('x', '', { BindVars: {} }))).to.equal(
      'Invalid Binding Rule: no BindName is set',
    );
    expect(refused(rule('x', 'A', { BindVars: {} }))).to.match(
      /BindVars cannot be set when bind type is not templated-policy/,
    );
    expect(refused(rule('Service', 'A', { BindVars: null }))).to.match(
      /unknown BindType "Service".*did you mean "service"/,
    );
    expect(refused(rule('service', 'Web-${value.name}'))).to.match(
      /^Invalid Binding Rule: invalid BindName or BindVars: failed to validate bindType "service": invalid bind name: "Web-fake"$/,
    );
    expect(refused(rule('service', '${value.nmae}'))).to.match(
      /error interpreting template: unknown variable accessed: value\.nmae; did you mean "value\.name"/,
    );
  });
  it('of templates have a literal name, and variables that are evaluated and checked', () => {
    const templated = (name: string, BindVars?: { name?: string }): string =>
      refused(rule('templated-policy', name, BindVars === undefined ? {} : { BindVars }));
    expect(templated('builtin/service', { name: 'x-${value.team}' })).to.equal('accepted');
    expect(templated('builtin/dns')).to.equal('accepted');
    expect(templated('builtin/${value.name}')).to.match(/does not match existing template name/);
    expect(templated('builtin/service')).to.match(
      /templated policy failed validation: Invalid type\. Expected: object, given: null/,
    );
    expect(templated('builtin/service', { name: '${value.x}' })).to.match(
      /failed to interpret templated policy variables: /,
    );
    expect(templated('builtin/api-gateway', { name: 'a" {}' })).to.match(
      /templated policy failed validation: /,
    );
  });
  it('are refused with a selector over a claim that no mapping produces', () => {
    expect(
      refused(rule('role', 'r', { Selector: 'value.name == a and value.none != x' })),
    ).to.match(/"value\.none" is produced by no claim mapping/);
    expect(refused(rule('role', 'r', { Selector: 'not list.group is empty' }))).to.match(
      /"list\.group" is produced by no claim mapping.*did you mean "groups"/,
    );
    expect(refused(rule('role', 'r', { Selector: 'nmae in value' }))).to.match(
      /did you mean "name"/,
    );
    expect(refused(rule('role', 'r', { Selector: '"__proto__" in value' }))).to.match(
      /produced by no claim mapping/,
    );
    for (const Selector of [
      'value is empty',
      'name in value',
      'value["team"] matches `^a`',
      'ops in list.groups',
    ]) {
      expect(refused(rule('role', 'r', { Selector }))).to.equal('accepted');
    }
  });
  it('bind nodes only in default', () => {
    expect(refused(rule('node', 'n1'), 'team')).to.match(/allowed only in the namespace "default"/);
    expect(
      refused(rule('templated-policy', 'builtin/node', { BindVars: { name: 'n' } }), 'team'),
    ).to.match(/allowed only/);
    expect(refused(rule('service', 's'), 'team')).to.equal('accepted');
  });
});

const login = (
  rules: BindingRule[],
  claims: Record<string, string> = {},
  groups: string[] = [],
): BindOutcome => {
  const context: BindContext = {
    rules,
    shape: SHAPE,
    identity: {
      selectable: { value: claims, list: { groups } },
      variables: new Map(SHAPE.variables.map((v) => [v, claims[v.slice('value.'.length)] ?? ''])),
    },
    datacenter: 'dc1',
    roleByName: (name) =>
      name.toLowerCase() === 'admin' ? { ID: 'r-1', Name: 'Admin' } : undefined,
    policyByName: (name) => (name === 'ops/read' ? { ID: 'p-1', Name: name } : undefined),
  };
  return atOnce(bind(context));
};

describe('binding rules at login', () => {
  it('add up if they match, each grant once', () => {
    const outcome = login(
      [
        rule('service', 'svc-${value.name}'),
        rule('service', 'svc-web', { Selector: 'ops in list.groups' }),
        rule('service', 'other', { Selector: 'value.name == api' }),
        rule('node', 'n-${value.team}'),
        rule('role', 'admin'),
        rule('role', 'nobody'),
        rule('policy', 'ops/read'),
        rule('templated-policy', 'builtin/service', { BindVars: { name: '${value.name}' } }),
        rule('templated-policy', 'builtin/service', { BindVars: { name: 'web' } }),
        rule('templated-policy', 'builtin/dns'),
        rule('templated-policy', 'builtin/dns', { BindVars: { name: 'ignored' } }),
      ],
      { name: 'WEB', team: 'Blue' },
      ['ops'],
    );
    expect(outcome).to.deep.equal({
      ok: true,
      bound: {
        Policies: [{ ID: 'p-1', Name: 'ops/read' }],
        Roles: [{ ID: 'r-1', Name: 'Admin' }],
        ServiceIdentities: [{ ServiceName: 'svc-web' }],
        NodeIdentities: [{ NodeName: 'n-blue', Datacenter: 'dc1' }],
        TemplatedPolicies: [
          {
            TemplateID: '00000000-0000-0000-0000-000000000003',
            TemplateName: 'builtin/service',
            TemplateVariables: { name: 'web' },
          },
          { TemplateID: '00000000-0000-0000-0000-000000000005', TemplateName: 'builtin/dns' },
        ],
      },
    });
  });
  it('refuse a login if none matches, or nothing is bound, with the reason for the log', () => {
    const reason = 'none of the 0 binding rules matches';
    expect(login([])).to.deep.equal({ ok: false, code: 'no_rule', reason });
    expect(login([rule('role', 'r', { Selector: 'value.name == x' })])).to.have.property(
      'ok',
      false,
    );
    expect(login([rule('role', 'gone'), rule('policy', 'gone')])).to.deep.equal({
      ok: false,
      code: 'nothing_bound',
      reason: 'the matching binding rules bind nothing: no role "gone", no policy "gone"',
    });
  });
  it('refuse the whole login for one invalid name, unless its rule does not match', () => {
    const bad = rule('service', 'svc-${value.name}', { ID: 'id-1', Selector: 'value.team == a' });
    const good = rule('service', 'ok');
    expect(login([good, bad], { name: 'web!', team: 'a' })).to.deep.equal({
      ok: false,
      code: 'bad_name',
      reason: 'binding rule id-1: invalid bind name: "svc-web!"',
    });
    expect(login([good, bad], { name: 'web!', team: 'b' })).to.have.property('ok', true);
    expect(
      login(
        [rule('templated-policy', 'builtin/api-gateway', { BindVars: { name: '${value.name}' } })],
        { name: 'x" {}' },
      ),
    ).to.have.property('ok', false);
  });
  it('do not match if the selector cannot be evaluated', () => {
    expect(login([rule('service', 's', { Selector: 'value.name ==' })])).to.have.property(
      'ok',
      false,
    );
    const slow = rule('service', 's', { Selector: 'value.name matches `(a|b){500}$`' });
    expect(login([slow], { name: 'a'.repeat(1_000_000) })).to.have.property('ok', false);
  });
  it('bind only names that fit their rule, whatever the claims contain', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...ODD) }),
        fc.constantFrom('service', 'node', 'role'),
        (name, type) => {
          const outcome = login([rule(type, 'x${value.name}')], { name });
          if (outcome.ok) expect(JSON.stringify(outcome.bound)).to.match(/^[\w{}[\]":,-]*$/);
        },
      ),
    );
  });
});
