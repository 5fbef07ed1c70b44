/**
 * The state that is arriving, at most one: who may send it, and when it is given up. A sender that goes away leaves no
 * word, so one that brings no progress is dropped, with what is on disk of it; then another one can be asked for.
 */
import type { Message, NodeId, SnapshotMeta, Term } from '../raft/types.js';
import type { DurableState } from '../storage/types.js';
import type { ChunkSink } from '../transport/types.js';
import type { ClockPort } from './ports.js';
import { StateSink } from './snapshots.js';

export interface IncomingStateParts {
  readonly store: DurableState;
  readonly clock: ClockPort;
  /** Milliseconds without progress after which a state that is arriving is given up (at most twice that). */
  readonly idleMs: number;
  /** The term of this node. */
  readonly term: () => Term;
  /** Asked when a transfer begins, and before the switch. */
  readonly wants: (meta: SnapshotMeta) => boolean;
  /** Applying rests from here on, until `switched` or `failed`. */
  readonly begin: () => void;
  /** The store holds the new state: take it up; resolves when the log agrees. */
  readonly switched: (meta: SnapshotMeta, from: NodeId) => Promise<void>;
  /** After `begin`: the state is not whole, and the present one stays. */
  readonly failed: () => void;
}

export class IncomingState {
  readonly #parts: IncomingStateParts;
  #sink: StateSink | undefined;
  #stopped = false;

  constructor(parts: IncomingStateParts) {
    this.#parts = parts;
  }

  /** A state is on its way: to ask for one would begin anew. */
  get isArriving(): boolean {
    return this.#sink !== undefined;
  }

  /**
   * Where the state of this message goes; undefined to refuse it. The same `id` goes on where it stopped; another one takes
   * the place of the last, unless that is whole and being verified already.
   */
  async sinkFor(
    { from, term, meta }: Extract<Message, { type: 'snapshot' }>,
    id: string,
  ): Promise<ChunkSink | undefined> {
    const { wants } = this.#parts;
    // A former leader must not displace what the present one sends.
    if (this.#stopped || term < this.#parts.term() || !wants(meta)) return undefined;
    const present = this.#sink;
    if (present?.id === id) {
      // A chunk that came before the connection broke may still be on its way to the disk.
      await present.settled();
      return this.#sink === present ? present : undefined;
    }
    if (present?.isFinishing) return undefined;
    present?.abort();
    const sink = new StateSink(id, from, meta, {
      ...this.#parts,
      ended: () => {
        if (this.#sink === sink) this.#sink = undefined;
      },
    });
    this.#sink = sink;
    this.#watch(sink, sink.next);
    return sink;
  }

  /** Gives up what is arriving; nothing is taken any more. */
  stop(): void {
    this.#stopped = true;
    this.#sink?.abort();
  }

  #watch(sink: StateSink, seen: number): void {
    this.#parts.clock.after(this.#parts.idleMs, () => {
      if (this.#sink !== sink) return;
      if (sink.isWriting || sink.next !== seen) this.#watch(sink, sink.next);
      else sink.abort();
    });
  }
}
