import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { bootstrapReset } from '../../src/program/api-routes.js';

describe('the file that allows another bootstrap', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-reset-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'acl-bootstrap-reset');

  it('is read, and the log says why one is ignored', async () => {
    const lines: string[] = [];
    const warn = (_context: object, message: string): void => void lines.push(message);
    const reset = bootstrapReset(folder, { warn } as Parameters<typeof bootstrapReset>[1]);
    expect([await reset.read(), lines]).to.deep.equal([undefined, []]);
    // A folder cannot be read as a file, not even by root.
    mkdirSync(path);
    expect(await reset.read()).to.equal(undefined);
    rmdirSync(path);
    writeFileSync(path, 'index 4\n');
    expect(await reset.read()).to.equal(undefined);
    expect(lines).to.deep.equal([
      `${path} is ignored: it cannot be read`,
      `${path} is ignored: it does not hold an index`,
    ]);
    writeFileSync(path, '4\n');
    expect(await reset.read()).to.equal(4);
    await reset.remove();
    expect([await reset.read(), lines.length]).to.deep.equal([undefined, 2]);
    // A token was made: it is answered although its file stays.
    mkdirSync(path);
    await reset.remove();
    expect(lines.at(-1)).to.equal(`${path} cannot be removed`);
  });
});
