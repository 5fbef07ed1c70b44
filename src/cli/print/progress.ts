/** How far a transfer is, rewritten on one line of a terminal. */
import { Transform, type TransformCallback } from 'node:stream';
import type { Sink } from '../io.js';

/** The pause between two lines, in milliseconds: more often cannot be read. */
const EVERY_MS = 200;

/** Returns a number of bytes for people: `512 B`, `1.5 MB`. */
export function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${units[power]}`;
}

/** Passes bytes on, counts them, and tells on a terminal how many there were and how fast. */
export class Progress extends Transform {
  bytes = 0;
  readonly #sink: Sink;
  readonly #verb: string;
  readonly #total: number | undefined;
  readonly #startedMs = performance.now();
  #shownMs = 0;

  constructor(sink: Sink, verb: string, total?: number) {
    super();
    this.#sink = sink;
    this.#verb = verb;
    this.#total = total;
  }

  override _transform(chunk: Buffer, _encoding: string, next: TransformCallback): void {
    this.bytes += chunk.length;
    const nowMs = performance.now();
    if (this.#sink.isTerminal && nowMs - this.#shownMs >= EVERY_MS) {
      this.#shownMs = nowMs;
      this.#sink.write(`\r\x1b[K${this.#text(nowMs)}`);
    }
    next(null, chunk);
  }

  override _flush(next: TransformCallback): void {
    this.#clear();
    next();
  }

  override _destroy(error: Error | null, next: (error?: Error | null) => void): void {
    if (error !== null) this.#clear();
    next(error);
  }

  #text(nowMs: number): string {
    const seconds = Math.max(nowMs - this.#startedMs, 1) / 1000;
    const total = this.#total === undefined ? '' : ` of ${sizeText(this.#total)}`;
    const rate = sizeText(Math.round(this.bytes / seconds));
    return `${this.#verb} ${sizeText(this.bytes)}${total}, ${rate}/s`;
  }

  #clear(): void {
    if (this.#shownMs > 0) this.#sink.write('\r\x1b[K');
  }
}
