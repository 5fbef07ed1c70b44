/** What a node measures: as Prometheus text and as JSON. Everything is read when asked for; requests only count up. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, Registry } from 'prom-client';
import type { Observation } from './http/options.js';
import type { NodeStatus } from './node/types.js';

/** Upper bounds in seconds: a stale read takes some 50 µs, a write a few ms, an election half a second. */
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

export interface Sources {
  readonly status: () => NodeStatus;
  readonly held: () => number;
  readonly connections: () => number;
  /** Figures of the Raft driver; all but the maximum only grow. */
  readonly driver: () => {
    readonly appends: number;
    readonly entriesAppended: number;
    readonly stalls: number;
    readonly stallMsMax: number;
  };
}

export interface Metrics {
  /** Counts an answered request. */
  observe(observation: Observation): void;
  prometheus(): Promise<string>;
  /** `{Timestamp, Gauges, Points, Counters, Samples}`. */
  json(): Promise<unknown>;
  close(): void;
}

const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'];

export function createMetrics(sources: Sources): Metrics {
  const registry = new Registry();
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const gauges: [name: string, help: string, read: () => number][] = [
    ['conclave_process_resident_bytes', 'resident memory', () => process.memoryUsage.rss()],
    ['conclave_process_heap_bytes', 'JavaScript heap in use', () => process.memoryUsage().heapUsed],
    ['conclave_process_cpu_seconds', 'CPU time used', cpuSeconds],
    ['conclave_process_uptime_seconds', 'time since start', () => process.uptime()],
    [
      'conclave_event_loop_delay_p50_seconds',
      'delay of the event loop since the last look, median',
      () => delay.percentile(50) / 1e9,
    ],
    [
      'conclave_event_loop_delay_p99_seconds',
      'the same, 99th percentile',
      () => delay.percentile(99) / 1e9,
    ],
    ['conclave_event_loop_delay_max_seconds', 'the same, greatest', () => delay.max / 1e9],
    ['conclave_http_connections', 'open HTTP connections', sources.connections],
    ['conclave_http_held', 'blocking queries held', sources.held],
    ['conclave_raft_term', 'Raft term', () => sources.status().term],
    [
      'conclave_raft_leader',
      '1 while this node leads',
      () => Number(sources.status().role === 'leader'),
    ],
    [
      'conclave_raft_has_leader',
      '1 while a leader is known',
      () => Number(sources.status().leaderId !== null),
    ],
    ['conclave_raft_commit_index', 'last committed log index', () => sources.status().commitIndex],
    ['conclave_raft_applied_index', 'last applied log index', () => sources.status().appliedIndex],
    ['conclave_raft_last_log_index', 'last log index', () => sources.status().lastLogIndex],
    [
      'conclave_raft_last_contact_seconds',
      'time since contact with the leader',
      () => sources.status().lastContactMs / 1000,
    ],
    ['conclave_raft_peers', 'members of the configuration', () => sources.status().peers.length],
    ['conclave_raft_appends_total', 'batches synced to the log', () => sources.driver().appends],
    ['conclave_raft_entries_total', 'log entries in them', () => sources.driver().entriesAppended],
    ['conclave_raft_stalls_total', 'ticks that came late', () => sources.driver().stalls],
    [
      'conclave_raft_stall_max_seconds',
      'the latest of them',
      () => sources.driver().stallMsMax / 1000,
    ],
    [
      'conclave_faulted',
      '1 while this node refuses to serve',
      () => Number(sources.status().fault !== undefined),
    ],
  ];
  for (const [name, help, read] of gauges)
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  const byRoute = new Map<object, Map<string, Latencies[]>>();
  const samples = function* () {
    for (const [route, byMethod] of byRoute)
      for (const [method, classes] of byMethod)
        for (const [at, latencies] of classes.entries())
          if (latencies.count > 0)
            yield {
              latencies,
              labels: { route: (route as { path: string }).path, method, status: CLASSES[at]! },
            };
  };
  return {
    observe({ route, method, status, ms }) {
      const byMethod = byRoute.get(route) ?? new Map<string, Latencies[]>();
      byRoute.set(route, byMethod);
      const classes = byMethod.get(method) ?? CLASSES.map(() => new Latencies());
      byMethod.set(method, classes);
      classes[Math.floor(status / 100) - 1]!.add(ms / 1000);
    },
    async prometheus() {
      const text = await registry.metrics();
      delay.reset();
      return `${text}${histogramText(samples())}`;
    },
    async json() {
      const values = await registry.getMetricsAsJSON();
      delay.reset();
      const requests = [...samples()];
      return {
        Timestamp: `${new Date().toISOString().replace('T', ' ').slice(0, 19)} +0000 UTC`,
        Gauges: values.map(({ name, values: [first] }) => ({
          Name: name,
          Value: (first as { value: number } | undefined)?.value ?? 0,
          Labels: {},
        })),
        Points: [],
        Counters: requests.map(({ latencies, labels }) => ({
          Name: 'conclave_http_requests',
          Count: latencies.count,
          Labels: labels,
        })),
        Samples: requests.map(({ latencies: { count, sum, min, max }, labels }) => ({
          Name: 'conclave_http_request_seconds',
          Count: count,
          Sum: sum,
          Min: min,
          Max: max,
          Mean: sum / count,
          Labels: labels,
        })),
      };
    },
    close: () => delay.disable(),
  };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** The request latencies in the text format; kept outside the registry, whose histograms hash their labels per request. */
function histogramText(
  samples: Iterable<{ latencies: Latencies; labels: Record<string, string> }>,
): string {
  const name = 'conclave_http_request_seconds';
  const lines = [`# HELP ${name} time to answer, holds included`, `# TYPE ${name} histogram`];
  for (const { latencies, labels } of samples) {
    const text = Object.entries(labels)
      .map(([key, value]) => `${key}="${value}"`)
      .join(',');
    let below = 0;
    for (const [at, bound] of BOUNDS.entries()) {
      below += latencies.counts[at]!;
      lines.push(`${name}_bucket{${text},le="${bound}"} ${below}`);
    }
    lines.push(`${name}_bucket{${text},le="+Inf"} ${latencies.count}`);
    lines.push(
      `${name}_sum{${text}} ${latencies.sum}`,
      `${name}_count{${text}} ${latencies.count}`,
    );
  }
  return `${lines.join('\n')}\n`;
}
