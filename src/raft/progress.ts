/** What the leader knows of one follower, and how much it dares to send. */
import type { Index, NodeId, SnapshotMeta } from './types.js';

/** Appends on their way to a follower, oldest first: bounds what is in flight in bytes. */
class Inflight {
  bytes = 0;
  #lasts: Index[] = [];
  #sizes: number[] = [];
  #head = 0;

  add(last: Index, size: number): void {
    this.#lasts.push(last);
    this.#sizes.push(size);
    this.bytes += size;
  }

  /** Everything up to `index` has arrived. */
  free(index: Index): void {
    while (this.#head < this.#lasts.length && this.#lasts[this.#head]! <= index) {
      this.bytes -= this.#sizes[this.#head]!;
      this.#head++;
    }
    if (this.#head === this.#lasts.length) this.clear();
    else if (this.#head > 1024) {
      this.#lasts = this.#lasts.slice(this.#head);
      this.#sizes = this.#sizes.slice(this.#head);
      this.#head = 0;
    }
  }

  clear(): void {
    this.bytes = 0;
    this.#lasts.length = 0;
    this.#sizes.length = 0;
    this.#head = 0;
  }
}

/**
 * probe: one append at a time until the place where the logs agree is found. replicate: appends are
 * pipelined up to the window. snapshot: nothing but heartbeats until the follower has the snapshot.
 */
export class Progress {
  readonly id: NodeId;
  /**
   * Highest index known to be durable there and equal; falls only when the peer has lost what it
   * acknowledged.
   */
  match: Index = 0;
  /** Next index to send; always beyond `match`. */
  next: Index;
  state: 'probe' | 'replicate' | 'snapshot' = 'probe';
  /** In probe: an append is out; the next heartbeat asks again. */
  waiting = false;
  /** In snapshot: what is being sent, and the leader's tick when the sending ended. */
  snapshot: SnapshotMeta | undefined;
  snapshotSentTick: number | undefined;
  /** Highest commit index told. */
  commitSent: Index = 0;
  /** Highest round echoed. */
  round = 0;
  /** A lease may count on its silence until then, by the leader's clock. */
  silentUntil = Number.NEGATIVE_INFINITY;
  /** The leader's tick at the last response, or when the follower became one: for check-quorum. */
  contactTick: number;
  /** The `now` of the last response. */
  lastContact: number;
  /** It has answered and is not known to be unreachable: worth a snapshot, fit to take over. */
  responsive = false;
  readonly inflight = new Inflight();

  constructor(id: NodeId, next: Index, contactTick: number, now: number) {
    this.id = id;
    this.next = next;
    this.contactTick = contactTick;
    this.lastContact = now;
  }

  probe(next: Index): void {
    this.#enter('probe');
    this.next = Math.max(this.match + 1, next);
  }

  replicate(): void {
    this.#enter('replicate');
    this.next = this.match + 1;
  }

  awaitSnapshot(meta: SnapshotMeta): void {
    this.#enter('snapshot');
    this.snapshot = meta;
  }

  #enter(state: Progress['state']): void {
    this.state = state;
    this.waiting = false;
    this.snapshot = undefined;
    this.snapshotSentTick = undefined;
    this.inflight.clear();
  }
}
