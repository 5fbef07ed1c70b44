import { expect } from 'chai';
import { Field, load } from './operator.js';

describe('a rolling restart', () => {
  const field = new Field();
  after(() => field.end());

  it('fails no request: leadership is transferred, requests in flight are answered', async () => {
    // Clients on a busy machine pause long between two requests to one node.
    const limits = { lingerMs: 4000, stopMs: 15_000 };
    const cluster = await field.start(3, { settings: { limits } });
    const traffic = load(cluster, 16);
    try {
      for (const node of cluster.nodes) {
        await node.kill('SIGTERM');
        node.start();
        await node.ready();
      }
    } finally {
      await traffic.stop();
    }
    const { written, failures } = await traffic.stop();
    expect(failures).to.deep.equal([]);
    expect(written).to.be.greaterThan(100);
  });
});
