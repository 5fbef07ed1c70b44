/** What a node tells V8 about an idle heap. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const MAIN = fileURLToPath(new URL('../../program/main.js', import.meta.url));
const FLAG = /--gc-memory-reducer-start-delay-ms=\d+/;

describe('the heap of an idle node', () => {
  it('keeps its compiled code: the memory reducer is stopped', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'conclave-idle-heap-'));
    const preload = join(dir, 'preload.mjs');
    // Prints the flags that the program sets, and ends it when it would start the node.
    writeFileSync(
      preload,
      `import v8 from 'node:v8';
       v8.setFlagsFromString = (flag) => { console.log(flag); process.exit(0); };`,
    );
    const agent = [MAIN, 'agent', '--data-dir', join(dir, 'data')];
    const words = ['--trace-gc', '--import', preload, ...agent];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      printed += part;
    });
    await once(child, 'close');
    rmSync(dir, { recursive: true });
    const [flag] = FLAG.exec(printed) ?? [];
    expect(flag, printed).not.to.equal(undefined);
    // V8 keeps the delay that it has at its first collection.
    expect(printed).not.to.match(/Scavenge|Mark-Compact/);
    // V8 prints a complaint about a flag that it does not have, and goes on.
    const known = spawnSync(process.execPath, [flag!, '--eval', ''], { encoding: 'utf8' });
    expect([known.status, known.stderr]).to.deep.equal([0, '']);
  });
});
