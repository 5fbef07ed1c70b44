/** The texts of the audit log. */
import type { Grant } from '../api/audit-record.js';

export const AUDIT_TEXT = {
  about: (node: string) =>
    `Who asked for what, and what was refused: the newest requests of ${node || 'this node'}.`,
  reads: 'Show reads that were allowed',
  empty: 'No record matches.',
  noSinks:
    'This node keeps its newest records in memory only. The setting audit.sinks writes them.',
  sinks: 'Sinks',
  sinkColumns: ['Name', 'Where', 'Scope', 'Guarantee', 'Records', 'Lost', 'State'],
  writes: 'writes',
  failing: (why: string) => `cannot be written: ${why}`,
  columns: ['When', 'Who', 'Request', 'Status', 'Allowed by', 'Changed', 'Why'],
  table: 'Audit (scrolls sideways)',
  why: 'why',
  grant: ({ right, segment, rule, policy, line }: Grant) => {
    const asked = segment === '' ? right : `${right} ${segment}`;
    if (rule === undefined) return asked;
    const where = policy === undefined ? '' : `, ${policy.type} ${policy.name}`;
    return `${asked}: ${rule}${where}${line === undefined ? '' : `:${line}`}`;
  },
} as const;
