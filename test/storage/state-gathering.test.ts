/** When the state writes the commits that it gathers. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../cluster/checker/random.js';
import { LEVEL_DISK } from '../../src/storage/level-disk.js';
import { openState } from '../../src/storage/state.js';
import { FakeDisk } from '../support/fake-disk.js';

describe('storage: the gathering of commits', () => {
  it('writes commits that became due during a write, although no commit follows', async () => {
    const disk = new FakeDisk({ after: (_ms, run) => setImmediate(run) }, new Random(1));
    const due: (() => void)[] = [];
    const after = (_ms: number, run: () => void): (() => void) => {
      due.push(run);
      return () => {};
    };
    const fatal: Error[] = [];
    const state = await openState('state', {
      onFatal: (error) => fatal.push(error),
      disk: disk.attach({ ...LEVEL_DISK.clock, after }),
    });
    disk.hang();
    state.commit([['a', '1']]);
    due.shift()!();
    await nextTurn();
    state.commit([['b', '1']]);
    due.shift()!();
    disk.unhang();
    for (let turns = 0; turns < 100 && state.backlogBytes > 0; turns += 1) await nextTurn();
    expect(state.backlogBytes).to.equal(0);
    expect(fatal).to.deep.equal([]);
  });
});
