import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { compile } from '../../src/acl/authorizer.js';
import { authorizeBatch } from '../../src/acl/batch.js';
import { BUILT_IN_POLICIES } from '../../src/acl/builtin.js';
import { parseRules } from '../../src/acl/rules.js';
import { atOnce } from '../../src/acl/steps.js';
import { policyGrant, templateGrant } from '../../src/acl/synthetic.js';
import type { Grant } from '../../src/acl/types.js';
import { parseRulesInSteps, parseRulesText } from '../../src/languages/policy-rules.js';

interface Check {
  resource: string;
  access: string;
  segment?: string;
  allowed?: boolean;
  error?: string;
}
interface Links {
  policies?: string[];
  serviceIdentities?: { ServiceName: string; Datacenters?: string[] }[];
  nodeIdentities?: { NodeName: string; Datacenter: string }[];
  templatedPolicies?: { TemplateName: string; TemplateVariables?: { Name?: string } }[];
}
interface Row extends Links {
  group: string;
  rules?: string;
  valid: boolean;
  errorKey?: string;
  policyDatacenters?: (string[] | null)[];
  policyIDs?: string[];
  roles?: Links[];
  checks: Check[];
}

const rows: Row[] = JSON.parse(readFileSync('test/tables/policy-rules.json', 'utf8'));

/**
 * Rows that our decisions override: the recorded server stored these rules without effect; here
 * they are refused. Each has the expected error text, so that none is refused for another reason.
 */
const OVERRULED: Readonly<Record<string, RegExp>> = {
  'intentions = "write"': /unknown resource "intentions"/,
  'service "web" { policy = "Write" }': /did you mean "write"/,
  'service "web" { policy = "read" intentions = "WRITE" }': /did you mean "write"/,
  'key "k" { policy = "WRITE" }': /did you mean "write"/,
  'operator = "DENY"': /did you mean "deny"/,
  'key = []': /no effect/,
  'key = {}': /no effect/,
  'key {}': /no effect/,
  '{"key":{}}': /no effect/,
  '{"key":[]}': /no effect/,
  'foo = [1, 2, {a = "b"}]': /unknown resource "foo"/,
  'key_prefx "x" { policy = "write" }': /did you mean "key_prefix"/,
  'key "x" { policy = "read" sentinel = "x" }': /unknown argument "sentinel"/,
  'key "x" { policy = "read" intentions = "bad" }': /unknown argument "intentions"/,
  'partition "default" { acl = "write" }': /this server has no partitions/,
  'license = "write"': /unknown resource "license"/,
  'sentinel "x" { policy = "write" }': /unknown resource "sentinel"/,
  'key "x" { policy = "read" prefix = "y" }': /unknown argument "prefix"/,
  'service "x" { policy = "read" name = "y" }': /unknown argument "name"/,
  'agent "x" { policy = "read" node = "y" }': /unknown argument "node"/,
  'acl =': /but found the end of the text/,
  'key "x" { policy = "read" } foo =': /but found the end of the text/,
  'żółć = "x"': /unknown resource/,
  '_x = "y"': /unknown resource/,
  '{"foo":"bar"}': /unknown resource "foo"/,
  '{"foo":{"x":{"policy":"bad"}}}': /unknown resource "foo"/,
  '{"acl" "read"}': /expected ":"/,
  '{"acl":}': /but found "}"/,
  '{"acl"}': /expected ":"/,
  '{"a":[1 2]}': /unknown resource "a"/,
  '{"a":[[1]]}': /unknown resource "a"/,
  '{"a":[true]}': /unknown resource "a"/,
};

/** The beginning of an error text, by the table's error key. */
function phrase(errorKey: string): RegExp {
  if (!errorKey.startsWith('level:')) return /^Failed to parse ACL rules: /;
  const [resource, field] = errorKey.slice('level:'.length).split('.');
  return new RegExp(`^Invalid ${resource} ${field === 'intentions' ? 'intentions ' : ''}policy: `);
}

function grantsOf(links: Links, datacenters: (string[] | null)[] = []): Grant[] {
  const here = (where: string[] | null | undefined): boolean =>
    where === undefined || where === null || where.length === 0 || where.includes('dc1');
  return [
    ...(links.policies ?? [])
      .filter((_, i) => here(datacenters[i]))
      .map((text) => policyGrant(text, 'default')),
    ...(links.serviceIdentities ?? [])
      .filter(({ Datacenters }) => here(Datacenters))
      .map(({ ServiceName }) => templateGrant('builtin/service', { name: ServiceName }, 'default')),
    ...(links.nodeIdentities ?? [])
      .filter(({ Datacenter }) => Datacenter === 'dc1')
      .map(({ NodeName }) => templateGrant('builtin/node', { name: NodeName }, 'default')),
    ...(links.templatedPolicies ?? []).map(({ TemplateName, TemplateVariables }) =>
      templateGrant(TemplateName, { name: TemplateVariables?.Name ?? '' }, 'default'),
    ),
  ];
}

