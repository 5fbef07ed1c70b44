import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Fault } from '../../cluster/chaos/faults.js';
import { Nemesis, type NemesisParts } from '../../cluster/chaos/nemesis.js';
import { Random } from '../../cluster/checker/random.js';

/** A node without a process. */
function fakeNode() {
  let isUp = true;
  return {
    name: 'n1',
    get pid() {
      return isUp ? 1 : undefined;
    },
    start: () => {
      isUp = true;
    },
    kill: async () => {},
    end: () => {
      isUp = false;
    },
  };
}

describe('the nemesis', () => {
  it('restarts a node that ends only after its fault is over', async () => {
    const node = fakeNode();
    const notes: string[] = [];
    const lateEnd: Fault = {
      ...{ name: 'late end', how: '', weight: 1, owns: 'process' },
      async make() {
        setTimeout(() => node.end(), 10);
      },
    };
    const needsNode: Fault = {
      ...{ name: 'needs the node', how: '', weight: 1, owns: 'disk' },
      async make() {
        for (let tries = 0; tries < 100; tries++) {
          await sleep(20);
          if (node.pid !== undefined) return;
        }
        throw new Error('the node does not come back');
      },
    };
    const parts = {
      nodes: [node],
      network: { heal: () => {} },
      random: new Random(1),
      control: () => ({ heal: () => {} }),
      leader: async () => undefined,
      note: (text: string) => notes.push(text),
    } as unknown as NemesisParts;
    const nemesis = new Nemesis(parts, [lateEnd, needsNode]);
    await nemesis.run(performance.now() + 4000);
    expect(node.pid).to.equal(1);
    expect(nemesis.counts).to.have.all.keys('late end', 'needs the node');
    expect(notes).to.include('n1 ended by itself');
    expect(nemesis.effects['a node ended by itself and was restarted']).to.be.greaterThan(0);
  });
});
