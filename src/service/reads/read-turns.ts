/**
 * Lets reads follow one another in slices of time. One change may wake thousands of blocking
 * queries, and one barrier may release thousands of reads: if all were answered in one turn of the
 * event loop, no message of the cluster would be handled meanwhile.
 */
import type { ClockPort } from '../../replica/ports.js';
import { Queue } from '../common/queue.js';

/** Longest turn in milliseconds, but for what it takes to write the answers. */
const TURN_MS = 3;

/**
 * Characters or bytes of the answers of one turn. What the system does not take at once waits in
 * the sockets, and is written when the clients have read.
 */
const TURN_BYTES_MAX = 4 * 1024 * 1024;

type Start = () => void;

const DONE = Promise.resolve();

/** The turns of the reads of one node. */
export class ReadTurns {
  readonly #clock: Pick<ClockPort, 'now' | 'soon'>;
  /** New reads, and those that were held. They take turns, so that neither wait for the others. */
  readonly #queues = { arrived: new Queue<Start>(), woken: new Queue<Start>() };
  #isRunning = false;
  #bytes = 0;

  constructor(clock: Pick<ClockPort, 'now' | 'soon'>) {
    this.#clock = clock;
  }

  /** Resolves when a new read may read, in this turn of the event loop if there is time left. */
  now(): Promise<void> {
    return new Promise((start) => {
      this.#queues.arrived.add(start);
      if (this.#isRunning) return;
      this.#isRunning = true;
      void this.#run();
    });
  }

  /**
   * Resolves at the end of this turn of the event loop, for all such reads one after the other.
   * Their answers are sent back to back, so a client that waits for many of them wakes up once.
   * This halves the work of answering each as it arrives.
   */
  soon(): Promise<void> {
    return new Promise((start) => this.#later(this.#queues.arrived, start));
  }

  /** Calls `start` when a read that was held may read again. */
  again(start: Start): void {
    this.#later(this.#queues.woken, start);
  }

  /** Counts the length of an answer. */
  answers(value: unknown): void {
    if (typeof value === 'string' || value instanceof Uint8Array) this.#bytes += value.length;
  }

  #later(queue: Queue<Start>, start: Start): void {
    queue.add(start);
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#clock.soon(() => void this.#run());
  }

  async #run(): Promise<void> {
    const { arrived, woken } = this.#queues;
    const until = this.#clock.now() + TURN_MS;
    this.#bytes = 0;
    let isOver = false;
    for (let queue = arrived; !isOver; queue = queue === arrived ? woken : arrived) {
      const start = queue.take();
      if (start === undefined) {
        if (arrived.isEmpty && woken.isEmpty) break;
        continue;
      }
      start();
      // the read reads here
      await DONE;
      isOver = this.#clock.now() > until || this.#bytes > TURN_BYTES_MAX;
    }
    this.#isRunning = !(arrived.isEmpty && woken.isEmpty);
    if (this.#isRunning) this.#clock.soon(() => void this.#run());
  }
}
