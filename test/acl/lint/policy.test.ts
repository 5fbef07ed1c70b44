/** Lint of policy rules: every code, all faults of a text, and agreement with enforcement. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Lint } from '../../../src/acl/lint/findings.js';
import { lintPolicy } from '../../../src/acl/lint/policy.js';
import { parseRules } from '../../../src/acl/rules.js';
import { finish } from './finish.js';

const lint = (text: string, namespace = 'default'): Lint => finish(lintPolicy(text, namespace));
/** A rule for services. */
const service = (name: string, policy: string, intentions?: string): string =>
  `service${name} { policy = "${policy}"${intentions ? ` intentions = "${intentions}"` : ''} }\n`;
/** What lint finds, as `code@line:column`. */
const codes = (text: string, namespace?: string): string[] =>
  lint(text, namespace).Problems.map(({ Code, Line, Column }) => `${Code}@${Line}:${Column}`);
const only = (code: string, text: string, namespace?: string): string[] =>
  codes(text, namespace).filter((each) => each.startsWith(`${code}@`));

describe('lint of policy rules', () => {
  it('finds nothing in rules that say what they do', () => {
    const text = 'acl = "read"\nservice "web" { policy = "write" intentions = "read" }\n';
    expect(lint(text)).to.deep.equal({ Valid: true, Problems: [] });
    expect(lint('')).to.deep.equal({ Valid: true, Problems: [] });
  });

  it('answers with the members of the contract, in their order', () => {
    const { Valid, Problems } = lint('service_prefix "" { policy = "write" intentions = "deny" }');
    expect(Valid).to.equal(true);
    expect(JSON.stringify(Problems[0])).to.equal(
      JSON.stringify({
        Severity: 'warning',
        Code: 'broad_write',
        Message: 'service_prefix "" gives write on every service',
        Line: 1,
        Column: 1,
        Hint: 'name the services, or give read here and write to some',
      }),
    );
  });

  for (const [code, text, message] of [
    ['syntax', 'service "a" {', /^expected .* but found the end of the text at 1:14$/],
    [
      'syntax',
      'acl { policy = "read" }',
      /^acl is written as acl = "read", not as a block at 1:5$/,
    ],
    ['syntax', 'key = ["a"]', /takes blocks, not a list/],
    ['unknown_resource', 'servce "a" { policy = "read" }', /did you mean "service"\? at 1:1$/],
    ['unknown_resource', 'partition "a" { acl = "read" }', /has no partitions/],
    [
      'unknown_argument',
      'key "a" { policy = "read" level = "x" }',
      /unknown argument "level" in key "a"/,
    ],
    [
      'bad_level',
      'acl = "Write"',
      /^"Write" is not a level at 1:7, expected .*did you mean "write"/,
    ],
    ['bad_level', 'key "a" {}', /^no level is set at 1:5/],
    ['bad_level', 'acl = true', /^the level of acl is a quoted text/],
    ['duplicate', 'acl = "read"\nacl = "read"', /^The argument "acl" at 2:1 was already set$/],
    ['no_effect', 'key {}', /^key has no effect: it is empty at 1:5$/],
    ['no_effect', 'namespace "a" {}', /^namespace "a" has no effect: it is empty/],
    [
      'not_allowed_here',
      'namespace "a" { operator = "read" }',
      /not allowed in a created namespace/,
    ],
    ['not_allowed_here', 'namespace "a" { namespace "b" { acl = "read" } }', /only at the top/],
  ] as const) {
    it(`has the error ${code} for ${text}`, () => {
      const { Valid, Problems } = lint(text);
      expect(Valid).to.equal(false);
      const [first] = Problems.filter(({ Severity }) => Severity === 'error');
      expect(first).to.include({ Code: code });
      expect(first?.Message).to.match(message);
    });
  }

  it('judges rules by the namespace of the policy', () => {
    expect(lint('operator = "read"').Valid).to.equal(true);
    expect(codes('operator = "read"', 'team')).to.deep.equal(['not_allowed_here@1:1']);
    expect(codes('node "a" { policy = "write" }', 'team')).to.deep.equal(['not_allowed_here@1:6']);
  });

  it('tells all faults of a text, not only the first', () => {
    const text = [
      'servce "a" { policy = "read" }',
      'service "b" { policy = "wirte" level = "x" intentions = 1.5 }',
      'acl = "read"',
      'acl = ["read"]',
      'namespace "n" {',
      '  keyring = "read"',
      '  key "k" { policy = "x" }',
      '}',
    ].join('\n');
    expect(codes(text).filter((each) => !/no_endpoint|implied/.test(each))).to.deep.equal([
      'unknown_resource@1:1',
      'bad_level@2:24',
      'unknown_argument@2:32',
      'bad_level@2:57',
      'duplicate@4:1',
      'bad_level@4:7',
      'not_allowed_here@6:3',
      'bad_level@7:22',
    ]);
  });

  it('reads on after a fault of the syntax, at the next item at the left', () => {
    const text = [
      '# rules',
      'service "a" { policy = "read" intentions = "read" }',
      'service "b" { policy = read }',
      'service "c" {',
      '  policy = "write"',
      '  intentions: "read"',
      '}',
      'acl =',
      'service_prefix "" { policy = "write" intentions = "read" }',
      'acl = "write"',
    ].join('\r\n');
    expect(codes(text).filter((each) => !each.startsWith('exception'))).to.deep.equal([
      'syntax@3:24',
      'syntax@6:13',
      'syntax@9:1',
      'broad_write@9:1',
      'acl_write@10:1',
    ]);
  });

  it('reads what stands before a fault of the syntax, and after it', () => {
    const text = 'acl = "write"\noperator = "write"\nmesh = read\nkeyring = "write"';
    expect(codes(text)).to.deep.equal([
      'acl_write@1:1',
      'broad_write@2:1',
      'syntax@3:8',
      'broad_write@4:1',
      'no_endpoint_here@4:1',
    ]);
  });

  it('says no more about what an unclosed block swallows, and of JSON after a fault', () => {
    expect(
      codes('service "a" {\n  policy = "read"\nservice "b" { policy = "read" }\n'),
    ).to.have.lengthOf(1);
    expect(codes('{"acl": write, "servce": 1}')).to.deep.equal(['syntax@1:9']);
  });

  for (const [text, ...expected] of [
    ['operator = "write"', 'broad_write@1:1'],
    ['keyring = "write"', 'broad_write@1:1'],
    ['mesh = "write"'],
    ...['node', 'key', 'agent', 'session', 'event', 'query'].map(
      (resource) => [`${resource}_prefix "" { policy = "write" }`, 'broad_write@1:1'] as const,
    ),
    ['service_prefix "" { policy = "read" intentions = "write" }', 'broad_write@1:1'],
    ['service_prefix "a" { policy = "write" }'],
    ['service "" { policy = "write" }'],
    ['service_prefix "" { policy = "deny" }'],
    ['namespace_prefix "" { policy = "write" }', 'broad_write@1:1'],
    ['namespace "a" { service_prefix "" { policy = "write" } }', 'broad_write@1:17'],
    ['{"operator": "write"}', 'broad_write@1:2'],
    ['{"service_prefix": {"": {"policy": "write"}}}', 'broad_write@1:21'],
  ] as const) {
    it(`finds ${expected.join() || 'no broad_write'} in ${text}`, () => {
      expect(only('broad_write', text)).to.deep.equal(expected);
    });
  }

  it('warns of acl = "write", in namespace blocks too', () => {
    expect(only('acl_write', 'acl = "write"')).to.deep.equal(['acl_write@1:1']);
    expect(only('acl_write', 'namespace_prefix "t" {\n acl = "write" }')).to.deep.equal([
      'acl_write@2:2',
    ]);
    expect(only('acl_write', 'acl = "read"')).to.deep.equal([]);
  });

  for (const [text, ...expected] of [
    ['service "a" { policy = "read" }\nservice "a" { policy = "write" }', 'overridden@1:1'],
    ['service "a" { policy = "deny" }\nservice "a" { policy = "write" }', 'overridden@2:1'],
    ['service "a" { policy = "read" intentions = "write" }\nservice "a" { policy = "write" }'],
    [service(' "a"', 'read', 'read') + service(' "a"', 'write', 'deny'), 'overridden@1:1'],
    ['service "a" { policy = "read" }\nservice_prefix "a" { policy = "write" }'],
    ['acl = "write"\nACL = "read"', 'overridden@1:1'],
    ['namespace "n" { acl = "read" }\nnamespace "n" { acl = "write" }', 'overridden@1:17'],
    ['acl = "read"\nnamespace "n" { acl = "write" }'],
    ['namespace "n" { policy = "read" }\nnamespace "n" { policy = "write" }', 'overridden@1:1'],
  ] as const) {
    it(`finds ${expected.join() || 'nothing overridden'} in ${JSON.stringify(text)}`, () => {
      expect(only('overridden', text)).to.deep.equal(expected);
    });
  }

  for (const [text, ...expected] of [
    ['service_prefix "" { policy = "read" }\nservice "a" { policy = "read" }', 'redundant@2:1'],
    [service(' "ab"', 'read') + service('_prefix "a"', 'write') + service('_prefix ""', 'read')],
    ['key_prefix "a" { policy = "read" }\nkey_prefix "a/b" { policy = "read" }', 'redundant@2:1'],
    ['key_prefix "a" { policy = "read" }\nkey "a" { policy = "read" }', 'redundant@2:1'],
    [service('_prefix ""', 'write', 'write') + service(' "a"', 'write')],
    [service('_prefix ""', 'write', 'read') + service(' "a"', 'write'), 'redundant@2:1'],
    ['key "a" { policy = "read" }\nkey "a" { policy = "read" }', 'redundant@2:1'],
    ['key_prefix "" { policy = "read" }\nnamespace "n" { key "a" { policy = "read" } }'],
  ] as const) {
    it(`finds ${expected.join() || 'nothing redundant'} in ${JSON.stringify(text)}`, () => {
      expect(only('redundant', text)).to.deep.equal(expected);
    });
  }

  it('notes exceptions from the prefix around a rule', () => {
    const text =
      'service_prefix "" { policy = "read" intentions = "read" }\n' +
      'service_prefix "a" { policy = "write" intentions = "read" }\n' +
      'service "ab" { policy = "deny" }\n' +
      'service "b" { policy = "read" intentions = "write" }';
    expect(only('exception', text)).to.deep.equal([
      'exception@2:1',
      'exception@3:1',
      'exception@4:1',
    ]);
    expect(lint(text).Problems.map(({ Message }) => Message)).to.deep.equal([
      'service_prefix "a" gives write, where service_prefix "" at line 1 gives read',
      'service "ab" gives deny, where service_prefix "a" at line 2 gives write',
      'service "b" gives write on intentions, where service_prefix "" at line 1 gives read',
    ]);
  });

  it('says what key rules of the form T/A/… mean for applications', () => {
    const text = `key "orders/approve/17" { policy = "deny" }
key_prefix "a%2Fb/c/" { policy = "write" }
key_prefix "orders/" { policy = "read" }`;
    const { Problems } = lint(text);
    const said = Problems.filter(({ Code }) => Code === 'application_rule');
    expect(said.map(({ Line, Message }) => [Line, Message])).to.deep.equal([
      [1, 'denies "approve" on "orders"'],
      [2, 'allows "c" on "a/b"'],
    ]);
  });

  it('notes intentions that nobody wrote, and resources without an endpoint', () => {
    expect(codes('service "a" { policy = "read" }')).to.deep.equal(['implied_intentions@1:1']);
    expect(codes('service "a" { policy = "deny" }')).to.deep.equal([]);
    for (const resource of ['agent', 'event', 'key', 'query', 'session']) {
      const text = `${resource} "a" { policy = "read" }`;
      expect(codes(text)).to.deep.equal(['no_endpoint_here@1:1']);
    }
    expect(codes('keyring = "read"\npeering = "read"')).to.deep.equal([
      'no_endpoint_here@1:1',
      'no_endpoint_here@2:1',
    ]);
    expect(codes('operator = "read"\nmesh = "read"\nnode "a" { policy = "read" }')).to.deep.equal(
      [],
    );
  });

  it('agrees with enforcement about every recorded text', () => {
    const rows = JSON.parse(readFileSync('test/tables/policy-rules.json', 'utf8')) as {
      rules?: string;
    }[];
    for (const { rules } of rows) if (rules !== undefined) mustAgree(rules);
  });

  it('agrees with enforcement about any text', () => {
    fc.assert(fc.property(texts, fc.constantFrom('default', 'team'), mustAgree));
  });

  it('takes steps that grow with the text, however it is made', () => {
    const wide = (line: (n: number) => string): string => {
      const lines: string[] = [];
      for (let length = 0, n = 0; ; n += 1) {
        const next = line(n);
        length += next.length + 1;
        if (length > 64 * 1024) return lines.join('\n');
        lines.push(next);
      }
    };
    for (const text of [
      wide((n) => `key_prefix "${'a'.repeat(n % 400)}" { policy = "read" }`),
      wide((n) => `service "${n}" { policy = "write" }`),
      wide(() => 'service_prefix "" { policy = "read" }'),
      wide((n) => `namespace "n${n % 7}" { acl = "read" }`),
      wide((n) => `x${n} = "read"`),
      wide((n) => `key "${n}" { policy = ${n} }`),
      wide(() => 'a b c'),
      wide(() => '{'),
      wide(() => 'k{'),
    ]) {
      let steps = 0;
      const work = lintPolicy(text, 'default');
      let step = work.next();
      for (; !step.done; step = work.next()) steps += 1;
      const lines = text.split('\n').length;
      expect(steps).to.be.lessThan(4 * lines + 1);
      expect(step.value.Problems.length).to.be.lessThan(1001);
      expect(step.value.Valid).to.equal(parseRules(text).ok);
    }
  });

  it('cuts a long list of problems, and says how much is left out', () => {
    const many = Array.from({ length: 1500 }, (_, n) => `x${n} = "read"`).join('\n');
    const { Problems, More } = lint(`acl = "write"\n${many}`);
    expect(Problems).to.have.lengthOf(1000);
    expect(More).to.equal(501);
    expect(Problems.every(({ Severity }) => Severity === 'error')).to.equal(true);
  });
});

