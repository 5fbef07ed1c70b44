/** Memory for the bodies of unknown callers while they arrive. */
import { ApiError } from '../../base/errors.js';
import type { RefusalCounts } from './rates.js';

/** Ends the reading of one body with an error. */
export type EndBody = (error: ApiError) => void;

/** The bodies that are being received, and a limit for their bytes. */
export class PendingBodies {
  /** Bytes of each body, oldest first. */
  readonly #bodies = new Map<EndBody, number>();
  readonly #maxBytes: number;
  readonly #refused: Pick<RefusalCounts, 'add'>;
  #bytes = 0;

  constructor(maxBytes: number, refused: Pick<RefusalCounts, 'add'>) {
    this.#maxBytes = maxBytes;
    this.#refused = refused;
  }

  /**
   * Counts bytes that a body takes in addition. While all bodies take too many, the oldest one is
   * ended: most bodies arrive at once, and what has been arriving for long may never be whole.
   */
  add(body: EndBody, bytes: number): void {
    this.#bodies.set(body, (this.#bodies.get(body) ?? 0) + bytes);
    this.#bytes += bytes;
    for (const oldest of this.#bodies.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#refused.add('pendingBodyBytes');
      this.end(oldest);
      oldest(tooManyBytes());
    }
  }

  /** Forgets a body. */
  end(body: EndBody): void {
    this.#bytes -= this.#bodies.get(body) ?? 0;
    this.#bodies.delete(body);
  }
}

const tooManyBytes = (): ApiError =>
  new ApiError({
    code: 'too_many',
    message:
      'Too many bodies without a valid token are being received, and this one for the longest ' +
      'time; try again in a second',
    hint: 'the limit is limits.pendingBodyBytes of this node',
  });
