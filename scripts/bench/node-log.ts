/** What a node wrote to its log, as times. */
import { readFileSync } from 'node:fs';

export interface LogLine {
  /** Milliseconds of the wall clock. */
  readonly time: number;
  readonly msg: string;
}

/** The lines of a node's log file from a byte on; what is no line of JSON is left out. */
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
