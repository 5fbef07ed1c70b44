/**
 * The metrics of a node, as Prometheus text and as JSON. A scrape reads the current values; only
 * request latencies are recorded as they occur.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Registry } from 'prom-client';
import type { Observation } from './http/options.js';
import type { Route } from './http/types.js';
import type { NodeStatus } from './node/types.js';

/**
 * Upper bounds of the buckets in seconds: a stale read takes about 50 µs, a write a few ms, an
 * election half a second.
 */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Latencies of one route, method and class of status. */
class Latencies {
  readonly counts = new Float64Array(BOUNDS.length + 1);
  count = 0;
  sum = 0;
  min = Number.POSITIVE_INFINITY;
  max = 0;

  add(seconds: number): void {
    let at = 0;
    while (at < BOUNDS.length && seconds > BOUNDS[at]!) at++;
    this.counts[at]! += 1;
    this.count += 1;
    this.sum += seconds;
    if (seconds < this.min) this.min = seconds;
    if (seconds > this.max) this.max = seconds;
  }
}

/** Where the values come from. */
export interface Sources {
  readonly status: () => NodeStatus;
  /** Blocking queries that are waiting. */
  readonly held: () => number;
  readonly connections: () => number;
  /** The level in force. */
  readonly level: () => number;
  /** Requests and connections refused with 429, by the name of the limit. */
  readonly refused: () => Readonly<Record<string, number>>;
  /** Counters of the Raft loop, and the longest stall in milliseconds. */
  readonly loop: () => {
    readonly appends: number;
    readonly entriesAppended: number;
    readonly stalls: number;
    readonly stallMsMax: number;
  };
  /**
   * How long the disks have made no progress while something is waiting for them, in milliseconds.
   */
  readonly disks: () => { readonly logWaitMs: number; readonly stateWaitMs: number };
  /**
   * Comparisons of the members' states that this node has made as leader, and the members in them
   * that could not be compared or differed.
   */
  readonly comparison: () => {
    readonly rounds: number;
    readonly incomparable: number;
    readonly differing: number;
  };
  /** The cache of compiled rights. */
  readonly rights: () => {
    readonly tokens: number;
    readonly rights: number;
    readonly bytes: number;
  };
  /** Logins refused so far, by cause. */
  readonly refusedLogins: () => ReadonlyMap<string, number>;
}

type Figure = readonly [name: string, help: string, read: () => number];

/** Metrics of the process. */
const PROCESS: readonly Figure[] = [
  ['conclave_process_resident_bytes', 'resident memory', () => process.memoryUsage.rss()],
  ['conclave_process_heap_bytes', 'JavaScript heap in use', () => process.memoryUsage().heapUsed],
  ['conclave_process_cpu_seconds_total', 'CPU time used', cpuSeconds],
  ['conclave_process_uptime_seconds', 'time since start', () => process.uptime()],
];

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Metrics of the node and its HTTP front end. */
function nodeFigures(sources: Sources): readonly Figure[] {
  const { status, loop, disks, comparison, level, held, connections, rights } = sources;
  const raft = (
    name: string,
    help: string,
    read: (now: NodeStatus) => number | boolean,
  ): Figure => [`conclave_raft_${name}`, help, () => Number(read(status()))];
  return [
    ['conclave_http_connections', 'open HTTP connections', connections],
    ['conclave_http_held', 'blocking queries held', held],
    ['conclave_level', 'level of the cluster in force here', level],
    raft('term', 'Raft term', (now) => now.term),
    raft('leader', '1 while this node leads', (now) => now.role === 'leader'),
    raft('has_leader', '1 while a leader is known', (now) => now.leaderId !== null),
    raft('commit_index', 'last committed log index', (now) => now.commitIndex),
    raft('applied_index', 'last applied log index', (now) => now.appliedIndex),
    raft('last_log_index', 'last log index', (now) => now.lastLogIndex),
    raft(
      'last_contact_seconds',
      'time since the leader was heard',
      (now) => now.lastContactMs / 1000,
    ),
    raft('peers', 'members of the configuration', (now) => now.peers.length),
    raft('appends_total', 'batches synced to the log', () => loop().appends),
    raft('entries_total', 'log entries in them', () => loop().entriesAppended),
    raft('stalls_total', 'ticks that came late', () => loop().stalls),
    raft('stall_max_seconds', 'the latest of them', () => loop().stallMsMax / 1000),
    raft(
      'log_wait_seconds',
      'time for which the disk of the log has finished no write, 0 while none is pending',
      () => disks().logWaitMs / 1000,
    ),
    [
      'conclave_state_wait_seconds',
      'time for which apply has waited for the disk of the state',
      () => disks().stateWaitMs / 1000,
    ],
    [
      'conclave_state_comparisons_total',
      'comparisons of all members’ states led by this node',
      () => comparison().rounds,
    ],
    [
      'conclave_state_not_compared_total',
      'members in them that could not be compared',
      () => comparison().incomparable,
    ],
    [
      'conclave_state_differing_total',
      'members in them whose state differed',
      () => comparison().differing,
    ],
    ['conclave_acl_tokens_cached', 'tokens whose rights are cached', () => rights().tokens],
    ['conclave_acl_rights_cached', 'different rights of these tokens', () => rights().rights],
    [
      'conclave_acl_rights_bytes',
      'approximate memory of compiled rights and parsed policies',
      () => rights().bytes,
    ],
    [
      'conclave_faulted',
      '1 while this node has a fault',
      () => Number(status().fault !== undefined),
    ],
  ];
}

