/** The report of a run as Markdown. */
import { FAULTS } from './faults.js';
import type { ChaosReport } from './run.js';

/** How a run was started. */
export interface RunFacts {
  readonly command: string;
  /** The commit of the program; empty if unknown. */
  readonly commit: string;
  readonly node: string;
  /** The start of the run, in ISO 8601. */
  readonly at: string;
}

const howMade = new Map(FAULTS.map(({ name, how }) => [name, how]));
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Writes the report of a run. */
export function markdownOf(facts: RunFacts, report: ChaosReport): string {
  const { counts, archives, verdict, kills } = report;
  const operations =
    counts.acknowledged + counts.failed + counts.unknown + counts.reads + counts.staleReads;
  const result =
    verdict.result === 'linearizable'
      ? `linearizable: ${verdict.operations} operations on ${verdict.keys} registers`
      : verdict.result === 'violation'
        ? `**not linearizable** in register ${verdict.key}:\n${verdict.explanation.join('\n')}`
        : `**undecided** in register ${verdict.key}`;
  const at = facts.commit && ` at commit ${facts.commit}`;
  const agreed = report.agreedAt === undefined ? '**no**' : `yes, at index ${report.agreedAt}`;
  const writes =
    `${counts.acknowledged} writes acknowledged, ${counts.failed} refused, ` +
    `${counts.unknown} of unknown outcome`;
  const reads = `${counts.reads} reads, ${counts.staleReads} stale reads`;
  const attempts =
    `${archives.restoreFailed} attempts failed, ` + `${archives.restoreUnknown} of unknown outcome`;
  const faults = Object.entries(report.faults).sort(([, a], [, b]) => b - a);
  return [
    `# Chaos on ${report.nodes} nodes: ${report.ok ? 'passed' : 'FAILED'}`,
    '',
    `\`${facts.command}\`${at}, Node ${facts.node}, started ${facts.at}.`,
    '',
    '| | |',
    '| --- | --- |',
    `| duration of the faults | ${(report.seconds / 60).toFixed(1)} min |`,
    `| verdict | ${result} |`,
    `| states equal at the end | ${agreed} |`,
    `| operations | ${operations}: ${writes}; ${reads}; ${counts.tokens} tokens with a TTL |`,
    `| changes | ${changesText(report)} |`,
    `| rights | ${rightsText(report)} |`,
    `| cached rights | ${cachesText(report)} |`,
    `| snapshots | ${archives.saved} saved, ${archives.restored} restored (${attempts}) |`,
    `| longest time without an acknowledged write | ${seconds(report.longestGapMs)} |`,
    `| every node ready after the last fault | ${seconds(report.recoveryMs)} |`,
    ...(kills
      ? [
          `| ${kills.kills} leaders killed under load | ` +
            `${kills.acknowledged} writes acknowledged, ${kills.lost} lost, ${kills.duplicates} applied twice; longest time without a write ` +
            `${kills.gapMedianMs} ms (median), ${kills.gapMaxMs} ms (maximum) |`,
        ]
      : []),
    '',
    '| fault | times | how |',
    '| --- | --- | --- |',
    ...faults.map(([name, times]) => `| ${name} | ${times} | ${howMade.get(name)} |`),
    '',
    ...Object.entries(report.effects).map(([what, times]) => `- ${what}: ${times} times`),
    '',
    ...Object.entries(report.leftOut).map(([name, why]) => `Left out: ${name} (${why}).\n`),
    ...report.anomalies.map((text) => `- **${text}**`),
  ].join('\n');
}

function changesText({ changes, counts }: ChaosReport): string {
  const sets = `${changes.setsApplied} sets applied, seen whole ${changes.setsSeen} times`;
  const conditions =
    `${counts.conditionsMet} writes on a condition that held, ` +
    `${counts.conditionsFailed} on one that did not`;
  return `${sets}; ${changes.undone} entries undone; ${conditions}`;
}

function cachesText({ rights: { caches } }: ChaosReport): string {
  if (caches === undefined) return 'none';
  const { allowed, worstMs } = caches;
  const counts = Object.entries(allowed).map(([library, count]) => `${count} of ${library}`);
  const last = `${worstMs} ms until the last fresh one heeded that they were taken`;
  return `${counts.join(' and ')} had them; ${last}`;
}

function rightsText({ rights }: ChaosReport): string {
  const { tokensDeleted, policiesChanged, rolesChanged, linksRemoved, identitiesRevoked } = rights;
  const taken = tokensDeleted + policiesChanged + rolesChanged + linksRemoved + identitiesRevoked;
  return (
    `taken from ${taken} tokens, ${identitiesRevoked} of them by revoking the identity; ` +
    `${rights.used} uses before and ${rights.refused} refused after ` +
    `that was acknowledged, ${rights.notJudged} not judged beside a restore`
  );
}
