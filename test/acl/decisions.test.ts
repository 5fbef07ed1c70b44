import { expect } from 'chai';
import fc from 'fast-check';
import { compile } from '../../src/acl/authorizer.js';
import { BUILT_IN_POLICIES } from '../../src/acl/builtin.js';
import { parseRules } from '../../src/acl/rules.js';
import { policyGrant, templateGrant } from '../../src/acl/synthetic.js';
import type { Access, Authorizer, Grant, Level, Resource } from '../../src/acl/types.js';

const by = (...grants: Grant[]): Authorizer => compile(grants, { accessor: 'acc' });
const rules = (text: string, namespace = 'default'): Grant => policyGrant(text, namespace);
function refusalOf(text: string, namespace = 'default'): string {
  const outcome = parseRules(text, namespace);
  if (outcome.ok) throw new Error(`should be refused: ${text}`);
  expect(outcome.refusal).to.include({ code: 'invalid', pointer: '/Rules' });
  return outcome.refusal.message;
}

describe('the parser of policy rules', () => {
  it('reports line, column and the likely word for a resource, an argument and a level', () => {
    expect(refusalOf('acl = "read"\n  servce "a" { policy = "read" }')).to.equal(
      'Failed to parse ACL rules: unknown resource "servce"; did you mean "service"? at 2:3',
    );
    expect(refusalOf('service "a" {\n  polcy = "read"\n}')).to.equal(
      'Failed to parse ACL rules: unknown argument "polcy" in service "a"; did you mean "policy"? at 2:3',
    );
    expect(refusalOf('service "a" {\n  policy = "READ"\n}')).to.equal(
      'Invalid service policy: "READ" is not a level at 2:12, expected one of "deny", "read", "write"; did you mean "read"?',
    );
  });
  it('reports the position of a syntax error and what was expected there', () => {
    expect(refusalOf('service "a" {\r\n policy = read }')).to.match(
      /a quoted text but found "r" at 2:11$/,
    );
    expect(refusalOf('service "a" {')).to.match(/found the end of the text at 1:14$/);
    expect(refusalOf('key "a\\q" {}')).to.match(/expected an escape .* but found "q" at 1:8$/);
  });
  it('names an argument that is set twice', () => {
    expect(refusalOf('acl = "read"\nacl = "write"')).to.equal(
      'Failed to parse ACL rules: The argument "acl" at 2:1 was already set',
    );
  });
  it('takes the last of several spellings of one argument, even if it is unset', () => {
    const last = (text: string): boolean => by(rules(text)).allowed('acl', 'write');
    expect(last('acl = "write" ACL = ""')).to.equal(false);
    expect(last('acl = "" "acl" = "write"')).to.equal(true);
    expect(last('{"acl":"write","acl":null}')).to.equal(false);
  });
  it('refuses rules after the end of the JSON form', () => {
    for (const rest of ['{"operator":"write"}', ', "operator":"write"}', 'operator = "write"']) {
      expect(refusalOf(`{"acl":"read"} ${rest}`)).to.match(
        /expected the end of the text but found/,
      );
    }
  });
  it('refuses the retired identity blocks', () => {
    expect(refusalOf('identity "a" { policy = "write" }')).to.match(
      /unknown resource "identity"; identity rules have no effect at 1:1$/,
    );
  });
  it('keeps names byte for byte: escapes may form characters; invalid bytes match nothing', () => {
    const authorizer = by(
      rules('key "\\xc3\\xb3" { policy = "read" } key "\\xff" { policy = "read" }'),
    );
    expect(authorizer.allowed('key', 'read', 'ó')).to.equal(true);
    expect(authorizer.allowed('key', 'read', '\ufffd')).to.equal(false);
    expect(authorizer.allowed('key', 'read', 'ÿ')).to.equal(false);
  });
});

