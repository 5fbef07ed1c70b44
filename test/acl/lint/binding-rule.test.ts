/** Lint of binding rules: absent claims, names from claims, and agreement with writes. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type BindingRule,
  checkBindingRule,
  type IdentityShape,
  selects,
} from '../../../src/acl/binding.js';
import {
  byBinding,
  lintBindingRule,
  type RuleSurroundings,
} from '../../../src/acl/lint/binding-rule.js';
import type { Finding } from '../../../src/acl/lint/findings.js';
import { finish } from './finish.js';

const text = { kind: 'string' } as const;
const SHAPE: IdentityShape = {
  selectable: {
    kind: 'struct',
    fields: {
      value: { kind: 'map', key: 'string', of: text },
      list: { kind: 'map', key: 'string', of: { kind: 'list', of: text } },
      serviceaccount: { kind: 'struct', fields: { name: text } },
    },
  },
  mapped: { value: ['name', 'team', 'a"\\'], list: ['groups'] },
  variables: ['value.name', 'value.team', 'serviceaccount.name'],
};
const rule = (more: Partial<BindingRule>): BindingRule => ({
  Selector: 'value.name == web',
  BindType: 'service',
  BindName: 'web',
  ...more,
});
const lint = (more: Partial<BindingRule>, around: Partial<RuleSurroundings> = {}): Finding[] =>
  finish(
    lintBindingRule(rule(more), {
      shape: SHAPE,
      namespace: 'default',
      rules: new Map(),
      exists: () => true,
      ...around,
    }),
  );
/** What lint finds, as `code@Field:line:column`. */
const codes = (more: Partial<BindingRule>, around?: Partial<RuleSurroundings>): string[] =>
  lint(more, around).map(({ Code, Field, Line, Column }) => `${Code}@${Field}:${Line}:${Column}`);
/** The claims whose absence lets somebody in. */
const absent = (Selector: string): (string | undefined)[] =>
  lint({ Selector }).flatMap(({ Code, Claim }) => (Code === 'absent_claim_passes' ? [Claim] : []));

