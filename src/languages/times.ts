/** Points in time as the API writes them: RFC 3339, UTC, fractions without trailing zeros. */

const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** The normal form of an RFC 3339 time; undefined when it is none. */
export function normalTime(text: string): string | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [, day, clock, fraction = '', zone] = match as unknown as [
    string,
    string,
    string,
    string?,
    string?,
  ];
  const ms = Date.parse(`${day}T${clock}${zone}`);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(ms) || Number.isNaN(midnight)) return undefined;
  // Date.parse takes the 30th of February for the 2nd of March
  if (!new Date(midnight).toISOString().startsWith(day)) return undefined;
  const digits = fraction.replace(/0+$/, '');
  const normal = new Date(ms).toISOString();
  // RFC 3339 has years from 0 to 9999, of which a zone may lead out
  if (!TIME.test(normal)) return undefined;
  return normal.replace('.000Z', `${digits === '' ? '' : `.${digits}`}Z`);
}

/** Milliseconds since the epoch as a time in normal form. */
export const timeOf = (ms: number): string => normalTime(new Date(ms).toISOString())!;
