import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { verify } from '../../src/audit/verify.js';
import { record, sinkOver } from './sinks.js';

/** Returns the rotated files of a folder, the oldest first. */
function rotatedIn(folder: string): string[] {
  const seq = (name: string): number => Number(/-(\d+)\.json$/.exec(name)![1]);
  const rotated = readdirSync(folder).filter((name) => name !== 'audit.json');
  return rotated.sort((a, b) => seq(a) - seq(b)).map((name) => join(folder, name));
}

describe('audit: the file of a sink', () => {
  it('goes on in a new file when the present one is due and was taken away', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'audit-'));
    const path = join(folder, 'audit.json');
    const more = { rotateBytes: 4096, deliveryGuarantee: 'required' };
    const { sink } = sinkOver(path, more);
    await sink.open();
    for (let n = 0; n < 40; n += 1) {
      if (n === 3) rmSync(path);
      expect(await sink.note(record(`${n} ${'x'.repeat(300)}`))).to.equal(true);
    }
    expect(sink.status()).to.include({ Seq: 40, Dropped: 0, Failing: false });
    await sink.close();
    const files = rotatedIn(folder).concat(path);
    expect(sink.status().Files).to.equal(files.length);
    expect(await verify(files)).to.include({ ok: true, last: 40 });
  });

  it('begins anew when the file was taken away while the disk failed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'audit-'));
    const path = join(folder, 'audit.json');
    const { sink, files } = sinkOver(path, { deliveryGuarantee: 'required' });
    await sink.open();
    expect(await sink.note(record('0'))).to.equal(true);
    Object.assign(files, { failsAfter: 10, cutsFail: true });
    expect(await sink.note(record('1'))).to.equal(false);
    rmSync(path);
    Object.assign(files, { failsAfter: undefined, cutsFail: false });
    while (sink.mustRefuse) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await sink.note(record('2'))).to.equal(true);
    await sink.close();
    expect(readFileSync(path).includes(0), 'zeros').to.equal(false);
    expect(await verify([path])).to.include({ ok: true });
  });

  it('gives each new file the mode of its settings, whatever the umask', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'audit-'));
    const path = join(folder, 'audit.json');
    const modes = (): number[] =>
      rotatedIn(folder)
        .concat(path)
        .map((file) => statSync(file).mode & 0o777);
    // That of the program.
    const umask = process.umask(0o077);
    try {
      for (const text of ['a'.repeat(5000), 'b']) {
        const { sink } = sinkOver(path, { mode: '0640', rotateBytes: 4096 });
        await sink.open();
        sink.note(record(text));
        await sink.close();
      }
      expect(modes()).to.deep.equal([0o640, 0o640]);
      // What an operator has set stays.
      chmodSync(path, 0o600);
      const { sink: next } = sinkOver(path, { mode: '0640' });
      await next.open();
      await next.close();
      expect(modes()).to.deep.equal([0o640, 0o600]);
    } finally {
      process.umask(umask);
    }
  });
});
