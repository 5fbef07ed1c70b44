import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Setting, setUp } from '../../cluster/chaos/setting.js';
import { ask, until } from './operator.js';

const DAY_MS = 86_400_000;
const SYNC_MS = 400;

describe('faults made inside a real node', function () {
  this.timeout(60_000);
  let dir: string;
  let setting: Setting;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'conclave-faults-'));
    setting = await setUp(1, dir);
  });
  after(async () => {
    await setting.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const write = () => {
    const { token, urls } = setting.cluster;
    return ask(urls[0]!, 'PUT', '/v1/acl/token', { token, body: '{}' });
  };
  const createdAt = (reply: { body: string }): number =>
    Date.parse((JSON.parse(reply.body) as { CreateTime: string }).CreateTime);

  it('shift its clock, forward and back', async () => {
    const isAhead = (reply: { body: string }, ms: number): boolean =>
      Math.abs(createdAt(reply) - Date.now() - ms) < DAY_MS / 2;
    for (const clockMs of [DAY_MS, -DAY_MS, 0]) {
      setting.control('n1').set({ clockMs });
      await until(write, (reply) => isAhead(reply, clockMs));
    }
  });

  it('let it believe that its disk is almost full, until there is room again', async () => {
    setting.control('n1').set({ noSpace: true });
    await until(write, ({ status }) => status === 507);
    setting.control('n1').set({ noSpace: false });
    await until(write, ({ status }) => status === 200);
  });

  it('make its disk slow: a write takes that much longer', async () => {
    setting.control('n1').set({ syncMs: SYNC_MS });
    await until(
      async () => {
        const began = performance.now();
        const { status } = await write();
        return { status, ms: performance.now() - began };
      },
      ({ status, ms }) => status === 200 && ms >= SYNC_MS - 1,
    );
    setting.control('n1').set({ syncMs: 0 });
  });
});
