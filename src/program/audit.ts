/** The audit log of a node, as its settings say. */
import { Audit, type AuditParts } from '../audit/audit.js';
import { type SinkSettings, sinksOf } from '../audit/settings.js';
import type { Config } from '../config/config.js';
import type { Log } from '../log/log.js';
import type { ClusterNode } from '../node/types.js';
import { LEVEL_KEY, levelOf, raisedTo } from '../state/levels.js';
import type { Machine } from '../state/machine.js';
import { chainKey } from './key-files.js';

function keyOf({ name, keyFile }: SinkSettings): Uint8Array | undefined {
  if (keyFile === undefined) return undefined;
  try {
    return chainKey(keyFile);
  } catch (error) {
    throw new Error(`audit.sinks.${name}.keyFile: ${(error as Error).message}`);
  }
}

/** Makes the audit log of a node. Throws Error if a key cannot be read. */
export function auditOf(
  { nodeName, audit, limits }: Config,
  log: Log,
  node: ClusterNode & { readonly machine: Pick<Machine, 'recent'> },
  parts: Pick<AuditParts, 'authorizers' | 'groups'>,
): Audit {
  return new Audit({
    ...parts,
    sinks: sinksOf(audit.sinks),
    keyOf,
    nodeName,
    view: node.view,
    recent: node.machine.recent,
    nowMs: Date.now,
    requestMs: limits.requestMs,
    log: {
      failing: (sink, message) =>
        log.error(
          { event: 'audit_failing', sink, why: message },
          'audit records cannot be written',
        ),
      written: (sink, dropped) =>
        log.error({ event: 'audit_written', sink, dropped }, 'audit records are written again'),
    },
    // The others may be able to write theirs.
    onFailing: () => {
      if (node.status().role === 'leader') node.transfer().catch(() => {});
    },
  });
}

/** Records when the level rises: the leader proposes that. */
export function auditLevels(
  audit: Audit,
  node: ClusterNode & {
    readonly machine: Pick<Machine, 'onChanged'>;
  },
): void {
  node.machine.onChanged((keys) => {
    if (!keys.includes(LEVEL_KEY) || node.status().role !== 'leader') return;
    const level = levelOf(node.view);
    audit.system(`system.level ${level}`, raisedTo(node.view, level)!);
  });
}
