import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { blocksOf } from './blocks.js';
import { pasting } from './pasted.js';

describe('the shell blocks of the documents, pasted into a fresh folder', function () {
  this.timeout(240_000);
  const { folder, terminal, pasteAll } = pasting();

  it('docs/operations.md, from the root of the repository', async () => {
    const home = join(folder, 'operations');
    const blocks = blocksOf('docs/operations.md');
    expect(blocks.filter(({ notRun }) => notRun === undefined).length).to.be.greaterThan(15);
    await pasteAll('docs/operations.md', blocks, await terminal(home, resolve('.')), home);
  });

  it('docs/tutorial.md', async () => {
    const home = join(folder, 'tutorial');
    const blocks = blocksOf('docs/tutorial.md');
    expect(blocks.filter(({ notRun }) => notRun !== undefined)).to.deep.equal([]);
    await pasteAll('docs/tutorial.md', blocks, await terminal(home, resolve(home)), home);
    // What git does not ignore could be committed, and some of it is secret.
    expect(readdirSync(home).filter((name) => name !== 'block.sh')).to.deep.equal(['data']);
  });

  it('docs/gitops.md', async () => {
    const home = join(folder, 'gitops');
    const blocks = blocksOf('docs/gitops.md');
    expect(blocks.filter(({ notRun }) => notRun !== undefined)).to.deep.equal([]);
    await pasteAll('docs/gitops.md', blocks, await terminal(home, resolve(home)), home);
    expect(readdirSync(home).filter((name) => name !== 'block.sh')).to.deep.equal(['data']);
  });
});
