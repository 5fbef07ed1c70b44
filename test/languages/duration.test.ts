import { expect } from 'chai';
import fc from 'fast-check';
import { formatDuration, parseDuration } from '../../src/languages/duration.js';

/** Numbers of JSON that a duration may be, and whose last digits are not exact. */
const beyondSafe = fc
  .bigInt({ min: -(2n ** 63n), max: 2n ** 63n })
  .map(Number)
  .filter((nanoseconds) => Math.abs(nanoseconds) < 2 ** 63);

describe('languages: the notation of durations', () => {
  const read: [string, number][] = [
    ['0', 0],
    ['10s', 10e9],
    ['1h30m', 5400e9],
    ['1.5s', 1.5e9],
    ['-1s', -1e9],
    ['.5m', 30e9],
    ['1us', 1000],
    ['1\u00b5s', 1000],
    ['1\u03bcs', 1000],
    ['+2ms', 2e6],
    ['1m0.2s', 60.2e9],
    ['2562047h', 9_223_369_200e9],
  ];
  for (const [text, nanoseconds] of read) {
    it(`reads ${text}`, () => expect(parseDuration(text)).to.deep.equal({ ok: true, nanoseconds }));
  }

  const refused: [string, string][] = [
    ['', 'invalid duration ""'],
    ['10', 'missing unit in duration "10"'],
    ['1d', 'unknown unit "d" in duration "1d"'],
    ['abc', 'invalid duration "abc"'],
    ['.s', 'invalid duration ".s"'],
    ['-', 'invalid duration "-"'],
    ['1s ', 'unknown unit "s " in duration'],
    ['9999999h', 'invalid duration "9999999h": the longest duration is "2562047h"'],
    // A number of JSON cannot hold these.
    ['2562047h47m16.854775807s', 'it has too many digits'],
    ['2502h0m0.000000001s', 'it has too many digits'],
    ['1'.repeat(100), 'it is too long'],
  ];
  for (const [text, message] of refused) {
    it(`refuses ${text.slice(0, 20)}`, () => {
      const parsed = parseDuration(text);
      expect(parsed.ok ? 'accepted' : parsed.message).to.contain(message);
    });
  }

  const written: [number, string][] = [
    [0, '0s'],
    [1, '1ns'],
    [1_100, '1.1\u00b5s'],
    [1e6, '1ms'],
    [1.5e9, '1.5s'],
    [60e9, '1m0s'],
    [90e9, '1m30s'],
    [36 * 3600e9, '36h0m0s'],
    [-1e9, '-1s'],
  ];
  for (const [nanoseconds, text] of written) {
    it(`writes ${nanoseconds} as ${text}`, () =>
      expect(formatDuration(nanoseconds)).to.equal(text));
  }

  it('reads what it writes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeInteger(), beyondSafe), (nanoseconds) => {
        const parsed = parseDuration(formatDuration(nanoseconds));
        expect(parsed).to.deep.equal({ ok: true, nanoseconds });
      }),
    );
  });
});
