/** The report as text and as JSON (moving-in.md 7). */

import type { Finding, Report, RightsDifference, TypeCounts } from '../../api/migration-report.js';
import { oneLine as printable } from '../../base/printable.js';

/** Findings of a report: a program reads no more. */
const FINDINGS_MAX = 100_000;
/** Differences of a report: a program reads no more. */
const DIFFERENCES_MAX = 10_000;

/** Returns the report as JSON text. What is too much is left out and counted in `More`. */
export function reportJson(report: Report): string {
  const { Findings, Rights } = report;
  const more = (count: number, max: number) => (count > max ? { More: count - max } : {});
  const rights = Rights && {
    ...Rights,
    Differences: Rights.Differences.slice(0, DIFFERENCES_MAX),
    ...more(Rights.Differences.length + (Rights.More ?? 0), DIFFERENCES_MAX),
  };
  const shown = {
    ...report,
    Findings: Findings.slice(0, FINDINGS_MAX),
    ...more(Findings.length, FINDINGS_MAX),
    ...(rights !== undefined && { Rights: rights }),
  };
  return `${JSON.stringify(shown, null, 2)}\n`;
}

/** Returns the report as a table for people. */
export function reportText(report: Report): string {
  const { Source, Target } = report;
  const lines = typesOf(report.Types);
  if (Source.DefaultPolicy !== undefined && Source.DefaultPolicy !== Target.DefaultPolicy) {
    const [theirs, ours] = [Source.DefaultPolicy, Target.DefaultPolicy];
    lines.push(`POLICY    the default policy is ${theirs} at the source and ${ours} here`);
  }
  const findings = report.Findings.slice(0, FINDINGS_MAX);
  // One after the other: a call takes no more arguments than the stack has room for.
  for (const one of findings) lines.push(...findingLines(one));
  const hidden = report.Findings.length - findings.length;
  if (hidden > 0) lines.push(`and ${hidden} more`);
  for (const { Ref, Code, Message } of report.Problems ?? [])
    lines.push(`PROBLEM   ${printable(Ref)}  ${Code}  ${printable(Message)}`);
  for (const { AccessorID, Description, Rights } of report.Writers ?? []) {
    const who = `token/${AccessorID} ${JSON.stringify(Description)}`;
    lines.push(`WRITES    ${printable(who)}  ${Rights.join(', ')}`);
  }
  if (report.Rights !== undefined) lines.push(...rightsLines(report.Rights));
  return `${lines.join('\n')}\n`;
}

const number = (count: number): string => count.toLocaleString('en-US');
const COLUMNS = ['Source', 'Same', 'Create', 'Update', 'Delete', 'LeftOut'] as const;
const HEADS = ['SOURCE', 'SAME', 'CREATE', 'UPDATE', 'DELETE', 'LEFT OUT'];

function typesOf(types: Readonly<Record<string, TypeCounts>>): string[] {
  const rows = Object.entries(types).map(([type, counts]) => [
    type,
    ...COLUMNS.map((column) => number(counts[column])),
  ]);
  const all = [['TYPE', ...HEADS], ...rows];
  const widths = all[0]!.map((_, at) => Math.max(...all.map((row) => row[at]!.length)));
  return all.map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  '),
  );
}

/** Returns the word that begins the line of a finding. */
function headOf({ LeftOut, Mended, Code }: Finding): string {
  if (LeftOut) return 'LEFT OUT';
  if (Code === 'not_readable') return 'NOT READ';
  return Mended === undefined ? 'NOTE' : 'MENDED';
}

function findingLines(finding: Finding): string[] {
  const { Ref, Line, Column, Pointer = '', Code, Message, Lost, Do, Original, Mended } = finding;
  const place = Line === undefined ? Pointer : `${Line}:${Column ?? 1}`;
  const at = place === '' ? '' : ` ${place}`;
  const head = headOf(finding).padEnd(10);
  const lines = [`${head}${printable(Ref)}${at}  ${Code}  ${printable(Message)}`];
  const indent = ' '.repeat(10);
  if (!Lost.startsWith('nothing')) lines.push(`${indent}lost: ${Lost}; to do: ${Do}`);
  if (Mended !== undefined)
    lines.push(...diffOf(Original ?? '', Mended).map((line) => indent + printable(line)));
  return lines;
}

/** Returns the lines that are taken out and put in, without those at both ends that stay. */
function diffOf(before: string, after: string): string[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  return [
    ...old.slice(head, old.length - tail).map((line) => `- ${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+ ${line}`),
  ];
}

function rightsLines(rights: NonNullable<Report['Rights']>): string[] {
  const { Tokens, Classes, Questions, ComparedByRule = 0, Asked, Differences, Equal } = rights;
  const whose = `${number(Tokens)} tokens in ${number(Classes)} grant classes`;
  const outcome = Equal ? 'equal' : 'they differ';
  const lines = [`RIGHTS    ${whose}, ${number(Questions)} questions each way: ${outcome}`];
  if (ComparedByRule > 0)
    lines.push(`          ${number(ComparedByRule)} classes were too large: compared by rule`);
  const shown = Differences.slice(0, DIFFERENCES_MAX);
  lines.push(...shown.map((one) => `          ${differenceLine(one)}`));
  const hidden = Differences.length - shown.length + (rights.More ?? 0);
  if (hidden > 0) lines.push(`          and ${number(hidden)} more`);
  if (Asked !== undefined) {
    const asked = `${number(Asked.Tokens)} tokens, ${number(Asked.Questions)} questions`;
    lines.push(`          asked live: ${asked}`);
  }
  return lines;
}

function differenceLine(one: RightsDifference): string {
  const { Code, Tokens, Sample, Resource, Access, Segment, Namespace, Target } = one;
  const way = Target.Allow ? 'wider' : 'narrower';
  const on = Segment === '' ? '' : ` on ${JSON.stringify(Segment)}`;
  const where = Namespace === 'default' ? '' : ` in ${Namespace}`;
  const sample = Sample.slice(0, 3).join(', ');
  const what = `${Resource}:${Access}${on}${where}`;
  return printable(`${number(Tokens)} tokens ${way} here (${Code}): ${what}, such as ${sample}`);
}
