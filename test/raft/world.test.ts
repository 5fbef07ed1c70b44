import { expect } from 'chai';
import fc from 'fast-check';
import { type Counts, idsOf, KINDS, type Kind, World } from './world.js';

const SEEDS = fc.integer({ min: 0, max: 0x7fffffff });
const RUNS = Number(process.env['RAFT_WORLDS'] ?? 25);

/** Runs worlds by seed (fast-check prints a failing one) and adds up their counts. */
function runWorlds(ids: readonly string[], acts: number): Counts {
  const total = {} as Record<string, number>;
  fc.assert(
    fc.property(SEEDS, (seed) => {
      const world = new World(seed, ids);
      world.run(acts);
      for (const [name, count] of Object.entries(world.counts)) {
        total[name] = (total[name] ?? 0) + count;
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  return total as unknown as Counts;
}

describe('raft in random schedules', function () {
  this.timeout(60_000);

  const kept: readonly [number, Kind, string][] = [
    [460, 'flicker', 'a vote request of the current term during the promised silence'],
    [2, 'skew', 'a lease longer than the silence of the followers it rests on'],
    [162, 'skew', 'a restart with a shorter timeout during the promised silence'],
    [242, 'skew', 'a campaign during the silence promised after a failed one'],
    [9, 'suspend', 'a lease read under a clock that was suspended'],
  ];
  for (const [seed, kind, what] of kept)
    it(`${seed}: ${what}`, () => new World(seed, idsOf(seed), [kind]).run(4000));

  for (const kind of KINDS)
    it(`promises to leaders are kept in worlds with ${kind}`, () => {
      for (let seed = 1; seed <= 2 * RUNS; seed++) new World(seed, idsOf(seed), [kind]).run(4000);
    });

  it('keeps one history on three servers', () => {
    const counts = runWorlds(['a', 'b', 'c'], 1500);
    for (const [name, count] of Object.entries(counts)) expect(count, name).to.be.above(0);
  });

  for (const ids of [['a'], ['a', 'b']]) {
    it(`keeps one history on ${ids.length === 1 ? 'one server' : 'two servers'}`, () => {
      const counts = runWorlds(ids, 800);
      expect(counts.committed).to.be.above(0);
      expect(counts.reads).to.be.above(0);
    });
  }

  it('keeps one history while learners and voters come and go', () => {
    const counts = runWorlds(['a', 'b', 'c', 'd', 'e'], 1500);
    for (const [name, count] of Object.entries(counts)) expect(count, name).to.be.above(0);
  });
});
