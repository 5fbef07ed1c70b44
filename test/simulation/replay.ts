/**
 * The committed entries of a world, applied once more and one by one by a machine of its own, which
 * tells what each of them changed. By that it is judged what clients were told, and what the
 * servers keep as history.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Entry, Index } from '../../src/raft/types.js';
import { Checksums } from '../../src/state/checksum.js';
import { hiddenText } from '../../src/state/history/contents.js';
import { placeOf } from '../../src/state/history/records.js';
import { historyBounds } from '../../src/state/history/settings.js';
import { levelOf } from '../../src/state/levels.js';
import { Machine, type MachineLimits } from '../../src/state/machine.js';
import { decodeProposal } from '../../src/state/proposal.js';
import type { Command, Result, View } from '../../src/state/types.js';
import { MemoryState } from '../../src/storage/memory-state.js';
import type { Told } from './changes.js';
import { type Invariants, Violation } from './invariants.js';
import { judgeEntry } from './judge-entry.js';
import { registers } from './machine.js';
import { CHANGE_LEVEL } from './releases.js';

/** The text of an object before and after an entry. Undefined: it does not exist. */
export interface TextChange {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** An entry that a client caused, and what it did. */
export interface Replayed {
  readonly index: Index;
  readonly command: Command;
  readonly result: Result;
  /** The level in force before it. */
  readonly level: number;
  /** The objects that it changed, by key. */
  readonly changes: ReadonlyMap<string, TextChange>;
  /** Whether history keeps what it changed. */
  readonly isKept: boolean;
}

/** Entries from one comparison of checksums with all records to the next. */
const RECOUNT_EVERY = 32;
const SILENT = {
  onEffect: () => {},
  stored: (value: string) => value,
  applied: () => {},
} as const;

export class Replay {
  readonly entries = new Map<Index, Replayed>();
  /** What each object became at which index, by key, without secrets. */
  readonly past = new Map<string, { readonly index: Index; readonly text: string | undefined }[]>();
  readonly #store: MemoryState;
  readonly #machine: Machine;
  /** What the store does in later turns. */
  readonly #later: (() => void)[] = [];
  /** The text of every object. */
  readonly #now = new Map<string, string>();
  #touched: ReadonlySet<string> = new Set();

  constructor(machineLimits: MachineLimits) {
    this.#store = new MemoryState(undefined, (run) => this.#later.push(run));
    const program = { release: CHANGE_LEVEL, hasProduct: true };
    const { handlers, attach } = registers(SILENT, program);
    this.#machine = new Machine(this.#store, handlers, CHANGE_LEVEL, machineLimits);
    attach(this.#machine, {
      get: (key) => this.#store.get(key),
      keys: (prefix, after) => this.#store.keys(prefix, after),
      flushed: (done) => done(),
    });
    const touch = (keys: Iterable<string>): void => {
      this.#touched = new Set([...this.#touched, ...keys]);
    };
    this.#machine.onChanged(touch);
    this.#machine.onReset(() => touch([...this.#store.keys(''), ...this.#now.keys()]));
  }

  /** The state after the last entry. */
  get view(): View {
    return this.#store;
  }

  /** Applies what is committed up to an index. Throws a violation. */
  run(invariants: Invariants, upTo: Index): void {
    for (let index = 1; index <= upTo; index++) {
      const entry = invariants.committedAt(index)!;
      this.#apply(entry);
      const { sums } = this.#machine.checksum();
      if (invariants.isRight(index, Object.values(sums).join()) === false)
        throw new Violation('equal states', `the servers differ from a replay at ${index}`);
      if (index % RECOUNT_EVERY === 0 || index === upTo) this.#recount(index);
    }
  }

  /** Throws a violation unless the checksums are those of the records. */
  #recount(index: Index): void {
    const [{ sums }, records] = [this.#machine.checksum(), Checksums.of(this.#store).toJSON()];
    if (!isDeepStrictEqual(sums, records))
      throw new Violation('checksums', `those at ${index} are not those of the records`);
  }

  /** Throws a violation unless what clients were told is what happened. */
  checkTold(told: readonly Told[]): void {
    const byReason = new Map<string, Replayed>();
    for (const entry of this.entries.values()) {
      const { reason } = entry.command;
      // one that came too late to be recognised has done nothing, and decides nothing
      if (reason?.startsWith('change ') && !isUnknown(entry.result)) byReason.set(reason, entry);
    }
    for (const { command, outcome } of told) {
      const found = byReason.get(command.reason!);
      const wrong = (what: string): never => {
        const happened = found && JSON.stringify(found.result);
        throw new Violation(
          'what clients are told',
          `${command.reason} (${command.type}) ${what}: ${happened}`,
        );
      };
      if ('refusal' in outcome) {
        if (outcome.refusal.code !== 'outcome_unknown' && found?.result.ok) wrong('failed');
        continue;
      }
      const { result } = outcome;
      // it was refused without an entry, or with one of which only the beginning is known
      if (isUnknown(result) || (!result.ok && found === undefined)) continue;
      if (!isDeepStrictEqual(found && remembered(found.result), remembered(result)))
        wrong(`is answered by ${JSON.stringify(result)}`);
    }
  }

  /** What an object was after an entry, without secrets. */
  textAt(key: string, index: Index): string | undefined {
    return this.past.get(key)?.findLast((one) => one.index <= index)?.text;
  }

  #apply(entry: Entry): void {
    const { index } = entry;
    const store = this.#store;
    const level = levelOf(store);
    const isKept = level >= CHANGE_LEVEL && historyBounds(store).Bytes > 0;
    const before = { get: (key: string) => this.#now.get(key) };
    let result: Result | undefined;
    const [first] = this.#machine.apply([entry], (late) => {
      result = late;
    });
    result ??= first;
    while (this.#later.length > 0) this.#later.shift()!();
    const touched = this.#touched;
    this.#touched = new Set();
    if (entry.kind !== 'command' || result === undefined) return;
    const { command } = decodeProposal(entry.data);
    const changes = this.#changed(touched);
    const replayed = { index, command, result, level, changes, isKept };
    // a request that came twice has the result of the first time
    if (result.index === index) this.entries.set(index, replayed);
    judgeEntry(replayed, { before, after: store, replay: this });
    for (const [key, { after }] of changes) this.#keep(key, index, after);
  }

  #changed(touched: Iterable<string>): Map<string, TextChange> {
    const changes = new Map<string, TextChange>();
    for (const key of touched) {
      if (placeOf(key) === undefined) continue;
      const [before, after] = [this.#now.get(key), this.#store.get(key)];
      if (before !== after) changes.set(key, { before, after });
    }
    return changes;
  }

  #keep(key: string, index: Index, after: string | undefined): void {
    if (after === undefined) this.#now.delete(key);
    else this.#now.set(key, after);
    const text = after === undefined ? undefined : hiddenText(placeOf(key)!, after);
    const past = this.past.get(key);
    if (past === undefined) this.past.set(key, [{ index, text }]);
    else past.push({ index, text });
  }
}

const isUnknown = (result: Result): boolean =>
  !result.ok && result.refusal.code === 'outcome_unknown';

/** A result as it is remembered for a request that comes again: see `state/requests.ts`. */
function remembered(result: Result): Result {
  if (result.ok) return result;
  const { about: _, ...refusal } = result.refusal;
  return { ...result, refusal };
}
