import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { blocksOf, indentedBlocksOf, isAsPrinted } from './blocks.js';
import { Terminal } from './terminal.js';

describe('the blocks of a document', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-blocks-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const written = (text: string): string => {
    const path = join(folder, 'page.md');
    writeFileSync(path, text);
    return path;
  };

  it('are those of the shell, with their output, place and marks', () => {
    const lines = [
      '# A page',
      '```sh\necho a\necho b\n```\n',
      '```text\na\nb\n```\n',
      '<!-- not run: needs root -->\n```sh\nuseradd x\n```\n',
      '<!-- fails: to show it -->\n```sh\nfalse\n```\n',
      '```\nan example\n```\n',
      '1. In a list:\n\n   ```sh\n   echo c\n   ```',
    ];
    expect(blocksOf(written(`${lines.join('\n')}\n`))).to.deep.equal([
      { line: 3, text: 'echo a\necho b\n', fails: false, output: 'a\nb\n' },
      { line: 14, text: 'useradd x\n', fails: false, notRun: 'needs root' },
      { line: 19, text: 'false\n', fails: true },
      { line: 29, text: '   echo c\n', fails: false },
    ]);
    const unknown = written('<!-- ignored: x -->\n```sh\nls\n```\n');
    expect(() => blocksOf(unknown)).to.throw('unknown mark "ignored"');
  });

  it('are indented in a page without fences', () => {
    const path = written('Run\n\n    npm start\n    # and\n\nor\n\n    npm test\n');
    expect(indentedBlocksOf(path).map(({ line, text }) => [line, text])).to.deep.equal([
      [3, 'npm start\n# and\n'],
      [8, 'npm test\n'],
    ]);
  });

  it('are printed as the page says but for …, spaces and the end', () => {
    const cases: readonly [output: string, printed: string, expected: boolean][] = [
      ['a  b\n\n', 'a b', true],
      ['a b c', 'a … c', true],
      ['a b c', 'a …', true],
      ['a b d', 'a … c', false],
      ['a\nx\ny\nb', 'a\n…\nb', true],
      ['a\nb', 'a\n…\nb', true],
      ['a\nx', 'a', false],
      ['x\na', 'a', false],
      ['a.c', 'a.c', true],
      ['abc', 'a.c', false],
      ['{"a":[1]}', '{"a":[1]}', true],
    ];
    for (const [output, printed, expected] of cases)
      expect(isAsPrinted(output, printed), `${output} as ${printed}`).to.equal(expected);
  });

  it('run in one shell, which says what failed', async () => {
    const shell = new Terminal(folder, folder, { PATH: process.env['PATH']! });
    try {
      const { output, failed } = await shell.paste('A=1\nf() { echo $A; false; }\nf || echo b\n');
      expect([output.trim(), failed]).to.deep.equal(['1\nb', []]);
      expect((await shell.paste('echo x; ls /nowhere >&2; echo y')).failed).to.deep.equal([
        'ls /nowhere 1>&2',
      ]);
      expect((await shell.paste('false')).failed).to.deep.equal(['false']);
      expect((await shell.paste('echo $A')).output.trim()).to.equal('1');
      await shell.paste('(while :; do echo x; done) &');
      for (let n = 0; n < 20; n += 1)
        expect((await shell.paste(`echo ${n}`)).output.split('\n')).to.include(`${n}`);
    } finally {
      await shell.end();
    }
  });
});
