/** Filters on service-defaults select the same fields as on other servers of this API. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { shapeOf } from '../../src/kinds/schema.js';
import { KINDS } from '../../src/kinds/types.js';
import { compileExpression } from '../../src/languages/bexpr.js';

const rows = JSON.parse(readFileSync('test/tables/bexpr-service-defaults-fields.json', 'utf8')) as {
  path: string;
  ops: string[] | null;
}[];

const EXPRESSIONS: Record<string, (path: string) => string[]> = {
  Equal: (path) => ['"x"', '1', 'true'].map((value) => `${path} == ${value}`),
  'Not Equal': (path) => ['"x"', '1', 'true'].map((value) => `${path} != ${value}`),
  In: (path) => [`"x" in ${path}`],
  'Not In': (path) => [`"x" not in ${path}`],
  Matches: (path) => [`${path} matches "x"`],
  'Not Matches': (path) => [`${path} not matches "x"`],
  'Is Empty': (path) => [`${path} is empty`],
  'Is Not Empty': (path) => [`${path} is not empty`],
};

describe('kinds: selectors of filters', () => {
  const shape = shapeOf('service-defaults');
  for (const { path, ops } of rows) {
    const selector = path.replace('<any>', 'team');
    it(`match the recorded server in service-defaults: ${selector}`, () => {
      const accepted = Object.keys(EXPRESSIONS).filter((op) =>
        EXPRESSIONS[op]!(selector).some((one) => compileExpression(one, shape).ok),
      );
      expect(accepted.sort()).to.deep.equal([...(ops ?? [])].sort());
    });
  }

  it('match nothing in an object that an entry lacks', () => {
    const tests = [
      'UpstreamConfig.Defaults.Protocol matches zzz',
      'UpstreamConfig.Defaults.Protocol not matches zzz',
      'UpstreamConfig.Overrides is empty',
      'Destination.Port != 1',
      'Destination.Port == 0',
      'Destination.Addresses is empty',
      'RateLimits.InstanceLevel.RequestsPerSecond != 0',
    ];
    for (const expression of tests) {
      const compiled = compileExpression(expression, shape);
      const entry = { Kind: 'service-defaults', Name: 'x' };
      expect(compiled.ok && compiled.evaluate(entry), expression).to.equal(false);
    }
  });

  it('suggest a field with the selector that leads to it', () => {
    const compiled = compileExpression('Destination.Prt == 1', shape);
    expect(compiled.ok ? '' : compiled.problem.message).to.equal(
      'Selector "Destination.Prt" is not valid; did you mean "Destination.Port"?',
    );
  });

  it('suggest no field that cannot be selected', () => {
    for (const [kind, path] of [
      ['service-defaults', 'EnvoyExtensions.Arguments'],
      ['proxy-defaults', 'Config'],
    ] as const) {
      const compiled = compileExpression(`${path} is empty`, shapeOf(kind));
      expect(compiled.ok ? '' : compiled.problem.message).to.match(/is not valid$/);
    }
  });

  it('accept Kind and Name in every kind', () => {
    for (const kind of KINDS) {
      const compiled = compileExpression(`Kind == "${kind}" and Name == x`, shapeOf(kind));
      expect(compiled.ok && compiled.evaluate({ Kind: kind, Name: 'x' }), kind).to.equal(true);
    }
  });
});
