/** Rules between members: the schema of each says what the kind asks. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { ruleSchema } from '../../src/api/document/rule-schemas.js';
import { spellingsOf } from '../../src/api/document/text-schema.js';
import { definitionOf } from '../../src/kinds/definitions.js';
import {
  HOST_NAME,
  isAddress,
  isDomainName,
  NAME_OR_ADDRESS,
  PLAIN_NAME,
} from '../../src/kinds/host-names.js';
import { Report } from '../../src/kinds/problems.js';
import { KINDS } from '../../src/kinds/types.js';
import type { Condition, Description, Fields, Rule, Type } from '../../src/languages/fields.js';

type Ruled = Extract<Description, { readonly is: 'object' }>;
const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** Yields the objects with rules in a type, each with its place. */
function* ruledIn(type: Type<unknown>, at: string): Iterable<[string, Type<unknown>, Ruled]> {
  const { description } = type;
  if (description.is === 'list' || description.is === 'map') yield* ruledIn(description.of, at);
  if (description.is !== 'object') return;
  if (description.rules !== undefined) yield [at, type, description];
  for (const [name, field] of Object.entries(description.fields)) {
    yield* ruledIn(field.type, `${at}.${name}`);
  }
}

/** Returns the members of which a condition speaks, with the texts that it names. */
function membersOf(condition: Condition): readonly [string, Condition][] {
  if ('member' in condition) return [[condition.member, condition]];
  return [condition.of].flat().flatMap(membersOf);
}

const TEXTS = ['', '', 'x', '/x', '*', 'tcp', 'TCP', 'default'];

/** Values of a member: empty ones, and those of which its conditions speak. */
function valuesOf(type: Type<unknown>, conditions: readonly Condition[]): fc.Arbitrary<unknown> {
  const { description } = type;
  const none = fc.constant(null);
  // Of objects, the conditions on what is in them.
  const inner = conditions.flatMap((each) => ('of' in each && 'member' in each ? each.of : []));
  switch (description.is) {
    case 'text': {
      const named = conditions.flatMap((each) => ('values' in each ? each.values : []));
      return fc.oneof(none, fc.constantFrom(...TEXTS, ...named, ...(description.values ?? [])));
    }
    case 'boolean':
      return fc.constantFrom(null, false, true);
    case 'duration':
      return fc.constantFrom(null, 0, 5, '0s', '0', '1s', '0m10s', '-2ms');
    case 'whole':
    case 'fraction':
      return fc.constantFrom(null, 0, 7);
    case 'list':
      return fc.oneof(none, fc.array(valuesOf(description.of, conditions), { maxLength: 2 }));
    case 'object':
      return fc.oneof(none, bodyOf(description.fields, inner));
    default:
      return fc.constantFrom(null, {}, { a: {} });
  }
}

/** Bodies with the members of which conditions speak, in any of their spellings. */
function bodyOf(fields: Fields, conditions: readonly Condition[]): fc.Arbitrary<unknown> {
  const said = conditions.flatMap(membersOf);
  const members = [...new Set(said.map(([name]) => name))].map((name) => {
    const field = fields[name]!;
    const about = said.filter(([other]) => other === name).map(([, condition]) => condition);
    const value = valuesOf(field.type, about);
    return fc.option(fc.tuple(fc.constantFrom(...spellingsOf(name, field)), value));
  });
  return fc
    .tuple(...members)
    .map((given) => Object.fromEntries(given.filter((one) => one !== null)));
}

function agrees(type: Type<unknown>, { fields }: Ruled, rule: Rule): void {
  const check = ajv.compile(ruleSchema(rule, fields, { of: 'sent', lenient: true, at: '#' }));
  fc.assert(
    fc.property(bodyOf(fields, [rule.condition]), (body) => {
      const report = new Report();
      const decoded = type.decode(body, report) as object;
      fc.pre(report.count === 0);
      expect(check(body)).to.equal(rule.holds(decoded));
    }),
    { numRuns: 300 },
  );
}

describe('openapi: rules between members', () => {
  for (const kind of KINDS)
    for (const [place, type, description] of ruledIn(definitionOf(kind).type, kind))
      for (const rule of description.rules!)
        it(`${place}: ${rule.description}`, () => {
          expect(rule.description)
            .to.match(/^[A-Z].{8,110}\.$/)
            .and.not.include('  ');
          agrees(type, description, rule);
        });

  it('patterns of host names say what the kinds check', () => {
    const label = fc.string({ unit: fc.constantFrom(...'aZ9-_*.:'), maxLength: 8 });
    const hostName = fc.oneof(
      label,
      fc.constantFrom('*', '*.', '*.a', 'a.*', '1.2.3.4', '::1', ''),
    );
    const is = (pattern: string, text: string): boolean => new RegExp(pattern, 'u').test(text);
    const withoutLeftmost = (name: string): string => name.replace(/^\*\./, '');
    fc.assert(
      fc.property(hostName, (name) => {
        const isPlain = isDomainName(name) && !name.includes('*');
        expect(is(PLAIN_NAME, name)).to.equal(isPlain);
        expect(is(HOST_NAME, name)).to.equal(
          name === '*' || (isDomainName(name) && !withoutLeftmost(name).includes('*')),
        );
        if (isPlain || isAddress(name)) expect(is(NAME_OR_ADDRESS, name)).to.equal(true);
      }),
      { numRuns: 3_000 },
    );
  });
});
