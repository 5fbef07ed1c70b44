import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { BudgetError, compileExpression, type Shape } from '../../src/languages/bexpr.js';
import { searcher } from '../../src/languages/search.js';

interface Row {
  section: string;
  schema: string;
  expr: string;
  data: Record<string, unknown>;
  result: boolean | 'error';
  stage?: string;
}

/** Whole numbers of the table beyond 2^53, kept exact. */
function exact(text: string): unknown {
  const marked = text.replace(/([:[,]\s*)(-?\d{16,})(?=\s*[,}\]])/g, '$1"bigint:$2"');
  return JSON.parse(marked, (_, value) =>
    typeof value === 'string' && value.startsWith('bigint:') ? BigInt(value.slice(7)) : value,
  );
}
const rows = exact(readFileSync('test/tables/bexpr.json', 'utf8')) as Row[];
const shapes: Record<string, Shape> = JSON.parse(
  readFileSync('test/tables/bexpr-schemas.json', 'utf8'),
);

/**
 * The table's data have the field names of the recorded program, of which two are selected by
 * other names.
 */
const asReached = ({ schema, data }: Row): Record<string, unknown> =>
  schema === 'typed' && 'Nick' in data
    ? { ...data, nick: data['Nick'], first: data['Alias'], second: data['Alias'] }
    : data;

function outcome(row: Row): boolean | 'error' {
  const compiled = compileExpression(row.expr, shapes[row.schema] as Shape);
  if (!compiled.ok) return 'error';
  return compiled.evaluate(asReached(row));
}

describe('filter and selector expressions: the table of recorded examples', () => {
  for (const schema of new Set(rows.map((row) => row.schema))) {
    it(`over ${schema}`, () => {
      for (const [i, row] of rows.entries()) {
        if (row.schema === schema)
          expect(outcome(row), `row ${i}: ${row.expr}`).to.equal(row.result);
      }
    });
  }
});

const JWT = shapes['jwt'] as Shape;
function problem(text: string, shape = JWT): { message: string; line: number; column: number } {
  const compiled = compileExpression(text, shape);
  if (compiled.ok) throw new Error(`should be refused: ${text.slice(0, 80)}`);
  return compiled.problem;
}
function test(text: string, data: unknown, shape = JWT): boolean {
  const compiled = compileExpression(text, shape);
  if (!compiled.ok) throw new Error(compiled.problem.message);
  return compiled.evaluate(data);
}

describe('filter and selector expressions: errors', () => {
  it('report the position and what was expected there', () => {
    expect(problem('value.a ==')).to.deep.include({ line: 1, column: 11 });
    expect(problem('value.a ==').message).to.match(
      /expected .*a quoted text.* but found the end of the text/,
    );
    expect(problem('value.a == x\nand')).to.deep.include({ line: 2, column: 4 });
    expect(problem('value.a == "\\d"').message).to.match(/expected an escape such as/);
  });
  it('report which selector, operator, value or regular expression is wrong', () => {
    expect(problem('value.a == x and valeu.b == y')).to.deep.equal({
      message: 'Selector "valeu" is not valid; did you mean "value"?',
      line: 1,
      column: 18,
    });
    expect(problem('list.a == x').message).to.equal(
      'Invalid match operator "Equal" for selector "list.a"',
    );
    expect(problem('value.a matches "("').message).to.match(
      /^Failed to compile regular expression "\("/,
    );
    expect(problem('N == x', { kind: 'struct', fields: { N: { kind: 'int8' } } }).message).to.equal(
      'Failed to coerce value "x" for selector "N": not a signed integer of 8 bits',
    );
  });
});

