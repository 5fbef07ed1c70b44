/** Join tokens that are made at the same time. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { ClusterParts } from '../../src/service/cluster/cluster.js';
import { JoinTokens } from '../../src/service/cluster/joining.js';
import type { Service } from '../../src/service/common/types.js';
import { joinTokens } from '../../src/state/join-tokens.js';
import { MANAGER, Solo } from './solo.js';

describe('join tokens', () => {
  const requester = { caller: MANAGER, timeoutMs: 5_000 };

  it('are all made, by several nodes at once', async () => {
    const solo = new Solo();
    const { service, node } = solo;
    // Writes take a while, so that other nodes write in between.
    const slow: Pick<Service, 'catchUp' | 'permit' | 'write'> = {
      catchUp: (...given) => service.catchUp(...given),
      permit: (...given) => service.permit(...given),
      write: async (...given) => {
        await nextTurn();
        return service.write(...given);
      },
    };
    const parts = { service: slow, node } as unknown as ClusterParts;
    const nodes = Array.from({ length: 3 }, () => new JoinTokens(parts));
    const made = await Promise.all(
      nodes.flatMap((each) => Array.from({ length: 20 }, () => each.create(requester, 60_000))),
    );
    expect(new Set(made.map(({ JoinToken }) => JoinToken)).size).to.equal(60);
    expect(joinTokens(node.view, Date.now()).tokens).to.have.length(60);
  });
});
