/**
 * A process is killed while it writes: everything that it reported durable is there, in order, and
 * no write is there in part.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { HardState, LogView } from '../../src/raft/types.js';
import { MemoryLog } from '../support/memory-log.js';
import { cutAfter, logStep, stateAfter } from './crash-script.js';
import { contents, entriesOf, Folders } from './helpers.js';

const child = fileURLToPath(new URL('./crash-child.js', import.meta.url));

/**
 * Runs the child until it has made `reports` reports, kills it at once, and returns the last step
 * that it reported.
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

describe('kill -9 while writing', () => {
  const folders = new Folders();
  afterEach(() => folders.clean());

  for (const reports of [1, 40, 300]) {
    it(`loses nothing reported, truncates all or nothing, after ${reports} reports`, async () => {
      const dir = await folders.make();
      const reported = await killAfter(reports, 'log', dir);
      const log = await folders.log(dir);
      expect(log.damaged).equal(undefined);
      const facts = (of: LogView & { hardState(): HardState }) => ({
        ...{ entries: entriesOf(of), first: of.firstIndex(), snapshot: of.snapshot() },
        hardState: of.hardState(),
      });
      const found = facts(log);
      // A few steps after the last reported one may have reached the disk.
      const model = new MemoryLog();
      const possible: unknown[] = [];
      for (let n = 1; n <= reported + 10; n++) {
        model.append(logStep(n, model.lastIndex()), () => {});
        const cut = cutAfter(n, model);
        // A step after the last reported one may be there without its truncation.
        if (n > reported || (n === reported && cut === undefined)) possible.push(facts(model));
        if (cut === undefined) continue;
        model.compact(cut, () => {});
        if (n >= reported) possible.push(facts(model));
      }
      expect(possible).deep.include(found);
      await folders.reopenLog(log, dir);
    });
  }

  for (const reports of [1, 20, 90]) {
    it(`has whole commits and every reported one, after ${reports} reports`, async () => {
      const dir = await folders.make();
      const reported = await killAfter(reports, 'state', dir);
      const state = await folders.state(dir);
      expect(state.damaged).equal(undefined);
      const applied = Number(state.get('applied'));
      expect(applied).at.least(reported);
      expect(contents(state)).eql(stateAfter(applied));
      await folders.reopenState(state, dir);
    });
  }
});
