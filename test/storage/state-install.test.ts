import { expect } from 'chai';
import type { Installation, StateRecord } from '../../src/storage/types.js';
import { contents, Folders } from './helpers.js';

describe('an installation that begins while another is switched in', () => {
  const folders = new Folders();
  afterEach(() => folders.clean());

  it('remains the newest: no rewrite begins beside it, and its state stays', async () => {
    const state = await folders.state(await folders.make());
    const rewritten = (who: string, turns = 0): Promise<boolean> =>
      new Promise((resolve) => {
        function* slices(): Generator<readonly StateRecord[], boolean> {
          yield [['who', who]];
          for (let i = 0; i < turns; i++) yield [];
          return true;
        }
        state.rewrite(slices(), resolve);
      });
    const { db } = state;
    const write = db.write.bind(db);
    let arriving: Installation | undefined;
    db.write = (operations, options) => {
      if (operations.some(({ key }) => key === '!state')) arriving ??= state.install();
      return write(operations, options);
    };
    expect(await rewritten('first restore')).to.equal(true);
    expect(contents(state)).to.deep.equal([['who', 'first restore']]);
    await arriving!.add([['who', 'snapshot']]);
    const second = rewritten('second restore', 50);
    await arriving!.finish();
    expect(await second).to.equal(false);
    expect(contents(state)).to.deep.equal([['who', 'snapshot']]);
    expect(await rewritten('third restore')).to.equal(true);
    expect(contents(state)).to.deep.equal([['who', 'third restore']]);
  });
});