function judge(row: Row): void {
  const texts = row.rules === undefined ? (row.policies ?? []) : [row.rules];
  if (!row.valid) {
    const outcome = parseRules(texts[0] ?? '');
    if (outcome.ok) throw new Error('should be refused');
    expect(outcome.refusal.code).to.equal('invalid');
    expect(outcome.refusal.message).to.match(phrase(row.errorKey ?? ''));
    return;
  }
  for (const text of texts) {
    const outcome = parseRules(text);
    const overruled = OVERRULED[text];
    if (overruled !== undefined) {
      if (outcome.ok) throw new Error(`should be refused: ${text}`);
      expect(outcome.refusal.message).to.match(overruled);
      return;
    }
    if (!outcome.ok) throw new Error(outcome.refusal.message);
  }
  const builtIn = (row.policyIDs ?? []).map((id) =>
    policyGrant(BUILT_IN_POLICIES.find(({ ID }) => ID === id)?.Rules ?? '', 'default'),
  );
  const grants = [
    ...builtIn,
    ...grantsOf({ ...row, policies: texts }, row.policyDatacenters),
    ...(row.roles ?? []).flatMap((role) => grantsOf(role)),
  ];
  const authorizer = compile(grants, { accessor: 'a' });
  for (const { resource, access, segment, allowed, error } of row.checks) {
    const question = {
      Resource: resource,
      Access: access,
      ...(segment === undefined ? {} : { Segment: segment }),
    };
    const outcome = authorizeBatch(authorizer, [question]);
    if (error !== undefined) {
      expect(outcome).to.have.nested.property('refusal.message', error);
    } else {
      expect(outcome, JSON.stringify(question)).to.deep.equal({
        ok: true,
        decisions: [{ ...question, Allow: allowed }],
      });
    }
  }
}

describe('policy rules: text in quotes', () => {
  it('keeps text between ${ and its brace, and refuses an unclosed one', () => {
    expect(parseRules('service "a${b}c" { policy = "write" }').ok).to.equal(true);
    expect(parseRules('service "a$b$$" { policy = "write" }').ok).to.equal(true);
    for (const text of ['service "a${b" { policy = "write" }', 'key "${{}" { policy = "read" }']) {
      const parsed = parseRules(text);
      expect(parsed.ok ? text : parsed.refusal.message).to.match(
        /^Failed to parse ACL rules: expected .*the "}" that closes "\$\{"/,
      );
    }
    expect(parseRules('{"service":{"a${b":{"policy":"write"}}}').ok).to.equal(false);
  });
});

describe('policy rules: the table of recorded examples', () => {
  for (const group of new Set(rows.map((row) => row.group))) {
    it(`group ${group}`, () => {
      for (const [i, row] of rows.entries()) {
        if (row.group !== group) continue;
        try {
          judge(row);
        } catch (error) {
          throw new Error(
            `row ${i} ${JSON.stringify(row.rules ?? row.policies ?? '')}: ${(error as Error).message}`,
          );
        }
      }
    });
  }

  it('every overridden text is in the table', () => {
    const texts = new Set(rows.flatMap((row) => [row.rules ?? '', ...(row.policies ?? [])]));
    for (const text of Object.keys(OVERRULED)) expect(texts.has(text), text).to.equal(true);
  });
});

describe('policy rules in steps', () => {
  const item = fc.oneof(
    fc.nat(999).map((n) => `key "k${n}" { policy = "read" }`),
    fc.nat(999).map((n) => `service "s${n}" {\n  policy = "write"\n}`),
    fc.constant('acl = "read"'),
    fc.constant('key "h" { policy = <<E\nkey "no" { policy = "deny" }\nE\n}'),
    fc.constant('# key "no" {'),
    fc.constant('/* \nkey "no" { policy = "deny" }\n*/'),
    fc.constant('"key" "q" { policy = "list" } key "r" { policy = "read" }'),
  );
  const broken = fc.constantFrom('', '', '', '}', 'key "x" {', '/*', '"', 'key "y" { policy = <<E');
  const ends = fc.constantFrom('\n', '\r\n', '\n\n  ', ',\n', ' ');

  it('are parsed as in one step, whatever the text', () => {
    const parts = fc.array(fc.tuple(item, ends), { minLength: 150, maxLength: 500 });
    fc.assert(
      fc.property(parts, broken, fc.nat(400), fc.boolean(), (all, bad, at, isJson) => {
        const texts = all.map(([text, end]) => `${text}${end}`);
        texts.splice(at, 0, bad);
        const text = `${isJson ? '{' : ''}${texts.join('')}`;
        const whole = parseRulesText(text);
        expect(atOnce(parseRulesInSteps(text))).to.deep.equal(whole);
      }),
      { numRuns: 60 },
    );
  }).timeout(60_000);

  it('take many steps for a long text', () => {
    const text = 'key "a" { policy = "read" }\n'.repeat(2_000);
    const steps = parseRulesInSteps(text);
    let count = 0;
    while (!steps.next().done) count += 1;
    expect(count).to.be.greaterThan(10);
  });
});
