/**
 * Recovery of a server whose state is lost or known to be wrong: nothing is applied or served until
 * the leader has sent its state. The log is not affected, so the server goes on voting and storing
 * entries.
 */
import type { NodeId } from '../../raft/types.js';
import type { Availability } from '../availability.js';
import type { RaftLoop } from '../loop.js';
import type { ReplicaLimits } from '../options.js';
import type { ClockPort } from '../ports.js';
import type { Rpc } from '../rpc.js';

export interface StateRecoveryParts {
  readonly loop: RaftLoop;
  readonly availability: Availability;
  readonly id: NodeId;
  readonly clock: ClockPort;
  readonly rpc: Pick<Rpc, 'notify'>;
  readonly limits: Pick<ReplicaLimits, 'askMs'>;
  /** Whether a state is arriving. Another request would make it begin anew. */
  readonly isArriving: () => boolean;
}

/** Milliseconds between two requests. */
const AGAIN_MS = 1000;

/** Fetches a state from the leader when this server has none. */
export class StateRecovery {
  readonly #parts: StateRecoveryParts;
  /** Why the state is needed; undefined while none is. */
  #why: string | undefined;

  constructor(parts: StateRecoveryParts) {
    this.#parts = parts;
  }

  /** Requests a state until one is installed. `why` is the fault meanwhile. */
  begin(why: string): void {
    const { loop, availability } = this.#parts;
    this.#why = why;
    availability.notReady = `${why}; the state is being fetched from the leader`;
    loop.pauseApply();
    this.#request();
  }

  /**
   * A transfer failed before its state was installed: the present state stays, and is applied to
   * unless it is bad.
   */
  failed(): void {
    if (this.#why === undefined) this.#parts.loop.resumeApply();
  }

  /** Another state is installed and the machine has loaded it. */
  recovered(): void {
    this.#why = undefined;
    this.#parts.availability.notReady = undefined;
  }

  /** Makes no further requests. */
  stop(): void {
    this.#why = undefined;
  }

  #request(): void {
    const { clock, isArriving } = this.#parts;
    if (this.#why === undefined) return;
    if (!isArriving()) this.#askLeader();
    clock.after(AGAIN_MS, () => this.#request());
  }

  #askLeader(): void {
    const { id, loop, rpc, limits } = this.#parts;
    const { leader } = loop.role;
    if (leader !== null && leader !== id) rpc.notify(leader, { type: 'state' }, limits.askMs);
  }
}
