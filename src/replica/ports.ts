/**
 * What the loop needs from the world. All of it is given from outside, so that the simulation runs the real loop on
 * a simulated disk, network and clock. Nothing here returns a promise: completions are calls, in the order promised.
 */
import type {
  Entry,
  HardState,
  Index,
  LogView,
  Message,
  NodeId,
  SnapshotMeta,
  Term,
} from '../raft/types.js';
import type { Result } from '../state/types.js';

/** The log on disk. A failure of any write must stop the process: it is reported once, to `onFatal` of the implementation. */
export interface LogPort extends LogView {
  hardState(): HardState;
  /**
   * Stores hard state and entries in one synced batch. Entries replace everything from `entries[0].index` on. The view
   * shows them at once; `done` is called when they are durable, never before this call has returned. Calls complete in
   * order. What is handed over while a sync runs is written together by the next one (group commit).
   */
  append(batch: { hardState?: HardState; entries: readonly Entry[] }, done: () => void): void;
  /** Drops entries up to `index`, after the state is durable beyond it (the implementation does not check that). */
  compact(meta: SnapshotMeta, done: () => void): void;
  /** Replaces the whole log by a snapshot's position (after an installed snapshot). */
  reset(meta: SnapshotMeta, hardState: HardState, done: () => void): void;
  /**
   * Set on a node that has lost entries it may have acknowledged: it must neither vote nor campaign until it holds a
   * committed entry of a term above `term`, or has applied `index`. Then the loop lifts it.
   */
  bar?(): { readonly index: Index; readonly term: Term } | undefined;
  liftBar?(done: () => void): void;
}

/** An answer to a peer's request. */
export type Reply = (payload: Uint8Array) => void;

/** The network. Sending may lose, delay or repeat; it never throws and never blocks. */
export interface WirePort {
  send(message: Message): void;
  /**
   * Sends a peer a request outside Raft (forwarded write, read barrier, join). `done` gets undefined when the peer did not
   * answer in time; `'unsent'` with it when the question certainly never reached the peer.
   */
  request(
    to: NodeId,
    payload: Uint8Array,
    timeoutMs: number,
    done: (answer: Uint8Array | undefined, fate?: 'unsent') => void,
  ): void;
  /**
   * Sends a request to an address while this server is in no cluster yet. `done` as in `request`.
   */
  requestJoin(
    address: string,
    payload: Uint8Array,
    timeoutMs: number,
    done: (answer: Uint8Array | undefined, fate?: 'unsent') => void,
  ): void;
  /** Sends the state as of `meta` in chunks, at a lower priority than messages. */
  sendSnapshot(to: NodeId, message: Message, done: (ok: boolean) => void): void;
  /** Tells the wire who the members are and where. */
  setMembers(members: readonly { readonly id: NodeId; readonly address: string }[]): void;
}

/** The replicated state machine as the loop sees it. */
export interface MachinePort {
  /** The last index applied. */
  appliedIndex(): Index;
  /**
   * Applies entries in order. Results are for command entries, by position. Fewer than entries: the next one takes many
   * turns of the loop. Then `resume` is called once, later: with its result when it is applied, with undefined when it is
   * not and is to be given again. Until then this is not called again.
   */
  apply(
    entries: readonly Entry[],
    resume: (result: Result | undefined) => void,
  ): readonly (Result | undefined)[];
  /** Calls done when all that was applied so far is durable. */
  flush(done: (index: Index, term: Term) => void): void;
  /** The remembered result of a request that was applied (see Proposal). */
  remembered(id: string): Result | undefined;
  /** Loads the state that was put in the place of the present one. Throws when this release cannot read it. */
  reload(): void;
  /** Calls `listener` within each `apply`, after its commits, with the state keys that changed. */
  onChanged(listener: (keys: readonly string[]) => void): void;
  /** Calls `listener` when an entry has replaced the whole state: any key may have changed. */
  onReplaced?(listener: () => void): void;
}

export interface ClockPort {
  /** Monotonic milliseconds. They may stand still while the machine is suspended. */
  now(): number;
  /** Milliseconds of the wall clock, which goes on while the machine is suspended, and which may be set. */
  wall(): number;
  /** Runs `run` once after at least `ms`; returns a cancel function. */
  after(ms: number, run: () => void): () => void;
  /** Runs `run` once what has arrived by now has been delivered (setImmediate). */
  soon(run: () => void): void;
}
