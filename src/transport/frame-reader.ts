/** Cuts a stream of bytes into frames. Memory grows only with bytes that have really arrived. */
import { WireError } from './types.js';

export class FrameReader {
  /** Bytes a frame may have; may be raised once the other side has proved who it is. */
  limitBytes: number;
  private parts: Buffer[] = [];
  private held = 0;
  /** Bytes of the frame under way with its length, or what is needed to know them. */
  private wanted = 4;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /**
   * Takes bytes and gives the frames that are complete, without their length. Throws WireError for
   * a giant one.
   */
  *push(bytes: Buffer): Generator<Buffer> {
    this.parts.push(bytes);
    this.held += bytes.length;
    while (this.held >= this.wanted) {
      const all = this.parts.length === 1 ? this.parts[0]! : Buffer.concat(this.parts, this.held);
      this.parts = [all];
      const length = all.readUInt32BE(0);
      if (length > this.limitBytes) {
        throw new WireError(
          'protocol',
          `a frame of ${length} bytes, ${this.limitBytes} are allowed`,
        );
      }
      this.wanted = 4 + length;
      if (this.held < this.wanted) return;
      const rest = all.subarray(this.wanted);
      this.parts = rest.length === 0 ? [] : [rest];
      this.held = rest.length;
      const frame = all.subarray(4, this.wanted);
      this.wanted = 4;
      yield frame;
    }
  }
}