/** Milliseconds between two samples of the event loop. The histogram includes them. */
const LOOP_SAMPLE_MS = 20;
/** Converts a value of the histogram, the nanoseconds between two samples, to seconds of delay. */
const delaySeconds = (betweenNs: number): number =>
  Math.max(0, betweenNs / 1e9 - LOOP_SAMPLE_MS / 1e3);

function loopFigures(delay: IntervalHistogram): readonly Figure[] {
  const name = 'conclave_event_loop_delay';
  return [
    [
      `${name}_p50_seconds`,
      'median delay of the event loop since the last scrape',
      () => delaySeconds(delay.percentile(50)),
    ],
    [`${name}_p99_seconds`, 'the same, 99th percentile', () => delaySeconds(delay.percentile(99))],
    [`${name}_max_seconds`, 'the same, maximum', () => delaySeconds(delay.max)],
  ];
}

/** Registers a metric that is read at each scrape. A name ending in `_total` makes it a counter. */
function register(
  { Counter, Gauge }: typeof import('prom-client'),
  registry: Registry,
  [name, help, read]: Figure,
): void {
  const about = { name, help, registers: [registry] };
  if (name.endsWith('_total'))
    new Counter({
      ...about,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  else
    new Gauge({
      ...about,
      collect() {
        this.set(read());
      },
    });
}

/** Registers counters of one name that differ in a label. */
function registerByLabel(
  { Counter }: typeof import('prom-client'),
  registry: Registry,
  { name, help, label }: { readonly name: string; readonly help: string; readonly label: string },
  read: () => ReadonlyMap<string, number>,
): void {
  new Counter({
    name,
    help,
    registers: [registry],
    labelNames: [label],
    collect() {
      this.reset();
      for (const [value, count] of read()) this.inc({ [label]: value }, count);
    },
  });
}

const LOGINS_REFUSED = {
  name: 'conclave_login_refused_total',
  help: 'logins refused',
  label: 'cause',
};
const REQUESTS_REFUSED = {
  name: 'conclave_http_refused_total',
  help: 'requests and connections refused with 429',
  label: 'limit',
};

const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'];
const REQUESTS = 'conclave_http_request_seconds';

interface Sample {
  readonly latencies: Latencies;
  readonly labels: { readonly route: string; readonly method: string; readonly status: string };
}

/** The metrics of one node. */
export class Metrics {
  readonly #figures: readonly Figure[];
  readonly #refused: Sources['refused'];
  readonly #refusedLogins: Sources['refusedLogins'];
  #loaded: Promise<Registry> | undefined;
  readonly #delay = monitorEventLoopDelay({ resolution: LOOP_SAMPLE_MS });
  readonly #byRoute = new Map<Route, Map<string, Latencies[]>>();

  constructor(sources: Sources) {
    this.#delay.enable();
    this.#figures = [...PROCESS, ...loopFigures(this.#delay), ...nodeFigures(sources)];
    this.#refused = sources.refused;
    this.#refusedLogins = sources.refusedLogins;
  }

  /** Counts an answered request. */
  observe({ route, method, status, ms }: Observation): void {
    const byMethod = this.#byRoute.get(route) ?? new Map<string, Latencies[]>();
    this.#byRoute.set(route, byMethod);
    const classes = byMethod.get(method) ?? CLASSES.map(() => new Latencies());
    byMethod.set(method, classes);
    classes[Math.floor(status / 100) - 1]!.add(ms / 1000);
  }

  /** Returns the metrics in the Prometheus text format. */
  async prometheus(): Promise<string> {
    const text = await (await this.#registry()).metrics();
    this.#delay.reset();
    return `${text}${histogramText(this.#samples())}`;
  }

  /** Returns the metrics as `{Timestamp, Gauges, Points, Counters, Samples}`. */
  async json(): Promise<unknown> {
    const values = await (await this.#registry()).getMetricsAsJSON();
    this.#delay.reset();
    return {
      Timestamp: `${new Date().toISOString().replace('T', ' ').slice(0, 19)} +0000 UTC`,
      Gauges: values.flatMap(({ name, values: found }) =>
        found.map(({ value, labels }) => ({ Name: name, Value: value, Labels: labels })),
      ),
      Points: [],
      Counters: [],
      Samples: [...this.#samples()].map(({ latencies: { count, sum, min, max }, labels }) => ({
        Name: REQUESTS,
        Count: count,
        Sum: sum,
        Min: min,
        Max: max,
        Mean: sum / count,
        Labels: labels,
      })),
    };
  }

  /** Stops measuring the event loop. */
  close(): void {
    this.#delay.disable();
  }

  /** Loads the library at the first scrape, so that a node starts faster. */
  #registry(): Promise<Registry> {
    this.#loaded ??= import('prom-client').then((library) => {
      const registry = new library.Registry();
      for (const figure of this.#figures) register(library, registry, figure);
      const refused = () => new Map(Object.entries(this.#refused()));
      registerByLabel(library, registry, REQUESTS_REFUSED, refused);
      registerByLabel(library, registry, LOGINS_REFUSED, this.#refusedLogins);
      return registry;
    });
    return this.#loaded;
  }

  *#samples(): Iterable<Sample> {
    for (const [{ path: route }, byMethod] of this.#byRoute)
      for (const [method, classes] of byMethod)
        for (const [at, latencies] of classes.entries())
          if (latencies.count > 0)
            yield { latencies, labels: { route, method, status: CLASSES[at]! } };
  }
}

/**
 * Returns the request latencies in the text format. They are not in the registry, because its
 * histograms hash their labels for every request.
 */
function histogramText(samples: Iterable<Sample>): string {
  const lines = [
    `# HELP ${REQUESTS} time to answer, holds included`,
    `# TYPE ${REQUESTS} histogram`,
  ];
  for (const { latencies, labels } of samples) {
    const text = Object.entries(labels)
      .map(([key, value]) => `${key}="${value}"`)
      .join(',');
    let below = 0;
    for (const [at, bound] of BOUNDS.entries()) {
      below += latencies.counts[at]!;
      lines.push(`${REQUESTS}_bucket{${text},le="${bound}"} ${below}`);
    }
    lines.push(`${REQUESTS}_bucket{${text},le="+Inf"} ${latencies.count}`);
    lines.push(`${REQUESTS}_sum{${text}} ${latencies.sum}`);
    lines.push(`${REQUESTS}_count{${text}} ${latencies.count}`);
  }
  return `${lines.join('\n')}\n`;
}