describe('lint of binding rules', () => {
  it('finds nothing in a rule that names whom it lets in', () => {
    expect(lint({})).to.deep.equal([]);
  });

  it('answers with the members of the contract, in their order', () => {
    expect(JSON.stringify(lint({ Selector: 'value.team != "x"' }))).to.equal(
      JSON.stringify([
        {
          Severity: 'warning',
          Code: 'absent_claim_passes',
          Message: 'someone without value.team is let in, and someone with some value of it is not',
          Field: 'Selector',
          Line: 1,
          Column: 1,
          Claim: 'value.team',
          Fix: '"team" in value and (value.team != "x")',
        },
      ]),
    );
  });

  describe('absent claims', () => {
    for (const [selector, ...claims] of [
      ['value.team == x'],
      ['value.team != x', 'value.team'],
      ['not value.team == x', 'value.team'],
      ['not value.team != x'],
      ['"x" in value.team'],
      ['"x" not in value.team', 'value.team'],
      ['value.team matches "^b"', 'value.team'],
      ['value.team not matches "^b"', 'value.team'],
      ['not value.team matches "^b"'],
      ['value.team matches "^b" and not value.team not matches "^b"'],
      ['value.team matches "^b" or not value.team not matches "^b"', 'value.team'],
      ['value.team matches "^b" or value.team not matches "^b"'],
      ['"team" in value'],
      ['"team" not in value', 'value.team'],
      ['"team" in value and value.team != x'],
      ['value.team != x and "team" in value'],
      ['"team" in value and value.team matches "^b"'],
      ['"team" not in value or value.team == x', 'value.team'],
      // Who has the claim is let in whatever its value is.
      ['"team" in value or value.team != x'],
      ['dev in list.groups'],
      ['dev not in list.groups', 'list.groups'],
      ['list.groups is not empty and dev not in list.groups'],
      ['list.groups is empty', 'list.groups'],
      ['list.groups is empty or dev in list.groups', 'list.groups'],
      ['value is not empty'],
      ['value is empty', 'value'],
      ['value.name == web and value.team != x', 'value.team'],
      ['value.name == web or value.team != x', 'value.team'],
      ['value.name != web or value.team != x', 'value.name', 'value.team'],
      ['value.name == web and value.name != web'],
      ['value.team == a or value.team != a'],
      ['value.name != web and dev not in list.groups', 'value.name', 'list.groups'],
      // A struct has all of its members.
      ['serviceaccount.name != x'],
      ['serviceaccount.name != x and value.team != y', 'value.team'],
    ] as const) {
      it(`of ${claims.join(' and ') || 'nobody'} pass ${selector}`, () => {
        expect(absent(selector)).to.deep.equal(claims);
      });
    }

    it('are told with a selector that keeps them out', () => {
      for (const selector of [
        'value.team != x',
        'dev not in list.groups',
        'value["a\\x22\\\\"] != x',
      ]) {
        const [found] = lint({ Selector: selector });
        expect(found?.Fix, selector).to.be.a('string');
        expect(absent(found!.Fix!), found!.Fix).to.deep.equal([]);
      }
    });

    it('are told whenever someone without is let in and someone with is kept out', () => {
      fc.assert(
        fc.property(selectors, (selector) => {
          const told = new Set(absent(selector));
          const passes = (value: object, list: object): boolean =>
            selects(selector, { selectable: { value, list }, variables: new Map() }, SHAPE);
          for (const [claim, having] of CLAIMS) {
            for (const rest of OTHERS[claim]) {
              const isOut = passes(...rest) && having(rest).some((one) => !passes(...one));
              if (isOut) expect([...told], selector).to.include(claim);
            }
          }
        }),
      );
    });

    it('are judged for 16 tests in all combinations, and not for more', () => {
      const many = (count: number, join: string): string =>
        Array.from({ length: count }, (_, n) => `value.team != t${n}`).join(join);
      expect(absent(many(16, ' and '))).to.deep.equal(['value.team']);
      expect(absent(`"team" in value and (${many(15, ' or ')})`)).to.deep.equal([]);
      expect(codes({ Selector: many(17, ' and ') })).to.deep.equal(['not_judged@Selector:1:1']);
      // The same test counts once.
      expect(absent(`${many(16, ' and ')} and not value.team == t3`)).to.deep.equal(['value.team']);
    });

    it('take steps that do not grow with the length of the selector', () => {
      const Selector = Array.from({ length: 400 }, (_, n) => `value.a${n % 16} != t`).join(' or ');
      const mapped = { ...SHAPE.mapped, value: Array.from({ length: 16 }, (_, n) => `a${n}`) };
      const shape = { ...SHAPE, mapped };
      const surroundings = { shape, namespace: 'default', rules: new Map(), exists: () => true };
      const work = lintBindingRule(rule({ Selector }), surroundings);
      let steps = 0;
      let step = work.next();
      for (; !step.done; step = work.next()) steps += 1;
      expect(steps).to.equal(16);
      expect(step.value).to.have.lengthOf(16);
    });
  });

  for (const [regex, ...expected] of [
    ['web'],
    ['^web', 'anchored'],
    ['web$', 'anchored'],
    ['(?i)^web', 'anchored'],
    ['(^web)', 'anchored'],
    ['(?:web$)', 'anchored'],
    ['\\\\Aweb', 'anchored'],
    ['web\\\\z', 'anchored'],
    ['web\\\\$'],
    ['web\\\\\\\\$', 'anchored'],
    ['a^b'],
  ] as const) {
    it(`judges the anchors of ${regex}`, () => {
      const Selector = `"name" in value and value.name matches "${regex}"`;
      const found = codes({ Selector }).filter((code) => code.startsWith('unanchored'));
      expect(found).to.deep.equal(expected.length > 0 ? [] : ['unanchored@Selector:1:21']);
    });
  }

  it('warns of a rule without a Selector', () => {
    expect(codes({ Selector: '' })).to.deep.equal(['matches_everyone@Selector:1:1']);
  });

  it('warns of a role or policy that does not exist', () => {
    const exists = (type: string, name: string): boolean => `${type} ${name}` === 'role there';
    const missing = (BindType: string, BindName: string): string[] =>
      codes({ BindType, BindName }, { exists });
    expect(missing('role', 'there')).to.deep.equal([]);
    expect(missing('role', 'gone')).to.deep.equal(['missing_target@BindName:1:1']);
    expect(missing('policy', 'there')).to.deep.equal(['missing_target@BindName:1:1']);
    expect(missing('service', 'gone')).to.deep.equal([]);
    expect(missing('role', '${value.name}')).to.deep.equal([]);
    expect(codes({ BindType: 'role', BindName: 'x' }, { exists: () => undefined })).to.deep.equal(
      [],
    );
  });

  it('warns of a name from a claim that the Selector does not test', () => {
    const named = (BindType: string, BindName: string, Selector = 'value.name == web') =>
      codes({ BindType, BindName, Selector }).filter((code) => code.startsWith('name_from'));
    expect(named('role', 'r-${value.name}')).to.deep.equal([]);
    expect(named('role', 'r-${value.team}')).to.deep.equal(['name_from_claim@BindName:1:5']);
    expect(named('policy', '${value.name}-${value.team}')).to.deep.equal([
      'name_from_claim@BindName:1:17',
    ]);
    expect(named('service', '${value.team}')).to.deep.equal([]);
    expect(named('role', '${value.team}', '"team" in value')).to.deep.equal([]);
    expect(named('role', '${value.team}', '')).to.have.lengthOf(1);
  });

  it('warns of another rule that binds the same', () => {
    const other = (more: Partial<BindingRule>) => ({
      rules: byBinding([{ ...rule(more), ID: 'other' }]),
    });
    expect(codes({}, other({}))).to.deep.equal(['covered@Selector:1:1']);
    expect(codes({}, other({ Selector: '' }))).to.deep.equal(['covered@Selector:1:1']);
    expect(codes({}, other({ Selector: 'value.name == db' }))).to.deep.equal([]);
    expect(codes({}, other({ BindName: 'db' }))).to.deep.equal([]);
    const templated = { BindType: 'templated-policy', BindName: 'builtin/service' };
    const named = (name: string) => ({ ...templated, BindVars: { name } });
    expect(codes(named('a'), other(named('b')))).to.deep.equal([]);
    expect(codes(named('a'), other(named('a')))).to.deep.equal(['covered@Selector:1:1']);
  });

  it('notes capitals around a value that is put in lower case', () => {
    expect(codes({ BindType: 'role', BindName: 'Team-${value.name}' })).to.deep.equal([
      'lower_cased@BindName:1:1',
    ]);
    expect(codes({ BindType: 'role', BindName: 'Team' })).to.deep.equal([]);
    expect(codes({ BindType: 'role', BindName: 'team-${value.name}' })).to.deep.equal([]);
  });

  it('tells every fault, each in its field', () => {
    const faulty = { Selector: 'value.name = x', BindType: '', BindName: '', BindVars: {} };
    expect(codes(faulty)).to.deep.equal([
      'invalid@Selector:1:12',
      'invalid@BindType:1:1',
      'invalid@BindName:1:1',
      'invalid@BindVars:1:1',
    ]);
    expect(lint({ BindName: 'a ${value.nam}' })[0]).to.deep.include({
      Field: 'BindName',
      Line: 1,
      Column: 5,
    });
    expect(codes({ BindType: 'node' }, { namespace: 'team' })).to.deep.equal([
      'invalid@BindType:1:1',
    ]);
  });

  it('agrees with writes about every recorded template', () => {
    const rows = JSON.parse(readFileSync('test/tables/hil.json', 'utf8')) as { template: string }[];
    for (const { template } of rows) {
      for (const BindType of ['service', 'node', 'role', 'policy']) {
        mustAgree(rule({ BindType, BindName: template }));
      }
    }
  });

  it('agrees with writes about any rule', () => {
    const any = fc.record({
      Selector: fc.oneof(selectors, fc.constantFrom('', 'value.nme == x', 'value.name =', '((')),
      BindType: fc.constantFrom(
        'service',
        'node',
        'role',
        'policy',
        'templated-policy',
        '',
        'Role',
      ),
      BindName: fc.constantFrom('', 'web', 'Web', '${value.name}', '${x', 'builtin/node', 'a b'),
      BindVars: fc.constantFrom(null, {}, { name: 'a' }, { name: '${value.x}' }),
    });
    fc.assert(fc.property(any, fc.constantFrom('default', 'team'), mustAgree));
  });
});