describe('filter and selector expressions: hostile input', () => {
  it('an exponent may have underscores between its digits', () => {
    const shape: Shape = { kind: 'struct', fields: { F: { kind: 'float64' } } };
    for (const value of ['1e0_3', '1e+0_3', '0x7dp0_3'])
      expect(test(`F == "${value}"`, { F: 1000 }, shape), value).to.equal(true);
    for (const value of ['1e_3', '1e3_', '1e0__3', '0x7dp_3'])
      expect(problem(`F == "${value}"`, shape).message).to.contain('not a number');
  });

  it('names that are special in JavaScript are ordinary keys', () => {
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const own = JSON.parse(`{"value":{"${key}":"x"},"list":{}}`);
      const none = { value: {}, list: {} };
      expect(test(`value["${key}"] == x`, own), key).to.equal(true);
      expect(test(`value["${key}"] == x`, none), key).to.equal(false);
      expect(test(`value["${key}"] != x`, none), key).to.equal(true);
      expect(test(`"${key}" in value`, none), key).to.equal(false);
      expect(test(`list["${key}"] is empty`, none), key).to.equal(true);
      expect(problem(`value.a == x and ${key.replace(/_/g, '')} == y`).message).to.match(
        /is not valid/,
      );
    }
  });
  it('depth and length are limited, and no text takes exponential time', () => {
    expect(problem('('.repeat(5000)).message).to.match(/nested deeper than/);
    expect(problem(`${'not '.repeat(2000)}value.a == x`).message).to.match(/nested deeper than/);
    expect(problem(`value.a == "${'x'.repeat(10_000)}"`).message).to.match(/characters long/);
    expect(test(`${'('.repeat(60)}value.a == x${')'.repeat(60)}`, { value: { a: 'x' } })).to.equal(
      true,
    );
    expect(test(Array(300).fill('not in value').join(' and '), { value: {} })).to.equal(false);
    expect(test(Array(400).fill('value.a == x').join(' or '), { value: { a: 'x' } })).to.equal(
      true,
    );
  });
  it('backtracking patterns are linear here, large ones are refused, and the budget holds', () => {
    const a = 'a'.repeat(5000);
    expect(test('value.a matches `^(a+)+$`', { value: { a: `${a}!` } })).to.equal(false);
    expect(problem('value.a matches `((a{100}){100}){100}`').message).to.match(
      /^Failed to compile/,
    );
    expect(problem(`value.a matches \`${'(x|y)'.repeat(300)}\``).message).to.match(/longer than/);
    expect(problem(`value.a matches \`${'a{900}'.repeat(80)}\``).message).to.match(/too large/);
    expect(problem('value.a matches `\\Q[\\E(a{900}){900}\\Q]\\E`').message).to.match(/too large/);
    const many = Array(40).fill('value.a matches `[a-z]{12}-[0-9]`').join(' or ');
    expect(problem(many).message).to.match(/longer than 512 characters/);
    expect(
      test('value.a matches `^([0-9a-f]{4}-){3}[0-9a-f]{12}$`', { value: { a: 'x' } }),
    ).to.equal(false);
    expect(() =>
      test('value.a matches `(a|b){500}$`', { value: { a: 'a'.repeat(1_000_000) } }),
    ).to.throw(BudgetError);
  });
  it('substring search is linear in the text, and every test counts against the budget', () => {
    // Worst case for the engine's search, which takes a step per pair of characters here.
    const half = 'a'.repeat(3000);
    const long = { value: { a: 'a'.repeat(1_000_000) }, list: {} };
    expect(test(`value.a contains "${half}b${half}"`, long)).to.equal(false);
    expect(test(`value.a not contains "${half}b${half}"`, long)).to.equal(true);
    const many = Array(300).fill('value.a contains b').join(' or ');
    expect(() => test(many, long)).to.throw(BudgetError);
    const names = { value: {}, list: { a: Array(100_000).fill('x') } };
    expect(() => test(Array(400).fill('y in list.a').join(' or '), names)).to.throw(BudgetError);
  });
  it('a substring is found at any position, as the engine finds it', () => {
    const some = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 });
    fc.assert(
      fc.property(some, some, (text, part) => {
        expect(searcher(part)(text)).to.equal(text.includes(part));
        const around = `${text}${part}${text}`;
        expect(searcher(part)(around)).to.equal(true);
      }),
    );
  });
  it('any text is compiled or refused, and every compiled one can be evaluated on any data', () => {
    const word = fc.constantFrom(
      'value',
      'list',
      '.',
      'a',
      '[',
      ']',
      '"a"',
      '`b`',
      '==',
      '!=',
      'in',
      'not',
      'is',
      'empty',
      'and',
      'or',
      '(',
      ')',
      'matches',
      'contains',
      '-1',
      '0x',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(word, { maxLength: 15 }).map((all) => all.join(' ')),
    );
    fc.assert(
      fc.property(text, fc.anything(), (expression, data) => {
        const compiled = compileExpression(expression, JWT);
        if (compiled.ok) expect(compiled.evaluate(data)).to.be.a('boolean');
      }),
      { numRuns: 500 },
    );
  });
  it('the meaning does not depend on spaces and brackets', () => {
    const leafText = fc.constantFrom(
      'value.a == x',
      'x in list.b',
      'list.b is empty',
      'value.a not matches "y"',
      'not in value',
    );
    const blank = fc.constantFrom(' ', '\n', '\t  ');
    fc.assert(
      fc.property(
        fc.array(leafText, { minLength: 1, maxLength: 5 }),
        blank,
        fc.boolean(),
        (leaves, space, all) => {
          const data = { value: { a: 'x' }, list: { b: ['x'] } };
          const joined = leaves
            .map((l) => `(${space}${l.replaceAll(' ', space)})`)
            .join(`${space}${all ? 'and' : 'or'}${space}`);
          const each = leaves.map((l) => test(l, data));
          expect(test(joined, data)).to.equal(all ? each.every(Boolean) : each.some(Boolean));
        },
      ),
    );
  });
});
