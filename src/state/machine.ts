/**
 * The replicated state machine: a fold of log entries over a StateStore. The entries of one apply
 * are one atomic commit of their changes, the remembered results of their requests and the
 * machine's own record. A restarted node continues after the index in that record:
 *
 *     entry 7   →   [role …, role-name …, index …]  changes of the command
 *                   [request 7 …]                   its result, for a request sent twice
 *     entry 8   →   …
 *                   [machine]                       {"index":8,"term":2,"sums":{…}}
 */
import type { Refusal } from '../base/errors.js';
import { invariant } from '../raft/assert.js';
import type { Entry, Index, Term } from '../raft/types.js';
import { type Checkpoint, Checkpoints } from './checkpoints.js';
import { Checksums } from './checksum.js';
import { Overlay } from './draft.js';
import { FatalError } from './fatal.js';
import { type Changed, History, isOfHistory } from './history/history.js';
import { RecentLines } from './history/recent.js';
import { FLOOR_FACT, HISTORY_LEVEL } from './history/settings.js';
import { LEVEL_KEY, levelOf, raiseLevel, SUPPORTED_LEVEL } from './levels.js';
import {
  joined,
  knownRecordOf,
  NO_NEXT,
  type Replacing,
  type Resume,
  recordAt,
  recordOf,
  resultOf,
} from './machine-record.js';
import { decodeProposal } from './proposal.js';
import { PAGE_REQUESTS, REQUESTS_MAX, type RequestLimits, RequestMemory } from './requests.js';
import { keptRecords } from './restore.js';
import { leavesSecret } from './secrets.js';
import type {
  Command,
  Handler,
  Handlers,
  Many,
  Proposal,
  Result,
  StateRecord,
  StateStore,
} from './types.js';

/** Records of a restore that one `apply` takes before it ends: a bound on its time. */
const NEXT_MAX = 4000;
/** Members remember their checksums at multiples of this index, so that they can compare them. */
const CHECKPOINT_EVERY = 256;
/** Limits that decide what the state contains. They are the same on all members of a cluster. */
export interface MachineLimits extends RequestLimits {
  /** Number of entries from one checkpoint to the next. */
  readonly checkpointEvery: number;
}

const LIMITS: MachineLimits = {
  requestsMax: REQUESTS_MAX,
  pageRequests: PAGE_REQUESTS,
  checkpointEvery: CHECKPOINT_EVERY,
};

/** The state machine of a node. It is synchronous, except for entries that replace the state. */
export class Machine {
  readonly #store: StateStore;
  readonly #handlers: ReadonlyMap<string, Handler<Command>>;
  readonly #supportedLevel: number;
  readonly #limits: MachineLimits;
  readonly #changeListeners: ((keys: readonly string[]) => void)[] = [];
  readonly #resetListeners: (() => void)[] = [];
  readonly #replacedListeners: (() => void)[] = [];
  #index: Index = 0;
  /** The last index whose changes are committed. */
  #committed: Index = 0;
  #term: Term = 0;
  #level = 1;
  #sums = new Checksums();
  #requests: RequestMemory;
  #checkpoints = new Checkpoints();
  #secretLeftAt: Index = 0;
  /** The newest lines of the history. */
  readonly recent = new RecentLines();
  #history = new History(this.recent, 0);
  /** The changes of the entries that are being applied. */
  #draft: Overlay;
  /** Those below NEXT, which no command reads. */
  #next = NO_NEXT;
  /** Whether an entry is replacing the state, and turns of such ones. The machine sets them. */
  isReplacing = false;
  replacingTurns = 0;

  /**
   * Loads the state in `store`. Throws FatalError if a release with another record version or a
   * higher level wrote it. Only simulations set `limits`.
   */
  constructor(
    store: StateStore,
    handlers: Handlers,
    supportedLevel = SUPPORTED_LEVEL,
    limits: MachineLimits = LIMITS,
  ) {
    this.#store = store;
    const all: Handlers = { ...handlers, 'system.level': raiseLevel };
    this.#handlers = new Map(Object.entries(all));
    this.#supportedLevel = supportedLevel;
    this.#limits = limits;
    this.#requests = new RequestMemory(0, limits);
    this.#draft = new Overlay(store);
    this.#load();
  }

