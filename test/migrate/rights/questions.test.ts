import { expect } from 'chai';
import fc from 'fast-check';
import { authorizerOf, compileRights } from '../../../src/acl/authorizer.js';
import { CLUSTER_WIDE, type Rights } from '../../../src/acl/layer.js';
import type { Asked } from '../../../src/acl/reasons.js';
import { atOnce } from '../../../src/acl/steps.js';
import {
  type Access,
  type Grant,
  NAMED,
  type Resource,
  type Rules,
  SCALARS,
} from '../../../src/acl/types.js';
import { questionsAbout } from '../../../src/migrate/rights/questions.js';

const LETTERS = ['a', 'b', 'c'];
/** The letters of names, and one that no name has. */
const ALPHABET = [...LETTERS, 'd'];
const NAMES_OF = (length: number): string[] =>
  length === 0
    ? ['']
    : ['', ...NAMES_OF(length - 1).flatMap((name) => ALPHABET.map((letter) => letter + name))];
const NAMES = [...new Set(NAMES_OF(4))];
const NAMESPACES = ['default', '', ...ALPHABET, 'aa', 'ad', 'bd', 'cd'];

const nameOf = (maxLength: number) =>
  fc.array(fc.constantFrom(...LETTERS), { maxLength }).map((letters) => letters.join(''));
const level = fc.constantFrom('deny', 'read', 'write');
const scalars = fc.dictionary(fc.constantFrom(...SCALARS), level, {
  maxKeys: 2,
  noNullPrototype: true,
});
const namedRule = fc.record({
  resource: fc.constantFrom('key', 'service', 'query'),
  prefix: fc.boolean(),
  name: nameOf(3),
  level: fc.constantFrom('deny', 'read', 'write'),
});
const list = namedRule.map((rule) => ({
  ...rule,
  resource: 'key' as const,
  level: 'list' as const,
}));
const intentions = fc
  .tuple(namedRule, level)
  .map(([rule, of]) => ({ ...rule, resource: 'service' as const, intentions: of }));
const plain = fc.record({
  scalars,
  named: fc.array(fc.oneof(namedRule, list, intentions), { maxLength: 5 }),
  namespaces: fc.constant([]),
}) as fc.Arbitrary<Rules>;
const rules = fc.record({
  scalars,
  named: fc.array(fc.oneof(namedRule, namedRule, list, intentions), { maxLength: 5 }),
  namespaces: fc.array(
    fc.record(
      { name: nameOf(1), prefix: fc.boolean(), rules: plain, level },
      { requiredKeys: ['name', 'prefix', 'rules'] },
    ),
    { maxLength: 2 },
  ),
}) as fc.Arbitrary<Rules>;
const side = fc
  .record({
    own: fc.array(rules, { maxLength: 2 }),
    defaults: fc.array(plain, { maxLength: 1 }),
    defaultPolicy: fc.constantFrom('deny' as const, 'allow' as const),
    namespace: fc.constantFrom('default', 'a'),
  })
  .map(({ own, defaults, defaultPolicy, namespace }) => {
    const granted = (one: Rules): Grant => ({ rules: one, namespace });
    const options = { defaultPolicy, defaults: defaults.map(granted) };
    return atOnce(compileRights(own.map(granted), options));
  });
/** Both sides, often with almost the same rules. */
const sides = fc.oneof(
  fc.tuple(side, side),
  fc
    .tuple(
      fc.array(namedRule as fc.Arbitrary<Rules['named'][number]>, { maxLength: 6 }),
      fc.nat(),
      namedRule,
    )
    .map(([named, at, other]): [Rights, Rights] => {
      const changed = named.map((rule, i) => (i === at % named.length ? other : rule));
      const [a, b] = [named, changed].map((one) => {
        const grant = { rules: { scalars: {}, named: one, namespaces: [] }, namespace: 'default' };
        return atOnce(compileRights([grant as Grant], {}));
      });
      return [a!, b!];
    }),
);

const EXISTING = ['b', 'c'];

/** The resources of the rules, and one of none. */
const NAMED_HERE = ['key', 'service', 'query', 'node'] as const;

/** Yields all questions about names of up to 4 letters. */
function* everything(): Iterable<Asked> {
  for (const namespace of NAMESPACES) {
    yield* every('namespace', ['read', 'write'], [namespace], 'default');
    for (const resource of [...SCALARS, ...NAMED_HERE, 'intention'] as const) {
      if (CLUSTER_WIDE.has(resource) && namespace !== 'default') continue;
      const isScalar = SCALARS.some((each) => each === resource);
      const names = isScalar ? [''] : resource === 'intention' ? [...NAMES, '*'] : NAMES;
      const keys: Access[] = resource === 'key' ? ['list', 'write-prefix'] : [];
      yield* every(resource, ['read', 'write', ...keys], names, namespace);
    }
  }
}
function* every(resource: Resource, accesses: Access[], names: string[], namespace: string) {
  for (const access of accesses) {
    for (const segment of names) yield { resource, access, segment, namespace };
  }
}

/** Returns the resources about which some of the questions are answered differently. */
function differing([a, b]: readonly [Rights, Rights], questions: Iterable<Asked>): string[] {
  const [one, other] = [a, b].map((rights) => authorizerOf(rights, { accessor: '' }));
  const found = new Set<string>();
  for (const { resource, access, segment, namespace } of questions) {
    const kind = access === 'write-prefix' ? access : resource;
    const isHere =
      !NAMED.some((each) => each === resource) || NAMED_HERE.some((each) => each === resource);
    if (found.has(kind) || !isHere) continue;
    const allowed = one!.allowed(resource, access, segment, namespace);
    if (allowed !== other!.allowed(resource, access, segment, namespace)) found.add(kind);
  }
  return [...found].sort();
}

describe('the questions that tell rights apart', () => {
  it('find a difference exactly where all names of up to 4 letters have one', () => {
    fc.assert(
      fc.property(sides, (both) => {
        const found = differing(both, questionsAbout(both, EXISTING).all());
        expect(found).to.deep.equal(differing(both, everything()));
      }),
      { numRuns: 150 },
    );
  });

  it('find the same when they are those of differing rules alone', () => {
    fc.assert(
      fc.property(sides, (both) => {
        const questions = questionsAbout(both, EXISTING, 0);
        expect(questions.byRule).to.equal(true);
        expect(differing(both, questions.all())).to.deep.equal(differing(both, everything()));
      }),
      { numRuns: 150 },
    );
  });

  it('are counted, and come as names of rules first, then names below prefixes', () => {
    const said = (named: Rules['named']): Rights =>
      atOnce(
        compileRights(
          [{ rules: { scalars: {}, named, namespaces: [] }, namespace: 'default' }],
          {},
        ),
      );
    const both = [
      said([{ resource: 'node', prefix: true, name: 'a', level: 'read' }]),
      said([{ resource: 'node', prefix: false, name: 'ab', level: 'read' }]),
    ] as const;
    const questions = questionsAbout(both, []);
    const all = [...questions.all()];
    expect(questions.count).to.equal(all.length);
    const nodes = all.filter(
      ({ resource, access, namespace }) =>
        resource === 'node' && access === 'read' && namespace === 'default',
    );
    expect(nodes.map(({ segment }) => segment)).to.deep.equal(['ab', 'b', 'aa']);
    const last = all.findLastIndex(({ segment }) => segment === 'ab');
    expect(last).to.be.below(all.findIndex(({ segment }) => segment === 'aa'));
  });
});
