import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FINDING_CODES } from '../../src/api/migration-report.js';
import { blocksOf } from '../docs/blocks.js';
import { Moving } from './running.js';

const PAGE = 'docs/migration.md';
/** What the command ends with where it did its work, whatever it found. */
const DONE = [0, 3, 4, 5];

describe('the page about moving in', () => {
  const page = readFileSync(PAGE, 'utf8');

  it('says first of all what does not move', () => {
    expect(page.split('\n')[2]).to.contain('not a service mesh');
  });

  it('names each code of a finding', () => {
    for (const code of FINDING_CODES) expect(page).to.contain(`| \`${code}\` |`);
  });

  it('has commands that do their work against the recorded source', async () => {
    const moving = await Moving.start();
    try {
      const blocks = blocksOf(PAGE);
      expect(blocks).to.have.length(4);
      for (const { text, line } of blocks) {
        const [, , , , ...args] = text.trim().split(/\s+/);
        const stop = new AbortController();
        const onOut = () => args.includes('--watch') && stop.abort();
        const { home } = moving.user;
        const inHome = args.map((one) => (one === 'report.json' ? `${home}/${one}` : one));
        const { code, err } = await moving.migrate(inHome.join(' '), {
          signal: stop.signal,
          onOut,
        });
        expect(code, `${PAGE}:${line}\n${err}`).to.be.oneOf([
          ...DONE,
          ...(stop.signal.aborted ? [130] : []),
        ]);
      }
    } finally {
      await moving.close();
    }
  }).timeout(60_000);
});
