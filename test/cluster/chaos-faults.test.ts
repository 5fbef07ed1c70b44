import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Connection } from '../../cluster/chaos/client.js';
import { CONTROL_VARIABLE, ControlFile } from '../../cluster/chaos/control.js';
import { limitFiles } from '../../cluster/chaos/faults.js';
import { endOfLog } from '../../cluster/chaos/segments.js';
import { startTestbed, type Testbed } from '../../cluster/chaos/testbed.js';
import type { Operation, Value } from '../../cluster/checker/history.js';
import { checkHistory } from '../../cluster/checker/linearizability.js';
import type { LocalNode } from '../../src/dev/local.js';
import { segmentNumber } from '../../src/storage/segment.js';
import { decodeRecord, HEAD_BYTES, saltOf } from '../../src/storage/segment-record.js';
import { send } from '../support/client.js';
import { until } from './operator.js';

const PRELOAD = new URL('../../cluster/chaos/preload.js', import.meta.url).href;

const DAY_MS = 86_400_000;
const SYNC_MS = 400;

describe('faults injected into a real node', () => {
  let dir: string;
  let testbed: Testbed;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'conclave-faults-'));
    testbed = await startTestbed(1, dir);
  });
  after(async () => {
    await testbed.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const write = () => {
    const { token, urls } = testbed.cluster;
    return send(urls[0]!, 'PUT /v1/acl/token', { token, body: '{}' });
  };
  const createdAt = (reply: { text: string }): number =>
    Date.parse((JSON.parse(reply.text) as { CreateTime: string }).CreateTime);

  it('shift its clock forward and back', async () => {
    const isAhead = (reply: { text: string }, ms: number): boolean =>
      Math.abs(createdAt(reply) - Date.now() - ms) < DAY_MS / 2;
    for (const clockMs of [DAY_MS, -DAY_MS, 0]) {
      testbed.control('n1').set({ clockMs });
      await until(write, (reply) => isAhead(reply, clockMs));
    }
  });

  it('let it see an almost full disk until there is space again', async () => {
    testbed.control('n1').set({ noSpace: true });
    await until(write, ({ status }) => status === 507);
    testbed.control('n1').set({ noSpace: false });
    await until(write, ({ status }) => status === 200);
  });

  it('make its disk slow: a write takes at least that much longer', async () => {
    testbed.control('n1').set({ syncMs: SYNC_MS });
    await until(
      async () => {
        const began = performance.now();
        const { status } = await write();
        return { status, ms: performance.now() - began };
      },
      ({ status, ms }) => status === 200 && ms >= SYNC_MS - 1,
    );
    testbed.control('n1').set({ syncMs: 0 });
  });

  it('make its disk hang: nothing is acknowledged until it responds', async () => {
    testbed.control('n1').set({ hangs: true });
    await until(write, ({ status }) => status >= 500);
    testbed.control('n1').set({ hangs: false });
    await until(write, ({ status }) => status === 200);
  });

  it('tear a write of its log when its disk is full, which its next start drops', async () => {
    const [node] = testbed.cluster.nodes as [LocalNode];
    const { path, end } = endOfLog(node.entry.dataDir);
    // the head of a record is whole, its payload is not
    const limit = end + HEAD_BYTES + 4;
    await limitFiles(node, limit);
    await until(
      async () => {
        await write().catch(() => {});
        return node.pid;
      },
      (pid) => pid === undefined,
    );
    const bytes = readFileSync(path);
    const torn = decodeRecord(bytes, end, saltOf(segmentNumber(basename(path))!));
    expect(torn).to.include({ at: end, isSpoiled: true });
    expect(bytes.subarray(end + HEAD_BYTES, limit).equals(Buffer.alloc(4))).to.equal(false);
    expect(endOfLog(node.entry.dataDir)).to.deep.equal({ path, end });
    node.start();
    await until(write, ({ status }) => status === 200);
  });

  it('make its reads hang, and the process with them', async () => {
    const control = new ControlFile(join(dir, 'reads.json'));
    const script = [
      "const { open, readSync, constants } = require('node:fs');",
      'open(process.argv[1], constants.O_RDWR | constants.O_CREAT | constants.O_DSYNC, (_e, fd) =>',
      "process.stdin.on('data', (asked) =>",
      "console.log(String(asked) === 'time' ? Date.now() : readSync(fd, Buffer.alloc(1)))));",
    ].join('');
    const file = join(dir, 'read');
    const child = spawn(process.execPath, ['--import', PRELOAD, '-e', script, file], {
      env: { ...process.env, [CONTROL_VARIABLE]: control.path },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    const answered = (count: number) =>
      until(
        async () => lines.length,
        (length) => length === count,
      );
    try {
      child.stdin.write('?');
      await answered(1);
      // Its clock says when the process has read the file.
      control.set({ readsHang: true, clockMs: DAY_MS });
      await until(
        async () => {
          const before = lines.length;
          child.stdin.write('time');
          await answered(before + 1);
          return Number(lines.at(-1));
        },
        (time) => time > Date.now() + DAY_MS / 2,
      );
      const before = lines.length;
      child.stdin.write('?');
      await sleep(300);
      expect(lines).to.have.length(before);
      control.set({ readsHang: false });
      await answered(before + 1);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('stop its monotonic clock at the first read after the freeze, not its wall clock', async () => {
    const control = new ControlFile(join(dir, 'clocks.json'));
    const script =
      "process.stdin.on('data', () => console.log(performance.now(), performance.timeOrigin, Date.now()))";
    const child = spawn(process.execPath, ['--import', PRELOAD, '-e', script], {
      env: { ...process.env, [CONTROL_VARIABLE]: control.path },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    /** How far the wall clock is ahead of the monotonic clock since the process began. */
    const lead = async (): Promise<number> => {
      child.stdin.write('?');
      const [monotonic, origin, wall] = String((await lines.next()).value)
        .split(' ')
        .map(Number);
      return wall! - origin! - monotonic!;
    };
    try {
      const before = await lead();
      child.kill('SIGSTOP');
      await sleep(300);
      control.freeze(60_000);
      child.kill('SIGCONT');
      expect(await lead()).to.be.closeTo(before + 60_000, 10_000);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

describe('the check of client histories', () => {
  it('finds a stale response of a cut-off node that is recorded as a fresh one', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'conclave-stale-'));
    const testbed = await startTestbed(3, dir);
    try {
      const { cluster, network } = testbed;
      const leader = (await testbed.leader())!;
      const cutOff = cluster.nodes.find((node) => node !== leader)!;
      const history: Operation[] = [];
      const connect = ({ url }: { url: string }): Connection =>
        new Connection(url, cluster.token, 10_000);
      const [at, away] = [connect(leader), connect(cutOff)];
      const note = (call: number, action: Operation['action'], seen?: Value): void => {
        const rest = { key: 'k', outcome: 'ok', return: performance.now() } as const;
        history.push({ client: 'c', action, call, ...rest, ...(seen !== undefined && { seen }) });
      };
      const write = async (value: string): Promise<void> => {
        const call = performance.now();
        await until(
          () => at.write('k', value),
          ({ outcome }) => outcome === 'ok',
        );
        note(call, { type: 'write', value });
      };
      const read = async (connection: Connection): Promise<Value> => {
        const call = performance.now();
        const answer = await connection.read('k', 'stale');
        if (answer.outcome !== 'ok') throw new Error(answer.why);
        note(call, { type: 'read' }, answer.value.value);
        return answer.value.value;
      };
      await write('old');
      await until(
        () => read(away),
        (value) => value === 'old',
      );
      history.splice(1, history.length - 2);
      expect(checkHistory(history).result).to.equal('linearizable');
      network.cutWhere((from, to) => from === cutOff.name || to === cutOff.name);
      await write('new');
      expect(await read(away)).to.equal('old');
      expect(checkHistory(history).result).to.equal('violation');
      at.close();
      away.close();
    } finally {
      await testbed.close();
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
