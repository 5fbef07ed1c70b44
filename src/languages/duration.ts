/** Durations in the text form of the API: `1h30m`, `1.5s`. */

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
/** The longest duration that fits a signed 64-bit number of nanoseconds. */
const NANOSECONDS_MAX = 2n ** 63n - 1n;
/**
 * Maximum number of characters of a duration: no real one is longer, and large numbers are slow to
 * parse.
 */
export const DURATION_LENGTH_MAX = 64;

/** The outcome of parseDuration. `message` quotes the text and shows a valid form. */
export type ParsedDuration =
  | { readonly ok: true; readonly nanoseconds: number }
  | { readonly ok: false; readonly message: string };

/**
 * Parses a duration: a sum of numbers with the units ns, us, µs, ms, s, m or h, as in `1h30m` and
 * `1.5s`. `0` needs no unit.
 */
export function parseDuration(text: string): ParsedDuration {
  const fail = (why: string): ParsedDuration => ({
    ok: false,
    message: `${why} ${JSON.stringify(text)}: use a number with a unit, such as "10s" or "1h30m"`,
  });
  const refuse = (why: string): ParsedDuration => ({
    ok: false,
    message: `invalid duration ${JSON.stringify(text)}: ${why}`,
  });
  if (text.length > DURATION_LENGTH_MAX)
    return { ok: false, message: 'invalid duration: it is too long' };
  const negative = text.startsWith('-');
  let rest = /^[-+]/.test(text) ? text.slice(1) : text;
  if (rest === '0') return { ok: true, nanoseconds: 0 };
  if (rest === '') return fail('invalid duration');
  let total = 0n;
  while (rest !== '') {
    const number = /^(\d*)(?:\.(\d*))?/.exec(rest);
    const whole = number?.[1] ?? '';
    const fraction = number?.[2] ?? '';
    if (whole === '' && fraction === '') return fail('invalid duration');
    rest = rest.slice(number?.[0].length ?? 0);
    const unit = /^[^\d.]+/.exec(rest)?.[0];
    if (unit === undefined) return fail('missing unit in duration');
    const scale = UNITS.get(unit);
    if (scale === undefined) return fail(`unknown unit ${JSON.stringify(unit)} in duration`);
    rest = rest.slice(unit.length);
    total += BigInt(whole === '' ? '0' : whole) * scale;
    if (fraction !== '') total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  if (total > NANOSECONDS_MAX) return refuse('the longest duration is "2562047h"');
  const nanoseconds = (negative ? -1 : 1) * Number(total) + 0;
  // Answers contain the number in decimal, which must be exact.
  if (BigInt(String(Math.abs(nanoseconds))) === total) return { ok: true, nanoseconds };
  return refuse('it has too many digits, use whole seconds');
}

/** Formats nanoseconds as Go does: `1m30s`, `1.5s`, `36h0m0s`, `1µs`, `0s`. */
export function formatDuration(nanoseconds: number): string {
  const sign = nanoseconds < 0 ? '-' : '';
  const size = Math.abs(nanoseconds);
  // Above 2^53 in the digits of JSON, which parseDuration takes. From 1e21 on, these have an e.
  const value = BigInt(size < 1e21 ? String(size) : size);
  if (value === 0n) return '0s';
  if (value < 1_000n) return `${sign}${value}ns`;
  if (value < 1_000_000n) return `${sign}${decimal(value, 3)}\u00b5s`;
  if (value < 1_000_000_000n) return `${sign}${decimal(value, 6)}ms`;
  const minutes = value / 60_000_000_000n;
  const seconds = `${decimal(value % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** Formats `value / 10^digits` without trailing zeros. */
function decimal(value: bigint, digits: number): string {
  const scale = 10n ** BigInt(digits);
  const fraction = (value % scale).toString().padStart(digits, '0').replace(/0+$/, '');
  return fraction === '' ? `${value / scale}` : `${value / scale}.${fraction}`;
}
