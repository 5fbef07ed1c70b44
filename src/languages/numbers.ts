/** Parses numbers and booleans by the rules that expressions and interpolation share. */

const INTEGER =
  /^([+-]?)(?:0[xX]((?:_?[0-9a-fA-F])+)|0[bB]((?:_?[01])+)|0[oO]?((?:_?[0-7])*)|([1-9](?:_?[0-9])*))$/;
const TENS = '[0-9](?:_?[0-9])*';
const SIXTEENS = '[0-9a-fA-F](?:_?[0-9a-fA-F])*';
const DECIMAL = new RegExp(`^[+-]?(?:${TENS}\\.?(?:${TENS})?|\\.${TENS})(?:[eE][+-]?${TENS})?$`);
const HEXADECIMAL = new RegExp(
  `^([+-]?)0[xX]_?(${SIXTEENS})?(?:\\.(${SIXTEENS})?)?[pP]([+-]?${TENS})$`,
);
/**
 * Maximum number of characters of a number: no real one is longer, and large ones are slow to
 * convert.
 */
const DIGITS_MAX = 256;

/**
 * Parses an integer of `bits` bits: decimal, or with the prefix `0x`, `0b`, `0o` or `0` (octal).
 * Returns undefined for any other text and for one that does not fit.
 */
export function integerOf(text: string, signed: boolean, bits: number): bigint | undefined {
  const match = text.length > DIGITS_MAX ? null : INTEGER.exec(text);
  if (match === null) return undefined;
  const [, sign = '', hex, binary, octal, decimal] = match;
  if (!signed && sign !== '') return undefined;
  if (octal === '' && !/0$/.test(text)) return undefined;
  const digits = (of: string): string => of.replaceAll('_', '');
  let magnitude = 0n;
  if (hex !== undefined) magnitude = BigInt(`0x${digits(hex)}`);
  else if (binary !== undefined) magnitude = BigInt(`0b${digits(binary)}`);
  else if (decimal !== undefined) magnitude = BigInt(digits(decimal));
  else if (octal !== undefined && octal !== '') magnitude = BigInt(`0o${digits(octal)}`);
  const value = sign === '-' ? -magnitude : magnitude;
  const fits = signed
    ? BigInt.asIntN(bits, value) === value
    : BigInt.asUintN(bits, value) === value;
  return fits ? value : undefined;
}

/** Parses a decimal or hexadecimal float, `inf` or `nan`. Returns undefined if it is too large. */
export function floatOf(text: string, bits: 32 | 64 = 64): number | undefined {
  const word = /^([+-]?)(?:inf|infinity)$/i.exec(text);
  if (word !== null) return word[1] === '-' ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return Number.NaN;
  if (text.length > DIGITS_MAX) return undefined;
  const value = DECIMAL.test(text) ? Number(text.replaceAll('_', '')) : hexadecimal(text);
  if (value === undefined) return undefined;
  const rounded = bits === 32 ? Math.fround(value) : value;
  return Number.isFinite(rounded) ? rounded : undefined;
}

function hexadecimal(text: string): number | undefined {
  const match = HEXADECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replaceAll('_', '');
  if (digits === '') return undefined;
  const places = fraction.replaceAll('_', '').length;
  const power = Number(exponent.replaceAll('_', '')) - 4 * places;
  const value = Number(BigInt(`0x${digits}`)) * 2 ** power;
  return sign === '-' ? -value : value;
}

/** Parses a boolean: `1 t T TRUE true True` or `0 f F FALSE false False`. */
export function booleanOf(text: string): boolean | undefined {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false;
  return undefined;
}

const UNIT_NS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/** Parses a duration such as `1h30m` to nanoseconds. Returns undefined for any other text. */
export function durationNs(text: string): bigint | undefined {
  if (text === '0') return 0n;
  if (!/^[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(text)) {
    return undefined;
  }
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/([0-9.]+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    total += Number(amount) * (UNIT_NS[unit as string] as number);
  }
  if (!Number.isFinite(total)) return undefined;
  const value = BigInt(Math.round(total));
  return text.startsWith('-') ? -value : value;
}
