import { expect } from 'chai';
import type { Configuration, Entry } from '../../../src/raft/types.js';
import { AppliedLog } from '../../../src/replica/log/applied-log.js';
import { FakeLog } from '../fakes.js';

const configuration = (...ids: string[]): Configuration => ({
  members: ids.map((id) => ({ id, name: id, address: `${id}:1`, voter: true })),
});

/** A log of `count` commands of `bytes` each, all applied; configurations at 1 and 3000. */
function build(count: number, bytes: number): AppliedLog {
  const log = new FakeLog();
  const data = new Uint8Array(bytes);
  log.list = Array.from({ length: count }, (_, at): Entry => {
    const [index, term] = [at + 1, 1];
    if (index === 1)
      return { kind: 'configuration', index, term, configuration: configuration('a') };
    if (index === 3000) {
      return { kind: 'configuration', index, term, configuration: configuration('a', 'b') };
    }
    return { kind: 'command', index, term, data };
  });
  return new AppliedLog(log, count);
}
const never = { cutEntries: 1e9, logBytes: 1e9, keepEntries: 1000, keepBytes: 300_000 };

describe('replica: the applied log', () => {
  it('truncates by count, keeps the requested tail, and knows the configuration there', () => {
    const appliedLog = build(5000, 1);
    expect(appliedLog.cut({ ...never, cutEntries: 4000 }, Infinity, 0)).to.equal(undefined);
    const meta = appliedLog.cut({ ...never, cutEntries: 3999 }, Infinity, 0)!;
    expect(meta.index).to.be.within(2900, 4000);
    const members = meta.configuration.members.map(({ id }) => id);
    expect(members).to.deep.equal(meta.index >= 3000 ? ['a', 'b'] : ['a']);
  });

  it('truncates by bytes', () => {
    const appliedLog = build(2000, 1000);
    const meta = appliedLog.cut({ ...never, logBytes: 1_000_000 }, Infinity, 0)!;
    expect((2000 - meta.index) * 1000).to.be.within(300_000, 800_000);
  });

  it('keeps more entries of a log the larger the state is, up to the bytes to keep', () => {
    const limits = { ...never, cutEntries: 1000 };
    expect(build(5000, 1).cut(limits, Infinity, 17_000)).to.equal(undefined);
    expect(build(5000, 1).cut(limits, Infinity, 12_000)!.index).to.be.within(1000, 2000);
    // Of these, 3,000 take the bytes.
    const { index } = build(5000, 100).cut(limits, Infinity, 1_000_000)!;
    expect(index).to.be.within(1000, 2000);
  });

  it('keeps the entries that must follow a snapshot in transfer', () => {
    const appliedLog = build(5000, 1);
    const meta = appliedLog.cut({ ...never, cutEntries: 100 }, 2500, 0)!;
    expect(meta.index).to.be.lessThan(2500);
  });

  it('counts from the last truncation, and forgets configurations no longer needed', () => {
    const appliedLog = build(5000, 1);
    const limits = { ...never, cutEntries: 100 };
    const meta = appliedLog.cut(limits, Infinity, 0)!;
    appliedLog.forget(meta.index);
    expect(appliedLog.first).to.equal(meta.index + 1);
    expect(appliedLog.cut(limits, Infinity, 0)).to.equal(undefined);
    expect(appliedLog.configurationAt(5000).members).to.have.length(2);
    expect(appliedLog.meta()!.index).to.equal(5000);
  });
});
