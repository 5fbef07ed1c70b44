import { expect } from 'chai';
import fc from 'fast-check';
import { compile } from '../../src/acl/authorizer.js';
import { Explainer, type RightsRow } from '../../src/acl/explain.js';
import type { Origins } from '../../src/acl/origins.js';
import { keyText } from '../../src/acl/reasons.js';
import { atOnce } from '../../src/acl/steps.js';
import type { Authorizer, Grant, Level, Named, Rules, Scalar } from '../../src/acl/types.js';
import { placesIn } from '../../src/languages/syntax.js';
import { ALL_QUESTIONS, aNamespace, defaultsOf, grantsIn } from './random-grants.js';

type DefaultPolicy = 'deny' | 'allow';
const ask = (
  authorizer: Authorizer,
  { resource, access, segment, namespace }: (typeof ALL_QUESTIONS)[number],
) => authorizer.allowed(resource, access, segment, namespace);

const rights = aNamespace.chain((namespace) =>
  fc.record({
    own: grantsIn(namespace),
    defaults: defaultsOf(namespace),
    elsewhere: grantsIn(namespace),
    defaultPolicy: fc.constantFrom<DefaultPolicy>('deny', 'allow'),
    anonymous: fc.boolean(),
  }),
);

/** Rules with the content of some rows, each in a block for its namespace. */
function grantsOf(rows: readonly RightsRow[], layer: RightsRow['Layer']): Grant[] {
  return rows
    .filter((row) => row.Layer === layer)
    .map((row) => {
      const { Resource, Match, Name = '', Level, Intentions, IntentionsExplicit } = row;
      const isScalar = Match === 'scalar';
      const rules: Rules = {
        scalars: isScalar ? { [Resource as Scalar]: Level } : {},
        named:
          isScalar || Resource === 'namespace'
            ? []
            : [
                {
                  resource: Resource as Named,
                  prefix: Match === 'prefix',
                  name: Name,
                  level: Level,
                  ...(IntentionsExplicit && { intentions: Intentions as Level }),
                },
              ],
        namespaces: [],
      };
      const block = { name: row.Namespace.Name, prefix: row.Namespace.Match === 'prefix', rules };
      const managed = Resource === 'namespace' ? { ...block, level: Level } : block;
      return { rules: { scalars: {}, named: [], namespaces: [managed] }, namespace: 'nowhere' };
    });
}

describe('explanations', () => {
  it('come to the decision of enforcement, whatever the rights and the question', () => {
    fc.assert(
      fc.property(rights, ({ own, defaults, elsewhere, defaultPolicy, anonymous }) => {
        const options = { accessor: 'a', anonymous, defaultPolicy, defaults };
        const authorizer = compile(own, options);
        const origins: Origins = { own, defaults, elsewhere, dangling: [] };
        const explainer = atOnce(Explainer.of(origins, { defaultPolicy, anonymous }));
        for (const asked of ALL_QUESTIONS) {
          const allow = ask(authorizer, asked);
          const { resource, access, segment, namespace } = asked;
          const what = JSON.stringify(asked);
          expect(authorizer.why(resource, access, segment, namespace).allow, what).to.equal(allow);
          const explanation = atOnce(explainer.explain(asked));
          expect(explanation.Allow, what).to.equal(allow);
          const { Winner: winner, Level } = explanation;
          expect(winner?.Level ?? null, what).to.equal(Level);
          if (winner === null) continue;
          expect(
            winner.Sources.some(({ Counts }) => Counts),
            what,
          ).to.equal(true);
        }
      }),
      { numRuns: 60 },
    );
  }).timeout(60_000);

  it('show merged rights from which the same decisions follow', () => {
    fc.assert(
      fc.property(rights, ({ own, defaults, defaultPolicy, anonymous }) => {
        const options = { accessor: 'a', anonymous, defaultPolicy };
        const authorizer = compile(own, { ...options, defaults });
        const origins: Origins = { own, defaults, elsewhere: [], dangling: [] };
        const explainer = atOnce(Explainer.of(origins, { defaultPolicy, anonymous }));
        const { Rights } = atOnce(explainer.table());
        const rebuilt = compile(grantsOf(Rights, 'own'), {
          ...options,
          defaults: grantsOf(Rights, 'namespace_default'),
        });
        for (const asked of ALL_QUESTIONS) {
          expect(ask(rebuilt, asked), JSON.stringify(asked)).to.equal(ask(authorizer, asked));
        }
      }),
      { numRuns: 60 },
    );
  }).timeout(60_000);

  it('point to the line and column at which the rule stands', () => {
    fc.assert(
      fc.property(rights, ({ own, defaults }) => {
        const origins: Origins = { own, defaults, elsewhere: [], dangling: [] };
        const options = { defaultPolicy: 'deny', anonymous: false } as const;
        const explainer = atOnce(Explainer.of(origins, options));
        for (const row of atOnce(explainer.table()).Rights) {
          for (const { Path, Line, Column, Level } of row.Sources) {
            const grant = [...own, ...defaults].find((each) => each.path === Path)!;
            const begins = grant.text
              .split('\n')
              .slice(Line! - 1)
              .join('\n')
              .slice(Column! - 1);
            const suffix = row.Match === 'prefix' ? '_prefix' : '';
            expect(begins.startsWith(`${row.Resource}${suffix} `), begins).to.equal(true);
            expect(begins).to.include(`"${Level}"`);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('places in a text', () => {
  it('are those that a scan finds', () => {
    const text = fc
      .array(fc.constantFrom('a', '\n', 'bc'), { maxLength: 30 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(text, fc.nat(60), (source, at) => {
        const offset = Math.min(at, source.length);
        const before = source.slice(0, offset).split('\n');
        const wanted = { line: before.length, column: before.at(-1)!.length + 1 };
        expect(placesIn(source)(offset)).to.deep.equal(wanted);
      }),
    );
  });
});

describe('keys of rules', () => {
  it('differ for rules that do not merge', () => {
    const place = { match: 'exact', name: 'default' } as const;
    const all = [
      { place, resource: 'service', match: 'exact', name: 'a' } as const,
      { place, resource: 'service', match: 'prefix', name: 'a' } as const,
      { place, resource: 'key', match: 'exact', name: 'a' } as const,
      {
        place: { match: 'prefix', name: 'default' },
        resource: 'key',
        match: 'exact',
        name: 'a',
      } as const,
    ];
    expect(new Set(all.map(keyText)).size).to.equal(all.length);
  });
});
