import { expect } from 'chai';
import type { DiskFile } from '../../src/storage/disk.js';
import { ReadBlock, Segment } from '../../src/storage/segment.js';
import { encodeBatch, entryDraft, HEAD_BYTES } from '../../src/storage/segment-record.js';
import { command } from './helpers.js';

/** A segment with commands of these sizes, and the lengths of the reads of its file. */
function segmentOf(sizes: readonly number[]): { segment: Segment; reads: number[] } {
  const entries = sizes.map((size, at) => command(at + 1, 1, 'x'.repeat(size)));
  const drafts = entries.map((entry) => entryDraft(entry, 1));
  const reads: number[] = [];
  let bytes: Buffer = Buffer.alloc(0);
  const read = (at: number, length: number): Buffer => {
    reads.push(length);
    return bytes.subarray(at, at + length);
  };
  const segment = new Segment(1, { read } as Partial<DiskFile> as DiskFile);
  bytes = encodeBatch(drafts, { salt: segment.salt, batch: 1, previous: 0 }).bytes;
  for (const [at, size] of sizes.entries()) {
    segment.place(at + 1, segment.end);
    segment.end += HEAD_BYTES + size;
  }
  return { segment, reads };
}

describe('entries of a segment', () => {
  it('are read in blocks if they follow each other, each as it was written', () => {
    // The sizes are such that heads and payloads lie across the ends of blocks.
    const sizes = Array.from({ length: 2000 }, (_, at) => (at % 97 === 0 ? 9000 : at % 300));
    const { segment, reads } = segmentOf(sizes);
    const block = new ReadBlock();
    for (const [at, size] of sizes.entries()) {
      const entry = segment.read(at + 1, block);
      expect(entry).to.deep.equal(command(at + 1, 1, 'x'.repeat(size)));
    }
    expect(reads.length).below(2 + (2 * segment.end) / 2 ** 16);
  });

  it('are read at once if they are longer than a block', () => {
    const { segment, reads } = segmentOf([200_000, 5, 300_000]);
    const block = new ReadBlock();
    for (const index of [1, 2, 3]) expect(segment.read(index, block)?.index).to.equal(index);
    expect(reads.length).at.most(6);
  });

  it('are read alone with little of what follows', () => {
    const { segment, reads } = segmentOf([100, 100, 100]);
    expect(segment.read(2, new ReadBlock())?.index).to.equal(2);
    expect(reads).to.deep.equal([4096]);
  });
});
