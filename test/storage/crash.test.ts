/**
 * A process is killed while it writes: everything it reported durable is there, in order, and
 * nothing by half.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { MemoryLog } from '../../src/storage/memory-log.js';
import { logStep, stateAfter } from './crash-script.js';
import { contents, entriesOf, Folders } from './helpers.js';

const child = fileURLToPath(new URL('./crash-child.js', import.meta.url));

/**
 * Runs the child until it has reported `reports` times, kills it at once, and gives the last step
 * it reported.
 */
async function killAfter(reports: number, kind: string, dir: string): Promise<number> {
  const running: ChildProcess = spawn(process.execPath, [child, kind, dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let last = 0;
  let count = 0;
  for await (const line of createInterface({ input: running.stdout! })) {
    last = Number(line);
    count += 1;
    if (count === reports) running.kill('SIGKILL');
  }
  if (running.exitCode === null && running.signalCode === null) await once(running, 'exit');
  expect(running.signalCode).equal('SIGKILL');
  return last;
}

describe('kill -9 while writing', function () {
  this.timeout(30_000);
  const folders = new Folders();
  afterEach(() => folders.clean());

  for (const reports of [1, 40, 300]) {
    it(`loses no entry and no vote that was reported, after ${reports} reports`, async () => {
      const dir = await folders.make();
      const reported = await killAfter(reports, 'log', dir);
      const log = await folders.log(dir);
      expect([log.damaged, log.cut]).eql([undefined, undefined]);
      const found = { entries: entriesOf(log), hardState: log.hardState() };
      // A few steps beyond the last reported one may have reached the disk.
      const model = new MemoryLog();
      const possible: unknown[] = [];
      for (let n = 1; n <= reported + 10; n++) {
        model.append(logStep(n, model.lastIndex()), () => {});
        if (n >= reported)
          possible.push({ entries: entriesOf(model), hardState: model.hardState() });
      }
      expect(possible).deep.include(found);
    });
  }

  for (const reports of [1, 20, 90]) {
    it(`holds the state after some commit, none reported is lost, after ${reports} reports`, async () => {
      const dir = await folders.make();
      const reported = await killAfter(reports, 'state', dir);
      const state = await folders.state(dir);
      expect(state.damaged).equal(undefined);
      const applied = Number(state.get('applied'));
      expect(applied).at.least(reported);
      expect(contents(state)).eql(stateAfter(applied));
    });
  }
});