/** What a write refuses has that error in lint, and lint finds no error in what it accepts. */
function mustAgree(written: BindingRule, namespace = 'default'): void {
  const refused = checkBindingRule(written, SHAPE, namespace);
  const errors = lint(written, { namespace }).filter(({ Severity }) => Severity === 'error');
  expect(errors.length > 0, JSON.stringify(written)).to.equal(refused !== undefined);
  if (refused === undefined) return;
  const [first] = errors;
  expect(`/${first!.Field}`).to.equal(refused.pointer);
  expect(refused.message.endsWith(first!.Message), refused.message).to.equal(true);
  expect(refused.message.length).to.be.greaterThan(first!.Message.length);
}

const TEXTS = ['', 'a', 'b', 'ab'];
const LISTS = [[], ['a'], ['b'], ['a', 'b']];
const test = fc
  .tuple(
    fc.constantFrom('value.name', 'value.team'),
    fc.constantFrom('==', '!=', 'matches', 'not matches'),
    fc.constantFrom('a', 'b'),
  )
  .map((parts) => parts.join(' '));
const member = fc
  .tuple(
    fc.constantFrom('a', 'b', '"name"'),
    fc.constantFrom('in', 'not in'),
    fc.constantFrom('list.groups', 'value', 'value.team'),
  )
  .map(([part, op, of]) => `${of === 'value' ? '"name"' : part} ${op} ${of}`);
