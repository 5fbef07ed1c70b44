/**
 * Clients that write new names through all nodes until they are stopped, and the longest time
 * without an acknowledged write.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Line, RefusedError } from './line.js';
import { linesTo } from './load.js';
import { putEntry, type Setting } from './setting.js';

const REASONS_MAX = 20;
/** A pause before a node that refuses connections is contacted again. */
const AGAIN_MS = 20;

export interface WriterPlan {
  readonly writers: number;
  /** The prefix of all written names. */
  readonly names: string;
  /**
   * A writer whose node refuses connections moves on to the next one, and every other writer does
   * so after each response. Otherwise each stays at its own node.
   */
  readonly moves?: boolean;
}

export class Writers {
  readonly acknowledged: string[] = [];
  /** Responses other than 200 and broken connections, by node. */
  readonly errors: number[];
  /** The first of these errors. */
  readonly reasons: string[] = [];
  readonly #setting: Setting;
  readonly #done: Promise<unknown>;
  /**
   * `Date.now()` of the acknowledgement that ended the longest gap since the last call of `gapMs`.
   */
  gapEndedAt = 0;
  #gapMs = 0;
  #lastAck = performance.now();
  #isOver = false;

  constructor(setting: Setting, { writers, names, moves = false }: WriterPlan) {
    this.#setting = setting;
    this.errors = setting.targets.map(() => 0);
    const numbers = Array.from({ length: writers }, (_, at) => at);
    this.#done = Promise.all(numbers.map((at) => this.#write(at, `${names}-${at}`, moves)));
  }

  /** Longest time without an acknowledged write since the last call, up to now. */
  gapMs(): number {
    const gap = Math.max(this.#gapMs, performance.now() - this.#lastAck);
    this.#gapMs = 0;
    return gap;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }

  /** Reads every acknowledged write back; returns how many are lost. */
  async lost(): Promise<number> {
    const lines = linesTo(this.#setting.targets, 32);
    let next = 0;
    let lost = 0;
    await Promise.all(
      lines.map(async (line) => {
        while (next < this.acknowledged.length) {
          const path = `/v1/config/service-defaults/${this.acknowledged[next++]}?consistent`;
          if ((await line.ask({ method: 'GET', path })).status !== 200) lost += 1;
        }
      }),
    );
    for (const line of lines) line.close();
    return lost;
  }

  async #write(at: number, names: string, moves: boolean): Promise<void> {
    const lines = this.#setting.targets.map((target) => new Line(target));
    const step = moves && at % 2 === 1 ? 1 : 0;
    for (let n = 0, turn = at; !this.#isOver; n++, turn += step) {
      const node = turn % lines.length;
      const name = `${names}-${n}`;
      const reply = await lines[node]!.ask(putEntry(name, name)).catch((error: Error) => error);
      if (!(reply instanceof Error) && reply.status === 200) this.#count(name);
      // A request that was never sent did not fail: the client moves on.
      else if (reply instanceof RefusedError && moves) turn += 1 - step;
      else {
        this.errors[node]! += 1;
        const why = reply instanceof Error ? reply.message : `${reply.status} ${reply.body}`;
        if (this.reasons.length < REASONS_MAX) this.reasons.push(`node ${node + 1}: ${why}`);
        await sleep(AGAIN_MS);
      }
    }
    for (const line of lines) line.close();
  }

  #count(name: string): void {
    const now = performance.now();
    if (now - this.#lastAck > this.#gapMs) {
      this.#gapMs = now - this.#lastAck;
      this.gapEndedAt = Date.now();
    }
    this.#lastAck = now;
    this.acknowledged.push(name);
  }
}
