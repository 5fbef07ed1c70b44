/** What a node measures while it replicates: one observation a batch, never one an entry. */
import type { NodeMeasures } from '../node/measures.js';
import type { PeerStatus } from '../node/types.js';
import { EventLoopDelay } from './event-loop.js';
import { type Family, gauge } from './families.js';
import { Histogram } from './histogram.js';

/** Upper bounds of the buckets in seconds: to sync takes 0.1 ms to 10 ms, to apply less. */
const BOUNDS = [
  ...[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5],
  ...[1, 2.5, 5, 10],
];
/** The same for what takes as long as the state is large. */
const STATE_BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

/** What is done with a whole state. */
const OPERATIONS = ['save', 'restore', 'send', 'install'] as const;
type SnapshotOperation = (typeof OPERATIONS)[number];

/** Keeps the histograms of replication, and counts changes of the leader. */
export class Replication implements NodeMeasures {
  readonly #sync = new Histogram(BOUNDS);
  readonly #apply = new Histogram(BOUNDS);
  readonly #appends = new Map<string, Histogram>();
  /** All from the start: they are so rare that rates would miss the first one. */
  readonly #snapshots = new Map(
    OPERATIONS.map((operation) => [operation, new Histogram(STATE_BOUNDS)]),
  );
  readonly eventLoop: EventLoopDelay = new EventLoopDelay();
  /** Unix time in milliseconds at which the last archive was sent; 0 if none was. */
  #savedMs = 0;
  #leaderChanges = 0;
  #leader: string | undefined;

  timerFired(lateMs: number, afterMs: number): void {
    this.eventLoop.sampled(lateMs, afterMs);
  }

  logSynced(ms: number): void {
    this.#sync.observe(ms / 1000);
  }

  applied(ms: number): void {
    this.#apply.observe(ms / 1000);
  }

  appendAcknowledged(peer: string, ms: number): void {
    const histogram = this.#appends.get(peer) ?? new Histogram(BOUNDS);
    this.#appends.set(peer, histogram);
    histogram.observe(ms / 1000);
  }

  snapshotSent(ms: number): void {
    this.snapshot('send', ms / 1000);
  }

  snapshotInstalled(ms: number): void {
    this.snapshot('install', ms / 1000);
  }

  /** Counts an operation on the whole state. */
  snapshot(operation: SnapshotOperation, seconds: number): void {
    this.#snapshots.get(operation)!.observe(seconds);
    if (operation === 'save') this.#savedMs = Date.now();
  }

  roleChanged({ leader, term }: { readonly leader: string | null; readonly term: number }): void {
    if (leader === null) return;
    const known = `${term} ${leader}`;
    if (known !== this.#leader) this.#leaderChanges += 1;
    this.#leader = known;
  }

  /** The times to sync batches of the log, and to apply entries. */
  get times(): { readonly sync: Histogram; readonly apply: Histogram } {
    return { sync: this.#sync, apply: this.#apply };
  }

  /** Unix milliseconds at which the last whole archive was sent; 0 if none was. */
  get savedMs(): number {
    return this.#savedMs;
  }

  get leaderChanges(): number {
    return this.#leaderChanges;
  }

  /** `peers` are the members of the configuration. Those that were removed are not shown. */
  families(peers: readonly PeerStatus[]): readonly Family[] {
    const labels = peerLabels(peers);
    const appends = [...this.#appends].flatMap(([id, each]) => {
      const peer = labels.get(id);
      return peer === undefined ? [] : [{ labels: { peer }, histogram: each }];
    });
    const alone = (histogram: Histogram) => [{ labels: {}, histogram }];
    return [
      histogram(
        'conclave_raft_log_sync_duration_seconds',
        'time to write a batch to the log and sync it',
        alone(this.#sync),
      ),
      histogram(
        'conclave_raft_apply_duration_seconds',
        'time to apply the entries of a turn of the event loop',
        alone(this.#apply),
      ),
      histogram(
        'conclave_raft_append_duration_seconds',
        'time until a peer has acknowledged entries, one append at a time; on the leader',
        appends,
      ),
      histogram(
        'conclave_snapshot_duration_seconds',
        'time to save or restore an archive, or to send or install a state',
        [...this.#snapshots].map(([operation, each]) => ({
          labels: { operation },
          histogram: each,
        })),
      ),
      gauge(
        'conclave_snapshot_last_save_timestamp_seconds',
        'when this process sent its last whole archive, in Unix time; 0 if it sent none',
        this.#savedMs / 1000,
      ),
    ];
  }
}

const histogram = (
  name: string,
  help: string,
  samples: Extract<Family, { type: 'histogram' }>['samples'],
): Family => ({ name, help, type: 'histogram', samples });

/** Returns the label of each peer by its id: its name, or the id where two have the same name. */
export function peerLabels(peers: readonly PeerStatus[]): ReadonlyMap<string, string> {
  const count = new Map<string, number>();
  for (const { name } of peers) count.set(name, (count.get(name) ?? 0) + 1);
  return new Map(peers.map(({ id, name }) => [id, count.get(name) === 1 ? name : id]));
}
