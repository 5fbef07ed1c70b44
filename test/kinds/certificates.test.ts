/** Certificates and keys that nobody has, and what they cost. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { decodeEntry } from './decode-entry.js';

const rows = JSON.parse(readFileSync('test/tables/config-decode.json', 'utf8')) as {
  readonly name: string;
  readonly input: { readonly Certificate: string };
}[];
const { input } = rows.find(({ name }) => name === 'inline-certificate: minimal entry #1')!;
const pem = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${der.toString('base64')}\n-----END ${label}-----\n`;
const refusalWith = (more: object): string => {
  const decoded = decodeEntry({ ...input, ...more }, { namespace: 'default' });
  return decoded.ok ? expect.fail('it is accepted') : decoded.refusal.message;
};
/** A DER element with a length of three bytes. */
function element(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const head = Buffer.from([tag, 0x83, 0, 0, 0]);
  head.writeUIntBE(content.length, 2, 3);
  return Buffer.concat([head, content]);
}

describe('kinds: the certificate and the key of an entry', () => {
  it('are refused if the algorithm of the certificate is unknown', () => {
    const der = Buffer.from(new X509Certificate(input.Certificate).raw);
    // the last byte of the identifier of elliptic curves
    der[der.indexOf('2a8648ce3d0201', 0, 'hex') + 6] = 0x7f;
    expect(refusalWith({ Certificate: pem('CERTIFICATE', der) })).to.equal(
      'failed to parse certificate: x509: malformed certificate',
    );
  });

  it('are refused at once, however large the numbers of a key of another algorithm', () => {
    // OpenSSL computes the public part of this DSA key, which takes seconds.
    const large = element(2, Buffer.alloc(2_000, 0x7f));
    const identifier = Buffer.from('06072a8648ce380401', 'hex');
    const algorithm = element(0x30, identifier, element(0x30, large, large, large));
    const key = element(0x30, Buffer.from('020100', 'hex'), algorithm, element(4, large));
    for (const label of ['PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY', 'DSA PRIVATE KEY']) {
      const PrivateKey = pem(label, key);
      // OpenSSL may look for a key behind the first line.
      const inside = `-----BEGIN EC PRIVATE KEY-----\n${PrivateKey}-----END EC PRIVATE KEY-----\n`;
      for (const one of [PrivateKey, inside]) {
        const beginMs = performance.now();
        expect(refusalWith({ PrivateKey: one })).to.equal('failed to parse private key PEM');
        expect(performance.now() - beginMs).to.be.below(500);
      }
    }
  }).timeout(60_000);

  it('are refused if the number of an EC key is too large for its curve', () => {
    const curve = Buffer.from('301306072a8648ce3d020106082a8648ce3d030107', 'hex');
    const version = Buffer.from('020101', 'hex');
    const own = element(0x30, version, element(4, Buffer.alloc(33, 7)));
    const key = element(0x30, Buffer.from('020100', 'hex'), curve, element(4, own));
    expect(refusalWith({ PrivateKey: pem('PRIVATE KEY', key) })).to.match(/private key/);
  });

  const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const ec = () => generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
  const ed25519 = () => generateKeyPairSync('ed25519').privateKey;
  for (const [name, make, type] of [
    ['RSA', rsa, 'pkcs1'],
    ['RSA', rsa, 'pkcs8'],
    ['EC', ec, 'sec1'],
    ['EC', ec, 'pkcs8'],
    ['Ed25519', ed25519, 'pkcs8'],
  ] as const) {
    it(`are compared if the key is one of ${name} in ${type}`, () => {
      const PrivateKey = make().export({ type: type as 'pkcs8', format: 'pem' });
      expect(refusalWith({ PrivateKey })).to.match(/^tls: private key/);
    });
  }
});
