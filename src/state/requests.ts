/**
 * The results of recent requests, so that a command sent twice takes effect once (thesis §6.3).
 * They are in log order, limited in number and bytes. The oldest one is dropped first and raises
 * the floor, the index below which the machine cannot tell whether a request was applied:
 *
 *     dropped   remembered
 *     1  2  3 | 4  5  6  7        floor is 3: a request sent before index 3 whose id is not
 *                                 remembered may be one of 1 to 3, so its outcome is unknown
 */
import { refusal } from '../errors.js';
import type { Index } from '../raft/types.js';
import { hashOf, type RecordHash } from './checksum.js';
import { keys } from './keys.js';
import { keysBelow, stored } from './lists.js';
import type { Command, Handler, Proposal, Result, View } from './types.js';

/**
 * Maximum number of remembered results. What is dropped decides later results on every member, so a
 * change of this or of BYTES_MAX needs a level (see levels.ts).
 */
export const REQUESTS_MAX = 65_536;
/**
 * Maximum number of characters of all remembered results: a bound on the state that they occupy.
 */
const BYTES_MAX = 64 * 1024 * 1024;

/** Dropped requests that may stay in memory, because they are removed in bulk. */
const DROPPED_MAX = 4096;

/**
 * Drops the oldest results up to the index `upTo`, at most `max` of them, because they may contain
 * the secret of a token that has been deleted. The leader proposes it once no caller can wait for
 * them, and repeats it until none is left.
 */
export interface RequestForget extends Command {
  readonly type: 'request.forget';
  readonly upTo: Index;
  readonly max: number;
}

/** `{"Index":n}`: all results up to this index were dropped by `request.forget`. */
export const FORGOTTEN_FACT = keys.fact('forgotten');

/** Returns the index up to which `request.forget` dropped all results; 0 if it never did. */
export const forgottenAt = (view: View): Index =>
  stored<{ Index: Index }>(view, FORGOTTEN_FACT)?.Index ?? 0;

/**
 * Drops results. Answers the index of the newest one, or 0. The machine then drops the same ones
 * from memory (`forgetThrough`).
 */
export const forgetRequests: Handler<RequestForget> = ({ draft }, { upTo, max }) => {
  const due: string[] = [];
  let isDone = true;
  for (const key of keysBelow(draft, 'request')) {
    if (indexOf(key) > upTo) break;
    isDone = due.length < max;
    if (!isDone) break;
    due.push(key);
  }
  for (const key of due) draft.del(key);
  if (isDone) draft.put(FORGOTTEN_FACT, JSON.stringify({ Index: upTo }));
  return { ok: true, value: String(due.length === 0 ? 0 : indexOf(due.at(-1)!)) };
};

const NUL = '\u0000';
const indexOf = (key: string): Index => Number.parseInt(key.split(NUL, 2)[1]!, 16);

interface Slot {
  readonly id: string;
  readonly index: Index;
  /** Number of characters of the result. */
  readonly size: number;
  /** The hash of the record, so that to drop it needs no read. Absent if it was loaded. */
  readonly hash?: RecordHash;
}

/** A change of the remembered requests: a new result, or one that is dropped. */
export interface RequestChange {
  readonly key: string;
  readonly value: string | undefined;
  /** The hash of the record that is added or dropped, if it is known. */
  readonly hash: RecordHash | undefined;
}

/** Reads the key of a result. `split` would double the time that a start takes for all of them. */
function slotOf(key: string): Slot {
  const index = key.indexOf(NUL) + 1;
  const size = key.indexOf(NUL, index) + 1;
  const id = key.indexOf(NUL, size) + 1;
  return {
    id: key.slice(id),
    index: Number.parseInt(key.slice(index, size - 1), 16),
    size: Number(key.slice(size, id - 1)),
  };
}

const keyFor = ({ index, size, id }: Slot): string => keys.request(index, size, id);

/**
 * The remembered requests by id. The results are in the state, because they are needed rarely; here
 * are only their ids, indexes and sizes.
 */
export class RequestMemory {
  readonly #max: number;
  readonly #byId = new Map<string, Slot>();
  /** Slots in log order, from `#head` on. Those before it are dropped, and removed in bulk. */
  #slots: Slot[] = [];
  #head = 0;
  #bytes = 0;
  #floor: Index;
  /** The state whose requests are not read yet. */
  #unread: View | undefined;

  constructor(floor: Index = 0, max = REQUESTS_MAX) {
    this.#floor = floor;
    this.#max = max;
  }

  /**
   * Returns the remembered requests of a state. Reads them, and only their keys, when the first one
   * is asked for or added: until then, a node that starts answers reads.
   */
  static load(view: View, floor: Index, max = REQUESTS_MAX): RequestMemory {
    const memory = new RequestMemory(floor, max);
    memory.#unread = view;
    return memory;
  }

  /** The index of the newest request that was dropped; part of the machine's record. */
  get floor(): Index {
    return this.#floor;
  }

  /** Returns the result of an earlier entry with this id; undefined if it is not remembered. */
  find(view: View, id: string): Result | undefined {
    this.#read();
    const slot = this.#byId.get(id);
    return slot === undefined ? undefined : stored<Result>(view, keyFor(slot));
  }

  /**
   * Returns the result of a proposal that was applied before, as `find` does. Returns a refusal as
   * its result if the proposal is so old that this cannot be known.
   */
  recall(view: View, proposal: Proposal, index: Index): Result | undefined {
    const known = this.find(view, proposal.id);
    if (known !== undefined) return known;
    if (proposal.since >= this.#floor) return undefined;
    const why = 'The outcome of this request is unknown: it was sent too long ago to be remembered';
    return { ok: false, index, refusal: refusal('outcome_unknown', why) };
  }

  /** Remembers a result. Returns the changes that store it and delete those beyond the limits. */
  remember(id: string, index: Index, result: Result): RequestChange[] {
    this.#read();
    const value = JSON.stringify(result);
    const key = keys.request(index, value.length, id);
    const hash = hashOf(key, value);
    this.#add({ id, index, size: value.length, hash });
    const changes: RequestChange[] = [{ key, value, hash }];
    while (this.#slots.length - this.#head > this.#max || this.#bytes > BYTES_MAX) {
      const oldest = this.#forgetOldest();
      changes.push({ key: keyFor(oldest), value: undefined, hash: oldest.hash });
    }
    return changes;
  }

  /** Drops all requests up to `index`, whose results the state no longer contains. */
  forgetThrough(index: Index): void {
    this.#read();
    while ((this.#slots[this.#head]?.index ?? Infinity) <= index) this.#forgetOldest();
  }

  #read(): void {
    const view = this.#unread;
    if (view === undefined) return;
    this.#unread = undefined;
    for (const key of keysBelow(view, 'request')) this.#add(slotOf(key));
  }

  #add(slot: Slot): void {
    this.#slots.push(slot);
    this.#byId.set(slot.id, slot);
    this.#bytes += slot.size;
  }

  #forgetOldest(): Slot {
    const slot = this.#slots[this.#head]!;
    this.#head += 1;
    this.#bytes -= slot.size;
    this.#byId.delete(slot.id);
    this.#floor = slot.index;
    if (this.#head >= DROPPED_MAX) {
      this.#slots = this.#slots.slice(this.#head);
      this.#head = 0;
    }
    return slot;
  }
}
