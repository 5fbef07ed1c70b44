/**
 * How rate, latency, memory and disk change with the number of config entries and of nodes. With
 * `keep`, the results become the table and the plot of docs/performance.md (`npm run docs`).
 */
import { writeFileSync } from 'node:fs';
import { fill, load } from './load.js';
import { figure, row, title } from './report.js';
import { diskBytes, putEntry, type Setting, withCluster } from './setting.js';

/** Where kept results are. */
export const GROWTH_FILE = 'docs/runs/growth.json';
const FILLERS = 128;
const CONNECTIONS = 64;

/** What was measured with a number of nodes and entries. */
export interface Growth {
  readonly nodes: number;
  readonly entries: number;
  /** Per second, with 64 connections spread over the nodes. */
  readonly writes: number;
  readonly writeP50Ms: number;
  readonly writeP99Ms: number;
  /** Reads of one entry, in the default mode. */
  readonly reads: number;
  readonly readP99Ms: number;
  /** Of the node that uses the most. */
  readonly memoryMb: number;
  readonly diskMb: number;
}

/** Kept results, and what they were measured with. */
export interface GrowthFile {
  readonly node: string;
  readonly rows: readonly Growth[];
}

export async function measureGrowth(options: {
  readonly nodes: readonly number[];
  readonly sizes: readonly number[];
  readonly seconds: number;
  readonly keep: boolean;
}): Promise<void> {
  title('Growth: 64 connections, spread over the nodes', [
    'nodes',
    'entries',
    'writes per second',
    'p50, p99 ms',
    'reads per second',
    'p99 ms',
    'memory MB',
    'disk MB',
  ]);
  const rows: Growth[] = [];
  for (const nodes of options.nodes) {
    await withCluster(nodes, async (setting) => {
      let filled = 0;
      for (const entries of options.sizes) {
        const from = filled;
        await fill(setting.targets, FILLERS, entries - from, (n) =>
          putEntry(`entry-${from + n}`, n),
        );
        filled = entries;
        const found = await measure(setting, entries, options.seconds);
        rows.push(found);
        row(cellsOf(found));
      }
    });
  }
  if (options.keep) keepRows(rows);
}

/** Measures with the entries that are there. Writes change some of them. */
async function measure(setting: Setting, entries: number, seconds: number): Promise<Growth> {
  const { targets, cluster } = setting;
  const any = (): number => Math.floor(Math.random() * entries);
  const run = (next: () => ReturnType<typeof putEntry>) =>
    load({ targets, connections: CONNECTIONS, seconds, next });
  const writes = await run(() => putEntry(`entry-${any()}`, any()));
  const reads = await run(() => ({
    method: 'GET',
    path: `/v1/config/service-defaults/entry-${any()}`,
  }));
  const errors = writes.errors + reads.errors;
  if (errors > 0) throw new Error(`${errors} requests were not answered with 200`);
  const memory = await Promise.all(targets.map((_, node) => setting.residentMb(node)));
  const disk = await Promise.all(cluster.nodes.map((node) => diskBytes(node)));
  return {
    nodes: cluster.nodes.length,
    entries,
    writes: writes.perSec,
    writeP50Ms: writes.p50Ms,
    writeP99Ms: writes.p99Ms,
    reads: reads.perSec,
    readP99Ms: reads.p99Ms,
    memoryMb: Math.max(...memory),
    diskMb: Math.max(...disk) / 2 ** 20,
  };
}

/** The cells of a row of the table. */
function cellsOf(found: Growth): string[] {
  const { writeP50Ms, writeP99Ms } = found;
  return [
    figure(found.nodes),
    figure(found.entries),
    figure(found.writes),
    `${figure(writeP50Ms)}, ${figure(writeP99Ms)}`,
    figure(found.reads),
    figure(found.readP99Ms),
    figure(found.memoryMb),
    figure(found.diskMb),
  ];
}

function keepRows(rows: readonly Growth[]): void {
  const short = (_: string, value: unknown): unknown =>
    typeof value === 'number' ? Number(value.toPrecision(4)) : value;
  const file: GrowthFile = { node: process.version, rows };
  writeFileSync(GROWTH_FILE, `${JSON.stringify(file, short, 2)}\n`);
}
