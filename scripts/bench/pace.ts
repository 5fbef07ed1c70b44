/** Requests at a steady rate, independent of the response times. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask } from './line.js';
import { linesTo, spreadOf } from './load.js';
import { figure } from './report.js';
import { putEntry, type Setting } from './setting.js';

/** Connections: enough that the offered rate does not depend on the latency. */
const LINES = 64;

const paced = (n: number): Ask => putEntry(`paced-${n % 1000}`, n);

/**
 * Asks at fixed times; writes unless told otherwise. A request that starts late because others are
 * slow is measured from the time at which it was due.
 */
export class Pace {
  errors = 0;
  answered = 0;
  #times: number[] = [];
  #since = performance.now();
  #isOver = false;
  readonly #done: Promise<unknown>;

  constructor(setting: Setting, nodes: readonly number[], rate: number, ask = paced) {
    const lines = linesTo(
      nodes.map((node) => setting.targets[node]!),
      LINES,
    );
    const begin = performance.now();
    let next = 0;
    const run = async (line: (typeof lines)[number]): Promise<void> => {
      while (!this.#isOver) {
        const number = next++;
        const due = begin + (number * 1000) / rate;
        if (due > performance.now()) await sleep(due - performance.now());
        const status = await line.ask(ask(number)).then(
          (reply) => reply.status,
          () => 0,
        );
        if (status === 200) {
          this.answered += 1;
          this.#times.push(performance.now() - due);
        } else this.errors += 1;
      }
      line.close();
    };
    this.#done = Promise.all(lines.map(run));
  }

  /** The figures since the last call. */
  figures(): string {
    const times = this.#times;
    const seconds = (performance.now() - this.#since) / 1000;
    this.#times = [];
    this.#since = performance.now();
    const { p50Ms, p99Ms, maxMs } = spreadOf(times);
    const perSec = figure(times.length / seconds);
    return `${perSec} per second; p50 ${figure(p50Ms)} ms, p99 ${figure(p99Ms)} ms, at most ${figure(maxMs)} ms`;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }
}
