/**
 * What a replica needs from its process: disk, network, state machine and clock. Nothing here
 * returns a promise. Completions are calls, in the documented order.
 */
import type {
  Entry,
  HardState,
  Index,
  LogView,
  Message,
  NodeId,
  SnapshotMessage,
  SnapshotMeta,
  Term,
} from '../raft/types.js';
import type { Result } from '../state/types.js';

/**
 * The log on disk. A failed write must stop the process; the implementation reports it once, to its
 * `onFatal`.
 */
export interface LogPort extends LogView {
  hardState(): HardState;
  /**
   * Stores hard state and entries in one synced batch. Entries replace everything from
   * `entries[0].index` on. Reads show them at once. `done` is called when they are durable, never
   * before this call has returned, and in the order of the calls. Batches given while a sync runs
   * are written together by the next one (group commit).
   */
  append(batch: { hardState?: HardState; entries: readonly Entry[] }, done: () => void): void;
  /**
   * Drops entries up to `meta.index`. The caller makes sure that the state is durable beyond it.
   */
  compact(meta: SnapshotMeta, done: () => void): void;
  /** Replaces the whole log by the position of an installed snapshot. */
  reset(meta: SnapshotMeta, hardState: HardState, done: () => void): void;
  /**
   * Set on a server that has lost entries it may have acknowledged. It must neither vote nor
   * campaign until it holds a committed entry of a term above `term`, or has applied `index`; then
   * `liftBar` clears it.
   */
  bar?(): { readonly index: Index; readonly term: Term } | undefined;
  liftBar?(done: () => void): void;
}

/** Sends the response to a peer's request. Called at most once. */
export type Reply = (payload: Uint8Array) => void;

/**
 * The network. It may lose, delay or repeat what is sent. Sending never throws and never blocks.
 */
export interface WirePort {
  send(message: Message): void;
  /**
   * Sends a peer a request outside Raft (forwarded write, read barrier, join). `done` gets
   * undefined when the peer did not answer in time; `'unsent'` with it when the question certainly
   * never reached the peer.
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
  /** Sends the state as of `message.meta` in chunks, at a lower priority than messages. */
  sendSnapshot(to: NodeId, message: SnapshotMessage, done: (ok: boolean) => void): void;
  /** The members to which this server is connected. Absent: it is not known. */
  reachable?(): readonly NodeId[];
  /** Sets the members to connect to, and their addresses. */
  setMembers(members: readonly { readonly id: NodeId; readonly address: string }[]): void;
}

/** The replicated state machine. */
export interface MachinePort {
  appliedIndex(): Index;
  /** The term of the entry at that index. */
  appliedTerm(): Term;
  /**
   * Applies entries in order. Returns the results of command entries, by position. Fewer results
   * than entries: the rest must be passed again, unless `isReplacing`. The next entry then takes
   * many turns of the event loop, and `resume` is called once, later: with its result when it is
   * applied, or with undefined when it must be passed again. `apply` is not called until then.
   */
  apply(
    entries: readonly Entry[],
    resume: (result: Result | undefined) => void,
  ): readonly (Result | undefined)[];
  /** Whether an entry is being applied that takes many turns. */
  readonly isReplacing: boolean;
  /** Turns that such entries have taken: more of them while the disk of the state progresses. */
  readonly replacingTurns: number;
  /** Calls `done` when everything applied so far is durable. */
  flush(done: (index: Index, term: Term) => void): void;
  /** The remembered result of a request that was applied (see Proposal). */
  remembered(id: string): Result | undefined;
  /**
   * Loads the state that was put in the place of the present one. Throws when this release cannot
   * read it.
   */
  reload(): void;
  /** Calls `listener` within each `apply`, after its commits, with the state keys that changed. */
  onChanged(listener: (keys: readonly string[]) => void): void;
  /** Calls `listener` when an entry has replaced the whole state. Any key may have changed. */
  onReplaced?(listener: () => void): void;
}

/** The clocks of the machine, and the timers on them. */
export interface ClockPort {
  /** Milliseconds of the monotonic clock. It may stand still while the machine is suspended. */
  now(): number;
  /** Milliseconds of the wall clock. It goes on while the machine is suspended, and may be set. */
  wall(): number;
  /** Calls `run` once after at least `ms` milliseconds. Returns a cancel function. */
  after(ms: number, run: () => void): () => void;
  /** Calls `run` after everything that has already arrived was delivered (setImmediate). */
  soon(run: () => void): void;
}
