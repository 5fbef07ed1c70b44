/** The findings of a fuzz run, and how to reproduce them. */
import type { Figures } from './figures.js';
import type { Outcome, Shot } from './shot.js';

/** Violations that are reported in full; the others are counted. */
const REPORTED_MAX = 20;
/** Bytes of a request that are reported. */
const HEX_BYTES = 200_000;
/** Reported shots before a violation that no response shows, and the bytes of each. */
const RECENT = 40;
const RECENT_BYTES = 4000;

/** What was sent on one connection. */
export interface Sent {
  readonly label: string;
  readonly node: number;
  readonly bytes: Buffer;
}

export interface Violation {
  readonly problem: string;
  readonly atShot: number;
  readonly label?: string;
  /** A shell command that sends it again. */
  readonly replay?: string;
  readonly request?: string;
  /** For a violation without its own request: the last shots and their nodes, in hexadecimal. */
  readonly recent?: readonly {
    readonly label: string;
    readonly node: number;
    readonly hex: string;
  }[];
}

export interface Afterwards {
  readonly seed: number;
  readonly before: readonly Figures[];
  readonly after: readonly Figures[];
  /** Writes of permitted clients, all acknowledged unless a violation says otherwise. */
  readonly written: number;
  readonly slowestWriteMs: number;
  /** The shots at the members' port, and the responses. */
  readonly members: Readonly<Record<string, number>>;
  readonly logLines: Readonly<Record<string, number>>;
  readonly term: number;
  /** Leadership transfers that were sent. */
  readonly transfers: number;
  /** The longest delay of a node's Raft clock. */
  readonly stallMs: number;
}

export interface FuzzReport extends Afterwards {
  readonly ok: boolean;
  readonly shots: number;
  readonly answers: number;
  readonly slowestMs: number;
  readonly violations: number;
  readonly reported: readonly Violation[];
  readonly statuses: Readonly<Record<string, number>>;
  /** Responses by endpoint and status; 0 stands for none. */
  readonly byEndpoint: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

type Counts = Record<string, number>;
const raise = (counts: Counts, name: string): void => {
  counts[name] = (counts[name] ?? 0) + 1;
};

export class Findings {
  shots = 0;
  #answers = 0;
  #violations = 0;
  #slowestMs = 0;
  readonly #reported: Violation[] = [];
  readonly #recent: Sent[] = [];
  readonly #statuses: Counts = {};
  readonly #byEndpoint: Record<string, Counts> = {};

  count({ label, strict }: Shot, { replies, ms }: Outcome): void {
    this.#byEndpoint[label] ??= {};
    if (replies.length === 0) raise(this.#byEndpoint[label], '0');
    // Of several requests on one connection the last is the endpoint's.
    const last = replies.at(-1);
    if (last !== undefined) raise(this.#byEndpoint[label], String(last.status));
    for (const { status } of replies) raise(this.#statuses, String(status));
    this.#answers += replies.length;
    if (strict) this.#slowestMs = Math.max(this.#slowestMs, ms);
  }

  add(problem: string, { label, parts }: Shot, url: string): void {
    this.#violations += 1;
    if (this.#reported.length >= REPORTED_MAX) return;
    const bytes = Buffer.concat(parts).subarray(0, HEX_BYTES);
    const { hostname, port } = new URL(url);
    const replay = `printf %s ${bytes.toString('hex')} | xxd -r -p | nc ${hostname} ${port}`;
    const request = bytes.toString('latin1').slice(0, 1000);
    this.#reported.push({ problem, atShot: this.shots, label, request, replay });
  }

  addAll(problems: readonly string[]): void {
    for (const problem of problems) {
      this.#violations += 1;
      const recent = this.#recent.map(({ label, node, bytes }) => ({
        ...{ label, node, hex: bytes.subarray(0, RECENT_BYTES).toString('hex') },
      }));
      if (this.#reported.length < REPORTED_MAX)
        this.#reported.push({ problem, atShot: this.shots, recent });
    }
  }

  /** Records a shot among the last ones. */
  remember(shot: Sent): void {
    this.#recent.push(shot);
    if (this.#recent.length > RECENT) this.#recent.shift();
  }

  summary(): string {
    return `${this.shots} shots, ${this.#answers} answers ${JSON.stringify(this.#statuses)}, ${this.#violations} violations`;
  }

  report(afterwards: Afterwards): FuzzReport {
    const byLabel = Object.entries(this.#byEndpoint).sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      ok: this.#violations === 0,
      ...{ shots: this.shots, answers: this.#answers, slowestMs: Math.round(this.#slowestMs) },
      ...{ violations: this.#violations, reported: this.#reported, statuses: this.#statuses },
      ...afterwards,
      byEndpoint: Object.fromEntries(byLabel),
    };
  }
}

const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
const sum = (counts: Readonly<Counts>): number => Object.values(counts).reduce((a, b) => a + b, 0);

/** Returns the report as Markdown. */
export function markdownOf(command: string, report: FuzzReport): string {
  const counts = (of: Readonly<Counts>): string =>
    Object.entries(of)
      .map(([name, count]) => `${name}: ${count}`)
      .join(', ');
  const rows = report.after.map((after, at) => {
    const before = report.before[at]!;
    const of = (read: (one: Figures) => number | string): string =>
      `${read(before)} → ${read(after)}`;
    return `| n${at + 1} | ${of((one) => megabytes(one.residentBytes))} | ${of((one) => megabytes(one.heapBytes))} | ${of((one) => one.sockets)} | ${of((one) => one.files)} | ${of((one) => sum(one.handles))} |`;
  });
  return [
    `# Fuzz: ${report.ok ? 'passed' : 'FAILED'}`,
    `\`${command}\`, seed ${report.seed}`,
    `${report.shots} shots, ${report.answers} answers (${counts(report.statuses)}); the slowest took ${report.slowestMs} ms.`,
    `Permitted writes beside them: ${report.written}, the slowest took ${report.slowestWriteMs} ms. Term ${report.term} after ${report.transfers} transfers. The longest stall of a node: ${report.stallMs} ms.`,
    `Members' port: ${counts(report.members)}.`,
    `Log lines: ${counts(report.logLines)}.`,
    [
      '| node | MB resident | MB in use | sockets | files | handles |',
      '| --- | --- | --- | --- | --- | --- |',
      ...rows,
    ].join('\n'),
    [
      '| endpoint | answers by status |',
      '| --- | --- |',
      ...Object.entries(report.byEndpoint).map(([label, of]) => `| ${label} | ${counts(of)} |`),
    ].join('\n'),
    `Violations: ${report.violations}.`,
    ...report.reported.map(
      ({ problem, atShot, label, replay }) =>
        `- shot ${atShot}${label === undefined ? '' : `, ${label}`}: ${problem}${replay === undefined ? '' : `\n\n      ${replay.slice(0, 4000)}`}`,
    ),
  ].join('\n\n');
}
