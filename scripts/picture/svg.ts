/** A terminal as an SVG: what a command printed, with its colours. */

/** A line of a terminal. */
export interface Line {
  readonly text: string;
  /** Whether it was typed: it gets a prompt. */
  readonly isTyped?: boolean;
}

const COLUMN = 8.4;
const ROW = 19;
const MARGIN = 18;
const BAR = 34;
const COLOURS: Readonly<Record<string, string>> = {
  '31': '#ff8272',
  '32': '#8ddf8d',
  '33': '#e9cf73',
  '36': '#7fd5e6',
};

/** A part of a line in one style. */
interface Run {
  readonly text: string;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly colour: string | undefined;
}

/** Splits text with escape sequences for style into parts; other sequences are dropped. */
export function runsOf(text: string): Run[] {
  const runs: Run[] = [];
  let style = { bold: false, dim: false, colour: undefined as string | undefined };
  for (const part of text.split(/(\u001b\[[\d;]*[A-Za-z])/)) {
    const code = /^\u001b\[(\d+)m$/.exec(part)?.[1];
    if (code === undefined) {
      if (part !== '' && !part.startsWith('\u001b')) runs.push({ text: part, ...style });
    } else if (code === '1') style = { ...style, bold: true };
    else if (code === '2') style = { ...style, dim: true };
    else if (code === '22') style = { ...style, bold: false, dim: false };
    else if (code === '39') style = { ...style, colour: undefined };
    else style = { ...style, colour: COLOURS[code] };
  }
  return runs;
}

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);

/** Breaks parts into lines of so many columns, as a terminal does. */
function wrapped(runs: readonly Run[], columns: number): Run[][] {
  const lines: Run[][] = [[]];
  let left = columns;
  for (const run of runs) {
    let characters = [...run.text];
    while (characters.length > left) {
      lines.at(-1)!.push({ ...run, text: characters.slice(0, left).join('') });
      characters = characters.slice(left);
      lines.push([]);
      left = columns;
    }
    lines.at(-1)!.push({ ...run, text: characters.join('') });
    left -= characters.length;
  }
  return lines;
}

const PROMPT: Run = { text: '$ ', bold: false, dim: false, colour: COLOURS['32'] };

/** Returns the parts of a line; what was typed is bold, after a prompt. */
function partsOf({ text, isTyped = false }: Line): Run[] {
  const runs = runsOf(text);
  return isTyped ? [PROMPT, ...runs.map((run) => ({ ...run, bold: true }))] : runs;
}

function rowOf(runs: readonly Run[], at: number): string {
  const y = BAR + MARGIN + (at + 0.75) * ROW;
  let column = 0;
  const spans = runs.map((run) => {
    const x = (MARGIN + column * COLUMN).toFixed(1);
    column += [...run.text].length;
    const style = [
      ...(run.bold ? ['font-weight="bold"'] : []),
      ...(run.dim ? ['opacity="0.65"'] : []),
      ...(run.colour === undefined ? [] : [`fill="${run.colour}"`]),
    ];
    return `<tspan ${[`x="${x}"`, ...style].join(' ')}>${escaped(run.text)}</tspan>`;
  });
  return spans.length === 0 ? '' : `  <text y="${y.toFixed(1)}">${spans.join('')}</text>\n`;
}

/** Returns the picture. `title` says what is seen, for those who cannot see it. */
export function terminalSvg(lines: readonly Line[], columns: number, title: string): string {
  const rows = lines.flatMap((line) => wrapped(partsOf(line), columns));
  const width = Math.ceil(columns * COLUMN + 2 * MARGIN);
  const height = rows.length * ROW + BAR + 2 * MARGIN;
  const dots = ['#ff8272', '#e9cf73', '#8ddf8d'].map(
    (fill, at) => `  <circle cx="${MARGIN + 6 + at * 20}" cy="20" r="6" fill="${fill}"/>\n`,
  );
  const font = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-labelledby="title">
  <title id="title">${escaped(title)}</title>
  <rect width="${width}" height="${height}" rx="10" fill="#17202a"/>
${dots.join('')}  <g xml:space="preserve" fill="#e6edf3" font-family="${font}" font-size="14">
${rows.map(rowOf).join('')}  </g>
</svg>
`;
}
