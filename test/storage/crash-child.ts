/**
 * Writes endlessly and reports what is durable, until it is killed. Arguments: `log` or `state`,
 * the folder.
 */
import type { SnapshotMeta } from '../../src/raft/types.js';
import { recordSum, Tally } from '../../src/storage/key-index.js';
import { openLog } from '../../src/storage/open-log.js';
import { openState } from '../../src/storage/state.js';
import { cutAfter, INSTALL_EVERY, logStep, stateAfter } from './crash-script.js';

const [kind, dir] = process.argv.slice(2);
const onFatal = (error: Error): never => {
  throw error;
};
const report = (n: number): void => {
  process.stdout.write(`${n}\n`);
};

async function writeLog(path: string): Promise<void> {
  const log = await openLog(path, { onFatal });
  let inFlight = 0;
  let n = 0;
  const more = (): void => {
    while (inFlight < 3) {
      n += 1;
      const step = n;
      inFlight += 1;
      const done = (): void => {
        inFlight -= 1;
        report(step);
        setImmediate(more);
      };
      // The log shows at once what is appended.
      let cut: SnapshotMeta | undefined;
      log.append(logStep(step, log.lastIndex()), () => {
        if (cut === undefined) done();
      });
      cut = cutAfter(step, log);
      if (cut !== undefined) log.compact(cut, done);
    }
  };
  more();
}

async function writeState(path: string): Promise<void> {
  const state = await openState(path, { onFatal });
  for (let n = 1; ; n++) {
    if (n % INSTALL_EVERY === 0) {
      const records = stateAfter(n);
      const tally = new Tally();
      for (const [key, value] of records) tally.add(recordSum(key, value));
      const installation = state.install();
      await installation.add(records);
      await installation.finish(tally);
    } else {
      state.commit([
        ['applied', String(n)],
        [`key${String(n).padStart(6, '0')}`, `v${n}`],
      ]);
      if (n % 3 !== 0) continue;
      await state.flush();
    }
    report(n);
  }
}

await (kind === 'log' ? writeLog(dir!) : writeState(dir!));
