/** Clients with every permission that write and read during the fuzzing, and must not notice it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Setting } from '../bench/setting.js';

const PAUSE_MS = 100;

export class Writers {
  written = 0;
  /** Milliseconds of the slowest write. */
  slowestMs = 0;
  readonly problems: string[] = [];
  readonly #setting: Setting;
  #running: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  start(): void {
    this.#running = Promise.all(this.#setting.targets.map((_, node) => this.#write(node)));
  }

  /** Stops after the writes in flight. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #write(node: number): Promise<void> {
    const Name = `fuzz-writer-${node}`;
    const path = `/v1/config/service-defaults/${Name}?consistent`;
    for (let n = 0; !this.#stopped; n++) {
      const began = performance.now();
      try {
        const entry = { Kind: 'service-defaults', Name, Protocol: 'http', Meta: { n: `${n}` } };
        await this.#setting.ask(
          { method: 'PUT', path: '/v1/config', body: JSON.stringify(entry) },
          node,
        );
        this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
        this.written += 1;
        await this.#setting.ask({ method: 'GET', path }, (node + 1) % this.#setting.targets.length);
      } catch (error) {
        // Restoring an archive removes the entry again.
        const why = (error as Error).message;
        if (!why.startsWith(`${path}: 404`)) this.problems.push(`a permitted client: ${why}`);
      }
      await sleep(PAUSE_MS);
    }
  }
}
