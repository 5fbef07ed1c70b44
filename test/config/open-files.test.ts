import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { freePorts } from '../../src/dev/ports.js';
import { until } from '../cluster/operator.js';

const MAIN = fileURLToPath(new URL('../../program/main.js', import.meta.url));
const FILES = 256;
/** Enough for the next file of the log, some tables and a backup. */
const LEFT = 32;

describe('a node with few files', function () {
  this.timeout(60_000);

  it('keeps files for itself, however many clients connect', async function () {
    if (!existsSync('/proc/self/fd')) this.skip();
    const dir = mkdtempSync(join(tmpdir(), 'conclave-files-'));
    const [http, raft] = (await freePorts(2)).map(String) as [string, string];
    const ports = { CONCLAVE_HTTP_PORT: http, CONCLAVE_RAFT_PORT: raft };
    const env = { ...process.env, ...ports, CONCLAVE_DATA_DIR: join(dir, 'data') };
    const shell = ['-c', `ulimit -n ${FILES} && exec "$0" "$1" agent`, process.execPath, MAIN];
    const node = spawn('sh', shell, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    node.stderr!.on('data', (text) => {
      log += text;
    });
    const sockets: Socket[] = [];
    try {
      const ready = `http://127.0.0.1:${http}/v1/health/ready`;
      await until(
        async () => (await fetch(ready, { headers: { connection: 'close' } })).ok,
        (isReady) => isReady,
      );
      for (let at = 0; at < FILES; at++) {
        const socket = connect(Number(http), '127.0.0.1');
        socket.on('error', () => {});
        sockets.push(socket);
      }
      await sleep(500);
      expect(readdirSync(`/proc/${node.pid}/fd`).length).to.be.below(FILES - LEFT);
      expect(log).to.include('"event":"connections_limited"');
      expect(log).to.include(`this process may open ${FILES} files`);
    } finally {
      for (const socket of sockets) socket.destroy();
      node.kill('SIGKILL');
      await once(node, 'exit');
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
