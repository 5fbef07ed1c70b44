/** Records in order, many at a time. */

/**
 * Bytes and records of a slice: with LevelDB's own 16 KiB a start would wait a thousand times for
 * another thread.
 */
const BYTES = 2 ** 18;
const RECORDS = 1000;

/** What an iterator must be made with. */
export const IN_SLICES = { highWaterMarkBytes: BYTES } as const;

/**
 * All that an iterator gives, in slices: a promise for each record costs more than to read it.
 * Closes the iterator.
 */
export async function* slices<T>(iterator: {
  nextv(size: number): Promise<T[]>;
  close(): Promise<void>;
}): AsyncGenerator<T[]> {
  try {
    for (;;) {
      const some = await iterator.nextv(RECORDS);
      if (some.length === 0) return;
      yield some;
    }
  } finally {
    await iterator.close();
  }
}
