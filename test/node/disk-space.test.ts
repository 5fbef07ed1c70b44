import { expect } from 'chai';
import { DiskSpace } from '../../src/node/disk-space.js';
import { freesSpace } from '../../src/node/options.js';

describe('node: a node on a full disk', () => {
  it('refuses growth of the state at the reserve, and recovers with a margin', async () => {
    let free = 1000;
    const changes: boolean[] = [];
    const disk = new DiskSpace({
      ...{ dir: '.', reserveBytes: 1000, everyMs: 1000, frees: freesSpace },
      freeBytes: async () => free,
      onChange: (full) => changes.push(full),
      onFatal: (error) => {
        throw error;
      },
    });
    const codes = async (): Promise<(string | undefined)[]> => {
      await disk.check();
      const types = [
        ...['config.set', 'config.delete', 'token.logout', 'token.gc', 'token.create'],
        ...['identity.revoke', 'identity.unblock'],
      ];
      return types.map((type) => disk.refuses({ type, v: 1 })?.code);
    };
    const none = undefined;
    expect(await codes()).to.deep.equal([none, none, none, none, none, none, none]);
    free = 999;
    const refused = ['no_space', none, none, none, 'no_space', none, none];
    expect(await codes()).to.deep.equal(refused);
    free = 1050;
    expect(await codes()).to.deep.equal(refused);
    free = 1100;
    expect(await codes()).to.deep.equal([none, none, none, none, none, none, none]);
    expect(changes).to.deep.equal([true, false]);
  });
});
