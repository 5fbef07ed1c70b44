/** The cost of clients that do not read: a node's memory while they request a long list. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { figure, row, title } from './report.js';
import { type Setting, withCluster } from './setting.js';

const READERS = 40;
/** Objects in the list, and the bytes of each: 40 MB in all. */
const SHAPES = [
  { objects: 400, bytes: 100_000 },
  { objects: 41, bytes: 1_000_000 },
];
/** How often, and at which interval in seconds, the memory is reported. */
const LOOKS = 5;
const LOOK_SECONDS = 2;

export async function measureReaders(): Promise<void> {
  title('Readers of a list of 40 MB that do not read', [
    ...['objects', 'readers', 'resident MB before', 'resident MB each 2 s'],
  ]);
  for (const shape of SHAPES) await withCluster(1, (setting) => measure(setting, shape));
}

async function measure(setting: Setting, shape: (typeof SHAPES)[number]): Promise<void> {
  const { objects, bytes } = shape;
  for (let at = 0; at < objects; at += 1)
    await setting.put('/v1/acl/role', { Name: `r${at}`, Description: 'x'.repeat(bytes) });
  // One reader that does read: the normal cost of a list is not counted.
  await setting.ask({ method: 'GET', path: '/v1/acl/roles?stale' });
  // A second token, as one token may read 32 long responses at a time.
  const { body } = await setting.put('/v1/acl/token', {
    Policies: [{ Name: 'global-management' }],
  });
  const other = (JSON.parse(body.toString()) as { SecretID: string }).SecretID;
  const before = await setting.residentMb();
  const { url, token } = setting.targets[0]!;
  const { hostname, port } = new URL(url);
  const readers = Array.from({ length: READERS }, (_, at): Socket => {
    const reader = connect(Number(port), hostname).on('error', () => {});
    const head = `Host: ${hostname}\r\nX-Service-Token: ${at % 2 === 0 ? token : other}`;
    reader.write(`GET /v1/acl/roles?stale HTTP/1.1\r\n${head}\r\n\r\n`);
    return reader.pause();
  });
  const looks: string[] = [];
  for (let look = 0; look < LOOKS; look += 1) {
    await sleep(LOOK_SECONDS * 1000);
    looks.push(figure(await setting.residentMb()));
  }
  row([`${objects} of ${figure(bytes)} bytes`, String(READERS), figure(before), looks.join(', ')]);
  for (const reader of readers) reader.destroy();
}
