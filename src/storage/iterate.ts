/** Iterates over records in order, many at a time. */

/**
 * Bytes and records of a slice. With LevelDB's default of 16 KiB, a start would wait for another
 * thread a thousand times.
 */
const BYTES = 2 ** 18;
const RECORDS = 1000;

/** Options that an iterator for `slices` must have. */
export const IN_SLICES = { highWaterMarkBytes: BYTES } as const;

/**
 * Yields everything an iterator returns, in slices, because awaiting each record would cost more
 * than reading it. Closes the iterator.
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
