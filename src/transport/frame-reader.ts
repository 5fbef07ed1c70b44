/** Splits a stream of bytes into frames. Its memory is bounded by the bytes that have arrived. */
import { WireError } from './types.js';

export class FrameReader {
  /** Bytes of a frame at most. The owner raises it once the peer is authenticated. */
  limitBytes: number;
  #parts: Buffer[] = [];
  #held = 0;
  /** Bytes of the frame being received, with its length prefix; 4 until the length is known. */
  #wanted = 4;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /**
   * Yields the frames that these bytes complete, without their length prefix. Throws WireError for
   * a frame above the limit.
   */
  *push(bytes: Buffer): Generator<Buffer> {
    this.#parts.push(bytes);
    this.#held += bytes.length;
    while (this.#held >= this.#wanted) {
      const all =
        this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts, this.#held);
      this.#parts = [all];
      const length = all.readUInt32BE(0);
      if (length > this.limitBytes) {
        throw new WireError(
          'protocol',
          `a frame of ${length} bytes, ${this.limitBytes} are allowed`,
        );
      }
      this.#wanted = 4 + length;
      if (this.#held < this.#wanted) return;
      const rest = all.subarray(this.#wanted);
      this.#parts = rest.length === 0 ? [] : [rest];
      this.#held = rest.length;
      const frame = all.subarray(4, this.#wanted);
      this.#wanted = 4;
      yield frame;
    }
  }
}
