/** A run as Markdown, for people. */
import { FAULTS } from './faults.js';
import type { ChaosReport } from './run.js';

export interface RunFacts {
  readonly command: string;
  /** The commit that ran; empty if unknown. */
  readonly commit: string;
  readonly node: string;
  /** When it began, ISO. */
  readonly at: string;
}

const howMade = new Map(FAULTS.map(({ name, how }) => [name, how]));
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export function markdownOf(facts: RunFacts, report: ChaosReport): string {
  const { counts, archives, verdict, kills } = report;
  const operations =
    counts.acknowledged + counts.failed + counts.unknown + counts.reads + counts.staleReads;
  const judged =
    verdict.result === 'linearizable'
      ? `linearizable: ${verdict.operations} operations on ${verdict.keys} registers`
      : verdict.result === 'violation'
        ? `**not linearizable** in register ${verdict.key}:\n${verdict.explanation.join('\n')}`
        : `**undecided** in register ${verdict.key}`;
  const faults = Object.entries(report.faults).sort(([, a], [, b]) => b - a);
  return [
    `# Chaos on ${report.nodes} nodes: ${report.ok ? 'passed' : 'FAILED'}`,
    '',
    `\`${facts.command}\`${facts.commit && ` at commit ${facts.commit}`}, Node ${facts.node}, begun ${facts.at}.`,
    '',
    '| | |',
    '| --- | --- |',
    `| faults for | ${(report.seconds / 60).toFixed(1)} min |`,
    `| verdict | ${judged} |`,
    `| all nodes alike at the end | ${report.agreedAt === undefined ? '**no**' : `yes, at index ${report.agreedAt}`} |`,
    `| operations | ${operations}: ${counts.acknowledged} writes acknowledged, ${counts.failed} refused, ${counts.unknown} of unknown outcome; ${counts.reads} reads, ${counts.staleReads} stale ones; ${counts.tokens} tokens with a TTL |`,
    `| snapshots | ${archives.saved} saved, ${archives.restored} restored (${archives.restoreFailed} attempts failed, ${archives.restoreUnknown} of unknown outcome) |`,
    `| longest time without an acknowledged write | ${seconds(report.longestGapMs)} |`,
    `| every node ready after the last fault | ${seconds(report.recoveryMs)} |`,
    ...(kills
      ? [
          `| ${kills.kills} leaders killed under load | ${kills.acknowledged} writes acknowledged, ${kills.lost} lost, ${kills.duplicates} made twice; pause ${kills.gapMedianMs} ms (median), ${kills.gapMaxMs} ms (longest) |`,
        ]
      : []),
    '',
    '| fault | times | how |',
    '| --- | --- | --- |',
    ...faults.map(([name, times]) => `| ${name} | ${times} | ${howMade.get(name)} |`),
    '',
    ...Object.entries(report.effects).map(([what, times]) => `- ${what}: ${times} times`),
    '',
    ...Object.entries(report.leftOut).map(([name, why]) => `Left out: ${name}, because ${why}.\n`),
    ...report.oddities.map((text) => `- **${text}**`),
  ].join('\n');
}
