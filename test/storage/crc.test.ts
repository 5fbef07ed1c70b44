/** The CRC-32 of keys and heads, whose own code must agree with Node's. */
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { crcOf, crcWithin } from '../../src/storage/crc.js';

describe('CRC-32', () => {
  it('of a text is that of its UTF-8 bytes', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '~', '\u0000', '\u007f', '\u0080', 'é', '𝄞'),
    });
    fc.assert(fc.property(text, (each) => void expect(crcOf(each)).to.equal(crc32(each))));
  });

  it('of bytes is that of these bytes alone', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(40), fc.nat(40), (bytes, at, length) => {
        const end = Math.min(bytes.length, at + length);
        expect(crcWithin(bytes, at, end)).to.equal(crc32(bytes.subarray(at, end)));
      }),
    );
  });
});
