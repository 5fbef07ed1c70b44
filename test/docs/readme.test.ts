import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { ERROR_STATUS } from '../../src/base/errors.js';
import { blocksOf, indentedBlocksOf } from './blocks.js';
import { pasting } from './pasted.js';

describe('the shell blocks of the README, pasted into a fresh folder', () => {
  const { folder, terminal, pasteAll } = pasting();

  it('README.md', async () => {
    const home = join(folder, 'readme');
    const blocks = [...blocksOf('README.md'), ...indentedBlocksOf('README.md')];
    blocks.sort((a, b) => a.line - b.line);
    // On a busy machine the watch takes longer to begin, and it must begin before the write.
    const patient = blocks.map((one) => ({
      ...one,
      text: one.text.replace('(sleep 2;', '(sleep 8;'),
    }));
    await pasteAll('README.md', patient, await terminal(home, resolve(home)), home);
  });
});

describe('the documents', () => {
  it('use one name for each option, variable and command', () => {
    for (const path of ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)]) {
      // The page of all commands names the others once.
      if (!path.endsWith('.md') || path === 'docs/cli.md') continue;
      const other = /--url\b|\bCONCLAVE_(?:URL|TOKEN)\b|\bconfig check\b/.exec(
        readFileSync(path, 'utf8'),
      );
      expect(other?.[0], path).to.equal(undefined);
    }
  });

  it('name all codes of errors', () => {
    const [, codes = ''] =
      /^Codes: ([\s\S]*?)\n\n/m.exec(readFileSync('docs/api.md', 'utf8')) ?? [];
    expect([...codes.matchAll(/`(\w+)`/g)].map(([, code]) => code)).to.have.members(
      Object.keys(ERROR_STATUS),
    );
  });

  it('name a reason for each block that is not run', () => {
    for (const path of ['README.md', 'docs/operations.md', 'docs/tutorial.md'])
      for (const { notRun, line } of blocksOf(path))
        expect(notRun ?? 'needs nothing', `${path}:${line}`).to.match(/^needs /);
  });
});
