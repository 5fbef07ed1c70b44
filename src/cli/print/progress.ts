/** How far a transfer is, rewritten on one line of a terminal. */
import type { Sink } from '../io.js';

/** The pause between two lines, in milliseconds: more often cannot be read. */
const EVERY_MS = 200;

/** Returns a number of bytes for people: `512 B`, `1.5 MB`. */
export function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${units[power]}`;
}

/**
 * Returns what passes bytes on, and tells on a terminal how many there were and how fast; `after`
 * when all were passed on.
 */
export const progress = (
  sink: Sink,
  verb: string,
  { total, after }: { readonly total?: number; readonly after?: string } = {},
) =>
  async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    const startedMs = performance.now();
    const of = total === undefined ? '' : ` of ${sizeText(total)}`;
    let bytes = 0;
    let shownMs = 0;
    let isDone = false;
    try {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        const nowMs = performance.now();
        if (sink.isTerminal && nowMs - shownMs >= EVERY_MS) {
          shownMs = nowMs;
          const rate = sizeText(Math.round((bytes * 1000) / Math.max(nowMs - startedMs, 1)));
          sink.write(`\r\x1b[K${verb} ${sizeText(bytes)}${of}, ${rate}/s`);
        }
        yield chunk;
      }
      isDone = true;
    } finally {
      if (shownMs > 0) sink.write('\r\x1b[K');
      if (isDone && after !== undefined && sink.isTerminal) sink.write(after);
    }
  };
