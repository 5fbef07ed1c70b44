/** Closed-loop load: each connection sends its next request when the last one is answered. */
import { type Ask, Line, type Target } from './line.js';

/** The result of a run of load. */
export interface Load {
  readonly perSec: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Responses other than 200, and broken connections. */
  readonly errors: number;
  /** All requests that were answered, including the warm-up. */
  readonly answered: number;
}

export interface LoadPlan {
  readonly targets: readonly Target[];
  readonly connections: number;
  readonly seconds: number;
  /** The `n`th request of a connection. */
  readonly next: (connection: number, n: number) => Ask;
}

const WARM_UP_MS = 500;

/** Connections are spread over the targets. */
export async function load({ targets, connections, seconds, next }: LoadPlan): Promise<Load> {
  const lines = linesTo(targets, connections);
  const begin = performance.now() + WARM_UP_MS;
  const end = begin + seconds * 1000;
  const times: number[] = [];
  let errors = 0;
  let answered = 0;
  await Promise.all(
    lines.map(async (line, connection) => {
      for (let n = 0; ; n++) {
        const sent = performance.now();
        if (sent >= end) return;
        const status = await line.ask(next(connection, n)).then(
          (reply) => reply.status,
          () => 0,
        );
        answered += 1;
        if (status !== 200) errors += 1;
        else if (sent >= begin) times.push(performance.now() - sent);
      }
    }),
  );
  for (const line of lines) line.close();
  return { perSec: times.length / seconds, ...spreadOf(times), errors, answered };
}

/**
 * Sends requests 0..count-1 once each, over several connections. Throws unless each is answered
 * with 200.
 */
export async function fill(
  targets: readonly Target[],
  connections: number,
  count: number,
  request: (n: number) => Ask,
): Promise<{ readonly perSec: number }> {
  const lines = linesTo(targets, connections);
  const begin = performance.now();
  let next = 0;
  await Promise.all(
    lines.map(async (line) => {
      while (next < count) {
        const ask = request(next++);
        const { status, body } = await line.ask(ask);
        if (status !== 200) throw new Error(`${ask.path}: ${status} ${body.toString()}`);
      }
    }),
  );
  for (const line of lines) line.close();
  return { perSec: (count / (performance.now() - begin)) * 1000 };
}

/** Median, 99th percentile and maximum. */
export function spreadOf(times: number[]): { p50Ms: number; p99Ms: number; maxMs: number } {
  times.sort((a, b) => a - b);
  const at = (part: number): number => quantileOf(times, part);
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

/** Returns the value below which a part of the sorted values lies; 0 if there are none. */
export const quantileOf = (sorted: readonly number[], part: number): number =>
  sorted[Math.floor((sorted.length - 1) * part)] ?? 0;

export const linesTo = (targets: readonly Target[], connections: number): Line[] =>
  Array.from({ length: connections }, (_, i) => new Line(targets[i % targets.length]!));
