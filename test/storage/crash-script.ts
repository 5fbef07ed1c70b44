/**
 * The operations of the process that will be killed, step by step, so that the test knows what must
 * be there.
 */
import type { Entry, HardState, LogView, SnapshotMeta } from '../../src/raft/types.js';
import type { StateRecord } from '../../src/storage/types.js';

export type LogStep = { readonly hardState?: HardState; readonly entries: readonly Entry[] };

/** Step `n` of the log, from 1: appends, sometimes over the last entries, sometimes with a vote. */
export function logStep(n: number, lastIndex: number): LogStep {
  const back = n % 7 === 0 ? Math.min(lastIndex, 3) : 0;
  const count = 1 + (n % 4);
  const term = 1 + Math.floor(n / 7);
  const entries = Array.from({ length: count }, (_, i): Entry => {
    const index = lastIndex - back + 1 + i;
    return { kind: 'command', index, term, data: Buffer.from(`${n}:${'x'.repeat(n % 90)}`) };
  });
  return n % 7 === 0 ? { hardState: { term, votedFor: `n${n}` }, entries } : { entries };
}

const CUT_EVERY = 11;
const KEPT = 20;

/** Where the log is truncated after step `n`, if it is. */
export function cutAfter(n: number, log: LogView): SnapshotMeta | undefined {
  const index = log.lastIndex() - KEPT;
  if (n % CUT_EVERY !== 0 || index < log.firstIndex()) return undefined;
  return { index, term: log.term(index)!, configuration: { members: [] } };
}

/** The number of steps after which the whole state is replaced. */
export const INSTALL_EVERY = 25;

/** The state after step `n`. */
export function stateAfter(n: number): StateRecord[] {
  const base = n - (n % INSTALL_EVERY);
  const records: StateRecord[] = [['applied', String(n)]];
  for (let i = Math.max(base, 1); i <= n; i++)
    records.push([`key${String(i).padStart(6, '0')}`, `v${i}`]);
  return records;
}
