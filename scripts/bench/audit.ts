/** What an audit log costs the writes that it records. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeRun } from '../../src/dev/local.js';
import { load } from './load.js';
import { LOAD_COLUMNS, loadRow, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

const CONNECTIONS = 64;
/** Entries that the writes change. */
const ENTRIES = 1_000;
const GUARANTEES = ['none', 'best-effort', 'required'] as const;

/** Seconds of load before anything is measured: code is not compiled yet, entries are not there. */
const WARM_SECONDS = 15;

/** Measures writes of a cluster without a sink and of others with one, in turn. */
export async function measureAudit(nodes: number, seconds: number, rounds: number): Promise<void> {
  title(`Writes to ${nodes} nodes by the delivery guarantee of their audit log`, LOAD_COLUMNS);
  await withClusters(nodes, async (settings) => {
    const next = (connection: number, n: number) =>
      putEntry(`entry-${(connection * 7919 + n) % ENTRIES}`, n);
    const planOf = ({ targets }: Setting) => ({ targets, connections: CONNECTIONS, next });
    for (const setting of settings) await load({ ...planOf(setting), seconds: WARM_SECONDS });
    for (let round = 0; round < rounds; round += 1) {
      for (const [at, setting] of settings.entries()) {
        const run = () => load({ ...planOf(setting), seconds });
        loadRow(GUARANTEES[at]!, await setting.cpuPerOp(run));
      }
    }
  });
}

/** Calls `measure` with a cluster for each guarantee. */
async function withClusters(
  nodes: number,
  measure: (settings: readonly Setting[]) => Promise<void>,
  begun: readonly Setting[] = [],
): Promise<void> {
  const deliveryGuarantee = GUARANTEES[begun.length];
  if (deliveryGuarantee === undefined) return measure(begun);
  const dir = await mkdtemp(join(tmpdir(), 'conclave-audit-'));
  const run = (name: string): NodeRun => {
    const all = { path: join(dir, `${name}.json`), deliveryGuarantee };
    const sinks = deliveryGuarantee === 'none' ? {} : { all };
    return { preload: [], env: { CONCLAVE_AUDIT_SINKS: JSON.stringify(sinks) } };
  };
  try {
    await withCluster(nodes, (setting) => withClusters(nodes, measure, [...begun, setting]), {
      run,
    });
  } finally {
    await rm(dir, { recursive: true });
  }
}
