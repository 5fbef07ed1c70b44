/** Asks the other members for the uses of tokens that they have noted. */
import { randomUUID } from 'node:crypto';
import type { ClusterNode } from '../../node/types.js';
import { type UsageBook, usePageOf } from './book.js';

/** Milliseconds between two questions to each member. */
export const EXCHANGE_MS = 300_000;
/** Milliseconds after which a member that has not answered makes the notes incomplete. */
const COMPLETE_MS = 900_000;
const TIMEOUT_MS = 5000;

interface Peer {
  /** The run of its process: places are those of one run. */
  readonly run: unknown;
  /** The place in its notes from which on they are not known. */
  readonly place: number;
  readonly answeredMs: number;
}

/** The questions to the other members, and the answers to theirs. */
export class UsageExchange {
  readonly #node: Pick<ClusterNode, 'id' | 'status' | 'usage'>;
  readonly #book: UsageBook;
  /** A monotonic clock. */
  readonly #now: () => number;
  readonly #peers = new Map<string, Peer>();
  readonly #run = randomUUID();

  constructor(
    node: Pick<ClusterNode, 'id' | 'status' | 'usage'>,
    book: UsageBook,
    now: () => number,
  ) {
    this.#node = node;
    this.#book = book;
    this.#now = now;
  }

  /** Whether every member has answered lately. */
  get isComplete(): boolean {
    const now = this.#now();
    return this.#others().every((id) => {
      const peer = this.#peers.get(id);
      return peer !== undefined && now - peer.answeredMs < COMPLETE_MS;
    });
  }

  /** Asks every member once. */
  async round(): Promise<void> {
    await Promise.all(this.#others().map((id) => this.#ask(id)));
    if (this.isComplete) this.#book.begun();
  }

  /** Returns what the question of another member is answered with. */
  answer(question: string): string | undefined {
    const from = /^\d{1,15}$/.test(question) ? Number(question) : 0;
    return JSON.stringify({ ...this.#book.page(from), place: this.#book.place, run: this.#run });
  }

  #others(): string[] {
    const { peers } = this.#node.status();
    return peers.map(({ id }) => id).filter((id) => id !== this.#node.id);
  }

  async #ask(id: string): Promise<void> {
    const known = this.#peers.get(id);
    let [from, knownRun] = [known?.place ?? 0, known?.run];
    for (;;) {
      const text = await this.#node.usage(id, String(from), TIMEOUT_MS);
      const page = text === undefined ? undefined : usePageOf(text);
      if (page === undefined) return;
      this.#book.take(page);
      const { place = 0, run } = JSON.parse(text!) as Partial<Peer>;
      if (from > 0 && run !== knownRun) {
        // it has started again, and counts from the beginning
        [from, knownRun] = [0, run];
        continue;
      }
      knownRun = run;
      if (page.next === undefined) {
        this.#peers.set(id, { run, place, answeredMs: this.#now() });
        return;
      }
      from = page.next;
    }
  }
}
