import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { isIdentityName, isPolicyName, isRoleName } from '../../src/acl/names.js';
import { interpolate } from '../../src/languages/hil.js';

interface Row {
  section: string;
  template: string;
  vars: Record<string, string>;
  result: string;
  isError?: true;
  validName?: Record<string, boolean>;
}
const rows: Row[] = JSON.parse(readFileSync('test/tables/hil.json', 'utf8'));

/**
 * The recorded program exposes internal converters, some of which abort the request: every such
 * call is refused here.
 */
const isLeakedCall = ({ template }: Row): boolean => template.includes('__builtin_');

/** Recorded with case folding for all scripts; here only ASCII letters are folded. */
const FOLDED: ReadonlyMap<string, string> = new Map([['${value.uni}', 'ŻÓŁĆ']]);

const compute = (template: string, vars: Record<string, string> = {}): string => {
  const done = interpolate(template, new Map(Object.entries(vars)));
  if (!done.ok) throw new Error(done.problem.message);
  return done.value;
};
const problem = (template: string, vars: Record<string, string> = {}): string => {
  const done = interpolate(template, new Map(Object.entries(vars)));
  if (done.ok) throw new Error(`should be refused: ${template.slice(0, 80)}`);
  return `${done.problem.message} at ${done.problem.line}:${done.problem.column}`;
};

describe('interpolated names: the table of recorded examples', () => {
  for (const section of new Set(rows.map((row) => row.section))) {
    it(section, () => {
      for (const [i, row] of rows.entries()) {
        if (row.section !== section) continue;
        const done = interpolate(row.template, new Map(Object.entries(row.vars)));
        const result = FOLDED.get(row.template) ?? row.result;
        const expected = row.isError || isLeakedCall(row) ? 'error' : `= ${result}`;
        expect(done.ok ? `= ${done.value}` : 'error', `row ${i}: ${row.template}`).to.equal(
          expected,
        );
      }
    });
  }
  it('which results are valid names of each kind', () => {
    const is = {
      service: isIdentityName,
      node: isIdentityName,
      role: isRoleName,
      policy: isPolicyName,
    };
    for (const { result, validName } of rows) {
      for (const [kind, valid] of Object.entries(validName ?? {})) {
        expect(is[kind as keyof typeof is](result), `${kind} ${result}`).to.equal(valid);
      }
    }
  });
});

describe('interpolated names: errors', () => {
  it('report the position and what was expected there', () => {
    expect(problem('a${')).to.match(
      /^parse error: .*a variable.* but found the end of the text at 1:4$/,
    );
    expect(problem('web\n${value.nmae}', { 'value.name': 'x' })).to.equal(
      'unknown variable accessed: value.nmae; did you mean "value.name"? at 2:3',
    );
    expect(problem('${upper("a")}')).to.match(/^unknown function called: upper/);
    expect(problem('${1/0}')).to.equal('divide by zero at 1:3');
  });
});

describe('interpolated names: hostile input', () => {
  it('names that are special in JavaScript are not variables', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(problem(`\${${name}}`)).to.match(/unknown variable/);
      expect(compute(`\${value.${name}}`, { [`value.${name}`]: 'X' })).to.equal('x');
    }
  });
  it('depth, length and result are limited', () => {
    for (const open of ['(', '!', '-', 'a[', 'f(', '"${', 'true ? 1 : (']) {
      expect(problem(`\${${open.repeat(900)}`)).to.match(/nested deeper|parse error/);
    }
    expect(problem(`\${${'x'.repeat(5000)}}`)).to.match(/characters long/);
    expect(problem('${v}'.repeat(1000), { v: 'x'.repeat(10_000) })).to.match(/result is longer/);
    expect(compute(`\${${Array(800).fill('1').join('+')}}`)).to.equal('800');
  });
  it('a value is never interpreted as a template, whatever it contains', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(compute('a-${v}-${v}', { v: value })).to.equal(
          `a-${value.toLowerCase()}-${value.toLowerCase()}`,
        );
      }),
    );
  });
  it('any text is evaluated or refused', () => {
    const word = fc.constantFrom(
      '${',
      '}',
      'v',
      '"',
      '(',
      ')',
      '+',
      '/',
      '%',
      '?',
      ':',
      '1',
      '1.5',
      '==',
      '<',
      '&&',
      '!',
      '-',
      'true',
      '[',
      ']',
      '$',
      '\\',
      ',',
      ' ',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(word, { maxLength: 20 }).map((all) => `\${${all.join('')}}`),
    );
    fc.assert(
      fc.property(text, (template) => {
        const done = interpolate(template, new Map([['v', '1']]));
        if (done.ok) expect(done.value).to.be.a('string');
        else expect(done.problem.line).to.be.greaterThan(0);
      }),
      { numRuns: 500 },
    );
  });
  it('integers have 64 bits and wrap around', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        (a, b) => {
          expect(compute(`\${${a} + ${b}}`)).to.equal(String(BigInt.asIntN(64, a + b)));
          expect(compute(`\${${a} * ${b}}`)).to.equal(String(BigInt.asIntN(64, a * b)));
          expect(compute(`\${${a} < ${b}}`)).to.equal(String(a < b));
        },
      ),
    );
  });
});
