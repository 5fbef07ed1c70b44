import { expect } from 'chai';
import { fitted, renderFields, renderTable } from '../../src/cli/print/table.js';

const plain = { width: undefined, colour: false };
/** Returns the widths of columns of which nothing special is known. */
const widths = (full: readonly number[], width: number | undefined): number[] => {
  const isEmpty = full.map(() => false);
  const heads = full.map(() => ({ head: '' }));
  return fitted(heads, { full, isEmpty }, width).map((one) => one.width);
};

describe('tables of the client', () => {
  it('aligns columns by their width on a terminal, not by characters', () => {
    const rows = [
      ['web', 'a'],
      ['日本', 'b'],
      ['e\u0301', 'c'],
    ];
    expect(renderTable(['NAME', 'X'], rows, plain)).to.equal(
      'NAME  X\nweb   a\n日本  b\ne\u0301     c\n',
    );
  });

  it('makes the widest columns narrower to fit the terminal', () => {
    expect(widths([4, 50, 20], 40)).to.deep.equal([4, 16, 16]);
    expect(widths([4, 50, 20], undefined)).to.deep.equal([4, 50, 20]);
    expect(widths([9, 9], 5)).to.deep.equal([6, 6]);
    const text = renderTable(['A', 'B'], [['x'.repeat(30), 'end']], { width: 20, colour: false });
    expect(text).to.equal(`A                B\n${'x'.repeat(14)}…  end\n`);
    const wide = renderTable(['A'], [['a › 日本語 b']], { width: 8, colour: false });
    expect(wide).to.equal('A\na › 日…\n');
  });

  it('leaves out what is empty, then what matters least, before it makes columns narrow', () => {
    const heads = [
      { head: 'NAME', isWhole: true },
      { head: 'ADDRESS', isWhole: true },
      { head: 'METHOD' },
      { head: 'CONTACT', isMinor: true },
      { head: 'LEVEL', isMinor: true },
      { head: 'FOUND' },
    ] as const;
    const cells = ['n1', '127.0.0.1:24101', '', '25ms', '2', 'x'.repeat(30)];
    const headAt = (width: number | undefined): string =>
      renderTable(heads, [cells], { width, colour: false }).split('\n')[0]!.replace(/ +/g, ' ');
    expect(headAt(undefined)).to.equal('NAME ADDRESS METHOD CONTACT LEVEL FOUND');
    expect(headAt(60)).to.equal('NAME ADDRESS CONTACT LEVEL FOUND');
    expect(headAt(50)).to.equal('NAME ADDRESS CONTACT FOUND');
    expect(headAt(40)).to.equal('NAME ADDRESS FOUND');
  });

  it('never cuts addresses and IDs', () => {
    const heads = [{ head: 'ADDRESS', isWhole: true }, { head: 'TEXT' }] as const;
    const text = renderTable(heads, [['127.0.0.1:24101', 'x'.repeat(30)]], {
      width: 10,
      colour: false,
    });
    expect(text).to.equal('ADDRESS          TEXT\n127.0.0.1:24101  xxxxx…\n');
  });

  it('cuts no line without a terminal', () => {
    expect(renderTable(['A'], [['x'.repeat(3000)]], plain)).to.include('x'.repeat(3000));
  });

  it('shows control characters as escapes, and line ends as blanks', () => {
    const text = renderTable(['A'], [['red \u001b[31m\u202e\nnext\ttab']], plain);
    expect(text).to.equal('A\nred \\u001b[31m\\u202e next tab\n');
  });

  it('paints cells without moving columns', () => {
    const rows = [[{ text: 'no', paint: 'red' as const }, 'x']];
    const text = renderTable(['ALLOWED', 'B'], rows, { width: 80, colour: true });
    expect(text.split('\n')[1]).to.equal('\u001b[31mno\u001b[39m       x');
  });

  it('writes an object as lines, a value below the other, without empty ones', () => {
    const fields = [
      ['Name', 'ops'],
      ['Description', ''],
      ['Policies', ['a', 'b']],
    ] as const;
    expect(renderFields(fields, false)).to.equal('Name      ops\nPolicies  a\n          b\n');
  });
});
