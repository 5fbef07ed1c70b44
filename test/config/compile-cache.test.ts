import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { useCompiledCode } from '../../src/program/compile-cache.js';

describe('compiled code in the data folder', () => {
  let dir: string;
  let planted: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'conclave-compiled-'));
    planted = join(dir, 'compile-cache', 'planted');
    mkdirSync(planted, { recursive: true });
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('is used while only the owner can write in the folder', () => {
    chmodSync(dir, 0o755);
    useCompiledCode(dir);
    expect(existsSync(planted)).to.equal(true);
  });

  it('is removed where others could have written it', () => {
    chmodSync(dir, 0o775);
    useCompiledCode(dir);
    expect(existsSync(planted)).to.equal(false);
  });
});
