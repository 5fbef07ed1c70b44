/** Latencies of requests by route, method and class of status. */
import type { Observation } from '../http/options.js';
import type { Route } from '../http/routes/types.js';
import type { Family } from './families.js';
import type { Times } from './figure-history.js';
import { Histogram } from './histogram.js';

/**
 * Upper bounds of the buckets in seconds: a stale read takes about 50 µs, a write a few ms, an
 * election half a second.
 */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The same for the time for which a blocking query is held: ten minutes at most, and a little. */
const HOLD_BOUNDS = [0.01, 0.1, 1, 5, 10, 30, 60, 120, 300, 600, 660];
const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'];
/** The place of 5xx. */
const FAILED = CLASSES.indexOf('5xx');
/** The route of archives, whose requests take as long as the state is large. */
const ARCHIVES = '/v1/snapshot';

const writes = ({ counts }: Route, method: string): boolean =>
  counts !== 'read' && method !== 'GET' && method !== 'HEAD';

/**
 * Counts answered requests. It looks a histogram up by the route itself, since to hash labels costs
 * more than the rest of the observation.
 */
export class Requests {
  readonly #byRoute = new Map<Route, Map<string, Histogram[]>>();
  readonly #holds = new Map<Route, Histogram>();
  readonly #onArchive: (operation: 'save' | 'restore', seconds: number) => void;

  /** `onArchive` gets the time of each archive that was saved or restored. */
  constructor(onArchive: (operation: 'save' | 'restore', seconds: number) => void) {
    this.#onArchive = onArchive;
  }

  observe({ route, method, status, ms, heldMs, isCut = false }: Observation): void {
    const byMethod = this.#byRoute.get(route) ?? new Map<string, Histogram[]>();
    this.#byRoute.set(route, byMethod);
    const classes = byMethod.get(method) ?? CLASSES.map(() => new Histogram(BOUNDS));
    byMethod.set(method, classes);
    classes[Math.floor(status / 100) - 1]!.observe((ms - heldMs) / 1000);
    if (heldMs > 0) {
      const holds = this.#holds.get(route) ?? new Histogram(HOLD_BOUNDS);
      this.#holds.set(route, holds);
      holds.observe(heldMs / 1000);
    }
    if (route.path === ARCHIVES && status === 200 && !isCut)
      this.#onArchive(method === 'GET' ? 'save' : 'restore', ms / 1000);
  }

  /** Returns the times of reads or of writes, and how many ended with 5xx. */
  sum(of: 'reads' | 'writes'): { readonly times: Times; readonly failed: number } {
    const counts = new Float64Array(BOUNDS.length + 1);
    let failed = 0;
    for (const [route, byMethod] of this.#byRoute)
      for (const [method, classes] of byMethod) {
        if (route.counts === 'probe' || writes(route, method) !== (of === 'writes')) continue;
        for (const { counts: each } of classes)
          for (let at = 0; at < counts.length; at += 1) counts[at]! += each[at]!;
        failed += classes[FAILED]!.count;
      }
    return { times: { bounds: BOUNDS, counts }, failed };
  }

  families(): readonly Family[] {
    return [
      {
        name: 'conclave_http_request_duration_seconds',
        help: 'time to answer, without the time for which a blocking query was held',
        type: 'histogram',
        samples: [...this.#samples()],
      },
      {
        name: 'conclave_http_hold_duration_seconds',
        help: 'time for which blocking queries were held until something changed',
        type: 'histogram',
        samples: [...this.#holds].map(([{ path: route }, histogram]) => ({
          labels: { route },
          histogram,
        })),
      },
    ];
  }

  *#samples() {
    for (const [{ path: route }, byMethod] of this.#byRoute)
      for (const [method, classes] of byMethod)
        for (const [at, histogram] of classes.entries())
          if (histogram.count > 0)
            yield { labels: { route, method, status: CLASSES[at]! }, histogram };
  }
}
