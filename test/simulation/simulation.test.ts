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
function failureOf(seed: number, plain = false): string | undefined {
  const { violation } = playSeed(seed, { plain });
  const options = plain ? '--plain --trace' : '--trace';
  return violation && `${violation.text}\nreplay: npm run simulate -- --seed ${seed} ${options}`;
}

describe('simulated worlds', function () {
  this.timeout(60_000);

  describe('kept for what only they met', () => {
    for (const { seed, reason, plain } of kept)
      it(`${seed}: ${reason}`, () => expect(failureOf(seed, plain)).to.equal(undefined));
  });

  const BATCH = 20;
  for (let from = 1; from <= 240; from += BATCH)
    it(`seeds ${from} to ${from + BATCH - 1} lose nothing, mix up nothing, and recover`, () => {
      for (let seed = from; seed < from + BATCH; seed++)
        expect(failureOf(seed)).to.equal(undefined);
    });

  it('are the same whenever the seed is', () => {
    const tracesOf = (seed: number): string[] => {
      const lines: string[] = [];
      playSeed(seed, { trace: (line) => lines.push(line) });
      return lines;
    };
    const first = tracesOf(3);
    expect(first.length).to.be.greaterThan(100);
    expect(tracesOf(3)).to.deep.equal(first);
  });
});
