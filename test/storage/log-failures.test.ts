/** The disk fails, writes less than it was given, or hangs. */
import { expect } from 'chai';
import type { StorageError } from '../../src/storage/errors.js';
import { openLog } from '../../src/storage/open-log.js';
import type { WriteFault } from '../support/fake-folder.js';
import { type FakeMachine, fakeMachine } from '../support/fake-machine.js';
import { command, done, entriesOf, plain } from './helpers.js';

describe('log on a disk that fails', () => {
  /** Opens the log; `written` counts the writes to its files. */
  const open = async (machine: FakeMachine, fault: () => WriteFault = () => undefined) => {
    const fatal: StorageError[] = [];
    const onFatal = (error: StorageError) => fatal.push(error);
    const log = await openLog('log', { disk: machine.start(), onFatal, segmentBytes: 2000 });
    await done((resolve) => log.append({ entries: [command(1, 1)] }, resolve));
    const opened = { log, fatal, writes: 0 };
    machine.disk.fault = () => {
      opened.writes += 1;
      return fault();
    };
    return opened;
  };

  it('reports the first failed write once, never calls done, and does not retry', async () => {
    for (const cause of ['ENOSPC: no space left on device', 'EIO: i/o error']) {
      const opened = await open(fakeMachine(), () => ({ error: new Error(cause) }));
      const { log, fatal } = opened;
      let durable = 0;
      for (let index = 2; index < 5; index++) {
        log.append({ entries: [command(index, 1)] }, () => {
          durable += 1;
        });
      }
      await log.close();
      log.append({ entries: [] }, () => {
        durable += 1;
      });
      expect([durable, opened.writes]).eql([0, 1]);
      expect(fatal.map(({ message }) => message)).eql([`the disk of the log failed: ${cause}`]);
    }
  });

  it('writes the rest when a write was short', async () => {
    const machine = fakeMachine();
    let left = 3;
    const { log, fatal } = await open(machine, () => (left-- > 0 ? { shortTo: 50 } : undefined));
    await done((resolve) => log.append({ entries: [command(2, 1)] }, resolve));
    await log.close();
    expect(left).lessThan(0);
    const again = await openLog('log', { disk: machine.copy().start(), onFatal: () => {} });
    expect(entriesOf(again)).eql(plain([command(1, 1), command(2, 1)]));
    expect(fatal).eql([]);
    await again.close();
  });

  it('calls done once a write that hangs has returned, then writes all that arrived', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const opened = await open(fakeMachine(), () => ({ held }));
    const { log } = opened;
    const order: number[] = [];
    const all = [2, 3, 4].map((index) =>
      done((resolve) => log.append({ entries: [command(index, 1)] }, resolve)).then(() =>
        order.push(index),
      ),
    );
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(order).eql([]);
    expect(entriesOf(log)).lengthOf(4);
    release();
    await Promise.all(all);
    expect(order).eql([2, 3, 4]);
    expect(opened.writes).equal(2);
    await log.close();
  });
});
