/**
 * Everything that this server has given to the core and whose outcome is open: writes, and changes
 * of the configuration. One record for each, found by id until the core has appended it, then by
 * index and term, and by request id all the while. With the index alone, a caller could get the
 * result of another leader's command.
 */
import { invariant } from '../../raft/assert.js';
import type { DropReason, Index, Output, Term } from '../../raft/types.js';
import type { Result } from '../../state/types.js';

/**
 * The outcome of a proposal. `dropped`: it certainly never takes effect. `unknown`: it may have, or
 * may still do so.
 */
export type Outcome =
  | { readonly kind: 'applied'; readonly index: Index; readonly result: Result | undefined }
  | { readonly kind: 'dropped'; readonly reason: DropReason }
  | { readonly kind: 'unknown' };

/** Gets the outcome of a proposal. Called once. */
export type Settle = (outcome: Outcome) => void;

interface Position {
  readonly index: Index;
  readonly term: Term;
}

interface PendingWrite {
  /** The request id of a client's write; undefined for what the server proposes by itself. */
  readonly request: string | undefined;
  /** All that wait for the outcome: a request may be sent again while it is proposed. */
  readonly callers: Settle[];
  /** Where the core has appended it; undefined before. */
  at: Position | undefined;
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
  /** Those whose entries are overwritten in this log. They may still be in another one. */
  readonly #overwritten = new Set<PendingWrite>();
  readonly #byRequest = new Map<string, PendingWrite>();
  /** Commands that no step has taken yet. */
  #offered: OfferedCommand[] = [];
  #nextId = 1;

  /** Number of proposals whose outcome is open. */
  get size(): number {
    return this.#byId.size + this.#byIndex.size + this.#overwritten.size;
  }

  /** Offers a command to the next step. `settle` is called once. */
  offer(data: Uint8Array, settle: Settle, request?: string): void {
    this.#offered.push({ id: this.add(settle, request), data });
  }

  /** Adds a proposal that needs no command. Returns the id by which the core refers to it. */
  add(settle: Settle, request?: string): number {
    const id = this.#nextId++;
    const pending: PendingWrite = { request, callers: [settle], at: undefined };
    this.#byId.set(id, pending);
    if (request !== undefined) {
      const open = this.#byRequest.size;
      invariant(!this.#byRequest.has(request), 'a request is proposed twice', { id, open });
      this.#byRequest.set(request, pending);
    }
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
    const open = this.#byId.size;
    invariant(offered.length <= open, 'more commands than writes', {
      offered: offered.length,
      open,
    });
    if (offered.length > 0) this.#offered = [];
    return offered;
  }

  /**
   * The core appended it in a step that put out these entries. Its entry is not among them if a
   * message deposed this leader in the same step.
   */
  appended({ id, index, term }: Output['appended'][number], entries: Output['entries']): void {
    const pending = this.#byId.get(id);
    invariant(pending !== undefined, 'a proposal is appended twice', { id, index, term });
    this.#byId.delete(id);
    pending.at = { index, term };
    if (entries[index - (entries[0]?.index ?? 0)]?.term !== term) {
      this.#overwritten.add(pending);
      return;
    }
    invariant(!this.#byIndex.has(index), 'two proposals at one index', { id, index, term });
    this.#byIndex.set(index, pending);
  }

  dropped(id: number, reason: DropReason): void {
    const pending = this.#byId.get(id);
    this.#byId.delete(id);
    if (pending !== undefined) this.#settle(pending, { kind: 'dropped', reason });
  }

  /** Entries from `index` on are overwritten in this log. */
  truncatedFrom(index: Index): void {
    for (const [at, pending] of [...this.#byIndex]) {
      if (at < index) continue;
      this.#byIndex.delete(at);
      this.#overwritten.add(pending);
    }
  }

  /** A snapshot replaced the log up to an entry: the outcome of those there cannot be known. */
  skippedTo({ index, term }: Position): void {
    for (const pending of [...this.#byIndex.values(), ...this.#overwritten]) {
      const at = pending.at!;
      if (at.index <= index) this.#end(pending, { kind: 'unknown' });
      else if (isReplaced(at, term)) this.#end(pending, REPLACED);
    }
  }

  /** The entry at (index, term) was applied. */
  applied(index: Index, term: Term, result: Result | undefined): void {
    const pending = this.#byIndex.get(index);
    if (pending !== undefined) this.#reached(pending, term, result);
    for (const other of this.#overwritten) {
      const at = other.at!;
      if (at.index === index) this.#reached(other, term, result);
      else if (at.index > index && isReplaced(at, term)) this.#end(other, REPLACED);
    }
  }

  /** This server stops: the outcome of all requests is unknown. */
  stop(): void {
    for (const pending of [...this.#byRequest.values()]) this.#settle(pending, { kind: 'unknown' });
  }

  /**
   * The entry at its index was applied. If the term differs it is another leader's command, not the
   * one proposed here.
   */
  #reached(pending: PendingWrite, term: Term, result: Result | undefined): void {
    const { index, term: own } = pending.at!;
    const isOurs = own === term;
    this.#end(pending, isOurs ? { kind: 'applied', index, result } : REPLACED);
  }

  #end(pending: PendingWrite, outcome: Outcome): void {
    if (!this.#overwritten.delete(pending)) this.#byIndex.delete(pending.at!.index);
    this.#settle(pending, outcome);
  }

  #settle(pending: PendingWrite, outcome: Outcome): void {
    if (pending.request !== undefined) this.#byRequest.delete(pending.request);
    for (const settle of pending.callers.splice(0)) settle(outcome);
  }
}

/**
 * Whether an entry of a later term is committed before this one. Terms never fall in a log, so this
 * one is never committed, whichever logs have it.
 */
const isReplaced = (at: Position, term: Term): boolean => at.term < term;

const REPLACED: Outcome = { kind: 'dropped', reason: 'not_leader' };
