/**
 * The snapshot that is arriving, at most one: which one is taken, when it is installed and when it
 * is given up. A sender that fails sends no notice, so a transfer without progress is aborted; then
 * another one can be requested. The bytes are the business of the transfer, which the caller
 * provides.
 */
import type { NodeId, SnapshotMessage, SnapshotMeta } from '../../raft/types.js';
import type { RaftLoop } from '../loop.js';
import type { ClockPort } from '../ports.js';
import type { StateRecovery } from './recovery.js';

/** Receives the chunks of one snapshot and stores them beside the present state. */
export interface SnapshotTransfer {
  /** The same for every attempt to send the same snapshot. */
  readonly id: string;
  /** Number of the next chunk. */
  readonly next: number;
  /** A chunk is being written. */
  readonly isWriting: boolean;
  /** All chunks are stored, and the snapshot is being verified and switched in. */
  readonly isFinishing: boolean;
  /** Gives the snapshot up and removes what was stored of it. Calls `ended`. */
  abort(): void;
}

/** What a transfer reports. */
export interface TransferEvents {
  /**
   * All chunks are stored. True: applying is paused, and `installed` or `failed` must follow.
   * False: the snapshot is not needed any more.
   */
  begin(): boolean;
  /** The snapshot could not be verified or switched in: the present state stays. */
  failed(): void;
  /** The store holds the new state. `done` is called when the log agrees, durably. */
  installed(done: () => void): void;
  /** The transfer takes no more chunks. Called once. */
  ended(): void;
  /** The sender's connection closed. It may come back on another one. */
  disconnected(): void;
}

export interface IncomingSnapshotParts {
  readonly loop: Pick<RaftLoop, 'receive' | 'role' | 'wants' | 'pauseApply'>;
  readonly clock: Pick<ClockPort, 'after'>;
  readonly recovery: Pick<StateRecovery, 'failed' | 'recovered'>;
  /** Loads the state that was switched in. Throws when this release cannot read it. */
  readonly reload: () => void;
  /** See Replica.switched. */
  readonly switched: (meta: SnapshotMeta, from: NodeId, done: () => void) => void;
}

/** Milliseconds without progress after which a transfer is given up; at most twice that. */
export const IDLE_MS = 30_000;
/** The same once its connection is closed: the time that the sender has to come back. */
export const RECONNECT_MS = 2000;

/** Accepts and installs snapshots, one at a time. */
export class IncomingSnapshot {
  readonly #parts: IncomingSnapshotParts;
  #transfer: SnapshotTransfer | undefined;
  /** Connections on which it arrives: a dead one may close after the sender has come back. */
  #connections = 0;
  /** Cancels the look for progress. */
  #cancelWatch = (): void => {};
  /** Cancels the wait for a sender whose connection closed. */
  #cancelAwait = (): void => {};
  #stopped = false;

  constructor(parts: IncomingSnapshotParts) {
    this.#parts = parts;
  }

  /** Whether a snapshot is arriving. */
  get isArriving(): boolean {
    return this.#transfer !== undefined;
  }

  /** Whether this transfer is the one that is arriving. */
  isPresent(transfer: SnapshotTransfer): boolean {
    return this.#transfer === transfer;
  }

  /**
   * A leader offers a snapshot. Returns the transfer that takes it: the present one if it has the
   * same id, otherwise a new one from `open`, which replaces the present one. Undefined when the
   * snapshot is refused: a deposed leader sends it, it is not needed, or another one is being
   * switched in.
   */
  accept<T extends SnapshotTransfer>(
    message: SnapshotMessage,
    id: string,
    open: (events: TransferEvents) => T,
  ): T | undefined {
    if (this.#stopped) return undefined;
    const { loop } = this.#parts;
    const { term, meta } = message;
    // The core resets its election timer, and responds to the leader when it needs no snapshot.
    loop.receive(message);
    if (term < loop.role.term || !loop.wants(meta)) return undefined;
    const present = this.#transfer as T | undefined;
    if (present?.id === id) {
      this.#connections += 1;
      this.#cancelAwait();
      return present;
    }
    if (present?.isFinishing) return undefined;
    present?.abort();
    const transfer: T = open(this.#eventsFor(message, () => transfer));
    this.#transfer = transfer;
    this.#connections = 1;
    this.#watch(transfer);
    return transfer;
  }

  /** Gives up what is arriving, and accepts nothing more. */
  stop(): void {
    this.#stopped = true;
    this.#transfer?.abort();
  }

  #eventsFor({ meta, from }: SnapshotMessage, self: () => SnapshotTransfer): TransferEvents {
    const { loop, recovery, reload, switched } = this.#parts;
    return {
      begin: () => {
        if (!loop.wants(meta)) return false;
        loop.pauseApply();
        return true;
      },
      failed: () => recovery.failed(),
      installed: (done) => {
        reload();
        recovery.recovered();
        switched(meta, from, done);
      },
      ended: () => {
        if (this.#transfer !== self()) return;
        this.#transfer = undefined;
        this.#cancelWatch();
        this.#cancelAwait();
      },
      disconnected: () => {
        if (this.#transfer !== self()) return;
        this.#connections -= 1;
        if (this.#connections === 0) this.#awaitSender(self());
      },
    };
  }

  #watch(transfer: SnapshotTransfer): void {
    this.#cancelWatch = this.#look(transfer, IDLE_MS, () => this.#watch(transfer));
  }

  /** Aborts the transfer unless its sender comes back. What had arrived may still be stored. */
  #awaitSender(transfer: SnapshotTransfer): void {
    if (this.#transfer !== transfer) return;
    this.#cancelAwait();
    this.#cancelAwait = this.#look(transfer, RECONNECT_MS, () => this.#awaitSender(transfer));
  }

  /** Aborts the transfer if it makes no progress within this time. Returns what cancels that. */
  #look(transfer: SnapshotTransfer, afterMs: number, progressed: () => void): () => void {
    const { next } = transfer;
    return this.#parts.clock.after(afterMs, () => {
      if (transfer.isWriting || transfer.next !== next) progressed();
      else transfer.abort();
    });
  }
}
