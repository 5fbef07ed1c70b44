/** The memory and the disk space that a log uses. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Entry } from '../../src/raft/types.js';
import type { SegmentLog } from '../../src/storage/log.js';
import { command, configuration, done, Folders } from './helpers.js';

describe('the space of a log', () => {
  const folders = new Folders();
  afterEach(() => folders.clean());
  const append = (log: SegmentLog, entries: readonly Entry[]) =>
    done((resolve) => log.append({ entries }, resolve));

  it('keeps the entries read on opening in memory until the first write', async () => {
    const dir = await folders.make();
    const before = await folders.log(dir, { windowBytes: 1 });
    for (let index = 1; index <= 5; index++) await append(before, [command(index, 1)]);
    await before.close();
    const log = await folders.log(dir, { windowBytes: 1 });
    expect(log.memoryBytes()).greaterThan(5 * 64);
    await append(log, [command(6, 1)]);
    expect(log.memoryBytes()).lessThan(200);
  });

  it('frees disk space when it is truncated', async () => {
    const dir = await folders.make();
    const segmentBytes = 200_000;
    const log = await folders.log(dir, { windowBytes: 10_000, segmentBytes });
    const data = Buffer.alloc(20_000, 7);
    for (let from = 1; from <= 600; from += 50) {
      const entries = Array.from({ length: 50 }, (_, i) => ({
        kind: 'command' as const,
        index: from + i,
        term: 1,
        data,
      }));
      await append(log, entries);
    }
    await done((resolve) => log.compact({ index: 600, term: 1, configuration }, resolve));
    await log.settled();
    const folder = join(dir, 'segments');
    const sizes = await Promise.all(
      (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size),
    );
    // the present segment, the next one, and what is kept for later use
    expect(sizes.length).lessThan(8);
    expect(log.memoryBytes()).equal(0);
  });
});
