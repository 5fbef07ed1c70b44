/** A start that begins to read the state before the rest of the program is loaded. */
import { expect } from 'chai';
import { readState } from '../../src/node/read-state.js';
import { StorageError } from '../../src/storage/errors.js';
import { openState } from '../../src/storage/state.js';
import { failure } from '../storage/helpers.js';
import { Cluster, put, valueAt } from './processes.js';

describe('node: a state that is read early', () => {
  let cluster: Cluster;
  beforeEach(async () => {
    cluster = await Cluster.create(['a']);
  });
  afterEach(() => cluster.remove());

  it('is left alone in a folder that is not in use yet', () => {
    expect(readState(cluster.folder('a'))).to.equal(undefined);
  });

  it('is the state that the node serves', async () => {
    const initial = cluster.initial('a');
    const first = await cluster.start('a', { initial });
    await cluster.until(() => first.status().role === 'leader');
    await first.write({ tokenKey: null, command: put('k', 'v'), timeoutMs: 8000 });
    await first.stop();
    const again = await cluster.start('a', { initial });
    expect(valueAt(again, 'k')).to.equal('v');
  });

  it('reports a folder that another process has open when the node is opened', async () => {
    await cluster.start('a', { initial: cluster.initial('a') });
    const loading = readState(cluster.folder('a'))!;
    const opening = openState('unused', { onFatal: () => {}, loading: loading.state });
    expect(await failure(opening))
      .instanceOf(StorageError)
      .property('code')
      .equal('locked');
  });
});
