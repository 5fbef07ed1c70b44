/** The URL that a node says it serves. */
import { mkdtempSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../../src/config.js';
import { createLog } from '../../src/log.js';
import { startServer } from '../../src/server.js';

describe('the URL of a node', function () {
  this.timeout(20_000);
  const dir = mkdtempSync(join(tmpdir(), 'conclave-url-'));
  after(() => rmSync(dir, { recursive: true, force: true }));

  it('has brackets around an IPv6 address', async function () {
    const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    if (!addresses.some(({ address }) => address === '::1')) return this.skip();
    const flags = { dataDir: dir, 'http.host': '::1', 'http.port': '0', 'raft.port': '0' };
    const log = createLog({ level: 'silent', format: 'json' }, {});
    const server = await startServer(loadConfig({ flags }), log, (error) => {
      throw error;
    });
    try {
      expect(server.url).to.match(/^http:\/\/\[::1\]:\d+$/);
      expect((await fetch(`${server.url}/v1/health/live`)).status).to.equal(200);
    } finally {
      await server.stop();
    }
  });
});
