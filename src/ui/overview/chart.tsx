/** A small chart of the last hour. */

type Values = readonly (number | null)[];

/** Units of the picture. The page stretches it. */
const HEIGHT = 40;

/** Returns the lines of known values, as the path of a picture. Gaps separate them. */
function pathOf(values: Values, most: number): string {
  let isDown = false;
  return values
    .map((value, at) => {
      if (value === null) {
        isDown = false;
        return '';
      }
      const y = most === 0 ? HEIGHT : HEIGHT - (value / most) * HEIGHT;
      // A value between gaps is a dot: a line of no length with round ends.
      const point = `${isDown ? 'L' : 'M'}${at} ${y.toFixed(1)}${isDown ? '' : 'h0'}`;
      isDown = true;
      return point;
    })
    .join('');
}

/** Values over time. `label` says in a sentence what is to be seen. */
export function Chart({ values, label }: { values: Values; label: string }) {
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  return (
    <svg
      class="chart"
      role="img"
      aria-label={label}
      viewBox={`0 -2 ${Math.max(1, values.length - 1)} ${HEIGHT + 4}`}
      preserveAspectRatio="none"
    >
      <path d={pathOf(values, most)} />
    </svg>
  );
}
