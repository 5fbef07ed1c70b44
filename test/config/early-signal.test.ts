/** A signal that arrives while the node starts. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { planCluster } from '../../src/dev/local.js';

describe('a SIGHUP during the start', function () {
  this.timeout(60_000);
  const dir = mkdtempSync(join(tmpdir(), 'conclave-early-signal-'));
  after(() => rmSync(dir, { recursive: true, force: true }));

  it('reloads certificates and keys once the node serves', async () => {
    // It comes as soon as the node handles it.
    const signal = `process.on('newListener', (name) => {
      if (name === 'SIGHUP') setImmediate(() => process.emit('SIGHUP'));
    });`;
    const preload = [`data:text/javascript,${encodeURIComponent(signal)}`];
    const plan = await planCluster({ nodes: 1, dir, run: () => ({ preload, env: {} }) });
    const node = plan.nodes[0]!;
    node.start();
    try {
      await node.ready();
      const log = readFileSync(node.logFile, 'utf8');
      const events = [...log.matchAll(/"event":"(serving|keys_reloaded)"/g)];
      expect(events.map(([, event]) => event)).to.deep.equal(['serving', 'keys_reloaded']);
    } finally {
      await node.kill('SIGTERM');
    }
  });
});
