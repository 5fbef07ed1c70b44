/** Damage to the files of a stopped node. */
import { join } from 'node:path';
import { Level } from 'level';
import { keys } from '../../src/state/keys.js';
import { prefixOf, storedValue } from '../../src/storage/state-load.js';

/** Changes the checksum of a table in a stopped node's state, as a wrong change would have. */
export async function corruptChecksum(dataDir: string, table: string): Promise<void> {
  const db = new Level(join(dataDir, 'state'));
  const present = JSON.parse((await db.get('!state'))!.slice(8)) as { generation: number };
  const key = prefixOf(present.generation) + keys.machine;
  const machine = JSON.parse((await db.get(key))!.slice(8));
  machine.sums[table] = machine.sums[table].replace(/^./, (digit: string) =>
    digit === '0' ? '1' : '0',
  );
  await db.put(key, storedValue(keys.machine, JSON.stringify(machine)), { sync: true });
  await db.close();
}
