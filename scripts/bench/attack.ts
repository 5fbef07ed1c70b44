/** What strangers cost: anonymous bodies that are long to check, and readers of long lists that do not read. */
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Load, load } from './load.js';
import { figure, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

const QUIET_SECONDS = 4;
const ATTACK_SECONDS = 12;
const WRITERS = 8;

/** 1200 subsets with filters of 30 terms: some 800 kB. */
const FILTER = Array.from({ length: 30 }, (_, at) => `Service.Meta.v==a${at}`).join(' or ');
const BODY = JSON.stringify({
  Kind: 'service-resolver',
  Name: 'web',
  Subsets: Object.fromEntries(
    Array.from({ length: 1200 }, (_, at) => [`s${at}`, { Filter: FILTER }]),
  ),
});

/** Writes of permitted clients before and while strangers send bodies to all nodes. */
export function measureAttack(): Promise<void> {
  return withCluster(3, async (setting) => {
    title('Permitted writes while strangers send 800 kB each', [
      ...['strangers', 'their requests', 'writes per second', 'p50 ms', 'max ms', 'errors', 'term'],
    ]);
    const term = () => setting.metric('conclave_raft_term');
    const told = async (strangers: number, requests: number, writes: Load): Promise<void> => {
      const { perSec, p50Ms, maxMs, errors } = writes;
      const figures = [strangers, requests, perSec, p50Ms, maxMs, errors, await term()];
      row([...figures.map((value) => figure(value))]);
    };
    await told(0, 0, await writesFor(setting, QUIET_SECONDS));
    for (const strangers of [2, 8]) {
      const end = performance.now() + ATTACK_SECONDS * 1000;
      const counts = Array.from({ length: strangers }, (_, at) =>
        attack(setting.targets[at % setting.targets.length]!.url, end),
      );
      const writes = await writesFor(setting, ATTACK_SECONDS);
      const requests = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
      await told(strangers, requests, writes);
    }
  });
}

const writesFor = ({ targets }: Setting, seconds: number): Promise<Load> =>
  load({
    ...{ targets, connections: WRITERS, seconds },
    next: (connection, n) => putEntry(`w${connection}`, n),
  });

/** Sends the body again and again until the end; gives how often. */
async function attack(url: string, end: number): Promise<number> {
  let count = 0;
  for (; performance.now() < end; count += 1) {
    await new Promise<void>((resolve) => {
      const sent = request(`${url}/v1/config`, { method: 'PUT', agent: false }, (answer) => {
        answer.resume().once('close', resolve);
      });
      // refused before it was sent whole
      sent.once('error', () => resolve());
      sent.end(BODY);
    });
  }
  return count;
}

const READERS = 40;
const OBJECTS = 400;

/** Memory of a node while clients ask for a long list and read nothing of it. */
export function measureReaders(): Promise<void> {
  return withCluster(1, async (setting) => {
    title('Readers of a list of 40 MB that do not read', ['readers', 'resident MB']);
    for (let at = 0; at < OBJECTS; at += 1)
      await setting.put('/v1/acl/policy', {
        Name: `p${at}`,
        Description: 'x'.repeat(100_000),
      });
    row(['0', figure(await setting.residentMb())]);
    const { url, token } = setting.targets[0]!;
    const { hostname, port } = new URL(url);
    const readers = Array.from({ length: READERS }, (): Socket => {
      const reader = connect(Number(port), hostname).on('error', () => {});
      const head = `Host: ${hostname}\r\nX-Service-Token: ${token}`;
      reader.write(`GET /v1/acl/policies?stale HTTP/1.1\r\n${head}\r\n\r\n`);
      return reader.pause();
    });
    for (const _ of [1, 2, 3]) {
      await sleep(2000);
      row([String(READERS), figure(await setting.residentMb())]);
    }
    for (const reader of readers) reader.destroy();
  });
}
