/** Members with different timings: a node that is cut off must not read by an expired lease. */
import { expect } from 'chai';
import { ProxyNetwork } from '../../cluster/chaos/proxy.js';
import type { RunningNode } from '../../src/node/node.js';
import type { NodeTiming } from '../../src/node/options.js';
import { Cluster, put, valueAt } from './processes.js';

const NAMES = ['a', 'b', 'c'] as const;

describe('node: members with different timing', () => {
  let cluster: Cluster;
  let network: ProxyNetwork;
  beforeEach(async () => {
    cluster = await Cluster.create(NAMES);
    network = new ProxyNetwork(NAMES);
  });
  afterEach(async () => {
    network.heal();
    await cluster.remove();
    await network.close();
    expect(cluster.fatal).to.deep.equal([]);
  });

  async function startAll(timing: Partial<NodeTiming>): Promise<RunningNode[]> {
    const addresses = await Promise.all(
      NAMES.map((name) => network.listen(name, Number(cluster.address(name).split(':')[1]))),
    );
    const initial = NAMES.map((name, i) => ({ name, address: addresses[i]! }));
    return Promise.all(
      NAMES.map((name, i) =>
        cluster.start(name, {
          initial,
          advertise: addresses[i]!,
          ...(name === 'a' && { timing }),
        }),
      ),
    );
  }

  const write = (node: RunningNode, value: string): Promise<unknown> =>
    node.write({ tokenKey: null, command: put('k', value), timeoutMs: 8000 });

  it('a leader with a longer election timeout serves no read from before a partition', async () => {
    const [a, b] = (await startAll({ electionMs: 6000, leaseMs: 5000 })) as [
      RunningNode,
      RunningNode,
    ];
    await cluster.leader();
    while (a.status().role !== 'leader') {
      await b.transfer(a.id).catch(() => {});
      await b.barrier('consistent', 8000);
    }
    await write(a, 'old');
    // Now its lease is as long as possible.
    await a.barrier('consistent', 8000);
    network.cutWhere((from, to) => from === 'a' || to === 'a');
    await write(b, 'new');
    expect(a.status().role).to.equal('leader');
    const read = a.barrier('default', 8000).then(() => valueAt(a, 'k'));
    // Turns in which a lease would answer, before it hears of the new leader.
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    network.heal();
    expect(await read).to.equal('new');
  });
});