const words = fc.constantFrom(
  ...['acl', 'ACL', 'keyring', 'mesh', 'operator', 'service', 'service_prefix', 'key', 'node'],
  ...['namespace', 'namespace_prefix', 'servce', 'policy', 'intentions', 'partition', '"a"', '""'],
  ...['{', '}', '=', '[', ']', ',', ':', '"read"', '"write"', '"deny"', '"WRITE"', '1', '1.5'],
  ...['true', '\n', '\r\n', '# x\n', '"${', '<<E\n', 'E\n', '\u0000', 'é', '\\'],
);
const level = fc.constantFrom('"read"', '"write"', '"deny"', '"list"', '"x"', '""', '7', 'read');
const name = fc.constantFrom('', 'a', 'ab', 'abc', 'b');
const rule = fc
  .tuple(fc.constantFrom('service', 'service_prefix', 'key', 'key_prefix', 'node'), name, level)
  .map(([resource, of, policy]) => `${resource} "${of}" { policy = ${policy} }`);
const scalar = fc
  .tuple(fc.constantFrom('acl', 'ACL', 'operator', 'mesh', 'keyring'), level)
  .map(([resource, policy]) => `${resource} = ${policy}`);
const block = fc
  .tuple(name, fc.array(fc.oneof(rule, scalar), { maxLength: 3 }))
  .map(([of, rules]) => `namespace "${of}" {\n${rules.join('\n')}\n}`);
const texts = fc.oneof(
  fc.array(fc.oneof(rule, scalar, block), { maxLength: 6 }).map((all) => all.join('\n')),
  fc.array(fc.oneof(words, rule), { maxLength: 12 }).map((all) => all.join(' ')),
  fc.array(words, { maxLength: 12 }).map((all) => `{${all.join('')}}`),
  fc.string({ unit: 'binary' }),
);

/** What a write refuses has that error in lint, and lint finds no error in what it accepts. */
function mustAgree(text: string, namespace = 'default'): void {
  const outcome = parseRules(text, namespace);
  const { Valid, Problems } = lint(text, namespace);
  const errors = Problems.filter(({ Severity }) => Severity === 'error');
  expect(Valid, text).to.equal(outcome.ok);
  expect(errors.length > 0, text).to.equal(!outcome.ok);
  if (outcome.ok) return;
  const { message } = outcome.refusal;
  const found = errors.some(({ Message }) => {
    const lead = message.slice(0, message.length - Message.length);
    return (
      message.endsWith(Message) &&
      /^(Failed to parse ACL rules|Invalid \w+( intentions)? policy): $/.test(lead)
    );
  });
  expect(found, `${text}\n${message}`).to.equal(true);
}
