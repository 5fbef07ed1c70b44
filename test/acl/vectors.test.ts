import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Feed, Question } from '../support/decide.js';
import { vectors } from '../support/vectors.js';

const FILE = 'clients/vectors.json';
const BYTES_MAX = 12 * 2 ** 20;

interface Vectors {
  readonly Cases: readonly {
    readonly Rights: Feed;
    readonly Questions: readonly (readonly [...Question, allow: boolean])[];
  }[];
}

describe('the vectors of clients', () => {
  const text = readFileSync(FILE, 'utf8');
  const { Cases }: Vectors = JSON.parse(text);

  it('are those that npm run vectors writes', () => {
    const made = vectors();
    expect(made === text, `${FILE} is out of date: run npm run vectors`).to.equal(true);
  }).timeout(60_000);

  it('are many, and no more than a repository can hold', () => {
    const questions = Cases.flatMap(({ Questions }) => Questions);
    const allowed = questions.filter(([, , , , allow]) => allow).length;
    expect(Cases.length).to.be.at.least(2_000);
    expect(questions.length).to.be.at.least(100_000);
    expect(allowed / questions.length).to.be.within(0.25, 0.75);
    expect(Buffer.byteLength(text)).to.be.at.most(BYTES_MAX);
  });

  it('have every form of a feed', () => {
    for (const part of [
      ...['"Form":"named"', '"Form":"scalar"', '"Form":"namespace"', '"In":', '"Else":', '"All":'],
      ...['"Below":', '"Any":', '"Never":["write"]', '"Layer":"namespace_default","Sets":[{'],
      ...['"Match":"prefix"', '"Management":', '"Other":["deny"]', '"From":', '"Origins":'],
      ...['"AnyByDefault":true', '["app:', '["a/b"', '["50%"', '"日本/"', '"😀"'],
    ]) {
      expect(text.includes(part), part).to.equal(true);
    }
  });
});
