/**
 * The metrics of a node, as Prometheus text and as JSON. A scrape reads the present values; only
 * durations are recorded as they occur. No reader changes what another one sees.
 */
import type { Observation } from '../http/options.js';
import { type Family, toJson, toText } from './families.js';
import {
  FigureHistory,
  type Figures,
  type Reading,
  STEP_MS,
  type Times,
} from './figure-history.js';
import { LongTurns, ranSince, type TurnLog } from './long-turns.js';
import { MachineFigures } from './machine.js';
import { nodeFamilies, type Sources } from './node.js';
import type { Replication } from './replication.js';
import { Requests } from './requests.js';

export interface MetricsParts extends Sources {
  readonly dataDir: string;
  /** Free bytes of the disk below which only deletes are accepted. */
  readonly diskReserveBytes: number;
  readonly replication: Replication;
  readonly log: TurnLog;
}

/** What people look at first. */
export interface History extends Figures {
  readonly stepMs: number;
  readonly certificates: ReturnType<Sources['certificates']>;
  /** Unix milliseconds at which this process sent its last whole archive; 0 if it sent none. */
  readonly savedMs: number;
}

/** The metrics of one node. */
export class Metrics {
  readonly #parts: MetricsParts;
  readonly #machine: MachineFigures;
  readonly #longTurns: LongTurns;
  readonly #requests: Requests;
  readonly #history: FigureHistory;

  constructor(parts: MetricsParts) {
    const { dataDir, diskReserveBytes, replication } = parts;
    this.#parts = parts;
    this.#longTurns = new LongTurns(parts.log);
    const ran = ranSince();
    replication.eventLoop.onSample = (delayMs) => this.#longTurns.sampled(delayMs, ran());
    this.#machine = new MachineFigures(dataDir, diskReserveBytes);
    this.#requests = new Requests((...archive) => replication.snapshot(...archive));
    this.#history = new FigureHistory(() => this.#reading());
  }

  /** Begins to keep figures. Resolves once the disk was looked at for the first time. */
  start(): Promise<void> {
    this.#history.start();
    return this.#machine.look();
  }

  stop(): void {
    this.#history.stop();
  }

  /** Returns the figures of the last hour, and what else people look at first. */
  history(): History {
    return {
      ...this.#history.figures(),
      stepMs: STEP_MS,
      certificates: this.#parts.certificates(),
      savedMs: this.#parts.replication.savedMs,
    };
  }

  observe(observation: Observation): void {
    this.#requests.observe(observation);
  }

  /** Returns the metrics in the Prometheus text format. */
  prometheus(): string {
    return toText(this.#families());
  }

  /** Returns the metrics as `{Timestamp, Gauges, Points, Counters, Samples}`. */
  json(): object {
    return toJson(this.#families(), new Date());
  }

  #reading(): Reading {
    const { status, held, connections, refused, loop, replication } = this.#parts;
    const { commitIndex, appliedIndex, lastLogIndex, role, id, peers, lastContactMs, term } =
      status();
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const [reads, writes] = [this.#requests.sum('reads'), this.#requests.sum('writes')];
    const count = ({ counts }: Times): number => counts.reduce((sum, each) => sum + each, 0);
    const others = role === 'leader' ? peers.filter((peer) => peer.id !== id) : [];
    const lags = others.map(({ matchIndex = 0 }) => lastLogIndex - matchIndex);
    void this.#machine.look();
    return {
      values: {
        term: term,
        unapplied_entries: commitIndex - appliedIndex,
        lag_entries_max: role === 'leader' ? Math.max(0, ...lags) : undefined,
        last_contact_s: role === 'leader' ? 0 : lastContactMs / 1000,
        held_queries: held(),
        connections: connections(),
        resident_bytes: rss,
        heap_bytes: heapUsed,
        disk_free_bytes: this.#machine.freeBytes,
      },
      totals: {
        reads_per_s: count(reads.times),
        writes_per_s: count(writes.times),
        failures_per_s: reads.failed + writes.failed,
        refusals_per_s: Object.values(refused()).reduce((sum, each) => sum + each, 0),
        log_entries_per_s: loop().entriesAppended,
        leader_changes_per_s: replication.leaderChanges,
        cores: (user + system) / 1e6,
      },
      times: {
        read_s: reads.times,
        write_s: writes.times,
        log_sync_s: replication.times.sync,
        apply_s: replication.times.apply,
        event_loop_delay_s: replication.eventLoop.histogram,
      },
    };
  }

  #families(): readonly Family[] {
    const status = this.#parts.status();
    return [
      ...nodeFamilies(status, this.#parts),
      ...this.#parts.replication.families(status.peers),
      ...this.#requests.families(),
      ...this.#machine.families(),
      {
        name: 'conclave_event_loop_delay_seconds',
        help: 'delay of the event loop, sampled at each tick of Raft',
        type: 'histogram',
        samples: [{ labels: {}, histogram: this.#parts.replication.eventLoop.histogram }],
      },
      ...this.#longTurns.families(),
    ];
  }
}
