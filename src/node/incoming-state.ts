/**
 * The state that is arriving, at most one: who may send it, and when it is given up. A sender that goes away leaves no
 * word, so one that brings no progress is dropped, with what is on disk of it; then another one can be asked for.
 */
import type { Message, NodeId, SnapshotMeta, Term } from '../raft/types.js';
import type { ClockPort } from '../replica/ports.js';
import type { DurableState } from '../storage/types.js';
import type { ChunkSink } from '../transport/types.js';
import { StateSink } from './snapshots.js';

export interface IncomingStateParts {
  readonly store: DurableState;
  readonly clock: ClockPort;
  /** Milliseconds without progress after which a state that is arriving is given up (at most twice that). */
  readonly idleMs: number;
  /** The same once its connection is gone: time for the sender to come back. */
  readonly reconnectMs: number;
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
  /** Cancels what looks at the sink later. */
  readonly #looks = new Set<() => void>();
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
        if (this.#sink !== sink) return;
        this.#sink = undefined;
        for (const cancel of this.#looks) cancel();
        this.#looks.clear();
      },
      disconnected: () => this.#look(sink, this.#parts.reconnectMs, () => {}),
    });
    this.#sink = sink;
    this.#watch(sink);
    return sink;
  }

  /** Gives up what is arriving; nothing is taken any more. */
  stop(): void {
    this.#stopped = true;
    this.#sink?.abort();
  }

  #watch(sink: StateSink): void {
    this.#look(sink, this.#parts.idleMs, () => this.#watch(sink));
  }

  /** Gives the state up if it makes no progress within this time. */
  #look(sink: StateSink, afterMs: number, progressed: () => void): void {
    if (this.#sink !== sink) return;
    const seen = sink.next;
    const cancel = this.#parts.clock.after(afterMs, () => {
      this.#looks.delete(cancel);
      if (sink.isWriting || sink.next !== seen) progressed();
      else sink.abort();
    });
    this.#looks.add(cancel);
  }
}
