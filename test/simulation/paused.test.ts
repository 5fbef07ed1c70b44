import { expect } from 'chai';
import { awaitLeader } from './calm.js';
import { SimCluster } from './cluster.js';
import { NETWORKS, type NetworkKind } from './network.js';
import type { SimServer } from './server.js';
import { mayBeUnknown } from './unknown-outcome.js';

interface Play {
  readonly seed: number;
  readonly network: NetworkKind;
  /** Whether the leader is paused, or a follower. */
  readonly leads: boolean;
  readonly paused: Paused;
}

/** What stands still beside the process. */
type Paused = 'no clock' | 'the monotonic clock' | 'both clocks';

const PAUSE_MS = 8_000;
/** When the paused server is asked, after the moment at which it goes on. */
const ASKED_MS = [-100, -100, -100, 0.5, 2, 10, 40, 150];

/** Seeds of clusters whose members soon forget the requests that they have applied. */
const FORGETFUL = Array.from({ length: 60 }, (_, seed) => seed + 1).filter(
  (seed) => new SimCluster({ seed }).machineLimits.requestsMax < 12,
);

/** Pauses one server of three, and judges what it answers in the first moments after that. */
class PausedServer {
  readonly counts = { done: 0, failed: 0, unknown: 0, reads: 0, open: 0 };
  readonly #cluster: SimCluster;
  readonly #play: Play;
  #values = 0;

  constructor(play: Play) {
    this.#play = play;
    const { seed, network } = play;
    this.#cluster = new SimCluster({ seed, network, storage: 'memory', product: false });
    this.#cluster.found(3);
  }

  async run(): Promise<this> {
    const cluster = this.#cluster;
    const { leads, paused: stops } = this.#play;
    const runs = stops === 'no clock';
    for (const server of cluster.servers) server.restart();
    const leader = await awaitLeader(cluster);
    const [other, third] = cluster.servers.filter((server) => server !== leader);
    const paused = leads ? leader : other!;
    if (runs) paused.stall(PAUSE_MS);
    else paused.freeze(PAUSE_MS, stops === 'both clocks');
    for (const ms of ASKED_MS) cluster.scheduler.after(PAUSE_MS + ms, () => this.#ask(paused));
    for (let ms = 0; ms < PAUSE_MS; ms += 200) {
      this.#write(third!, 'meanwhile');
      await cluster.advance(200);
    }
    expect(leader.leading || !leads || runs, 'it does not know yet that it is deposed').to.equal(
      true,
    );
    await cluster.advance(25_000);
    expect(this.counts.open).to.equal(0);
    expect(third!.read('meanwhile').value).to.equal(paused.read('meanwhile').value);
    return this;
  }

  #ask(paused: SimServer): void {
    this.#write(paused, `key${this.#values}`);
    for (const mode of ['consistent', 'default'] as const) this.#read(paused, mode);
  }

  /** Done where it is said, or certainly never done, or unknown for a reason. */
  #write(server: SimServer, key: string): void {
    const { invariants } = this.#cluster;
    const { counts } = this;
    const value = `v${++this.#values}`;
    const floor = invariants.acknowledged;
    const mayNotKnow = mayBeUnknown(this.#cluster, server, value);
    counts.open += 1;
    const command = { type: 'put', v: 1, key, value } as const;
    server.write(command, 10_000, (outcome) => {
      counts.open -= 1;
      const result = 'result' in outcome ? outcome.result : undefined;
      const why = 'refusal' in outcome ? outcome.refusal : undefined;
      if (result?.ok) {
        counts.done += 1;
        invariants.writeDone(value, result.index, floor);
      } else if (why !== undefined && why.code !== 'outcome_unknown') {
        counts.failed += 1;
        invariants.writeFailed(value);
      } else {
        if (key !== 'meanwhile') counts.unknown += 1;
        expect(mayNotKnow(), `${server.id} says ${JSON.stringify(outcome)}`).to.equal(true);
      }
    });
  }

  /** Never older than what was acknowledged to anyone, but for a lease that no server can doubt. */
  #read(server: SimServer, mode: 'consistent' | 'default'): void {
    const { invariants } = this.#cluster;
    const { counts } = this;
    const since = this.#cluster.scheduler.now;
    const floor = invariants.acknowledged;
    counts.open += 1;
    server.barrier(mode, 10_000, (passed) => {
      counts.open -= 1;
      if (!passed) return;
      counts.reads += 1;
      const { value, index } = server.read('meanwhile');
      const isStale = mode === 'default' && this.#cluster.leaseInDoubt(since);
      invariants.readDone('meanwhile', value, index, floor, isStale);
    });
  }
}

describe('a server that is asked just after it stood still', function () {
  this.timeout(60_000);

  for (const network of NETWORKS)
    for (const leads of [true, false])
      for (const paused of ['no clock', 'the monotonic clock', 'both clocks'] as const) {
        const who = `a ${leads ? 'leader' : 'follower'} over ${network}`;
        it(`${who}, paused with ${paused}, answers what is true`, async () => {
          let unknown = 0;
          for (const seed of FORGETFUL) {
            const { counts } = await new PausedServer({ seed, network, leads, paused }).run();
            const { done, reads } = counts;
            expect([done > 0, reads > 0], `seed ${seed}`).to.deep.equal([true, true]);
            unknown += counts.unknown;
          }
          if (paused !== 'both clocks') expect(unknown, 'outcomes unknown').to.equal(0);
        });
      }
});