const emptiness = fc.constantFrom('list.groups is empty', 'list.groups is not empty');
const selectors = fc.letrec<{ term: string }>((tie) => ({
  term: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(test, member, emptiness),
    tie('term').map((term) => `not (${term})`),
    fc
      .tuple(tie('term'), fc.constantFrom('and', 'or'), tie('term'))
      .map(([left, op, right]) => `(${left}) ${op} (${right})`),
  ),
})).term;

type Data = [value: object, list: object];
/** Each claim, and identities with some value of it. */
const CLAIMS: readonly (readonly [keyof typeof OTHERS, having: (rest: Data) => Data[]])[] = [
  ['value.name', ([value, list]) => TEXTS.map((name) => [{ ...value, name }, list])],
  ['value.team', ([value, list]) => TEXTS.map((team) => [{ ...value, team }, list])],
  ['list.groups', ([value, list]) => LISTS.map((groups) => [value, { ...list, groups }])],
];
const values = (key: string): object[] => [{}, ...TEXTS.map((each) => ({ [key]: each }))];
const lists: object[] = [{}, ...LISTS.map((groups) => ({ groups }))];
const pairs = (left: object[], right: object[]): Data[] =>
  left.flatMap((one) => right.map((other): Data => [one, other]));
/** The identities without a claim, with every value of the others. */
const OTHERS = {
  'value.name': pairs(values('team'), lists),
  'value.team': pairs(values('name'), lists),
  'list.groups': pairs(
    values('name').flatMap((one) => values('team').map((other) => ({ ...one, ...other }))),
    [{}],
  ),
};
