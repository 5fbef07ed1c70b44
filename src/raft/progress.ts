/** What the leader knows about one follower, and how much it may send. */
import type { Index, NodeId, SnapshotMeta } from './types.js';

/** The appends in flight to a follower, oldest first, and their bytes. */
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

  /** Removes the appends up to `index`, which have arrived. */
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
 * The progress of one follower.
 *
 *   probe      sends one append at a time until it finds where the logs agree
 *   replicate  pipelines appends, up to the limit in flight
 *   snapshot   sends only heartbeats until the follower has the snapshot
 *
 *     probe --success--> replicate --rejection, unreachable--> probe
 *     probe, replicate --next entry compacted--> snapshot
 *     snapshot --success--> replicate, --failure--> probe
 */
export class Progress {
  readonly id: NodeId;
  /**
   * Highest index known to be durable on the follower and equal to this log. It decreases only if
   * the follower has lost entries that it acknowledged.
   */
  match: Index = 0;
  /** Next index to send; always above `match`. */
  next: Index;
  state: 'probe' | 'replicate' | 'snapshot' = 'probe';
  /** In probe: an append is in flight. The next heartbeat probes again. */
  waiting = false;
  /** In snapshot: what is being sent, and the leader's tick at which sending ended. */
  snapshot: SnapshotMeta | undefined;
  snapshotSentTick: number | undefined;
  /** Highest commit index sent. */
  commitSent: Index = 0;
  /** Highest round echoed. */
  round = 0;
  /** A lease may rest on its silence until this time of the leader's clock, in milliseconds. */
  silentUntil = Number.NEGATIVE_INFINITY;
  /** The leader's tick at the last response, or when tracking began; for check-quorum. */
  contactTick: number;
  /** The `now` of the last response, or of the beginning. */
  lastContact: number;
  /** Whether it has ever answered this leader. */
  hasAnswered = false;
  /**
   * Whether it has answered and is not known to be unreachable: only then worth a snapshot or
   * transfer.
   */
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
