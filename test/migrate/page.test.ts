import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FINDING_CODES } from '../../src/migrate/report/types.js';
import { blocksOf } from '../docs/blocks.js';
import { Moving } from './running.js';

const PAGE = 'docs/migration.md';
/** How the page begins its commands. */
const LEAD = 'conclave migrate --from https://consul.example:8501 ';
/** What the command ends with where it did its work, whatever it found. */
const DONE = [0, 3, 4, 5];

describe('the page about moving in', function () {
  this.timeout(60_000);
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
        expect(text).to.match(new RegExp(`^${LEAD}`));
        const args = text.trim().slice(LEAD.length);
        const stop = new AbortController();
        const onOut = () => args.includes('--watch') && stop.abort();
        const inHome = args.replace('report.json', `${moving.user.home}/report.json`);
        const { code, err } = await moving.migrate(inHome, { signal: stop.signal, onOut });
        expect(code, `${PAGE}:${line}\n${err}`).to.be.oneOf(DONE);
      }
    } finally {
      await moving.close();
    }
  });
});
