/**
 * The results of recent requests, so that a command sent twice takes effect once. A ring in log order, bounded by count
 * and by bytes; what falls out raises the floor below which nobody can tell whether a request was applied.
 */
import { refusal } from '../errors.js';
import type { Index } from '../raft/types.js';
import { keys } from './keys.js';
import { keysBelow, stored } from './lists.js';
import type { Change, Command, Handler, Proposal, Result, View } from './types.js';

/** Replicated: what is forgotten decides results. A change of either needs a level (see levels.ts). */
export const REQUESTS_MAX = 65_536;
const BYTES_MAX = 64 * 1024 * 1024;

/**
 * Forgets the oldest results up to `upTo`, at most `max` of them: they may hold the secret of a token that was deleted
 * since. Proposed by the leader when no caller waits for them any more, again and again until none is left.
 */
export interface RequestForget extends Command {
  readonly type: 'request.forget';
  readonly upTo: Index;
  readonly max: number;
}

/** `{"Index":n}`: no result of a request up to this index is remembered any more. */
export const FORGOTTEN_FACT = keys.fact('forgotten');

/** The index up to which results were forgotten on purpose; 0: never. */
export const forgottenAt = (view: View): Index =>
  stored<{ Index: Index }>(view, FORGOTTEN_FACT)?.Index ?? 0;

/** Answers the index of the newest result it forgot. The machine then forgets the same (`forgetThrough`). */
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

const indexOf = (key: string): Index => Number.parseInt(key.split('\u0000', 2)[1]!, 16);

interface Slot {
  readonly id: string;
  readonly index: Index;
  /** Characters of the result. */
  readonly size: number;
}

const keyFor = ({ index, size, id }: Slot): string => keys.request(index, size, id);

export class RequestMemory {
  readonly #max: number;
  readonly #byId = new Map<string, Slot>();
  /** Slots in log order from `#head` on. Those before it are forgotten and cut off now and then. */
  #slots: Slot[] = [];
  #head = 0;
  #bytes = 0;
  #floor: Index;

  constructor(floor: Index = 0, max = REQUESTS_MAX) {
    this.#floor = floor;
    this.#max = max;
  }

  /** Finds the remembered requests of a state again; from their keys, since to read each would keep a start waiting. */
  static load(view: View, floor: Index, max = REQUESTS_MAX): RequestMemory {
    const memory = new RequestMemory(floor, max);
    for (const key of keysBelow(view, 'request')) {
      const [, index, size, ...id] = key.split('\u0000');
      memory.#add({
        id: id.join('\u0000'),
        index: Number.parseInt(index!, 16),
        size: Number(size),
      });
    }
    return memory;
  }

  /** The index of the newest request that was forgotten; part of the machine's record. */
  get floor(): Index {
    return this.#floor;
  }

  /** The result of an earlier entry with this id, if it is remembered. */
  find(view: View, id: string): Result | undefined {
    const slot = this.#byId.get(id);
    return slot === undefined ? undefined : stored<Result>(view, keyFor(slot));
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
    const text = JSON.stringify(result);
    const slot = { id, index, size: text.length };
    const changes: Change[] = [[keyFor(slot), text]];
    this.#add(slot);
    while (this.#slots.length - this.#head > this.#max || this.#bytes > BYTES_MAX) {
      changes.push([keyFor(this.#forgetOldest()), undefined]);
    }
    return changes;
  }

  /** Forgets what the state holds no more: all up to `index`. */
  forgetThrough(index: Index): void {
    while ((this.#slots[this.#head]?.index ?? Infinity) <= index) this.#forgetOldest();
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
    if (this.#head > this.#max) {
      this.#slots = this.#slots.slice(this.#head);
      this.#head = 0;
    }
    return slot;
  }
}
