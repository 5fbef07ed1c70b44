/** Asks the other members for the uses of tokens that they have noted. */
import type { ClusterNode } from '../../node/types.js';
import { type UsageBook, usePageOf } from './book.js';

/** Milliseconds between two questions to each member. */
export const EXCHANGE_MS = 300_000;
/** Milliseconds after which a member that has not answered makes the notes incomplete. */
const COMPLETE_MS = 900_000;
const TIMEOUT_MS = 5000;

/** What is known of a member. */
interface Peer {
  /** The run of its process, and the place in its notes up to which they are known. */
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
    return JSON.stringify({ ...this.#book.page(from), place: this.#book.place });
  }

  #others(): string[] {
    const { peers } = this.#node.status();
    return peers.map(({ id }) => id).filter((id) => id !== this.#node.id);
  }

  async #ask(id: string): Promise<void> {
    let from = this.#peers.get(id)?.place ?? 0;
    for (;;) {
      const text = await this.#node.usage(id, String(from), TIMEOUT_MS);
      const page = text === undefined ? undefined : usePageOf(text);
      if (page === undefined) return;
      this.#book.take(page);
      if (page.next === undefined) {
        const { place = 0 } = JSON.parse(text!) as { readonly place?: number };
        // a member that has started again counts from the beginning
        this.#peers.set(id, { place: place < from ? 0 : place, answeredMs: this.#now() });
        return;
      }
      from = page.next;
    }
  }
}
