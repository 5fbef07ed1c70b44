/** Compiled code in the data folder, which is executed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { useCompiledCode } from '../../src/program/compile-cache.js';

const MAIN = fileURLToPath(new URL('../../program/main.js', import.meta.url));

describe('compiled code in the data folder', () => {
  let dir: string;
  const planted = (release: string): string => join(dir, 'compile-cache', release, 'planted');
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'conclave-compiled-'));
    writeFileSync(join(dir, 'node.json'), '');
    for (const release of ['1.0.0', '1.1.0']) mkdirSync(planted(release), { recursive: true });
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('is used while only the owner can write in the folder', () => {
    chmodSync(dir, 0o755);
    useCompiledCode(dir, '1.1.0');
    expect(existsSync(planted('1.1.0'))).to.equal(true);
  });

  it('is removed where others could have written it', () => {
    chmodSync(dir, 0o775);
    useCompiledCode(dir, '1.1.0');
    expect(existsSync(planted('1.1.0'))).to.equal(false);
  });

  it('is removed where others could have written in a folder of its own', () => {
    for (const folder of ['compile-cache', 'compile-cache/1.1.0']) {
      mkdirSync(planted('1.1.0'), { recursive: true });
      chmodSync(join(dir, folder), 0o777);
      useCompiledCode(dir, '1.1.0');
      expect(existsSync(planted('1.1.0')), folder).to.equal(false);
    }
  });

  it('is not looked for behind a link: what that leads to stays', () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'conclave-elsewhere-'));
    writeFileSync(join(elsewhere, 'kept'), '');
    for (const mode of [0o777, 0o700]) {
      chmodSync(dir, mode);
      rmSync(join(dir, 'compile-cache'), { recursive: true, force: true });
      symlinkSync(elsewhere, join(dir, 'compile-cache'));
      useCompiledCode(dir, '1.1.0');
      expect(readdirSync(elsewhere)).to.deep.equal(['kept']);
    }
    rmSync(elsewhere, { recursive: true });
  });

  it('is neither removed from nor put into a folder that is no node’s yet', () => {
    rmSync(join(dir, 'node.json'));
    useCompiledCode(dir, '1.1.0');
    expect(existsSync(planted('1.0.0'))).to.equal(true);
    rmSync(join(dir, 'compile-cache'), { recursive: true });
    useCompiledCode(dir, '1.1.0');
    // A first start refuses a folder that contains anything.
    expect(readdirSync(dir)).to.deep.equal([]);
  });

  it('is removed by another release', () => {
    useCompiledCode(dir, '1.1.0');
    expect(existsSync(planted('1.0.0'))).to.equal(false);
  });

  it('does not keep a first start from an empty folder, such as a volume', async () => {
    rmSync(join(dir, 'node.json'));
    rmSync(join(dir, 'compile-cache'), { recursive: true });
    const ports = ['--http-port', '0', '--raft-port', '0', '--raft-advertise', '127.0.0.1:8300'];
    const node = spawn(process.execPath, [MAIN, 'agent', '--data-dir', dir, ...ports]);
    const ended = once(node, 'close');
    let log = '';
    for await (const chunk of node.stderr) {
      log += chunk;
      if (log.includes('"serving"')) break;
    }
    node.kill();
    await ended;
    expect(log).to.include('"serving"');
  }).timeout(30_000);
});
