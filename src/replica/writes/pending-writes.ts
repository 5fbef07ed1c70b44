/**
 * Everything that this server has given to the core and whose outcome is open: writes, and changes
 * of the configuration. One record for each, found by id until the core has appended it, then by
 * index and term, and by request id all the while. With the index alone, a caller could get the
 * result of another leader's command.
 */
import type { DropReason, Index, Term } from '../../raft/types.js';
import type { Result } from '../../state/types.js';

/**
 * The outcome of a proposal. `dropped`: certainly not in any log. `unknown`: it may still be in
 * some log.
 */
export type Outcome =
  | { readonly kind: 'applied'; readonly index: Index; readonly result: Result | undefined }
  | { readonly kind: 'dropped'; readonly reason: DropReason }
  | { readonly kind: 'unknown' };

/** Gets the outcome of a proposal. Called once. */
export type Settle = (outcome: Outcome) => void;

interface PendingWrite {
  /** The request id of a client's write; undefined for what the server proposes by itself. */
  readonly request: string | undefined;
  /** All that wait for the outcome: a request may be sent again while it is proposed. */
  readonly callers: Settle[];
  /** The term in which the core has appended it; undefined before. */
  term: Term | undefined;
}

/** A command for the next step of the core, under the id by which the core refers to it. */
export interface OfferedCommand {
  readonly id: number;
  readonly data: Uint8Array;
}

/** The table of pending writes. */
export class PendingWrites {
  readonly #byId = new Map<number, PendingWrite>();
  readonly #byIndex = new Map<Index, PendingWrite>();
  readonly #byRequest = new Map<string, PendingWrite>();
  /** Commands that no step has taken yet. */
  #offered: OfferedCommand[] = [];
  #nextId = 1;

  /** Number of proposals whose outcome is open. */
  get size(): number {
    return this.#byId.size + this.#byIndex.size;
  }

  /** Offers a command to the next step. `settle` is called once. */
  offer(data: Uint8Array, settle: Settle, request?: string): void {
    this.#offered.push({ id: this.add(settle, request), data });
  }

  /** Adds a proposal that needs no command. Returns the id by which the core refers to it. */
  add(settle: Settle, request?: string): number {
    const id = this.#nextId++;
    const pending: PendingWrite = { request, callers: [settle], term: undefined };
    this.#byId.set(id, pending);
    if (request !== undefined) this.#byRequest.set(request, pending);
    return id;
  }

  /** Waits for a request that is already pending. Returns false if it is not. */
  join(request: string, settle: Settle): boolean {
    const pending = this.#byRequest.get(request);
    pending?.callers.push(settle);
    return pending !== undefined;
  }

  /** The commands offered since the last call. */
  take(): readonly OfferedCommand[] {
    const offered = this.#offered;
    if (offered.length > 0) this.#offered = [];
    return offered;
  }

  /** The core appended it at (index, term). */
  appended(id: number, index: Index, term: Term): void {
    const pending = this.#byId.get(id);
    if (pending === undefined) throw new Error(`proposal ${id} was appended twice`);
    this.#byId.delete(id);
    pending.term = term;
    this.#byIndex.set(index, pending);
  }

  /** The core dropped it. */
  dropped(id: number, reason: DropReason): void {
    const pending = this.#byId.get(id);
    this.#byId.delete(id);
    if (pending !== undefined) this.#settle(pending, { kind: 'dropped', reason });
  }

  /** Entries from `index` on are overwritten in this log. They may still be in another one. */
  truncatedFrom(index: Index): void {
    this.#giveUp((at) => at >= index);
  }

  /** A snapshot replaced the log up to `index`: the outcome of entries there cannot be known. */
  skippedTo(index: Index): void {
    this.#giveUp((at) => at <= index);
  }

  /**
   * The entry at (index, term) was applied. If the term differs it is another leader's command, not
   * the one proposed here.
   */
  applied(index: Index, term: Term, result: Result | undefined): void {
    const pending = this.#byIndex.get(index);
    if (pending === undefined) return;
    this.#byIndex.delete(index);
    const isOurs = pending.term === term;
    this.#settle(pending, isOurs ? { kind: 'applied', index, result } : { kind: 'unknown' });
  }

  /** This server stops: the outcome of all requests is unknown. */
  stop(): void {
    for (const pending of [...this.#byRequest.values()]) this.#settle(pending, { kind: 'unknown' });
  }

  #giveUp(lost: (index: Index) => boolean): void {
    for (const [index, pending] of [...this.#byIndex]) {
      if (!lost(index)) continue;
      this.#byIndex.delete(index);
      this.#settle(pending, { kind: 'unknown' });
    }
  }

  #settle(pending: PendingWrite, outcome: Outcome): void {
    if (pending.request !== undefined) this.#byRequest.delete(pending.request);
    for (const settle of pending.callers.splice(0)) settle(outcome);
  }
}
