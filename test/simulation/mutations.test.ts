import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { mutations } from './mutations.js';

describe('deliberate faults', () => {
  // playing them takes long (npm run mutate); that each can be put into the build is soon seen
  for (const { name, changes } of mutations)
    it(`can be made: ${name}`, () => {
      for (const { file, find } of changes) {
        const path = fileURLToPath(new URL(`../../src/${file}`, import.meta.url));
        const times = readFileSync(path, 'utf8').split(find).length - 1;
        expect(times, `its text in ${file}`).to.equal(1);
      }
    });
});
