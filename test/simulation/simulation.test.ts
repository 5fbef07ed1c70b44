import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { NETWORKS, type NetworkKind } from './network.js';
import { STORAGES, type StorageKind } from './parts.js';
import { type PlayOptions, playSeed } from './play.js';

interface Kept {
  readonly seed: number;
  readonly reason: string;
  /** It is kept as it was before faults of machines, small memories, held readers and sockets. */
  readonly plain?: boolean;
  /** It is kept as the world that it was before leaders were deposed and secrets erased. */
  readonly legacy?: boolean;
  /** It is kept as the world that it was before there were sockets. */
  readonly network?: NetworkKind;
  /** The same before there was real storage. */
  readonly storage?: StorageKind;
  /** It is kept without the product's commands. */
  readonly product?: boolean;
  /** It is kept as it was before levels counted in worlds. */
  readonly levels?: boolean;
  /** It is kept as it was before worlds had commands about rights. */
  readonly rights?: boolean;
}
const kept = JSON.parse(readFileSync('test/simulation/seeds.json', 'utf8')) as Kept[];

/** Plays a world; what went wrong, with the command that plays it again. */
async function failureOf(seed: number, options: PlayOptions = {}): Promise<string | undefined> {
  const { violation } = await playSeed(seed, options);
  const { plain, legacy, network, storage, fault } = options;
  const plays = [
    `--seed ${seed}`,
    ...(plain ? ['--plain'] : []),
    ...(legacy ? ['--legacy'] : []),
    ...(network ? [`--network ${network}`] : []),
    ...(storage ? [`--storage ${storage}`] : []),
    ...(fault ? [`--fault ${fault}`] : []),
    '--trace',
  ];
  return violation && `${violation.text}\nreplay: npm run simulate -- ${plays.join(' ')}`;
}

describe('simulated worlds', function () {
  this.timeout(60_000);

  describe('kept for what only they met', () => {
    for (const { seed, reason, ...options } of kept)
      it(`${seed}: ${reason}`, async () =>
        expect(await failureOf(seed, options)).to.equal(undefined));
  });

  const BATCH = 20;
  for (let from = 1; from <= 240; from += BATCH) {
    const seeds = `seeds ${from} to ${from + BATCH - 1}`;
    it(`${seeds} lose nothing, mix up nothing, and recover`, async () => {
      for (let seed = from; seed < from + BATCH; seed++)
        expect(await failureOf(seed)).to.equal(undefined);
    });
  }

  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    it(`in which a cluster is recovered: ${seed}`, async () => {
      expect(await failureOf(seed, { fault: 'recover' })).to.equal(undefined);
    });

  for (const network of NETWORKS)
    for (const storage of STORAGES)
      for (const seed of [3, 5, 12])
        it(`over ${network}, with ${storage} storage, are the same: ${seed}`, async () => {
          const traceOf = async (): Promise<string[]> => {
            const lines: string[] = [];
            const trace = (line: string): unknown => lines.push(line);
            await playSeed(seed, { network, storage, product: seed === 3, trace });
            return lines;
          };
          const first = await traceOf();
          expect(first.length).to.be.greaterThan(20);
          expect(await traceOf()).to.deep.equal(first);
        });
});
