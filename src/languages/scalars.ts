/** The scalar types of the field language; see fields.ts. */
import { formatDuration, parseDuration } from './duration.js';
import type { Description, Report, Type } from './field-types.js';
import { normalTime } from './times.js';

/**
 * Text. `change` normalises it, and the empty text too. `values` document the known values; the
 * kind itself checks them. `bytesMax` limits it in bytes of UTF-8.
 */
export function text(
  options: {
    change?: (value: string) => string;
    values?: readonly string[];
    bytesMax?: number;
  } = {},
): Type<string> {
  const { values, bytesMax = Number.POSITIVE_INFINITY, change = (value) => value } = options;
  const description: Description = values === undefined ? { is: 'text' } : { is: 'text', values };
  return {
    description,
    zero: () => change(''),
    isEmpty: (value) => value === '',
    decode(input, report) {
      if (typeof input !== 'string') {
        report.fault({ is: 'type', expected: description, input });
        return '';
      }
      const count = bytesMax === Number.POSITIVE_INFINITY ? 0 : Buffer.byteLength(input);
      if (count > bytesMax) report.fault({ is: 'size', of: 'bytes', count, max: bytesMax });
      return change(input);
    },
  };
}

/** A whole number from `min` to `max`. `change` normalises it. */
export function whole(
  options: { min?: number; max?: number; change?: (value: number) => number } = {},
): Type<number> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = options;
  const change = options.change ?? ((value) => value);
  const description: Description = { is: 'whole', min, max };
  return {
    description,
    zero: () => change(0),
    isEmpty: (value) => value === 0,
    decode(input, report) {
      if (typeof input === 'number' && Number.isInteger(input) && input >= min && input <= max) {
        return change(input + 0);
      }
      report.fault({ is: 'type', expected: description, input });
      return 0;
    },
  };
}
/** A whole number from 0. */
export const whole64 = whole({ min: 0 });
/** An unsigned 32-bit number. */
export const uint32 = whole({ min: 0, max: 4_294_967_295 });

/** A 32-bit floating-point number. `change` normalises it. */
export function fraction(change: (value: number) => number): Type<number> {
  return {
    description: { is: 'fraction' },
    zero: () => 0,
    isEmpty: (value) => value === 0,
    decode(input, report) {
      if (typeof input === 'number' && Number.isFinite(Math.fround(input))) return change(input);
      report.fault({ is: 'type', expected: { is: 'fraction' }, input });
      return 0;
    },
  };
}

/** A boolean. */
export const boolean: Type<boolean> = {
  description: { is: 'boolean' },
  zero: () => false,
  isEmpty: (value) => !value,
  decode(input, report) {
    if (typeof input === 'boolean') return input;
    report.fault({ is: 'type', expected: { is: 'boolean' }, input });
    return false;
  },
};

const NANOSECONDS: Description = { is: 'duration', out: 'nanoseconds' };
const DURATION_TEXT: Description = { is: 'duration', out: 'text' };

/** A duration: text with a unit, or nanoseconds. Answers contain nanoseconds. */
export const duration: Type<number> = {
  description: NANOSECONDS,
  zero: () => 0,
  isEmpty: (value) => value === 0,
  decode: decodeDuration,
};
/** A duration that answers contain as text, `''` for zero. */
export const durationText: Type<string> = {
  description: DURATION_TEXT,
  zero: () => '',
  isEmpty: (value) => value === '',
  decode(input, report) {
    const nanoseconds = decodeDuration(input, report);
    return nanoseconds === 0 ? '' : formatDuration(nanoseconds);
  },
};
/**
 * A duration in a body of nanoseconds or text, whose range its user checks: any whole number is
 * taken, and `''` for zero. It is stored as text.
 */
export const timeToLive: Type<string, number> = {
  ...durationText,
  decode: (input, report) =>
    input === '' || (typeof input === 'number' && Number.isInteger(input))
      ? Number(input)
      : decodeDuration(input, report),
};

function decodeDuration(input: unknown, report: Report): number {
  if (typeof input === 'number' && Number.isInteger(input) && Math.abs(input) < 2 ** 63) {
    return input + 0;
  }
  if (typeof input !== 'string') {
    report.fault({ is: 'type', expected: NANOSECONDS, input });
    return 0;
  }
  const parsed = parseDuration(input);
  if (parsed.ok) return parsed.nanoseconds;
  report.fault({ is: 'duration', message: parsed.message });
  return 0;
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

const timeWith = (normalise: (input: string) => string | undefined): Type<string> => ({
  description: { is: 'time' },
  zero: () => '',
  isEmpty: (value) => value === '',
  decode(input, report) {
    const normal = typeof input === 'string' ? normalise(input) : undefined;
    if (normal === undefined) report.fault({ is: 'type', expected: { is: 'time' }, input });
    return normal ?? '';
  },
});
/** A point in time, as RFC 3339 text. The kinds that declare one drop it. */
export const time = timeWith((input) => (RFC_3339.test(input) ? input : undefined));
/** A point in time, as RFC 3339 text. Its normal form is in UTC. */
export const utcTime = timeWith(normalTime);
