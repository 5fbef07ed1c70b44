/**
 * The results of recent requests, so that a command sent twice takes effect once. A ring in log order, bounded by count
 * and by bytes; what falls out raises the floor below which nobody can tell whether a request was applied.
 */
import { refusal } from '../errors.js';
import type { Index } from '../raft/types.js';
import { keys } from './keys.js';
import type { Change, Proposal, Result, View } from './types.js';

const REQUESTS_MAX = 65_536;
const BYTES_MAX = 64 * 1024 * 1024;

interface Remembered {
  readonly id: string;
  readonly result: Result;
}
interface Slot {
  readonly id: string;
  readonly index: Index;
  readonly size: number;
}

export class RequestMemory {
  readonly #max: number;
  readonly #indexes = new Map<string, Index>();
  /** Slots in log order from `#head` on. Those before it are forgotten and cut off now and then. */
  #slots: Slot[] = [];
  #head = 0;
  #bytes = 0;
  #floor: Index;

  constructor(floor: Index = 0, max = REQUESTS_MAX) {
    this.#floor = floor;
    this.#max = max;
  }

  /** Reads the remembered requests of a state back. */
  static load(view: View, floor: Index, max = REQUESTS_MAX): RequestMemory {
    const memory = new RequestMemory(floor, max);
    const prefix = keys.request(0).slice(0, -16);
    for (const key of view.keys(prefix)) {
      const text = view.get(key)!;
      const { id, result } = JSON.parse(text) as Remembered;
      memory.#add({ id, index: result.index, size: text.length });
    }
    return memory;
  }

  /** The index of the newest request that was forgotten; part of the machine's record. */
  get floor(): Index {
    return this.#floor;
  }

  /** The result of an earlier entry with this id, if it is remembered. */
  find(view: View, id: string): Result | undefined {
    const index = this.#indexes.get(id);
    if (index === undefined) return undefined;
    return (JSON.parse(view.get(keys.request(index))!) as Remembered).result;
  }

  /** The same for a proposal that is being applied; a refusal if that cannot be told any more. */
  recall(view: View, proposal: Proposal, index: Index): Result | undefined {
    const known = this.find(view, proposal.id);
    if (known !== undefined) return known;
    if (proposal.since >= this.#floor) return undefined;
    const why = 'The outcome of this request is unknown: it was sent too long ago to be remembered';
    return { ok: false, index, refusal: refusal('outcome_unknown', why) };
  }

  /** Notes a result; gives the changes that store it and delete what it pushes out. */
  remember(id: string, index: Index, result: Result): Change[] {
    const text = JSON.stringify({ id, result } satisfies Remembered);
    const changes: Change[] = [[keys.request(index), text]];
    this.#add({ id, index, size: text.length });
    while (this.#slots.length - this.#head > this.#max || this.#bytes > BYTES_MAX) {
      changes.push([keys.request(this.#forgetOldest()), undefined]);
    }
    return changes;
  }

  #add(slot: Slot): void {
    this.#slots.push(slot);
    this.#indexes.set(slot.id, slot.index);
    this.#bytes += slot.size;
  }

  #forgetOldest(): Index {
    const { id, index, size } = this.#slots[this.#head]!;
    this.#head += 1;
    this.#bytes -= size;
    this.#indexes.delete(id);
    this.#floor = index;
    if (this.#head > this.#max) {
      this.#slots = this.#slots.slice(this.#head);
      this.#head = 0;
    }
    return index;
  }
}
