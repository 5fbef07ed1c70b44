/** Times: local and exact, in UTC on hover and for readers, and how long ago. */

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** Returns a time relative to now, such as `5 minutes ago`. */
function relative(ms: number, nowMs: number): string {
  const seconds = Math.round((ms - nowMs) / 1000);
  const [unit, size] = UNITS.find((each) => Math.abs(seconds) >= each[1]) ?? ['second', 1];
  const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  return format.format(Math.round(seconds / size), unit);
}

/** Returns a time as `2026-11-22 16:05:10 +01:00`. */
export function local(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const offset = -date.getTimezoneOffset();
  const sign = offset < 0 ? '-' : '+';
  const zone = `${sign}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${day} ${time} ${zone}`;
}

/** A time of the API, as RFC 3339 text. Where there is little room, only how long ago it was. */
export function Time({ at, isShort = false }: { at: string | undefined; isShort?: boolean }) {
  if (at === undefined) return null;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>{at}</>;
  const utc = date.toISOString();
  const ago = relative(date.getTime(), Date.now());
  return (
    <time dateTime={utc} title={isShort ? `${local(date)} (${utc})` : utc}>
      {isShort ? (
        ago
      ) : (
        <>
          {local(date)} <span class="quiet">({ago})</span>
        </>
      )}
    </time>
  );
}
