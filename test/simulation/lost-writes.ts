/** Which writes of a segment log a fault may lose or spoil, in batches as the log syncs them. */
import type { Random } from '../../cluster/checker/random.js';
import type { Index } from '../../src/raft/types.js';
import { WITNESS } from '../../src/storage/witness.js';
import type { FakeFiles, Written } from '../support/fake-files.js';
import type { LogContent, LogWrite } from '../support/memory-log.js';

/** The writes by which the log replaced the entries from one index to another. */
interface Replacement {
  readonly writes: readonly Written[];
  readonly from: Index;
  readonly to: Index;
}

/** See the head of this file. `segments` is the folder of the log. */
export class LostWrites {
  readonly #files: FakeFiles;
  readonly #segments: string;
  readonly #random: Random;
  /** The last one, while the log is open. */
  #replacement: Replacement | undefined;
  /** When the last batch began that the witness must have, whether or not it has it. */
  #dueBegun = 0;

  constructor(files: FakeFiles, segments: string, random: Random) {
    this.#files = files;
    this.#segments = segments;
    this.#random = random;
  }

  /** A batch gets lost, or a bit of it flips. Returns whether there was one that will be missed. */
  strike(): boolean {
    const files = this.#files;
    const witness = `${this.#segments}/${WITNESS}`;
    const writes = files.writtenIn(this.#segments);
    const witnessed = writes.findLast(({ path }) => path === witness)?.begun ?? 0;
    const batches = batchesOf(writes);
    // The newest batch looks like a torn one, unless the witness has it. It must have it if the
    // batch changed the hard state and was reported, or if the last start found it.
    const last = batches.at(-1)?.at(-1);
    const isDue = last !== undefined && last.begun <= this.#dueBegun;
    const isMissed = isDue || witnessed > (last?.ended ?? 0);
    const newest = isMissed && this.#random.chance(0.3) ? last : undefined;
    const earlier = batches.slice(0, -1).flat();
    if (newest === undefined && earlier.length === 0) return false;
    const struck = newest ?? this.#random.pick(earlier);
    if (this.#random.chance(0.5)) files.lose(struck);
    else files.flip(struck);
    return true;
  }

  /** A write to the log has become durable; `before` is what was durable until then. */
  reported(write: LogWrite, before: LogContent): void {
    if ('hardState' in write && write.hardState !== undefined) this.#newestIsDue();
    const [first] = write.type === 'append' ? write.entries : [];
    const to = before.last();
    if (first === undefined || first.index > to) return;
    const writes = this.#batches().at(-1);
    if (writes !== undefined) this.#replacement = { writes, from: first.index, to };
  }

  /** See ServerDisk. */
  hasReplaced(applied: Index): boolean {
    if (this.#replacement === undefined) return false;
    const { from, to, writes } = this.#replacement;
    const isMissed = this.#batches().at(-1)!.at(-1)!.begun > writes.at(-1)!.begun;
    return isMissed && from <= applied && applied <= to;
  }

  /** See ServerDisk. */
  loseReplacement(): void {
    for (const write of this.#replacement?.writes ?? []) this.#files.lose(write);
    this.#replacement = undefined;
  }

  /** Another process has opened the log, or another log is there. */
  forget(): void {
    this.#replacement = undefined;
    this.#newestIsDue();
  }

  #newestIsDue(): void {
    this.#dueBegun = this.#batches().at(-1)?.at(-1)?.begun ?? 0;
  }

  #batches(): Written[][] {
    return batchesOf(this.#files.writtenIn(this.#segments));
  }
}

/**
 * The writes of each complete batch, which are several if the disk has cut one short. An erasure
 * writes over what is there, and no start misses it: it is no batch.
 */
function batchesOf(writes: readonly Written[]): Written[][] {
  const batches: Written[][] = [];
  let begun: Written[] = [];
  let newest = { path: '', end: 0 };
  for (const write of writes) {
    const { path, at, length } = write;
    if (!path.endsWith('.segment') || path < newest.path) continue;
    if (path === newest.path && at + length <= newest.end) continue;
    newest = { path, end: at + length };
    begun.push(write);
    if (write.isShort) continue;
    batches.push(begun);
    begun = [];
  }
  return batches;
}
