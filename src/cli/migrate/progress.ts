/**
 * The progress of a long command and the time it still takes, redrawn on one line of a terminal.
 */
import type { Sink } from '../io.js';

/** The pause between two lines, in milliseconds: more often cannot be read. */
const EVERY_MS = 200;

export class Progress {
  readonly #sink: Sink;
  readonly #isQuiet: boolean;
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: Sink, isQuiet: boolean) {
    this.#sink = sink;
    this.#isQuiet = isQuiet;
  }

  /** Shows another step. `share`: how much of it is done, from 0 to 1. */
  begin(
    what: string,
    detail: () => string = () => '',
    { share }: { readonly share?: () => number } = {},
  ): void {
    this.end();
    if (!this.#sink.isTerminal || this.#isQuiet) return;
    const startedMs = performance.now();
    const show = (): void => {
      const done = share?.() ?? 0;
      const tookMs = performance.now() - startedMs;
      const leftMs = (tookMs / done) * (1 - done);
      const left = done > 0 && done < 1 ? `${Math.ceil(leftMs / 1000)} s left` : '';
      const words = [what, detail(), left].filter((text) => text !== '');
      this.#sink.write(`\r\x1b[K${words.join(', ')}`);
    };
    show();
    this.#timer = setInterval(show, EVERY_MS);
  }

  end(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#sink.write('\r\x1b[K');
  }
}
