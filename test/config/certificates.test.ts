import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../../src/config/config.js';
import { certificateEnds, expiryWarnings } from '../../src/program/certificates.js';

const fixture = (name: string): string => join('test/transport/fixtures', name);
const endOf = (name: string): number =>
  Date.parse(new X509Certificate(readFileSync(fixture(name))).validTo);
const DAY = 86_400_000;

describe('certificates', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-certificates-'));
  after(() => rmSync(dir, { recursive: true, force: true }));
  const ends = (cert: string, ca?: string) => {
    const file = join(dir, 'node.json');
    const tls = { cert, key: fixture('member.key'), ...(ca !== undefined && { ca }) };
    const raft = { tls: { ...tls, ca: fixture('authority.pem'), name: 'members.conclave.test' } };
    writeFileSync(file, JSON.stringify({ http: { tls }, raft }));
    return certificateEnds(loadConfig({ file }));
  };

  it('end at the first end of a chain, and at the last one of authorities', () => {
    const both = join(dir, 'both.pem');
    const names = ['member.pem', 'authority.pem'];
    writeFileSync(both, names.map((name) => readFileSync(fixture(name), 'utf8')).join(''));
    const [first, last] = names.map(endOf).sort((a, b) => a - b) as [number, number];
    expect(ends(both, both)).to.deep.equal([
      { use: 'api', setting: 'http.tls.cert', notAfterMs: first },
      { use: 'api_ca', setting: 'http.tls.ca', notAfterMs: last },
      { use: 'raft', setting: 'raft.tls.cert', notAfterMs: first },
      { use: 'raft_ca', setting: 'raft.tls.ca', notAfterMs: endOf('authority.pem') },
    ]);
  });

  it('of revoked certificates end with their list', () => {
    const crl = fixture('revocation/outdated.crl');
    const tls = { cert: crl, key: crl, ca: crl, name: 'members.conclave.test' };
    const file = join(dir, 'node.json');
    const endsWith = (listFile: string) => {
      writeFileSync(file, JSON.stringify({ raft: { tls: { ...tls, crl: listFile } } }));
      return certificateEnds(loadConfig({ file }));
    };
    expect(endsWith(crl)).to.deep.equal([
      { use: 'raft_crl', setting: 'raft.tls.crl', notAfterMs: Date.UTC(2020, 1, 1, 12, 34, 56) },
    ]);
    for (const unread of [fixture('member.pem'), join(dir, 'none')])
      expect(endsWith(unread)).to.deep.equal([]);
  });

  it('that cannot be read have no end', () => {
    expect(ends(join(dir, 'none')).map(({ use }) => use)).to.deep.equal(['raft_ca']);
  });

  it('are warned of in their last 30 days, and once they have expired', () => {
    const notAfterMs = Date.UTC(2030, 0, 31);
    const warnings = (daysLeft: number, use = 'api') =>
      expiryWarnings([{ use, setting: 'http.tls.cert', notAfterMs }], notAfterMs - daysLeft * DAY);
    const what = 'http.tls.cert: the certificate expires at 2030-01-31T00:00:00.000Z, in';
    const advice = 'renew it and send SIGHUP';
    expect(warnings(30)).to.deep.equal([]);
    expect(warnings(29.5)).to.deep.equal([`${what} 29 days; ${advice}`]);
    expect(warnings(1)).to.deep.equal([`${what} 1 day; ${advice}`]);
    expect(warnings(0.5)).to.deep.equal([`${what} less than a day; ${advice}`]);
    expect(warnings(0)).to.deep.equal([
      'http.tls.cert: the certificate expired at 2030-01-31T00:00:00.000Z',
    ]);
    expect(warnings(1, 'api_ca')[0]).to.include('the authority expires');
    expect(warnings(1, 'raft_crl')[0]).to.include('the list of revoked certificates expires');
  });
});
