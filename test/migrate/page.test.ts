import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FINDING_CODES } from '../../src/migrate/report/types.js';
import type { Command } from '../../src/state/types.js';
import { User } from '../cli/harness.js';
import { blocksOf } from '../docs/blocks.js';
import { SoloClient } from '../service/client.js';
import { recordedSource, StandIn } from './stand-in.js';

const PAGE = 'docs/migration.md';
const raise = { type: 'system.level', v: 1, level: 3 } as Command;
/** The address that the page gives the source. */
const ADDRESS = /https:\/\/consul\.example:8501/g;
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

  // The page of all commands is written from the commands.
  if (readFileSync('docs/cli.md', 'utf8').includes('conclave migrate')) {
    it('has commands that do their work against the recorded source', async () => {
      const source = await StandIn.start(recordedSource('community'));
      const client = await SoloClient.open();
      const user = new User();
      client.solo.must(raise);
      user.env = {
        CONCLAVE_HTTP_ADDR: client.url,
        CONCLAVE_TOKEN: client.token,
        MIGRATE_FROM_TOKEN: source.token,
      };
      try {
        const blocks = blocksOf(PAGE);
        expect(blocks).to.have.length(4);
        for (const { text, line } of blocks) {
          const [, ...args] = text.replace(ADDRESS, source.url).trim().split(/\s+/);
          const stop = new AbortController();
          const onOut = () => args.includes('--watch') && stop.abort();
          const inHome = args.map((one) => (one === 'report.json' ? `${user.home}/${one}` : one));
          const { code, err } = await user.run(inHome, { signal: stop.signal, onOut });
          expect(code, `${PAGE}:${line}\n${err}`).to.be.oneOf([
            ...DONE,
            ...(stop.signal.aborted ? [130] : []),
          ]);
        }
      } finally {
        user.leave();
        source.close();
        await client.close();
      }
    });
  } else console.log(`there is no command migrate yet: the commands of ${PAGE} do not run`);
});
