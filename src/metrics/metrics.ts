/**
 * The metrics of a node, as Prometheus text and as JSON. A scrape reads the present values; only
 * durations are recorded as they occur. No reader changes what another one sees.
 */
import type { Observation } from '../http/options.js';
import { type Family, toJson, toText } from './families.js';
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

/** The metrics of one node. */
export class Metrics {
  readonly #parts: MetricsParts;
  readonly #machine: MachineFigures;
  readonly #longTurns: LongTurns;
  readonly #requests: Requests;

  constructor(parts: MetricsParts) {
    const { dataDir, diskReserveBytes, replication } = parts;
    this.#parts = parts;
    this.#longTurns = new LongTurns(parts.log);
    const ran = ranSince();
    replication.eventLoop.onSample = (delayMs) => this.#longTurns.sampled(delayMs, ran());
    this.#machine = new MachineFigures(dataDir, diskReserveBytes);
    this.#requests = new Requests((...archive) => replication.snapshot(...archive));
  }

  /** Resolves once the disk was looked at for the first time. */
  start(): Promise<void> {
    return this.#machine.look();
  }

  /** Counts an answered request. */
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
