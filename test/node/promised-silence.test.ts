/** The silence that a server promised holds across restarts, even with a shorter timeout. */
import { expect } from 'chai';
import { readIdentity, writeIdentity } from '../../src/node/identity.js';
import { type Opened, openFolder } from '../../src/node/open.js';
import type { NodeTiming } from '../../src/node/options.js';
import { Cluster, HANDLERS } from './processes.js';

const LONG = { tickMs: 25, electionMs: 2000 };
const SHORT = { tickMs: 25, electionMs: 250 };
/** The silences that `silenceMsOf` returns for these timings. */
const LONG_SILENCE_MS = 1950;
const SHORT_SILENCE_MS = 200;

describe('node: the silence promised before a restart', () => {
  let cluster: Cluster;
  beforeEach(async () => {
    cluster = await Cluster.create(['a', 'b', 'c']);
  });
  afterEach(async () => {
    await cluster.remove();
    expect(cluster.fatal).to.deep.equal([]);
  });

  const kept = async (): Promise<number | undefined> =>
    (await readIdentity(cluster.folder('a')))?.silenceMs;

  /** Opens the folder of `a` as a start does, and closes it again. */
  async function open(timing: Partial<NodeTiming>): Promise<Opened> {
    const opened = await openFolder({
      name: 'a',
      dataDir: cluster.folder('a'),
      address: cluster.address('a'),
      initial: cluster.initial('a', 'b', 'c'),
      handlers: HANDLERS,
      timing,
      log: () => {},
      onFatal: (error) => cluster.fatal.push(error),
    });
    await opened.store.close();
    await opened.log.close();
    return opened;
  }

  it('is stored at each start', async () => {
    const first = await open(LONG);
    expect([await kept(), first.silenceMs]).to.deep.equal([LONG_SILENCE_MS, LONG_SILENCE_MS]);
  });

  it('is kept by a start with a shorter timeout, and by another one right after it', async () => {
    await open(LONG);
    for (let start = 0; start < 2; start++) {
      const { silenceMs } = await open(SHORT);
      expect([await kept(), silenceMs]).to.deep.equal([LONG_SILENCE_MS, LONG_SILENCE_MS]);
    }
  });

  it('is replaced at once by a longer one', async () => {
    await open(SHORT);
    const { silenceMs } = await open(LONG);
    expect([await kept(), silenceMs]).to.deep.equal([LONG_SILENCE_MS, LONG_SILENCE_MS]);
  });

  it("defaults to the current timing's in a folder that does not store it", async () => {
    await open(LONG);
    const identity = (await readIdentity(cluster.folder('a')))!;
    const { silenceMs: _, ...older } = identity;
    await writeIdentity(cluster.folder('a'), older);
    expect((await open(SHORT)).silenceMs).to.equal(SHORT_SILENCE_MS);
  });

  it("is kept by a running server, which then stores the current timing's", async () => {
    const initial = cluster.initial('a', 'b', 'c');
    await cluster.start('a', { initial, timing: LONG });
    await cluster.stop('a');
    const order: string[] = [];
    setTimeout(() => order.push('silence is over'), LONG_SILENCE_MS);
    const a = await cluster.start('a', { initial, timing: SHORT });
    a.onRole(({ role }) => order.push(role));
    expect(await kept()).to.equal(LONG_SILENCE_MS);
    await cluster.until(() => order.includes('preCandidate'));
    expect(order).to.deep.equal(['silence is over', 'preCandidate']);
    let now = await kept();
    while (now !== SHORT_SILENCE_MS) {
      expect(now).to.equal(LONG_SILENCE_MS);
      await new Promise((resolve) => setTimeout(resolve, 10));
      now = await kept();
    }
  });
});
