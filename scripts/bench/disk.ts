/** The disk space that many updates of few entries use. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import type { LocalNode } from '../../src/dev/local.js';
import { openLog } from '../../src/storage/open-log.js';
import { fill } from './load.js';
import { figure, row, title } from './report.js';
import { diskBytes, putEntry, type Setting, withCluster } from './setting.js';

const ENTRIES = 1000;
const CONNECTIONS = 128;
const PARTS = 10;
/** Background work after the last write: truncating the log, compacting the databases. */
const SETTLE_MS = 5000;

export function measureDisk(updates: number): Promise<void> {
  return withCluster(3, async (setting) => {
    const what = `${figure(updates)} updates of ${figure(ENTRIES)} entries`;
    title(`Disk of three nodes after ${what}`, ['what', 'figure']);
    const { targets, cluster } = setting;
    let most = 0;
    const begin = performance.now();
    for (let part = 0; part < PARTS; part++) {
      const from = Math.round((updates * part) / PARTS);
      const count = Math.round((updates * (part + 1)) / PARTS) - from;
      await fill(targets, CONNECTIONS, count, (n) =>
        putEntry(`entry-${(from + n) % ENTRIES}`, from + n),
      );
      const now = await Promise.all(cluster.nodes.map((node) => diskBytes(node)));
      most = Math.max(most, ...now);
      console.error(`${from + count} updates: ${now.map(mb).join(', ')}`);
    }
    const perSec = (updates * 1000) / (performance.now() - begin);
    row([`updates per second, ${CONNECTIONS} connections`, figure(perSec)]);
    row(['largest folder, seen ten times on the way', mb(most)]);
    await sleep(SETTLE_MS);
    const live = await liveBytes(setting);
    row(['live data (keys and values of the state)', mb(live)]);
    for (const node of cluster.nodes) row([`${node.name}, running`, await folder(node, live)]);
    await cluster.stop();
    for (const node of cluster.nodes) {
      const sizes = await folder(node, live);
      const { entries, bytes } = await keptLog(node);
      row([
        `${node.name}, stopped`,
        `${sizes}; keeps ${figure(entries)} log entries, ${mb(bytes)}`,
      ]);
    }
  });
}

async function folder(node: LocalNode, live: number): Promise<string> {
  const [all, log] = [await diskBytes(node), await diskBytes(node, 'log')];
  const ratio = figure((all - log) / live);
  return `${mb(all)}: log ${mb(log)}, the rest ${mb(all - log)}, ${ratio} times the live data`;
}

/** Returns the bytes of all records of the state, as a snapshot archive contains them. */
async function liveBytes({ targets }: Setting): Promise<number> {
  const { url, token } = targets[0]!;
  const answer = await fetch(`${url}/v1/snapshot`, { headers: { 'X-Consul-Token': token } });
  if (answer.status !== 200) throw new Error(`snapshot: ${answer.status} ${await answer.text()}`);
  const tar = gunzipSync(await answer.arrayBuffer());
  // The first file of the archive, after its header of 512 bytes.
  const length = Number.parseInt(tar.toString('latin1', 124, 136), 8);
  return (JSON.parse(tar.toString('utf8', 512, 512 + length)) as { Size: number }).Size;
}

/** The part of the log that a stopped node keeps. */
async function keptLog({ entry }: LocalNode): Promise<{ entries: number; bytes: number }> {
  const onFatal = (error: Error): never => {
    throw error;
  };
  const log = await openLog(join(entry.dataDir, 'log'), { onFatal });
  const [first, last] = [log.firstIndex(), log.lastIndex()];
  let bytes = 0;
  for (let at = first; at <= last; ) {
    const some = log.entries(at, last, 2 ** 20);
    for (const each of some) bytes += each.kind === 'command' ? each.data.length : 0;
    at += some.length;
  }
  await log.close();
  return { entries: last - first + 1, bytes };
}

const mb = (bytes: number): string => `${figure(bytes / 2 ** 20)} MB`;
