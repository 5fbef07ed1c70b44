import { expect } from 'chai';
import { ApiError } from '../../src/base/errors.js';
import { COMMAND_BYTES_MAX } from '../../src/base/wire-limits.js';
import { SETTINGS } from '../../src/config/settings.js';
import type { RunningNode } from '../../src/node/node.js';
import { DEFAULT_LIMITS as NODE_LIMITS } from '../../src/node/options.js';
import { DEFAULT_LIMITS } from '../../src/transport/handshake.js';
import { Cluster, put, valueAt } from './processes.js';

const write = async (node: RunningNode, key: string, value: string): Promise<string> => {
  try {
    await node.write({ tokenKey: null, command: put(key, value), timeoutMs: 8000 });
    return 'ok';
  } catch (error) {
    if (error instanceof ApiError) return error.refusal.code;
    throw error;
  }
};

describe('node: large commands', function () {
  this.timeout(60_000);
  let cluster: Cluster;
  afterEach(async () => {
    await cluster.remove();
    expect(cluster.fatal).to.deep.equal([]);
  });

  it('refuses a command too large for a frame on leader and follower, and continues', async () => {
    cluster = await Cluster.create(['a', 'b', 'c']);
    const nodes = await cluster.startAll('a', 'b', 'c');
    const { node: leader } = await cluster.leader();
    const { term } = leader.status();
    const follower = nodes.find((node) => node !== leader)!;
    const tooLarge = 'x'.repeat(COMMAND_BYTES_MAX);
    expect(await write(leader, 'big', tooLarge)).to.equal('too_large');
    expect(await write(follower, 'big', tooLarge)).to.equal('too_large');
    for (const node of nodes) expect(await write(node, 'small', node.name)).to.equal('ok');
    expect(leader.status()).to.include({ role: 'leader', term });
    expect(valueAt(leader, 'big')).to.equal(undefined);
  });

  it('replicates the largest command that it accepts, also if forwarded', async () => {
    cluster = await Cluster.create(['a', 'b', 'c']);
    const nodes = await cluster.startAll('a', 'b', 'c');
    const { node: leader } = await cluster.leader();
    const follower = nodes.find((node) => node !== leader)!;
    const command = JSON.stringify(put('big', ''));
    // Space for the envelope: its version, the request's id and its index.
    const value = 'x'.repeat(COMMAND_BYTES_MAX - command.length - 100);
    expect(await write(follower, 'big', value)).to.equal('ok');
    await cluster.until(() => nodes.every((node) => valueAt(node, 'big') === value));
  });

  it('refuses to start with more in flight to a follower than the queue for it holds', async () => {
    cluster = await Cluster.create(['a']);
    const limits = { ...NODE_LIMITS, inflightBytes: DEFAULT_LIMITS.queueBytes };
    const error = await cluster.start('a', { limits }).catch((reason: unknown) => reason);
    expect(error)
      .to.have.property('message')
      .that.matches(/^queueBytes \(\d+\) must be at least/);
    await cluster.start('a', { limits: NODE_LIMITS });
  });

  it('limits the body so that command, stored object and response fit', () => {
    const { max } = SETTINGS.find(({ key }) => key === 'limits.bodyBytes')!;
    expect(max! * 4).to.be.at.most(COMMAND_BYTES_MAX);
    expect(COMMAND_BYTES_MAX).to.be.lessThan(DEFAULT_LIMITS.frameBytes);
  });
});
