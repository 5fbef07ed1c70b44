/** The times at which a node logged its messages. */
import { readFileSync } from 'node:fs';

export interface LogLine {
  /** Milliseconds of the wall clock. */
  readonly time: number;
  readonly msg: string;
}

/** The lines of a node's log file after an offset; lines that are not JSON are left out. */
export function linesAfter(file: string, from: number): LogLine[] {
  const text = readFileSync(file).subarray(from).toString();
  return text.split('\n').flatMap((line) => {
    try {
      const { time, msg } = JSON.parse(line) as { time: string; msg: string };
      return [{ time: Date.parse(time), msg }];
    } catch {
      return [];
    }
  });
}
