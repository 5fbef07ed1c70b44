/** Errors in certificate and key files; a node keeps the old files if the new ones are invalid. */

import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { loadConfig } from '../../src/config/config.js';
import { createLog, type Log } from '../../src/log/log.js';
import { checkKeyFiles, sinkFileFaults } from '../../src/program/key-files.js';
import { startServer } from '../../src/program/server.js';

const fixture = (name: string): string => join('test/transport/fixtures', name);

describe('certificate and key files', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-key-files-'));
  after(() => rmSync(dir, { recursive: true, force: true }));
  const garbage = join(dir, 'garbage');
  const torn = join(dir, 'torn');
  const glued = join(dir, 'glued');
  const binary = join(dir, 'binary');
  before(() => {
    writeFileSync(garbage, 'garbage');
    const [text, authority] = ['member.pem', 'authority.pem'].map((name) =>
      readFileSync(fixture(name), 'utf8'),
    ) as [string, string];
    writeFileSync(torn, text + authority.slice(0, authority.length / 2));
    writeFileSync(glued, text.trimEnd() + authority);
    writeFileSync(binary, new X509Certificate(text).raw);
  });
  const member = (change: object = {}) => ({
    cert: fixture('member.pem'),
    key: fixture('member.key'),
    ca: fixture('authority.pem'),
    name: 'members.conclave.test',
    ...change,
  });
  const check = (raft: object, http: object = {}, more: object = {}) => {
    const file = join(dir, 'node.json');
    writeFileSync(file, JSON.stringify({ raft, http, ...more }));
    return checkKeyFiles(loadConfig({ file }));
  };

  it('that are valid cause no error', () => {
    const tls = { cert: fixture('client.pem'), key: fixture('client.key') };
    expect(check({ tls: member() }, { tls })).to.deep.equal({
      faults: [],
      listFaults: [],
      warnings: [],
    });
  });

  it('of audit sinks are checked before a start', () => {
    const file = join(dir, 'sinks.json');
    const sinks = {
      a: { path: join(dir, 'none', 'audit.json') },
      b: { path: join(dir, 'audit.json'), keyFile: join(dir, 'none') },
      c: { type: 'stdout' },
    };
    writeFileSync(file, JSON.stringify({ audit: { sinks } }));
    const [folder, key, ...more] = sinkFileFaults(loadConfig({ file }));
    expect(folder).to.equal(`audit.sinks.a.path: the folder ${join(dir, 'none')} does not exist`);
    expect(key).to.match(/^audit\.sinks\.b\.keyFile: ENOENT/);
    expect(more).to.deep.equal([]);
  });

  const faulty: readonly [title: string, raft: object, fault: RegExp][] = [
    ['are missing', { tls: member({ key: join(dir, 'none') }) }, /^raft\.tls\.key: ENOENT.*none/],
    ['hold no certificate', { tls: member({ cert: garbage }) }, /^raft\.tls\.cert: cannot be used/],
    ['hold no key', { tls: member({ key: garbage }) }, /^raft\.tls\.key: cannot be used/],
    ['hold no authority', { tls: member({ ca: garbage }) }, /^raft\.tls\.ca: cannot be used/],
    [
      'hold a part of a chain',
      { tls: member({ cert: torn }) },
      /^raft\.tls\.cert: certificate 2 in .*torn cannot be used/,
    ],
    [
      'hold a part of an authority',
      { tls: member({ ca: torn }) },
      /^raft\.tls\.ca: certificate 2 in .*torn cannot be used/,
    ],
    [
      'were joined without a line break',
      { tls: member({ ca: glued }) },
      /^raft\.tls\.ca: certificate 1 in .*glued cannot be used/,
    ],
    ['are not PEM', { tls: member({ cert: binary }) }, /^raft\.tls: cannot be used \(.*PEM/],
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
    [
      'are not of the authority',
      { tls: member({ cert: fixture('forged.pem'), key: fixture('forged.key') }) },
      /^raft\.tls\.cert: the certificate \(subject "CN=forged", issuer "[^"]+"\) is not issued by/,
    ],
    ['hold too short a key', { sharedKeyFile: garbage }, /^raft\.sharedKeyFile: .*16 characters/],
  ];
  for (const [title, raft, fault] of faulty)
    it(`that ${title} are reported by their setting`, () => {
      const { faults } = check(raft);
      expect(faults).to.have.length(1);
      expect(faults[0]).to.match(fault);
    });

  /** A certificate of a chain that ends with the authority `ca`, for these uses. */
  const issue = (subject: string, uses: string, ca: string, between = false) => {
    const ssl = (...words: string[]): void => {
      const { status, stderr } = spawnSync('openssl', words, { cwd: dir, encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
    };
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const of = (name: string, what: string) => join(dir, `${name}.${what}`);
    if (!existsSync(of(ca, 'pem')))
      ssl(
        'req',
        '-x509',
        ...key,
        '-keyout',
        `${ca}.key`,
        '-out',
        `${ca}.pem`,
        '-subj',
        `/CN=${ca}`,
      );
    const sign = (name: string, by: string, extensions: string): void => {
      ssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
      writeFileSync(of(name, 'ext'), extensions);
      const from = ['-in', `${name}.csr`, '-extfile', `${name}.ext`, '-out', `${name}.pem`];
      ssl('x509', '-req', '-CA', `${by}.pem`, '-CAkey', `${by}.key`, '-CAcreateserial', ...from);
    };
    const middle = `${subject}-issuer`;
    if (between) sign(middle, ca, 'basicConstraints=CA:TRUE');
    sign(
      subject,
      between ? middle : ca,
      `subjectAltName=DNS:members.conclave.test\nextendedKeyUsage=${uses}`,
    );
    const cert = of(subject, between ? 'chain' : 'pem');
    if (between) {
      const chain = [subject, middle].map((name) => readFileSync(of(name, 'pem'), 'utf8'));
      writeFileSync(cert, chain.join(''));
    }
    return { tls: member({ cert, key: of(subject, 'key'), ca: of(ca, 'pem') }) };
  };
  const BOTH = 'serverAuth,clientAuth';

  it('of a chain that leads to an authority cause no error, and others do', () => {
    const whole = issue('n1', BOTH, 'ca1', true);
    expect(check(whole).faults).to.deep.equal([]);
    const alone = { tls: { ...whole.tls, cert: join(dir, 'n1.pem') } };
    expect(check(alone).faults.join()).to.match(
      /\(subject "CN=n1", issuer "CN=n1-issuer"\) is not/,
    );
    // OpenSSL trusts no chain that ends before an authority which has issued itself.
    const half = { tls: { ...whole.tls, ca: join(dir, 'n1-issuer.pem') } };
    expect(check(half).faults.join()).to.match(/is not issued by an authority/);
  });

  it('for one side of a connection alone are reported', () => {
    const { faults } = check(issue('n2', 'serverAuth', 'ca1'));
    expect(faults).to.have.length(1);
    expect(faults[0]).to.match(
      /is not for clientAuth \(extended key usage\), so the other members/,
    );
  });

  it('with a subject that is not of one member are warned of', () => {
    expect(check(issue('n3', BOTH, 'ca1')).warnings.join()).to.not.include('subject');
    const named = check(issue('members.conclave.test', BOTH, 'ca1'));
    expect(named.faults).to.deep.equal([]);
    expect(named.warnings.join()).to.match(/"members\.conclave\.test" is the name that the cert/);
    const dataDir = join(dir, 'seen');
    mkdirSync(dataDir);
    const seen = { 'id of n4': { subject: 'n3' } };
    writeFileSync(join(dataDir, 'node.json'), JSON.stringify({ seen }));
    const { warnings } = check(issue('n3', BOTH, 'ca1'), {}, { dataDir });
    expect(warnings.join()).to.match(/subject "n3" is also that of the member id of n4: give each/);
  });

  const listed = (...lists: string[]) => {
    const crl = join(dir, 'listed.crl');
    const texts = lists.map((name) => readFileSync(fixture(`revocation/${name}.crl`), 'utf8'));
    writeFileSync(crl, texts.join(''));
    const [cert, key, ca] = ['first.pem', 'first.key', 'authority.pem'].map((name) =>
      fixture(`revocation/${name}`),
    );
    return { cert, key, ca, crl };
  };

  it('that hold an outdated or foreign list of revoked certificates are reported', () => {
    const faultsOf = (change: object) => {
      const { faults, listFaults } = check({ tls: member(change) });
      return [faults, listFaults];
    };
    expect(faultsOf(listed('none'))).to.deep.equal([[], []]);
    expect(faultsOf(listed('outdated', 'none'))).to.deep.equal([[], []]);
    const due = 'is out of date since 2020-02-01T12:34:56.000Z, so nobody could connect';
    const what = 'raft.tls.crl: the list of revoked certificates';
    expect(faultsOf(listed('outdated'))).to.deep.equal([[], [`${what} ${due}`]]);
    expect(faultsOf({ crl: fixture('revocation/none.crl') })).to.deep.equal([
      [],
      [`${what} was not issued by the authority of the certificate in raft.tls.cert`],
    ]);
    const [[fault]] = faultsOf({ crl: garbage }) as [string[], string[]];
    expect(fault).to.equal('raft.tls.crl: contains no list of revoked certificates');
  });

  it('with an outdated list of revoked certificates do not pass a check', () => {
    const file = join(dir, 'node.json');
    const results = ['outdated', 'none'].map((name) => {
      const tls = member(listed(name));
      writeFileSync(file, JSON.stringify({ raft: { tls } }));
      const words = [resolve('dist/program/main.js'), 'config', 'check', '--config', file];
      const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
      return [status, stderr.slice(0, 24)];
    });
    expect(results).to.deep.equal([
      [2, 'conclave: raft.tls.crl: '],
      [0, ''],
    ]);
  });

  it('with an outdated list of revoked certificates are taken at a start alone', async () => {
    const file = join(dir, 'node.json');
    const tls = { ...member(listed('outdated')), ca: fixture('revocation/authority.pem') };
    writeFileSync(
      file,
      JSON.stringify({ dataDir: join(dir, 'listed'), http: { port: 0 }, raft: { port: 0, tls } }),
    );
    const events: string[] = [];
    const ignore = () => {};
    const warn: Log['warn'] = ({ event }) => events.push(event);
    const log: Log = { debug: ignore, info: ignore, warn, error: ignore };
    const server = await startServer(loadConfig({ file }), log, (error) => {
      throw error;
    });
    try {
      expect(events).to.include.members(['revocation_list_unusable', 'certificate_expires']);
      expect(() => server.reloadTls()).to.throw(/^raft\.tls\.crl: .* is out of date since/);
      listed('none');
      server.reloadTls();
    } finally {
      await server.stop();
    }
  });

  it('that are invalid for members leave those of the API in use too', async () => {
    const own = { cert: join(dir, 'own.pem'), key: join(dir, 'own.key') };
    copyFileSync(fixture('member.pem'), own.cert);
    copyFileSync(fixture('member.key'), own.key);
    const [ca, chain] = [join(dir, 'ca.pem'), join(dir, 'chain.pem')];
    copyFileSync(fixture('authority.pem'), ca);
    copyFileSync(fixture('member.pem'), chain);
    const file = join(dir, 'node.json');
    writeFileSync(
      file,
      JSON.stringify({
        dataDir: join(dir, 'data'),
        http: { port: 0, tls: own },
        raft: { port: 0, tls: member({ cert: chain, ca }) },
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
      copyFileSync(torn, chain);
      expect(() => server.reloadTls()).to.throw(/^raft\.tls\.cert: certificate 2 in /);
      expect(await serialOf(server.url)).to.equal(before);
      copyFileSync(fixture('member.pem'), chain);
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
