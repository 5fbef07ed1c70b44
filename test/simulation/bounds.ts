/**
 * Bounds of one run of a server: no turn of its loop without a cause, a limited number of turns and
 * messages in a given time, one outcome per request, limited queues.
 */
import type { ReplicaLimits } from '../../src/replica/options.js';
import { Violation } from './invariants.js';

/** What the loop has done so far, and the lengths of its queues. */
export interface Load {
  readonly turns: number;
  /** Timers that fired, and arrivals. */
  readonly causes: number;
  readonly arrivals: number;
  readonly applied: number;
  /** Batches at the disk, proposals without an outcome, and held writes of clients. */
  readonly storing: number;
  readonly pending: number;
  readonly held: number;
  /** Bytes that other servers have not read yet. */
  readonly sending: number;
}

export interface QueueLimits {
  readonly storing: number;
  readonly pending: number;
  readonly held: number;
  readonly sending: number;
}

/** Batches that may be pending at the disk: one per message in flight, and some for votes. */
const STORING_MAX = 300;

/** The limits beyond which a server refuses requests, plus a membership change and a new level. */
export const queueLimits = ({
  pendingWrites,
  waitingWrites,
}: ReplicaLimits): Omit<QueueLimits, 'sending'> => ({
  storing: STORING_MAX,
  pending: pendingWrites + 2,
  held: waitingWrites,
});

/**
 * A message may take a turn itself, one for what it lets apply and one for what follows. A late tick
 * takes four.
 */
const TURNS_PER_CAUSE = 4;
const TURNS_UNCAUSED = 40;
/**
 * Milliseconds over which turns are counted, and their limit. Beyond it, the loop only serves itself,
 * unless as much has arrived. Catching up may keep it busy for half a second.
 */
const SPAN_MS = 2_000;
const TURNS_PER_SPAN = 6_800;
/** Limit of messages sent in that time. */
const SENT_PER_SPAN = 6_000;

export class Bounds {
  readonly #id: string;
  readonly #limits: QueueLimits;
  readonly #firstApplied: number;
  #span = { from: 0, turns: 0, sent: 0, arrivals: 0 };
  /** Messages handed to the network. */
  sent = 0;
  /** Requests without an outcome. */
  #open = 0;

  constructor(id: string, limits: QueueLimits, applied: number) {
    this.#id = id;
    this.#limits = limits;
    this.#firstApplied = applied;
  }

  get open(): number {
    return this.#open;
  }

  /** Checks the bounds after a turn of the loop, at the virtual time `now`. Throws Violation. */
  turned(now: number, load: Load): void {
    const { turns, causes, arrivals, applied } = load;
    const due = TURNS_PER_CAUSE * (causes + Math.max(0, applied - this.#firstApplied));
    if (turns > due + TURNS_UNCAUSED)
      this.#wrong('no turn without cause', `${turns} turns, with cause for ${due}`);
    const { sent } = this;
    if (now >= this.#span.from + SPAN_MS) this.#span = { from: now, turns, sent, arrivals };
    const inSpan = turns - this.#span.turns;
    if (inSpan > Math.max(TURNS_PER_SPAN, arrivals - this.#span.arrivals))
      this.#wrong('turns are bounded', `${inSpan} in ${now - this.#span.from} ms`);
    const sentInSpan = sent - this.#span.sent;
    if (sentInSpan > SENT_PER_SPAN)
      this.#wrong('messages are bounded', `${sentInSpan} in ${now - this.#span.from} ms`);
    for (const queue of ['storing', 'pending', 'held', 'sending'] as const)
      if (load[queue] > this.#limits[queue])
        this.#wrong('queues are bounded', `${load[queue]} in ${queue}`);
  }

  /** Wraps the callback of a request. Throws Violation if it is called twice. */
  once<T extends unknown[]>(what: () => string, done: (...outcome: T) => void) {
    let isOpen = true;
    this.#open++;
    return (...outcome: T): void => {
      if (!isOpen) this.#wrong('one outcome', `${what()} has a second one`);
      isOpen = false;
      this.#open--;
      done(...outcome);
    };
  }

  #wrong(invariant: string, what: string): never {
    throw new Violation(invariant, `${this.#id}: ${what}`);
  }
}
