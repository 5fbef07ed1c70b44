import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openState } from '../../src/storage/state.js';

describe('storage/state: the background loop', () => {
  it('goes on when its timer comes after everything was written already', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'conclave-state-'));
    const store = await openState(dir, {
      onFatal: (error) => {
        throw error;
      },
    });
    store.commit([['a', '1']]);
    const first = store.flush();
    // Gathered while the first batch is written: this sets the timer, and the flush does its work before it.
    store.commit([['b', '2']]);
    await Promise.all([first, store.flush()]);
    await new Promise((resolve) => setTimeout(resolve, 80));
    store.commit([['c', '3']]);
    await store.flush();
    await store.close();
    const again = await openState(dir, { onFatal: () => {} });
    expect([...again.keys('')]).to.deep.equal(['a', 'b', 'c']);
    await again.close();
    await rm(dir, { recursive: true });
  });
});
