/** docs/growth.svg: the kept results of `npm run bench -- growth --keep` as a picture. */
import type { Growth, GrowthFile } from '../bench/growth.js';
import { figure } from '../bench/report.js';

interface Panel {
  readonly title: string;
  readonly of: (found: Growth) => number;
}

const PANELS: readonly Panel[] = [
  { title: 'Writes per second', of: ({ writes }) => writes },
  { title: 'Reads per second', of: ({ reads }) => reads },
  { title: 'Write latency, p99, ms', of: ({ writeP99Ms }) => writeP99Ms },
  { title: 'Read latency, p99, ms', of: ({ readP99Ms }) => readP99Ms },
  { title: 'Memory of a node, MB', of: ({ memoryMb }) => memoryMb },
  { title: 'Disk of a node, MB', of: ({ diskMb }) => diskMb },
];
/** Colours that also differ for people who see no red or green, one per number of nodes. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7'];
const COLUMNS = 2;
const WIDTH = 380;
const HEIGHT = 220;
/** The space around the lines of a panel: titles above, values to the left, entries below. */
const INSET = { top: 34, right: 40, bottom: 34, left: 64 };
const LEGEND = 40;
const TICKS = 4;

/** Returns the picture as text. */
export function growthPlot({ node, rows }: GrowthFile): string {
  const width = WIDTH * COLUMNS;
  const height = LEGEND + HEIGHT * Math.ceil(PANELS.length / COLUMNS);
  const panels = PANELS.map((panel, at) => {
    const [x, y] = [(at % COLUMNS) * WIDTH, LEGEND + Math.floor(at / COLUMNS) * HEIGHT];
    return `<g transform="translate(${x} ${y})">\n${panelOf(panel, rows)}\n</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img"`,
    ' font-family="system-ui, sans-serif" font-size="12" fill="#222222">',
    `<title>Rate, latency, memory and disk by number of entries and nodes, Node ${node}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...countsOf(rows).map(legendOf),
    ...panels,
    '</svg>\n',
  ].join('\n');
}

/** Returns the numbers of nodes. */
const countsOf = (rows: readonly Growth[]): number[] => [
  ...new Set(rows.map(({ nodes }) => nodes)),
];

function legendOf(nodes: number, at: number): string {
  const x = INSET.left + at * 110;
  const text = nodes === 1 ? '1 node' : `${nodes} nodes`;
  return [
    `<rect x="${x}" y="14" width="18" height="4" fill="${COLOURS[at]}"/>`,
    `<text x="${x + 26}" y="21">${text}</text>`,
  ].join('\n');
}

function panelOf({ title, of }: Panel, rows: readonly Growth[]): string {
  const logs = rows.map(({ entries }) => Math.log10(entries));
  const [low, high] = [Math.min(...logs), Math.max(...logs)];
  const right = WIDTH - INSET.right;
  const bottom = HEIGHT - INSET.bottom;
  const step = stepOf(Math.max(...rows.map(of)));
  const top = step * TICKS;
  const xOf = (entries: number): number =>
    INSET.left + ((Math.log10(entries) - low) / (high - low || 1)) * (right - INSET.left);
  const yOf = (value: number): number => bottom - (value / top) * (bottom - INSET.top);
  const grid = Array.from({ length: TICKS + 1 }, (_, at) => {
    const y = round(yOf(at * step));
    return [
      `<line x1="${INSET.left}" x2="${right}" y1="${y}" y2="${y}" stroke="#dddddd"/>`,
      `<text x="${INSET.left - 8}" y="${y + 4}" text-anchor="end">${figure(at * step)}</text>`,
    ].join('\n');
  });
  const sizes = [...new Set(rows.map(({ entries }) => entries))].map((entries) => {
    const x = round(xOf(entries));
    return `<text x="${x}" y="${bottom + 18}" text-anchor="middle">${figure(entries)}</text>`;
  });
  const lines = countsOf(rows).map((nodes, at) => {
    const points = rows
      .filter((found) => found.nodes === nodes)
      .map((found) => `${round(xOf(found.entries))},${round(yOf(of(found)))}`);
    const line = `fill="none" stroke="${COLOURS[at]}" stroke-width="2"`;
    return `<polyline points="${points.join(' ')}" ${line}/>`;
  });
  const heading = `<text x="${INSET.left}" y="20" font-weight="600">${title}</text>`;
  return [heading, ...grid, ...sizes, ...lines].join('\n');
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** Returns the distance of the grid lines: 1, 2, 2.5 or 5 times a power of ten. */
function stepOf(most: number): number {
  const least = (most || 1) / TICKS;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((step) => step >= least)!;
}