describe('the parser of policy rules (hostile texts)', () => {
  it('refuses deep nesting and huge texts without delay', () => {
    for (const open of ['{', 'a {', 'a = [', 'a = "${', '{"a":', '{"a":[', 'a "${{']) {
      refusalOf(open.repeat(20_000));
    }
    refusalOf(`# ${'x'.repeat(200_000)}`);
    refusalOf('a '.repeat(60_000));
    refusalOf('"'.repeat(50_001));
  });
  it('treats names that are special in JavaScript as ordinary names', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const authorizer = by(rules(`key ${JSON.stringify(name)} { policy = "write" }`));
      expect(authorizer.allowed('key', 'write', name)).to.equal(true);
      expect(authorizer.allowed('service', 'read', name)).to.equal(false);
      expect(by().allowed('key', 'read', name)).to.equal(false);
      expect(refusalOf(`${name} = "write"`)).to.match(/unknown resource/);
      expect(refusalOf(`{"${name}":{"policy":"write"}}`)).to.match(/unknown resource/);
    }
  });
  it('accepts or refuses any text, and never throws', () => {
    const token = fc.constantFrom(
      ...[
        'key',
        'service_prefix',
        '"a"',
        '{',
        '}',
        '=',
        'policy',
        '"read"',
        '[',
        ']',
        ',',
        '<<E\n',
        '\nE\n',
        '${',
        '"',
        '\\',
        ':',
        'acl',
        '\0',
        'null',
        '-1',
      ],
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(token, { maxLength: 30 }).map((all) => all.join(' ')),
    );
    fc.assert(
      fc.property(text, (source) => {
        const outcome = parseRules(source);
        if (!outcome.ok)
          expect(outcome.refusal.message).to.match(
            /^(Failed to parse ACL rules|Invalid \w+ (intentions )?policy): /,
          );
      }),
      { numRuns: 300 },
    );
  });
});

describe('an authorizer (exact match, longest prefix; deny over write, list, read)', () => {
  const STRONGER: readonly Level[] = ['read', 'list', 'write', 'deny'];
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 4 });
  const rule = fc.record({
    prefix: fc.boolean(),
    name,
    level: fc.constantFrom<Level>('read', 'list', 'write', 'deny'),
  });

  it('agrees with a linear search over all rules, however they are spread over policies', () => {
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 12 }),
        name,
        fc.nat({ max: 3 }),
        (all, asked, cut) => {
          const text = (some: typeof all): string =>
            some
              .map((r) => `key${r.prefix ? '_prefix' : ''} "${r.name}" { policy = "${r.level}" }`)
              .join('\n');
          const authorizer = by(rules(text(all.slice(0, cut))), rules(text(all.slice(cut))));
          const levelOf = (prefix: boolean, of: string): Level | undefined =>
            STRONGER.findLast((level) =>
              all.some((r) => r.prefix === prefix && r.name === of && r.level === level),
            );
          const covering = all.filter((r) => r.prefix && asked.startsWith(r.name));
          const longest = covering.sort((x, y) => y.name.length - x.name.length)[0];
          const covers = longest && levelOf(true, longest.name);
          const level = levelOf(false, asked) ?? covers;
          expect(authorizer.allowed('key', 'read', asked)).to.equal(
            level !== undefined && level !== 'deny',
          );
          expect(authorizer.allowed('key', 'list', asked)).to.equal(
            level === 'list' || level === 'write',
          );
          expect(authorizer.allowed('key', 'write', asked)).to.equal(level === 'write');
          const below = all.filter((r) => r.name.startsWith(asked));
          const nothingWeaker = below.every((r) => levelOf(r.prefix, r.name) === 'write');
          expect(authorizer.allowed('key', 'write-prefix', asked)).to.equal(
            covers === 'write' && nothingWeaker,
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('does not mix the rules of two tokens that share a policy', () => {
    const weak = rules('service "web" { policy = "read" }');
    const strong = rules('service "web" { policy = "write" }');
    expect(by(weak, strong).allowed('service', 'write', 'web')).to.equal(true);
    expect(by(weak).allowed('service', 'write', 'web')).to.equal(false);
  });

  it('with the default policy allow, permits everything without a rule, except acl', () => {
    const open = compile([rules('service "web" { policy = "deny" }')], {
      accessor: 'a',
      defaultPolicy: 'allow',
    });
    expect(open.allowed('service', 'write', 'api')).to.equal(true);
    expect(open.allowed('service', 'read', 'web')).to.equal(false);
    expect(open.allowed('operator', 'write')).to.equal(true);
    expect(open.allowed('acl', 'read')).to.equal(false);
  });
  it('with the default policy allow, may write somewhere if a namespace has no rule', () => {
    const closed = compile([rules('service_prefix "" { policy = "deny" } mesh = "deny"')], {
      accessor: 'a',
      defaultPolicy: 'allow',
    });
    for (const resource of ['service', 'mesh'] as const) {
      expect(closed.allowed(resource, 'write', 'web')).to.equal(false);
      expect(closed.allowed(resource, 'write', 'web', 'team')).to.equal(true);
      expect(closed.anywhere(resource, 'write')).to.equal(true);
    }
    expect(closed.anywhere('acl', 'read')).to.equal(false);
  });
});

