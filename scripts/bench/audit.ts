/** What an audit log costs the writes that it records. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from './load.js';
import { LOAD_COLUMNS, loadRow, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

const CONNECTIONS = 64;
/** Entries that the writes change. */
const ENTRIES = 1_000;
const GUARANTEES = ['none', 'best-effort', 'required'] as const;

/** Measures writes of one node without a sink and with one, in turn. */
export async function measureAudit(seconds: number, rounds: number): Promise<void> {
  title('Writes of one node by the delivery guarantee of its audit log', LOAD_COLUMNS);
  const next = (connection: number, n: number) =>
    putEntry(`entry-${(connection * 7919 + n) % ENTRIES}`, n);
  for (let round = 0; round < rounds; round += 1) {
    for (const guarantee of GUARANTEES) {
      const measure = async (setting: Setting): Promise<void> => {
        const plan = { targets: setting.targets, connections: CONNECTIONS, seconds, next };
        // the first burst finds code that is not compiled yet, and no entries to change
        await load(plan);
        loadRow(guarantee, await setting.cpuPerOp(() => load(plan)));
      };
      const dir = await mkdtemp(join(tmpdir(), 'conclave-audit-'));
      const sink = { path: join(dir, 'audit.json'), deliveryGuarantee: guarantee };
      const sinks = guarantee === 'none' ? {} : { all: sink };
      try {
        await withCluster(1, measure, { settings: { audit: { sinks } } });
      } finally {
        await rm(dir, { recursive: true });
      }
    }
  }
}
