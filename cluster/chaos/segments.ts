/** Where the Raft log of a node ends, read from its files while it runs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { segmentNumber } from '../../src/storage/segment.js';
import { decodeRecord, saltOf } from '../../src/storage/segment-record.js';

/** The file that holds the last record, and the offset behind that. */
export interface LogEnd {
  readonly path: string;
  readonly end: number;
}

/**
 * Finds the end of a log. Behind it lies what an earlier use of the file left, and later files are
 * made before they are needed, so the records alone tell.
 */
export function endOfLog(dataDir: string): LogEnd {
  const folder = join(dataDir, 'log', 'segments');
  const numbers = readdirSync(folder).flatMap((name) => {
    const number = segmentNumber(name);
    return number === undefined ? [] : [{ name, number }];
  });
  for (const { name, number } of numbers.sort((a, b) => b.number - a.number)) {
    const path = join(folder, name);
    const end = lastRecordIn(readFileSync(path), saltOf(number));
    if (end > 0) return { path, end };
  }
  throw new Error(`${folder} holds no record`);
}

function lastRecordIn(bytes: Buffer, salt: number): number {
  let end = 0;
  for (;;) {
    const record = decodeRecord(bytes, end, salt);
    if (record === undefined || record.isSpoiled) return end;
    end = record.end;
  }
}
