/** The URL that a node says it serves. */
import { mkdtempSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../../src/config/config.js';
import { createLog } from '../../src/log/log.js';
import { startServer } from '../../src/program/server.js';
import { send } from '../support/client.js';

describe('the URL of a node', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-url-'));
  after(() => rmSync(dir, { recursive: true, force: true }));

  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const hosts = ['127.0.0.1', '::1'].filter((host) =>
    addresses.some(({ address }) => address === host),
  );
  for (const host of hosts)
    it(`leads to ${host}`, async () => {
      const dataDir = join(dir, host);
      const flags = { dataDir, 'http.host': host, 'http.port': '0', 'raft.port': '0' };
      const log = createLog({ level: 'silent', format: 'json' }, {});
      const server = await startServer(loadConfig({ flags }), log, (error) => {
        throw error;
      });
      try {
        expect((await send(server.url, 'GET /v1/health/live')).status).to.equal(200);
      } finally {
        await server.stop();
      }
    });
});
