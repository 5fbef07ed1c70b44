/** Whether this server serves its clients, and whether it should lead. */
import { type Refusal, refusal } from '../base/errors.js';

export interface AvailabilityParts {
  /** Whether this server knows that it was removed from the cluster. */
  readonly isRemoved: () => boolean;
  /** Which disk hangs, in words; undefined while both make progress. */
  readonly hang: () => string | undefined;
  /** False while the disk of this server is at its reserve. */
  readonly hasRoom: () => boolean;
  /**
   * Ends what clients wait for and hands leadership over; called when this server stops serving.
   */
  readonly stopServing: () => void;
  /** Hands leadership over. */
  readonly stepDown: () => void;
  /** The fault changed; undefined: this server serves again. */
  readonly onFault: (why: string | undefined) => void;
  /** A disk began to hang; undefined: the disks make progress again. */
  readonly onHang: (why: string | undefined) => void;
}

/** The fault of a server that was removed from the cluster. */
export const REMOVED = 'it was removed from the cluster';

/** One reason, or none, for not serving, and one for not leading. */
export class Availability {
  readonly #parts: AvailabilityParts;
  /** Lasts until the process ends. */
  #failed: string | undefined;
  #notReady: string | undefined;
  #reportedFault: string | undefined;
  #reportedHang: string | undefined;

  constructor(parts: AvailabilityParts) {
    this.#parts = parts;
  }

  /** Why this server is not serving requests; undefined while it is. */
  get fault(): string | undefined {
    return this.#failed ?? this.#notReady ?? (this.#parts.isRemoved() ? REMOVED : undefined);
  }

  /** Why another member should lead although this one serves. */
  get hang(): string | undefined {
    return this.#parts.hang();
  }

  /** Why this server needs attention, although it may serve; undefined while it is healthy. */
  get problem(): string | undefined {
    if (this.isUnfit) return this.fault ?? this.hang;
    return this.#parts.hasRoom() ? undefined : 'its disk is down to the reserve';
  }

  /** Whether another member should lead. */
  get isUnfit(): boolean {
    return this.fault !== undefined || this.hang !== undefined;
  }

  /** The refusal of a server that is not serving requests. */
  get refusal(): Refusal | undefined {
    const { fault } = this;
    if (fault === undefined) return undefined;
    const about = fault === REMOVED ? ({ about: { kind: 'removed' } } as const) : {};
    return refusal('unavailable', `This server is not serving requests: ${fault}`, about);
  }

  /** Why a read failed here that may succeed on another server. */
  get hangRefusal(): Refusal | undefined {
    const { hang } = this;
    return hang === undefined
      ? undefined
      : refusal('unavailable', `This server cannot follow the leader: ${hang}`);
  }

  /** Sets why this server is not serving requests yet; undefined once it is. */
  set notReady(why: string | undefined) {
    this.#notReady = why;
    if (why === undefined) return;
    this.#reportFault();
    this.#parts.stepDown();
  }

  /** Stops serving for good. The server goes on following, and hands leadership over. */
  fail(why: string): void {
    this.#failed ??= why;
    this.closed();
  }

  /** Marks the server as stopping. Nobody is told. */
  stopping(): void {
    this.#failed ??= 'the server is stopping';
  }

  /** This server has stopped serving. */
  closed(): void {
    this.#reportFault();
    this.#parts.stopServing();
    this.#parts.stepDown();
  }

  /** Reports what changed since the last call. */
  tick(): void {
    this.#reportFault();
    const { hang } = this;
    if (hang === this.#reportedHang) return;
    this.#reportedHang = hang;
    this.#parts.onHang(hang);
  }

  #reportFault(): void {
    const { fault } = this;
    if (fault === this.#reportedFault) return;
    this.#reportedFault = fault;
    this.#parts.onFault(fault);
  }
}
