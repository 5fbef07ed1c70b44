import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openState } from '../../src/storage/state.js';

describe('storage: the background loop of the state', () => {
  it('continues when its timer fires after everything was written', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'conclave-state-'));
    const store = await openState(dir, {
      onFatal: (error) => {
        throw error;
      },
    });
    store.commit([['a', '1']]);
    const first = store.flush();
    store.commit([['b', '2']]);
    const second = store.flush();
    // Sets the timer, but the flush before it also writes this commit.
    store.commit([['c', '3']]);
    await Promise.all([first, second]);
    await new Promise((resolve) => setTimeout(resolve, 80));
    store.commit([['d', '4']]);
    await store.flush();
    await store.close();
    const again = await openState(dir, { onFatal: () => {} });
    expect([...again.keys('')]).to.deep.equal(['a', 'b', 'c', 'd']);
    await again.close();
    await rm(dir, { recursive: true });
  });
});
