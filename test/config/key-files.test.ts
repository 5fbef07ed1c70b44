/** Errors in certificate and key files; a node keeps the old files if the new ones are invalid. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { loadConfig } from '../../src/config.js';
import { checkKeyFiles } from '../../src/key-files.js';
import { createLog } from '../../src/log.js';
import { startServer } from '../../src/server.js';

const fixture = (name: string): string => join('test/transport/fixtures', name);

describe('certificate and key files', function () {
  this.timeout(20_000);
  const dir = mkdtempSync(join(tmpdir(), 'conclave-key-files-'));
  after(() => rmSync(dir, { recursive: true, force: true }));
  const garbage = join(dir, 'garbage');
  before(() => writeFileSync(garbage, 'garbage'));
  const member = (change: object = {}) => ({
    cert: fixture('member.pem'),
    key: fixture('member.key'),
    ca: fixture('authority.pem'),
    name: 'members.conclave.test',
    ...change,
  });
  const check = (raft: object, http: object = {}) => {
    const file = join(dir, 'node.json');
    writeFileSync(file, JSON.stringify({ raft, http }));
    return checkKeyFiles(loadConfig({ file }));
  };

  it('that are valid cause no error', () => {
    const tls = { cert: fixture('client.pem'), key: fixture('client.key') };
    expect(check({ tls: member() }, { tls })).to.deep.equal({ faults: [], warnings: [] });
  });

  const faulty: readonly [title: string, raft: object, fault: RegExp][] = [
    ['are missing', { tls: member({ key: join(dir, 'none') }) }, /^raft\.tls\.key: ENOENT.*none/],
    ['hold no certificate', { tls: member({ cert: garbage }) }, /^raft\.tls\.cert: cannot be used/],
    ['hold no key', { tls: member({ key: garbage }) }, /^raft\.tls\.key: cannot be used/],
    ['hold no authority', { tls: member({ ca: garbage }) }, /^raft\.tls\.ca: cannot be used/],
    [
      'do not belong together',
      { tls: member({ key: fixture('client.key') }) },
      /^raft\.tls\.key: is not the key of the certificate in .*member\.pem$/,
    ],
    [
      'do not name a member',
      { tls: member({ cert: fixture('client.pem'), key: fixture('client.key') }) },
      /^raft\.tls\.cert: .* does not carry the name members\.conclave\.test/,
    ],
    ['hold too short a key', { sharedKeyFile: garbage }, /^raft\.sharedKeyFile: .*16 characters/],
  ];
  for (const [title, raft, fault] of faulty)
    it(`that ${title} are reported by their setting`, () => {
      const { faults } = check(raft);
      expect(faults).to.have.length(1);
      expect(faults[0]).to.match(fault);
    });

  it('that are invalid for members leave those of the API in use too', async () => {
    const own = { cert: join(dir, 'own.pem'), key: join(dir, 'own.key') };
    copyFileSync(fixture('member.pem'), own.cert);
    copyFileSync(fixture('member.key'), own.key);
    const ca = join(dir, 'ca.pem');
    copyFileSync(fixture('authority.pem'), ca);
    const file = join(dir, 'node.json');
    writeFileSync(
      file,
      JSON.stringify({
        dataDir: join(dir, 'data'),
        http: { port: 0, tls: own },
        raft: { port: 0, tls: member({ ca }) },
      }),
    );
    const log = createLog({ level: 'silent', format: 'json' }, {});
    const server = await startServer(loadConfig({ file }), log, (error) => {
      throw error;
    });
    try {
      const before = await serialOf(server.url);
      copyFileSync(fixture('renewed.pem'), own.cert);
      copyFileSync(fixture('renewed.key'), own.key);
      writeFileSync(ca, 'garbage');
      expect(() => server.reloadTls()).to.throw(/^raft\.tls\.ca: /);
      expect(await serialOf(server.url)).to.equal(before);
      copyFileSync(fixture('authority.pem'), ca);
      server.reloadTls();
      expect(await serialOf(server.url)).not.to.equal(before);
    } finally {
      await server.stop();
    }
  });
});

/** The serial number of a server's certificate. */
function serialOf(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
  });
}
