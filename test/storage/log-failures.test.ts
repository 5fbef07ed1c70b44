/** The disk fails, writes less than it was given, or hangs. */
import { expect } from 'chai';
import type { StorageError } from '../../src/storage/errors.js';
import { openLogIn } from '../../src/storage/log.js';
import { FakeFolder } from '../support/fake-folder.js';
import { command, done, entriesOf, plain } from './helpers.js';

describe('log on a disk that fails', () => {
  const open = async (folder: FakeFolder) => {
    const fatal: StorageError[] = [];
    const onFatal = (error: StorageError) => fatal.push(error);
    return { log: await openLogIn(folder, { onFatal, segmentBytes: 2000 }), fatal };
  };

  for (const cause of ['ENOSPC: no space left on device', 'EIO: i/o error']) {
    it(`reports ${cause} once, never says done, and does not try again`, async () => {
      const folder = new FakeFolder();
      const { log, fatal } = await open(folder);
      await done((resolve) => log.append({ entries: [command(1, 1)] }, resolve));
      folder.fault = () => ({ error: new Error(cause) });
      const { writes } = folder;
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
      expect([durable, folder.writes - writes]).eql([0, 1]);
      expect(fatal.map(({ message }) => message)).eql([`the disk of the log failed: ${cause}`]);
    });
  }

  it('writes the rest when a write was short', async () => {
    const folder = new FakeFolder();
    const { log, fatal } = await open(folder);
    await done((resolve) => log.append({ entries: [command(1, 1)] }, resolve));
    folder.fault = (_path, bytes) => ({ shortTo: Math.ceil(bytes.length / 2) });
    await done((resolve) => log.append({ entries: [command(2, 1)] }, resolve));
    folder.fault = () => undefined;
    await log.close();
    const { log: again } = await open(folder.copy());
    expect(entriesOf(again)).eql(plain([command(1, 1), command(2, 1)]));
    expect(fatal).eql([]);
  });

  it('says done once a write that hangs has returned, then writes all that arrived', async () => {
    const folder = new FakeFolder();
    const { log } = await open(folder);
    await done((resolve) => log.append({ entries: [command(1, 1)] }, resolve));
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    folder.fault = () => ({ held });
    const order: number[] = [];
    const { writes } = folder;
    const all = [2, 3, 4].map((index) =>
      done((resolve) => log.append({ entries: [command(index, 1)] }, resolve)).then(() =>
        order.push(index),
      ),
    );
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(order).eql([]);
    expect(entriesOf(log)).lengthOf(4);
    folder.fault = () => undefined;
    release();
    await Promise.all(all);
    expect(order).eql([2, 3, 4]);
    expect(folder.writes - writes).equal(2);
    await log.close();
  });
});
