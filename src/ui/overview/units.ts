/** Figures as people read them. */

/** Returns a number with two digits, or all digits before the point. */
const rounded = (value: number): string =>
  value >= 10
    ? Math.round(value).toLocaleString('en')
    : value.toLocaleString('en', { maximumSignificantDigits: 2 });

/** Returns a time in the unit that suits it: `1.2 ms`. */
export function seconds(value: number): string {
  if (value >= 1) return `${rounded(value)} s`;
  return value >= 0.001 ? `${rounded(value * 1000)} ms` : `${rounded(value * 1e6)} µs`;
}

/** Returns bytes in the unit that suits them: `81 MB`. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  let left = value;
  while (left >= 1000 && at < units.length - 1) {
    left /= 1000;
    at += 1;
  }
  return `${rounded(left)} ${units[at]}`;
}

/** Returns a number. */
export const plain = (value: number): string => rounded(value);
/** Returns a rate. */
export const perSecond = (value: number): string => `${rounded(value)}/s`;
/** Returns a share of the cores. */
export const cores = (value: number): string => `${rounded(value * 100)} %`;
