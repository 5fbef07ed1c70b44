import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { asOwner } from '../../src/base/as-owner.js';
import { freePorts } from '../../src/dev/ports.js';
import { until } from '../cluster/operator.js';

const MAIN = fileURLToPath(new URL('../../program/main.js', import.meta.url));
/** The user `nobody`. */
const USER = 65_534;
const AS_USER = { uid: USER, gid: USER, stdio: 'ignore' } as const;

/** Gives a new folder to another user. Returns whether that user can reach it and the program. */
function handOver(folder: string): boolean {
  if (process.geteuid?.() !== 0) return false;
  mkdirSync(folder, 0o700);
  chownSync(folder, USER, USER);
  const reach = 'fs.readFileSync(process.argv[1]); fs.readdirSync(process.argv[2])';
  return spawnSync(process.execPath, ['-e', reach, MAIN, folder], AS_USER).status === 0;
}

const dir = mkdtempSync(join(tmpdir(), 'conclave-owner-'));
chmodSync(dir, 0o711);
const folder = join(dir, 'data');
const isChecked = handOver(folder);
const note = isChecked ? '' : ' (not checked: needs root, and a clone that others can read)';

describe(`root and the data folder of another user${note}`, function () {
  this.timeout(60_000);
  let env: Record<string, string>;
  let node: ChildProcess | undefined;

  before(async () => {
    const [http, raft] = (await freePorts(2)).map(String) as [string, string];
    const address = `http://127.0.0.1:${http}`;
    const ports = { CONCLAVE_HTTP_PORT: http, CONCLAVE_RAFT_PORT: raft };
    env = { ...ports, CONCLAVE_DATA_DIR: folder, CONCLAVE_HTTP_ADDR: address, HOME: dir };
  });
  after(async () => {
    if (node?.exitCode === null && node.kill('SIGKILL')) await once(node, 'exit');
    rmSync(dir, { recursive: true, force: true });
  });

  const run = async (words: string): Promise<number | null> => {
    const args = [MAIN, ...words.split(' ')];
    const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
    return (await once(child, 'exit'))[0];
  };
  /** Starts the node as the user, and waits until it is ready. */
  const start = async (): Promise<void> => {
    node = spawn(process.execPath, [MAIN, 'agent'], { ...AS_USER, env });
    const ready = `${env['CONCLAVE_HTTP_ADDR']}/v1/health/ready`;
    await until(
      async () => node!.exitCode !== null || (await fetch(ready)).ok,
      (isOver) => isOver,
    );
    expect(node.exitCode, 'the node ended').to.equal(null);
  };
  const stop = async (): Promise<void> => {
    node!.kill();
    await once(node!, 'exit');
  };

  it('root bootstraps again, inspects and recovers, and the node starts as before', async () => {
    if (!isChecked) return;
    await start();
    expect(await run('acl bootstrap')).to.equal(0);
    expect(await run(`acl bootstrap --reset ${folder}`)).to.equal(0);
    await stop();
    for (const command of ['inspect', 'recover']) {
      expect(await run(command), command).to.equal(0);
      const names = ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })];
      const foreign = names.filter((name) => statSync(join(folder, name)).uid !== USER);
      expect(foreign, command).to.deep.equal([]);
      await start();
      await stop();
    }
  });

  it('root stays root where the owner could not work', async () => {
    if (!isChecked) return;
    const closed = join(dir, 'closed');
    const own = join(closed, 'own');
    mkdirSync(own, { recursive: true });
    chmodSync(closed, 0o700);
    chownSync(own, USER, USER);
    const who = async (): Promise<number> => process.geteuid!();
    expect(await asOwner(folder, who)).to.equal(USER);
    for (const other of [own, closed, join(dir, 'none')])
      expect(await asOwner(other, who), other).to.equal(0);
    await asOwner(folder, () => Promise.reject(new Error('failed'))).catch(() => {});
    expect([process.geteuid!(), process.getegid!()]).to.deep.equal([0, 0]);
  });
});
