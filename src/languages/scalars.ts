/** The scalar types of the field language; see fields.ts. */
import { formatDuration, parseDuration } from './duration.js';
import type { Description, NumberLimits, Report, TextRules, Type } from './field-types.js';
import { normalTime } from './times.js';

/** Text. */
export function text(rules: TextRules = {}): Type<string> {
  const { bytesMax = Number.POSITIVE_INFINITY, change = (value) => value } = rules;
  const description: Description = { is: 'text', ...rules };
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

/** Text in which a regular expression of JSON Schema is found, which its user asks `fits`. */
export function textLike(
  pattern: string,
  rules: TextRules = {},
): Type<string> & { fits(value: string): boolean } {
  const found = new RegExp(pattern, 'u');
  const limits = { ...rules.limits, pattern };
  return { ...text({ ...rules, limits }), fits: (value) => found.test(value) };
}

/** Text that must not be empty, which its user checks. */
export const neededText = text({ limits: { needed: true } });

/**
 * A whole number from `min` to `max`. `change` normalises it. `limits` document narrower bounds,
 * which the kind itself checks.
 */
export function whole(
  options: {
    min?: number;
    max?: number;
    change?: (value: number) => number;
    limits?: NumberLimits;
  } = {},
): Type<number> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER, limits } = options;
  const change = options.change ?? ((value) => value);
  const description: Description =
    limits === undefined ? { is: 'whole', min, max } : { is: 'whole', min, max, limits };
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
const UINT32 = { min: 0, max: 4_294_967_295 };
/** An unsigned 32-bit number. */
export const uint32 = whole(UINT32);
/** A percentage in a 32-bit number, whose user checks that it is at most 100. */
export const percentage = whole({ ...UINT32, limits: { max: 100 } });
/** A number from 0, whose user checks that. */
export const count = whole({ limits: { min: 0 } });
/** A port, whose user checks that it is one. */
export const port = whole({ limits: { min: 1, max: 65_535 } });

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
/** The same from zero on, which its user checks. */
export const positiveDuration: Type<number> = {
  ...duration,
  description: { is: 'duration', out: 'nanoseconds', isPositive: true },
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
/** The same from zero on, which its user checks. */
export const positiveDurationText: Type<string> = {
  ...durationText,
  description: { is: 'duration', out: 'text', isPositive: true },
};
/**
 * A duration in a body of nanoseconds or text, whose range its user checks: any whole number is
 * taken, and `''` for zero. It is stored as text.
 */
export const timeToLive: Type<string, number> = {
  ...durationText,
  description: { is: 'duration', out: 'text', mayBeEmpty: true },
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
