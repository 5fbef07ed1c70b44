/**
 * The replicated state machine: a fold of log entries over a StateStore. Each entry is one atomic commit that holds its
 * changes, the remembered result of its request and the machine's own record, so a restart replays from there.
 */
import type { Entry, Index, Term } from '../raft/types.js';
import { Checksums } from './checksum.js';
import { Overlay } from './draft.js';
import { FatalError } from './fatal.js';
import { keys } from './keys.js';
import { decodeProposal } from './proposal.js';
import { REQUESTS_MAX, RequestMemory } from './requests.js';
import type { Change, Command, Handler, Proposal, Result, StateStore } from './types.js';

/** Handlers by command type. Every command of version 1. */
// A handler narrows the command by its type; the table cannot say so for each.
// biome-ignore lint/suspicious/noExplicitAny: the command's shape is the handler's own business
export type Handlers = Readonly<Record<string, Handler<any>>>;

/** The checksums of a member at an index that every member passes through. */
export interface Checkpoint {
  readonly index: Index;
  readonly sums: Readonly<Record<string, string>>;
}

/** Checkpoints lie at multiples of this, so that members can compare them; the newest ones are remembered. */
export const CHECKPOINT_EVERY = 256;
const CHECKPOINTS_KEPT = 64;
const RECORD_VERSION = 1;

/** Bounds that decide what the state holds and when members compare it: equal on all members of a cluster. */
export interface MachineLimits {
  /** Results of requests that are remembered; see RequestMemory. */
  readonly requestsMax: number;
  /** Entries from one checkpoint to the next. */
  readonly checkpointEvery: number;
}

const LIMITS: MachineLimits = { requestsMax: REQUESTS_MAX, checkpointEvery: CHECKPOINT_EVERY };

/** Value of `keys.machine`. `floor`: see RequestMemory. */
interface MachineRecord {
  readonly v: number;
  readonly index: Index;
  readonly term: Term;
  readonly floor: Index;
  readonly sums: Readonly<Record<string, string>>;
}

export class Machine {
  readonly #store: StateStore;
  readonly #handlers: ReadonlyMap<string, Handler<Command>>;
  readonly #limits: MachineLimits;
  readonly #changeListeners: ((keys: readonly string[]) => void)[] = [];
  readonly #resetListeners: (() => void)[] = [];
  #index: Index = 0;
  #term: Term = 0;
  #sums = new Checksums();
  #requests: RequestMemory;
  #checkpoints: Checkpoint[] = [];

  /** Only simulations give `limits` of their own. */
  constructor(store: StateStore, handlers: Handlers, limits: MachineLimits = LIMITS) {
    this.#store = store;
    this.#limits = limits;
    this.#requests = new RequestMemory(0, limits.requestsMax);
    this.#handlers = new Map(Object.entries(handlers));
    this.#load();
  }

  /** The last index applied; 0 for an empty state. */
  appliedIndex(): Index {
    return this.#index;
  }

  /** Term of the last entry applied. */
  appliedTerm(): Term {
    return this.#term;
  }

