import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { playSeed } from './play.js';

interface Kept {
  readonly seed: number;
  readonly reason: string;
  /** It is kept as the world that it was before faults of machines, small memories and held readers. */
  readonly plain?: boolean;
}
const kept = JSON.parse(readFileSync('test/simulation/seeds.json', 'utf8')) as Kept[];

/** Plays a world; what went wrong, with the command that plays it again. */
async function failureOf(seed: number, plain = false): Promise<string | undefined> {
  const { violation } = await playSeed(seed, { plain });
  const options = plain ? '--plain --trace' : '--trace';
  return violation && `${violation.text}\nreplay: npm run simulate -- --seed ${seed} ${options}`;
}

describe('simulated worlds', function () {
  this.timeout(60_000);

  describe('kept for what only they met', () => {
    for (const { seed, reason, plain } of kept)
      it(`${seed}: ${reason}`, async () => {
        expect(await failureOf(seed, plain)).to.equal(undefined);
      });
  });

  const BATCH = 20;
  for (let from = 1; from <= 240; from += BATCH)
    it(`seeds ${from} to ${from + BATCH - 1} lose nothing, mix up nothing, and recover`, async () => {
      for (let seed = from; seed < from + BATCH; seed++)
        expect(await failureOf(seed)).to.equal(undefined);
    });

  for (const storage of ['memory', 'real'] as const)
    it(`are the same whenever the seed is, with ${storage} storage`, async () => {
      const tracesOf = async (seed: number): Promise<string[]> => {
        const lines: string[] = [];
        await playSeed(seed, { storage, trace: (line) => lines.push(line) });
        return lines;
      };
      for (const seed of [3, 5, 8]) {
        const first = await tracesOf(seed);
        expect(first.length).to.be.greaterThan(100);
        expect(await tracesOf(seed)).to.deep.equal(first);
      }
    });
});