describe('decisions: namespaces', () => {
  const everything: [Resource, string?][] = [
    ['acl'],
    ['mesh'],
    ['peering'],
    ['agent', 'x'],
    ['key', 'x'],
    ['service', 'x'],
    ['session', 'x'],
    ['intention', 'x'],
    ['node', 'x'],
  ];
  it('rules of a created namespace count only there, and those of default not there', () => {
    const team = by(
      rules('service_prefix "" { policy = "write" } acl = "write" mesh = "read"', 'team'),
    );
    expect(team.allowed('service', 'write', 'web', 'team')).to.equal(true);
    expect(team.allowed('acl', 'write', undefined, 'team')).to.equal(true);
    for (const [resource, segment] of everything) {
      for (const other of ['default', 'tea', 'team2']) {
        expect(team.allowed(resource, 'read', segment, other), `${resource} in ${other}`).to.equal(
          false,
        );
      }
    }
    const home = by(rules('service_prefix "" { policy = "write" }'));
    expect(home.allowed('service', 'read', 'web', 'team')).to.equal(false);
  });
  it('namespace blocks in default apply by exact name, then by longest prefix', () => {
    const reach = by(
      rules(`namespace_prefix "" { service_prefix "" { policy = "read" } key "k" { policy = "read" } }
             namespace_prefix "te" { service "web" { policy = "write" } }
             namespace "team" { acl = "write" service "web" { policy = "deny" } }`),
    );
    expect(reach.allowed('service', 'read', 'web', 'other')).to.equal(true);
    expect(reach.allowed('service', 'write', 'web', 'test')).to.equal(true);
    expect(reach.allowed('service', 'read', 'web', 'team')).to.equal(false);
    expect(reach.allowed('service', 'read', 'api', 'team')).to.equal(true);
    expect(reach.allowed('acl', 'write', undefined, 'team')).to.equal(true);
    expect(reach.allowed('acl', 'read', undefined, 'other')).to.equal(false);
    expect(reach.allowed('service', 'read', 'web')).to.equal(false);
    expect(reach.anyIn('anything')).to.equal(true);
    expect(reach.anyIn('default')).to.equal(false);
  });
  it('operator, keyring, event, query are global; mesh, peering fall back to operator', () => {
    const operator = by(rules('operator = "write"'));
    expect(operator.allowed('operator', 'write', undefined, 'team')).to.equal(true);
    expect(operator.allowed('mesh', 'write', undefined, 'team')).to.equal(true);
    expect(operator.allowed('namespace', 'write', 'team')).to.equal(true);
    expect(operator.allowed('service', 'read', 'x', 'team')).to.equal(false);
  });
  it('a block with a level allows managing the namespace; any right makes it visible', () => {
    const manager = by(rules('namespace "team" { policy = "write" }'));
    expect(manager.allowed('namespace', 'write', 'team')).to.equal(true);
    expect(manager.allowed('namespace', 'read', 'other')).to.equal(false);
    const insider = by(rules('key "k" { policy = "read" }', 'team'));
    expect(insider.allowed('namespace', 'read', 'team')).to.equal(true);
    expect(insider.allowed('namespace', 'write', 'team')).to.equal(false);
  });
  it('refuses rules that reach beyond a created namespace', () => {
    for (const text of [
      'operator = "read"',
      'keyring = "read"',
      'event "e" { policy = "read" }',
      'query_prefix "" { policy = "read" }',
      'node "n" { policy = "write" }',
    ]) {
      expect(refusalOf(text, 'team')).to.match(/not allowed in a created namespace/);
      expect(refusalOf(`namespace "team" { ${text} }`)).to.match(
        /not allowed in a created namespace/,
      );
      expect(parseRules(text).ok).to.equal(true);
    }
    expect(parseRules('node_prefix "" { policy = "read" }', 'team').ok).to.equal(true);
    expect(refusalOf('namespace "a" { acl = "read" }', 'team')).to.match(
      /only at the top of a policy of the namespace "default"/,
    );
    expect(refusalOf('namespace "a" { namespace "b" { acl = "read" } }')).to.match(
      /only at the top/,
    );
    expect(refusalOf('namespace "a" {}')).to.match(/has no effect/);
    expect(refusalOf('namespace "a" { policy = "list" }')).to.match(/^Invalid namespace policy: /);
  });
  it("a namespace's default grants count only if the token's own say nothing", () => {
    const own = rules('service "web" { policy = "read" }', 'team');
    const defaults = [
      rules(
        'namespace "team" { service "web" { policy = "write" } service "api" { policy = "write" } }',
      ),
    ];
    const token = compile([own], { accessor: 'a', defaults });
    expect(token.allowed('service', 'write', 'web', 'team')).to.equal(false);
    expect(token.allowed('service', 'read', 'web', 'team')).to.equal(true);
    expect(token.allowed('service', 'write', 'api', 'team')).to.equal(true);
  });
  it('the built-in policies apply to everything, in every namespace', () => {
    const [management, readOnly] = BUILT_IN_POLICIES.map(({ Rules }) => by(rules(Rules)));
    const all: [Resource, string?][] = [
      ...everything,
      ['operator'],
      ['keyring'],
      ['event', 'x'],
      ['query', 'x'],
      ['namespace', 'x'],
      ['intention', '*'],
    ];
    for (const [resource, segment] of all) {
      for (const namespace of ['default', 'team']) {
        const where = `${resource} in ${namespace}`;
        expect(management?.allowed(resource, 'read', segment, namespace), where).to.equal(true);
        expect(readOnly?.allowed(resource, 'read', segment, namespace), where).to.equal(true);
        expect(readOnly?.allowed(resource, 'write', segment, namespace), where).to.equal(false);
        const beyond = resource === 'node' && namespace === 'team';
        expect(management?.allowed(resource, 'write', segment, namespace), where).to.equal(!beyond);
      }
    }
    expect(management?.allowed('key', 'write-prefix', 'a/', 'team')).to.equal(true);
  });
  it('node identities read the services of all namespaces; templates act only in their own', () => {
    const node = by(templateGrant('builtin/node', { name: 'n1' }, 'default'));
    expect(node.allowed('service', 'read', 'web', 'team')).to.equal(true);
    expect(node.allowed('node', 'write', 'n1')).to.equal(true);
    const dns = by(templateGrant('builtin/dns', undefined, 'team'));
    expect(dns.allowed('service', 'read', 'web', 'team')).to.equal(true);
    expect(dns.allowed('query', 'read', 'q', 'team')).to.equal(false);
    expect(dns.allowed('service', 'read', 'web')).to.equal(false);
  });
});

describe('the text of a 403', () => {
  const asked: [Resource, Access, string?, string?] = ['service', 'write', 'web'];
  it('names the accessor, the permission and the object', () => {
    expect(by().denial(...asked)?.message).to.equal(
      `Permission denied: token with AccessorID 'acc' lacks permission 'service:write' on "web"`,
    );
    expect(by().denial('acl', 'read')?.message).to.equal(
      "Permission denied: token with AccessorID 'acc' lacks permission 'acl:read'",
    );
    expect(by().denial('acl', 'read', undefined, 'team')?.message).to.match(
      /'acl:read' in namespace "team"$/,
    );
  });
  it('names the anonymous token if none was sent, and is absent if allowed', () => {
    const anonymous = compile([], { accessor: 'acc', anonymous: true });
    expect(anonymous.denial('acl', 'write')?.message).to.equal(
      "Permission denied: anonymous token lacks permission 'acl:write'. The anonymous token is used implicitly when a request does not specify a token.",
    );
    expect(by(rules('acl = "read"')).denial('acl', 'read')).to.equal(undefined);
  });
});