  /**
   * Applies entries in order. Results are for command entries, by position. Throws FatalError for an entry out of
   * order, of an unknown type or version: the node must stop, what was applied before it stays.
   */
  apply(entries: readonly Entry[]): readonly (Result | undefined)[] {
    const touched = new Set<string>();
    try {
      return entries.map((entry) => this.#applyEntry(entry, touched));
    } finally {
      if (touched.size > 0) {
        const changed = [...touched];
        for (const listener of this.#changeListeners) listener(changed);
      }
    }
  }

  /** Calls `done` with the position reached now, once the state is durable up to it. */
  flush(done: (index: Index, term: Term) => void): void {
    const [index, term] = [this.#index, this.#term];
    void this.#store.flush().then(() => done(index, term));
  }

  /** The remembered result of a request that was applied (see Proposal). */
  remembered(id: string): Result | undefined {
    return this.#requests.find(this.#store, id);
  }

  /** Calls `listener` within each apply, after its commits, with the keys that changed. */
  onChanged(listener: (keys: readonly string[]) => void): void {
    this.#changeListeners.push(listener);
  }

  /** Calls `listener` when the whole state was replaced: everything may have changed. */
  onReset(listener: () => void): void {
    this.#resetListeners.push(listener);
  }

  /** Takes up a state that was put under the store as a whole (an installed snapshot). */
  reload(): void {
    this.#load();
    for (const listener of this.#resetListeners) listener();
  }

  /** The present checksums by table. */
  checksum(): Checkpoint {
    return { index: this.#index, sums: this.#sums.toJSON() };
  }

  /** The checksums at `index`, or at the newest checkpoint; undefined when not remembered. */
  checkpoint(index?: Index): Checkpoint | undefined {
    if (index === undefined) return this.#checkpoints.at(-1);
    return this.#checkpoints.find((checkpoint) => checkpoint.index === index);
  }

  #load(): void {
    const text = this.#store.get(keys.machine);
    const record = text === undefined ? undefined : (JSON.parse(text) as MachineRecord);
    if (record !== undefined && record.v !== RECORD_VERSION) {
      throw new FatalError(`the state was written by another version (record ${record.v})`);
    }
    this.#index = record?.index ?? 0;
    this.#term = record?.term ?? 0;
    this.#sums = Checksums.from(record?.sums ?? {});
    this.#requests = RequestMemory.load(this.#store, record?.floor ?? 0, this.#limits.requestsMax);
    this.#checkpoints = [];
  }

  #applyEntry(entry: Entry, touched: Set<string>): Result | undefined {
    if (entry.index !== this.#index + 1) {
      throw new FatalError(`entry ${entry.index} cannot be applied after ${this.#index}`);
    }
    const changes: Change[] = [];
    const result = entry.kind === 'command' ? this.#run(entry, changes, touched) : undefined;
    this.#index = entry.index;
    this.#term = entry.term;
    const sums = this.#sums.toJSON();
    const record: MachineRecord = {
      v: RECORD_VERSION,
      index: entry.index,
      term: entry.term,
      floor: this.#requests.floor,
      sums,
    };
    changes.push([keys.machine, JSON.stringify(record)]);
    this.#store.commit(changes);
    if (entry.index % this.#limits.checkpointEvery === 0)
      this.#remember({ index: entry.index, sums });
    return result;
  }

  #run(entry: Entry & { kind: 'command' }, changes: Change[], touched: Set<string>): Result {
    const store = this.#store;
    const proposal = decodeProposal(entry.data);
    const known = this.#requests.recall(store, proposal, entry.index);
    if (known !== undefined) return known;
    const overlay = new Overlay(store);
    const handler = this.#handlerOf(proposal);
    const outcome = handler({ draft: overlay, index: entry.index }, proposal.command);
    const result: Result = { ...outcome, index: entry.index };
    const made = outcome.ok ? overlay.changes() : [];
    this.#sums.changeAll(made, (key) => overlay.before(key));
    for (const [key] of made) touched.add(key);
    const remembered = this.#requests.remember(proposal.id, entry.index, result);
    this.#sums.changeAll(remembered, (key) => store.get(key));
    changes.push(...made, ...remembered);
    return result;
  }

  #handlerOf({ command }: Proposal): Handler<Command> {
    const handler = this.#handlers.get(command.type);
    if (handler === undefined || command.v !== 1) {
      throw new FatalError(
        `command ${JSON.stringify(command.type)} version ${command.v} is not known to this version of the server`,
      );
    }
    return handler;
  }

  #remember(checkpoint: Checkpoint): void {
    this.#checkpoints.push(checkpoint);
    if (this.#checkpoints.length > CHECKPOINTS_KEPT) this.#checkpoints.shift();
  }
}
