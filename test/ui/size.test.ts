import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

/** All that a browser loads when every page was opened: 300 kB at most. */
const PACKED_BYTES_MAX = 300_000;
/** What the first page needs, without the editor. */
const FIRST_BYTES_MAX = 90_000;

describe('ui: the packed files', () => {
  const folder = 'dist/program/ui/assets';
  const files = readdirSync(folder).map((name) => ({
    name,
    size: statSync(join(folder, name)).size,
  }));
  const sum = (pattern: RegExp) =>
    files.filter(({ name }) => pattern.test(name)).reduce((all, { size }) => all + size, 0);

  it('are small', () => {
    const all = sum(/\.(js|css|svg)\.gz$/);
    console.log(`      ${all} bytes packed, ${sum(/^(app|logo)/)} of them for the first page`);
    expect(all).to.be.below(PACKED_BYTES_MAX);
    expect(sum(/^(app|logo)/)).to.be.below(FIRST_BYTES_MAX);
  });

  it('carry hashes in their names, and the licences of what was bundled', () => {
    const names = files.map(({ name }) => name);
    expect(names).to.include('licences.txt.gz');
    for (const name of names.filter((each) => each !== 'licences.txt.gz'))
      expect(name).to.match(/^[\w-]+\.[A-Z0-9]{8}\.(js|css|svg)\.gz$/);
  });
});