  /** Returns the index of the last entry applied; 0 for an empty state. */
  appliedIndex(): Index {
    return this.#index;
  }

  /**
   * Returns the last index at which a secret was deleted or replaced. After a start it is the
   * applied index, because every earlier entry may have done so.
   */
  secretLeftAt(): Index {
    return this.#secretLeftAt;
  }

  /** Returns the term of the last entry applied. */
  appliedTerm(): Term {
    return this.#term;
  }

  /**
   * Applies entries in order, and returns their results by position; undefined for an entry without
   * a command. May return fewer results than entries, to bound its work. The caller then passes the
   * rest again, unless `isReplacing`: the next entry replaces the whole state, which takes many
   * turns of the event loop. Then it calls `resume` with the result once the entry is applied, or
   * with undefined if another state was installed meanwhile: the caller applies the entry again
   * later, if it is still the next one. Until then this may not be called again. Throws FatalError
   * for an entry that is out of order or has an unknown type or version. The node must then stop;
   * the entries before it stay applied.
   */
  apply(entries: readonly Entry[], resume: Resume = () => {}): readonly (Result | undefined)[] {
    const touched = new Set<string>();
    const results: (Result | undefined)[] = [];
    try {
      for (const entry of entries) {
        const made = this.#applyEntry(entry, touched, resume);
        if (made === undefined) break;
        results.push(made.result);
        this.#moveTo(entry);
        // A checkpoint needs the checksums of just this index.
        if (this.#isCheckpoint()) this.#commit();
        if (this.#next.records.length >= NEXT_MAX) break;
      }
    } finally {
      this.#commit();
      if (touched.size > 0) this.#reportChanged([...touched]);
    }
    return results;
  }

  /**
   * Calls `done` with the position reached now, once the state is durable up to it. Never calls it
   * if the disk fails: the store has reported that as fatal.
   */
  flush(done: (index: Index, term: Term) => void): void {
    const [index, term] = [this.#index, this.#term];
    const flushed = (): void => done(index, term);
    void this.#store.flush().then(flushed, () => {});
  }

  /** Returns the remembered result of a request; undefined if none is remembered. */
  remembered(id: string): Result | undefined {
    const result = this.#requests.find(this.#store, id);
    // An entry that replaces the state is not applied yet when its result is remembered.
    return result !== undefined && result.index <= this.#index ? result : undefined;
  }

  /** Calls `listener` in each `apply`, after its commits, with the keys that changed. */
  onChanged(listener: (keys: readonly string[]) => void): void {
    this.#changeListeners.push(listener);
  }

  /** Calls `listener` after the whole state was replaced, when every record may have changed. */
  onReset(listener: () => void): void {
    this.#resetListeners.push(listener);
  }

  /** Calls `listener` after an entry replaced the whole state, and after those of `onReset`. */
  onReplaced(listener: () => void): void {
    this.#replacedListeners.push(listener);
  }

  /** Loads the state of the store again, after a snapshot was installed in it. */
  reload(): void {
    this.#load();
    for (const listener of this.#resetListeners) listener();
  }

  /** Computes the checksums from all records. After a loss of records the stored ones are wrong. */
  recount(): void {
    this.#sums = Checksums.of(this.#store);
    this.#store.commit([this.#recordAt(this.#position(), this.#sums)]);
  }

  checksum(): Checkpoint {
    return { index: this.#index, sums: this.#sums.toJSON() };
  }

  /** Returns the checkpoint at `index`, or the newest one; undefined if it is not remembered. */
  checkpoint(index?: Index): Checkpoint | undefined {
    return this.#checkpoints.at(index);
  }

  #load(): void {
    this.#atLevel(levelOf(this.#store));
    const record = knownRecordOf(this.#store, this.#level);
    this.#index = record?.index ?? 0;
    this.#committed = this.#index;
    this.#secretLeftAt = this.#index;
    this.#term = record?.term ?? 0;
    this.#sums = Checksums.from(record?.sums ?? {});
    this.#history = new History(this.recent, this.#index);
    this.#requests = RequestMemory.load(this.#store, record?.floor ?? 0, this.#limits);
    this.#checkpoints = new Checkpoints();
  }

  /** Sets the level of the state. Throws FatalError if this release does not support it. */
  #atLevel(level: number): void {
    if (level > this.#supportedLevel) {
      throw new FatalError(
        `the state was written by another version: the cluster is at level ${level}, this ` +
          `release supports up to level ${this.#supportedLevel}. A level is never lowered: ` +
          'start a release that supports it',
      );
    }
    invariant(level >= this.#level, 'the level falls', { from: this.#level, to: level });
    this.#level = level;
  }

  /** Applies one entry. Returns undefined if that takes many turns of the event loop. */
  #applyEntry(
    entry: Entry,
    touched: Set<string>,
    resume: Resume,
  ): { readonly result: Result | undefined } | undefined {
    if (entry.index !== this.#index + 1) {
      throw new FatalError(`entry ${entry.index} cannot be applied after ${this.#index}`);
    }
    if (entry.kind !== 'command') return { result: undefined };
    const proposal = decodeProposal(entry.data);
    // It reads the results of the entries before it.
    const isForget = proposal.command.type === 'request.forget';
    if (isForget) this.#commit();
    const draft = this.#draft;
    const known = this.#requests.recall(draft, proposal, entry.index);
    if (known !== undefined) return { result: known };
    const handler = this.#handlerOf(proposal);
    const outcome = handler({ draft, index: entry.index }, proposal.command);
    if (outcome.ok && outcome.state !== undefined) {
      const result = resultOf(outcome, entry.index);
      draft.discard();
      this.#commit();
      this.#replace(entry, { id: proposal.id, result, state: outcome.state }, resume);
      return undefined;
    }
    if (outcome.ok) this.#accept(entry, touched, proposal.command, outcome.many);
    else draft.discard();
    if (outcome.ok) this.#next = joined(this.#next, outcome.next);
    if (isForget && outcome.ok) this.#requests.forgetThrough(Number(outcome.value), draft);
    const result = resultOf(outcome, entry.index);
    this.#requests.remember(proposal.id, result, this.#level);
    return { result };
  }

  /** Keeps the changes of a command in the draft, and what history has of them. */
  #accept({ index }: Entry, touched: Set<string>, command: Command, many: Many = []): void {
    const draft = this.#draft;
    const changes: Changed[] = [];
    const before = this.#level;
    draft.accept((key, was, is) => {
      touched.add(key);
      this.#requests.changed(key, was, is);
      if (leavesSecret(key, was, is)) this.#secretLeftAt = index;
      if (key === LEVEL_KEY) this.#atLevel(levelOf(draft));
      else if (before >= HISTORY_LEVEL && isOfHistory(key))
        changes.push({ key, before: was, after: is });
    });
    const begins = before < HISTORY_LEVEL && this.#level >= HISTORY_LEVEL;
    if (changes.length === 0 && many.length === 0 && !begins) return;
    this.#history.record({ draft, index }, command, changes, many);
    draft.accept();
    touched.add(FLOOR_FACT);
  }

  /** Commits the draft, the results and the position, unless nothing was applied. */
  #commit(): void {
    const draft = this.#draft;
    this.#draft = new Overlay(this.#store);
    if (this.#committed === this.#index) return;
    draft.discard();
    const changes = draft.changes((key, before, after) =>
      this.#history.count(this.#sums, key, before, after),
    );
    for (const { key, value, before, after } of this.#requests.takeChanges(this.#store)) {
      this.#sums.replace(key, before, after);
      changes.push([key, value]);
    }
    changes.push(this.#recordAt(this.#position(), this.#sums));
    this.#store.commit(changes, this.#next);
    this.#next = NO_NEXT;
    this.#committed = this.#index;
    if (this.#isCheckpoint()) this.#checkpoints.remember(this.checksum());
  }

  #isCheckpoint(): boolean {
    return this.#index % this.#limits.checkpointEvery === 0;
  }

  #position(): Pick<Entry, 'index' | 'term'> {
    return { index: this.#index, term: this.#term };
  }

  #recordAt(position: Pick<Entry, 'index' | 'term'>, sums: Checksums): StateRecord {
    return recordAt(this.#level, { ...position, floor: this.#requests.floor, sums: sums.toJSON() });
  }

  #moveTo({ index, term }: Entry): void {
    const before = this.#term;
    invariant(term >= before, 'the term of an entry falls', { index, term, before });
    this.#index = index;
    this.#term = term;
  }

  /** Applies an entry that replaces the state: atomically like any other, but in slices. */
  #replace(entry: Entry, work: Replacing, resume: Resume): void {
    const store = this.#store;
    const sums = Checksums.from(work.state.nextSums ?? {});
    let refused: Refusal | undefined;
    const slices = this.#slices(entry, work, sums, (why) => {
      refused = why;
    });
    const done = (replaced: boolean): void => {
      this.isReplacing = false;
      if (replaced) {
        this.#sums = sums;
        this.#history = new History(this.recent, entry.index);
        this.#moveTo(entry);
        this.#committed = this.#index;
        if (this.#isCheckpoint()) this.#checkpoints.remember(this.checksum());
        this.#secretLeftAt = entry.index;
        for (const tell of [...this.#resetListeners, ...this.#replacedListeners]) tell();
        this.#reportChanged(work.state.changed);
        resume(work.result);
      } else if (refused === undefined) {
        // The result that was remembered for the new state is not in the present one, which may be
        // another than before.
        this.#requests = RequestMemory.load(store, recordOf(store)?.floor ?? 0, this.#limits);
        resume(undefined);
      } else {
        const result = { ok: false, refusal: refused, index: entry.index } as const;
        this.#requests.remember(work.id, result, this.#level);
        this.#moveTo(entry);
        this.#commit();
        resume(result);
      }
    };
    this.isReplacing = true;
    store.rewrite(slices, done, work.state.nextSums !== undefined);
  }

  /**
   * Yields the records of the new state and adds them to `sums`: first the given ones, then those
   * that the machine keeps, and its own record last.
   */
  *#slices(
    entry: Entry,
    { id, result, state }: Replacing,
    sums: Checksums,
    refuse: (why: Refusal) => void,
  ): Generator<readonly StateRecord[], boolean> {
    const counted = (records: readonly StateRecord[]): readonly StateRecord[] => {
      this.replacingTurns += 1;
      for (const [key, value] of records) sums.change(key, undefined, value);
      return records;
    };
    const given = state.slices(this.#store);
    let next = given.next();
    for (; next.done !== true; next = given.next()) yield counted(next.value);
    if (next.value !== undefined) {
      refuse(next.value);
      return false;
    }
    this.#requests.remember(id, result, this.#level);
    const added: StateRecord[] = [];
    const changed = new Set<string>();
    for (const { key, value } of this.#requests.takeChanges(this.#store)) {
      changed.add(key);
      if (value !== undefined) added.push([key, value]);
    }
    for (const slice of keptRecords(this.#store)) {
      yield counted(slice.filter(([key]) => !changed.has(key)));
    }
    yield [...counted(added), this.#recordAt(entry, sums)];
    return true;
  }

  #reportChanged(changed: readonly string[]): void {
    for (const listener of this.#changeListeners) listener(changed);
  }

  #handlerOf({ command }: Proposal): Handler<Command> {
    const handler = this.#handlers.get(command.type);
    if (handler === undefined || command.v !== 1) {
      throw new FatalError(
        `command ${JSON.stringify(command.type)} version ${command.v} is not known to this release`,
      );
    }
    return handler;
  }
}
