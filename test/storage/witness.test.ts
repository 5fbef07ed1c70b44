import { expect } from 'chai';
import { settled } from '../../src/storage/calls.js';
import type { DiskFile } from '../../src/storage/disk.js';
import { type Marks, Witness } from '../../src/storage/witness.js';
import { fakeMachine } from '../support/fake-machine.js';

const marks = (batch: number): Marks => ({
  version: batch,
  hardState: { term: batch, votedFor: 'a' },
  batch,
  lastIndex: batch,
});

describe('the witness of a log', () => {
  it('has the marks of the last write when it is opened again', async () => {
    const folder = fakeMachine().start().folder('data');
    const file = await settled<DiskFile>((done) => folder.open('witness', done));
    const witness = new Witness(file);
    expect(witness.marks).to.equal(undefined);
    for (const batch of [1, 2, 3]) {
      await settled((done) => witness.write(marks(batch), done));
      expect(new Witness(file).marks).to.deep.equal(marks(batch));
    }
  });

  it('keeps the marks of before when a write to it is torn', async () => {
    const folder = fakeMachine().start().folder('data');
    const file = await settled<DiskFile>((done) => folder.open('witness', done));
    const witness = new Witness(file);
    for (const batch of [1, 2, 3]) {
      const before = witness.marks;
      const bytes = file.read(0, file.size());
      await settled((done) => witness.write(marks(batch), done));
      const after = file.read(0, file.size());
      const first = after.findIndex((byte, at) => byte !== (bytes[at] ?? 0));
      const torn: DiskFile = {
        path: '',
        size: () => after.length,
        write() {},
        sync() {},
        close() {},
        read: (at, length) => {
          const spoiled = Buffer.from(after);
          spoiled.fill(0xff, first, first + 100);
          return spoiled.subarray(at, at + length);
        },
      };
      expect(new Witness(torn).marks).to.deep.equal(before);
    }
  });
});
