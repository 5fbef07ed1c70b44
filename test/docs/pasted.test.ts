import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { type Block, blocksOf } from './blocks.js';
import { pasting } from './pasted.js';

describe('the shell blocks of the documents, pasted into a fresh folder', () => {
  const { folder, terminal, pasteAll } = pasting();

  it('docs/operations.md, from the root of the repository', async () => {
    const home = join(folder, 'operations');
    const blocks = blocksOf('docs/operations.md');
    expect(blocks.filter(({ notRun }) => notRun === undefined).length).to.be.greaterThan(15);
    await pasteAll('docs/operations.md', blocks, await terminal(home, resolve('.')), home);
  });

  it('docs/runbook.md, after what makes its nodes, each block when it is needed', async () => {
    const home = join(folder, 'runbook');
    const shell = await terminal(home, resolve('.'));
    const operations = blocksOf('docs/operations.md');
    const restarts = operations.findIndex(({ text }) => text.includes('n3.pid'));
    await pasteAll('docs/operations.md', operations.slice(0, restarts), shell, home);
    const blocks = blocksOf('docs/runbook.md');
    const [leaderless, majority, disk, lost, certificate] = blocks;
    expect(blocks).to.have.length(5);
    const run = (...some: (Block | undefined)[]): Promise<void> =>
      pasteAll('docs/runbook.md', some as Block[], shell, home);
    const mustPaste = async (text: string): Promise<void> => {
      const { failed, output } = await shell.paste(text);
      expect(failed, output).to.deep.equal([]);
    };
    await run(disk, lost, certificate);
    await mustPaste(
      'kill -9 $(cat n2.pid n3.pid); until grep -q no_leader n1.log; do sleep 0.1; done',
    );
    await run(leaderless);
    await mustPaste('kill $(cat n1.pid); while [ -e n1.pid ]; do sleep 0.1; done; rm -r n3');
    await run(majority);
    await mustPaste('conclave agent --config n1.json >> n1.log 2>&1 &');
    await mustPaste('conclave health --wait && conclave status');
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
