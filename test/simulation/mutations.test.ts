import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { counters } from './counters.js';
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

describe('counters of what worlds meet', () => {
  for (const { name, file, before } of counters)
    it(`can count: ${name}`, () => {
      const path = fileURLToPath(new URL(`../../src/${file}`, import.meta.url));
      const parts = readFileSync(path, 'utf8').split(before);
      expect(parts.length - 1).to.equal(1);
      // there a statement may be added: it is not the only one of a loop or a condition
      expect(parts[0]!.trimEnd()).to.match(/[;{}]$|\*\/$/);
    });
});
