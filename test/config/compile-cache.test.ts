/** Compiled code in the data folder, which is executed. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { useCompiledCode } from '../../src/program/compile-cache.js';

describe('compiled code in the data folder', () => {
  let dir: string;
  const planted = (release: string): string => join(dir, 'compile-cache', release, 'planted');
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'conclave-compiled-'));
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

  it('is removed by another release', () => {
    useCompiledCode(dir, '1.1.0');
    expect(existsSync(planted('1.0.0'))).to.equal(false);
  });
});
