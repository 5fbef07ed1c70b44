/** The ports of local nodes. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { freePorts } from '../../src/dev/ports.js';

const run = promisify(execFile);
const MODULE = new URL('../../src/dev/ports.js', import.meta.url).href;
/** Prints ports, and ends when nothing keeps it alive. */
const PROGRAM = `import { freePorts } from ${JSON.stringify(MODULE)};
console.log(JSON.stringify(await freePorts(600)));`;

describe('cluster: free ports', () => {
  it('are of one caller alone, in this process and in others', async () => {
    const calls = await Promise.all([freePorts(200), freePorts(200), freePorts(200)]);
    const others = await Promise.all(
      [1, 2].map(async () => {
        const { stdout } = await run(process.execPath, ['--input-type=module', '-e', PROGRAM]);
        return JSON.parse(stdout) as number[];
      }),
    );
    const here = calls.flat();
    expect(new Set(here).size).to.equal(600);
    // The others run at different times, so they may have ports of each other.
    for (const ports of others) {
      expect(new Set([...here, ...ports]).size).to.equal(1200);
      expect(Math.min(...ports)).to.be.greaterThan(10_240);
      expect(Math.max(...ports)).to.be.lessThan(32_768);
    }
  });
});
