/** Who issued a list of revoked certificates, and when it ends, read from its DER. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  endOfLists,
  issuerOf,
  listTexts,
  type RevocationList,
  revocationLists,
} from '../../src/transport/revocation-lists.js';

const fixture = (name: string): string =>
  readFileSync(join('test/transport/fixtures', name), 'utf8');
/** A list of version 2 with extensions, and with times before 2050 (UTCTime). */
const outdated = fixture('revocation/outdated.crl');
/** A list of version 1 that ends after 2049 (GeneralizedTime). */
const none = fixture('revocation/none.crl');
const bytesOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
const pemOf = (der: Uint8Array): string =>
  `-----BEGIN X509 CRL-----\n${Buffer.from(der).toString('base64')}\n-----END X509 CRL-----\n`;

/** Returns a short value in DER. */
const value = (tag: number, ...content: (Uint8Array | string)[]): Buffer => {
  const body = Buffer.concat(content.map((each) => Buffer.from(each as string, 'latin1')));
  return Buffer.concat([Buffer.from([tag, body.length]), body]);
};
/** Returns a list with these times after its issuer. */
const listWith = (...times: Buffer[]): string =>
  pemOf(value(0x30, value(0x30, value(0x30), value(0x30, 'issuer'), ...times)));
const endOf = (pem: string): number | undefined => revocationLists(pem)[0]!.nextUpdateMs;
const start = value(0x17, '200101000000Z');

describe('lists of revoked certificates', () => {
  it('end when OpenSSL says', () => {
    expect(endOf(outdated)).to.equal(Date.UTC(2020, 1, 1, 12, 34, 56));
    expect(endOf(none)).to.equal(Date.UTC(2126, 9, 29, 0, 43, 5));
  });

  it('have the issuer of the certificates that their authority issued, and no other', () => {
    const certificate = (name: string) => issuerOf(new X509Certificate(fixture(name)));
    const own = certificate('revocation/first.pem');
    expect(revocationLists(outdated + none).map(({ issuer }) => issuer)).to.eql([own, own]);
    expect(certificate('revocation/second-renewed.pem')).to.equal(own);
    expect(certificate('member.pem')).not.to.equal(own);
  });

  it('may be several in a file, with other text, and with the line ends of Windows', () => {
    const text = `first\n${outdated}second\n${none}`.replaceAll('\n', '\r\n');
    expect(listTexts(text)).to.have.length(2);
    expect(revocationLists(text)).to.have.length(2);
    for (const other of ['', 'garbage', fixture('member.pem')])
      expect(() => listTexts(other)).to.throw('contains no list of revoked certificates');
    for (const damaged of [outdated.slice(0, 200), outdated.replace('MIH', '!')])
      expect(() => listTexts(none + damaged)).to.throw('is not PEM, or is truncated');
  });

  it('have two digits for the years 1950 to 2049, and may have no end', () => {
    expect(endOf(listWith(start, value(0x17, '491231235959Z')))).to.equal(
      Date.UTC(2049, 11, 31, 23, 59, 59),
    );
    expect(endOf(listWith(start, value(0x17, '500101000000Z')))).to.equal(Date.UTC(1950, 0, 1));
    expect(endOf(listWith(start))).to.equal(undefined);
    expect(endOf(listWith(start, value(0x30)))).to.equal(undefined);
  });

  it('are refused with times in another form, or without any', () => {
    for (const time of ['2001010000Z', '200101000000+0100', '200101000000', '']) {
      expect(() => endOf(listWith(value(0x17, time))), time).to.throw('is not UTC');
      expect(() => endOf(listWith(start, value(0x18, time))), time).to.throw('is not UTC');
    }
    expect(() => endOf(listWith())).to.throw('not DER of the expected form');
  });

  it('are refused wherever they are cut short, and with lengths that no list has', () => {
    for (const whole of [bytesOf(outdated), bytesOf(none)])
      for (let length = 0; length < whole.length; length += 1)
        expect(() => endOf(pemOf(whole.subarray(0, length))), String(length)).to.throw(/DER/);
    const lengths = [[0x80], [0x85, 0, 0, 0, 0, 2], [0x84, 0xff, 0xff, 0xff, 0xff], [0xff], [5]];
    for (const length of lengths)
      expect(() => endOf(pemOf(Buffer.from([0x30, ...length, 0x30, 0])))).to.throw(/DER/);
  });

  it('end with the first authority whose last list ends', () => {
    const list = (issuer: string, nextUpdateMs?: number): RevocationList => ({
      issuer,
      nextUpdateMs,
    });
    expect(endOfLists([list('a', 5), list('b', 7)])).to.equal(5);
    expect(endOfLists([list('a', 5), list('b', 7), list('a', 9)])).to.equal(7);
    expect(endOfLists([list('a', 5), list('a')])).to.equal(undefined);
    expect(endOfLists([list('a', 5), list('b')])).to.equal(5);
  });
});
