import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { GROWTH_FILE } from '../../scripts/bench/growth.js';
import { cliPage } from '../../scripts/docs/cli-page.js';
import { growthPlot } from '../../scripts/docs/growth-plot.js';
import { logPage } from '../../scripts/docs/log-page.js';
import { referencePage } from '../../scripts/docs/reference-page.js';
import { settingsPage } from '../../scripts/docs/settings-page.js';

describe('docs/log.md', () => {
  it('is up to date with npm run docs', () => {
    expect(readFileSync('docs/log.md', 'utf8') === logPage(), 'stale: npm run docs').to.equal(true);
  });
});

describe('docs/cli.md', () => {
  it('is up to date with npm run docs', () => {
    expect(
      readFileSync('docs/cli.md', 'utf8') === cliPage('.'),
      'stale: run npm run docs',
    ).to.equal(true);
  });

  it('has every command, with an option that it has', () => {
    const page = cliPage('.');
    for (const command of ['acl who-can <question>', 'config write <file…>', 'agent', 'login'])
      expect(page).to.include(`conclave ${command}\n`);
    expect(page).to.include('| `--bearer-token-file <file>` |');
    expect(page).not.to.include('--secret <').and.not.include('conclave complete ');
  });
});

describe('docs/reference.md', () => {
  it('is up to date with npm run docs', () => {
    const written = readFileSync('docs/reference.md', 'utf8');
    expect(written === referencePage(), 'stale: run npm run docs').to.equal(true);
  });
});

describe('docs/settings.md', () => {
  it('is up to date with npm run docs', () => {
    const written = readFileSync('docs/settings.md', 'utf8');
    expect(written === settingsPage('.'), 'stale: run npm run docs').to.equal(true);
  });

  it('lists limits in the source, each with its reason', () => {
    const rows = settingsPage('.').split('## Constants')[1]!.split('\n');
    const limits = rows.filter((row) => row.startsWith('| `'));
    expect(limits.length).to.be.greaterThan(150);
    for (const limit of limits) expect(limit.split(' | ')[2], limit).to.match(/\w{3}/);
  });
});

describe('docs/growth.svg', () => {
  it('is up to date with npm run docs', () => {
    const drawn = growthPlot(JSON.parse(readFileSync(GROWTH_FILE, 'utf8')));
    expect(readFileSync('docs/growth.svg', 'utf8') === drawn, 'stale: run npm run docs').to.equal(
      true,
    );
  });
});
