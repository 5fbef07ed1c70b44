import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { freePorts } from '../../src/dev/ports.js';
import { until } from '../cluster/operator.js';

const MAIN = fileURLToPath(new URL('../../program/main.js', import.meta.url));
const FILES = 256;
/** Enough for the next file of the log, some tables and a backup. */
const LEFT = 32;

const isChecked = process.platform === 'linux';

describe(`a node with few files${isChecked ? '' : ' (not checked: needs /proc)'}`, function () {
  this.timeout(60_000);

  it('keeps files for itself, however many clients connect', async () => {
    if (!isChecked) return;
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
      const tried = Array.from({ length: FILES }, () => {
        const socket = connect(Number(http), '127.0.0.1');
        sockets.push(socket);
        return new Promise((done) => socket.once('connect', done).on('error', done));
      });
      await Promise.all(tried);
      // Its loop has accepted those that came before this one, or closed them.
      const files = (): number => readdirSync(`/proc/${node.pid}/fd`).length;
      const last = connect(Number(http), '127.0.0.1');
      sockets.push(last);
      await new Promise((done) => last.on('error', done).on('close', done).resume());
      expect(files()).to.be.below(FILES - LEFT);
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
