import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { applyTexts } from './apply-texts.js';

const WHY =
  'a text of apply has changed. The results of requests contain the sentences of refusals, and ' +
  'entries the sentences of their Status: members compare both, so during a rolling upgrade a ' +
  'reworded one makes the states of two releases differ. Keep the old words, or choose the words ' +
  'by the level in force (src/state/levels.ts), and add those to test/tables/apply-texts.json';

describe('state: the texts of apply', () => {
  it('are those of the table, which older releases put into the state as well', () => {
    const table = JSON.parse(readFileSync('test/tables/apply-texts.json', 'utf8')) as string[];
    expect(applyTexts('.'), WHY).to.deep.equal(table);
  }).timeout(60_000);
});
