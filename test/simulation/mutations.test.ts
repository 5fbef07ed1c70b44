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
      expect(readFileSync(path, 'utf8').split(before).length - 1).to.equal(1);
    });
});
