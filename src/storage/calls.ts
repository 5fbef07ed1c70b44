/** Calls of the file port of `disk.ts`, which end with a callback. */
import type { DiskFile, Done } from './disk.js';

/** Makes a call, and resolves or rejects with what it gives. */
export function settled<T = void>(
  call: (done: (error: Error | null, value?: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    // `value` is there whenever T is not void.
    call((error, value) => (error === null ? resolve(value as T) : reject(error)));
  });
}

/** Writes all of the bytes, however many writes it takes. */
export function writeAll(file: DiskFile, bytes: Buffer, at: number, done: Done): void {
  file.write(bytes, at, (error, written) => {
    if (error !== null) done(error);
    else if (written === bytes.length) done(null);
    else if (written === 0) done(new Error(`a write to ${file.path} wrote nothing`));
    else writeAll(file, bytes.subarray(written), at + written, done);
  });
}
