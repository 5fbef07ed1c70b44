/** The disk cost of a write does not grow with the history or the size of the state. */
import { expect } from 'chai';
import type { SegmentLog } from '../../src/storage/log.js';
import { openLog } from '../../src/storage/open-log.js';
import type { LevelState } from '../../src/storage/state.js';
import { fakeMachine } from '../support/fake-machine.js';
import { command, configuration, countBytes, done, Folders } from './helpers.js';

/** Space for indexes with more digits. */
const DIGITS = 16;

describe('bytes written', () => {
  const folders = new Folders();
  afterEach(() => folders.clean());

  it('for an entry stay the same after a long history, and after a truncation', async () => {
    const { disk, start } = fakeMachine();
    const onFatal = (error: Error): never => {
      throw error;
    };
    const log = await openLog('log', { onFatal, disk: start() });
    let bytes = 0;
    disk.fault = (path, written) => {
      if (path.endsWith('.segment')) bytes += written.length;
      return undefined;
    };
    const append = async (to: SegmentLog, upTo: number): Promise<number> => {
      const from = to.lastIndex() + 1;
      const entries = Array.from({ length: upTo - from + 1 }, (_, i) =>
        command(from + i, 1, 'x'.repeat(100)),
      );
      bytes = 0;
      await done((resolve) => to.append({ entries }, resolve));
      return bytes;
    };
    await append(log, 1);
    const first = await append(log, 2);
    expect(first).at.least(100);
    await append(log, 8000);
    expect(await append(log, 8001)).within(first, first + DIGITS);
    await done((resolve) => log.compact({ index: 7000, term: 1, configuration }, resolve));
    expect(await append(log, 8002)).within(first, first + DIGITS);
  });

  it('for a commit stay the same however large the state is', async () => {
    const state = await folders.state(await folders.make());
    const counted = countBytes(state);
    const commit = async (to: LevelState, from: number, upTo: number): Promise<number> => {
      counted.take();
      for (let i = from; i <= upTo; i++) to.commit([[`key${i}`, 'x'.repeat(100)]]);
      await to.flush();
      return counted.take();
    };
    const first = await commit(state, 10_001, 10_001);
    expect(first).at.least(100);
    await commit(state, 10_002, 20_000);
    expect(await commit(state, 20_001, 20_001)).within(first, first + DIGITS);
    await commit(state, 10_001, 15_000);
    expect(await commit(state, 20_002, 20_002)).within(first, first + DIGITS);
  });
});
