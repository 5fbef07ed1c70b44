/** Ports whose completions the test controls. */

import { refusal } from '../../src/base/errors.js';
import { newOutbox } from '../../src/raft/state.js';
import type {
  Entry,
  HardState,
  Index,
  Input,
  Message,
  Output,
  RaftCore,
  RaftStatus,
  RoleChange,
  SnapshotMeta,
  Term,
} from '../../src/raft/types.js';
import type { ClockPort, LogPort, MachinePort, WirePort } from '../../src/replica/ports.js';
import { decodeProposal } from '../../src/state/proposal.js';
import type { Command, Result } from '../../src/state/types.js';

/** Time that advances only on request; `soon` is a queue of turns. */
export class FakeClock implements ClockPort {
  nowMs = 1000;
  /** How far the wall clock is ahead. */
  wallAheadMs = 0;
  #soon: (() => void)[] = [];
  #timers: { atMs: number; run: () => void }[] = [];

  now(): number {
    return this.nowMs;
  }
  wall(): number {
    return this.nowMs + this.wallAheadMs;
  }
  after(ms: number, run: () => void): () => void {
    const timer = { atMs: this.nowMs + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }
  soon(run: () => void): void {
    this.#soon.push(run);
  }
  get timers(): number {
    return this.#timers.length;
  }
  /** One turn of the loop: runs what was scheduled before it. */
  turn(): number {
    const batch = this.#soon;
    this.#soon = [];
    for (const run of batch) run();
    return batch.length;
  }
  /** Runs turns until nothing is scheduled. */
  settle(): void {
    for (let turns = 0; this.turn() > 0; turns++) {
      if (turns > 10_000) throw new Error('the loop never comes to rest');
    }
  }
  /** Fires the timers that are due at the present time, without giving the loop a turn. */
  fireTimers(): void {
    const due = this.#timers.filter(({ atMs }) => atMs <= this.nowMs);
    this.#timers = this.#timers.filter(({ atMs }) => atMs > this.nowMs);
    for (const { run } of due) run();
  }
  /** Lets time pass in steps of a millisecond, with turns in between. */
  advance(ms: number): void {
    for (let i = 0; i < ms; i++) {
      this.nowMs += 1;
      this.fireTimers();
      this.settle();
    }
  }
}

export class FakeLog implements LogPort {
  list: Entry[] = [];
  meta: SnapshotMeta | undefined;
  hard: HardState = { term: 0, votedFor: null };
  /** Completions that have not been called yet. */
  readonly storing: (() => void)[] = [];

  hardState(): HardState {
    return this.hard;
  }
  firstIndex(): Index {
    return (this.meta?.index ?? 0) + 1;
  }
  lastIndex(): Index {
    return this.firstIndex() - 1 + this.list.length;
  }
  term(index: Index): Term | undefined {
    if (index === (this.meta?.index ?? 0)) return this.meta?.term ?? 0;
    return this.list[index - this.firstIndex()]?.term;
  }
  entries(lo: Index, hi: Index, _maxBytes: number): Entry[] {
    return this.list.slice(lo - this.firstIndex(), hi - this.firstIndex() + 1);
  }
  snapshot(): SnapshotMeta | undefined {
    return this.meta;
  }
  append(batch: { hardState?: HardState; entries: readonly Entry[] }, done: () => void): void {
    if (batch.hardState !== undefined) this.hard = batch.hardState;
    const first = batch.entries[0]?.index;
    if (first !== undefined)
      this.list.splice(first - this.firstIndex(), Infinity, ...batch.entries);
    this.storing.push(done);
  }
  compact(meta: SnapshotMeta, done: () => void): void {
    this.list = this.list.slice(meta.index - this.firstIndex() + 1);
    this.meta = meta;
    done();
  }
  reset(meta: SnapshotMeta, hardState: HardState, done: () => void): void {
    this.list = [];
    this.meta = meta;
    this.hard = hardState;
    done();
  }
  /** Makes the oldest batch durable. */
  synced(): void {
    this.storing.shift()!();
  }
}

export type Request = Parameters<WirePort['request']>;

export class FakeWire implements WirePort {
  readonly sent: Message[] = [];
  readonly requests: Request[] = [];
  readonly snapshots: Parameters<WirePort['sendSnapshot']>[] = [];
  send(message: Message): void {
    this.sent.push(message);
  }
  request(...request: Request): void {
    this.requests.push(request);
  }
  sendSnapshot(...snapshot: Parameters<WirePort['sendSnapshot']>): void {
    this.snapshots.push(snapshot);
  }
  setMembers(): void {}
  requestJoin(): void {}
}

/**
 * Keeps the commands in order. The value of a result is the command's type, which is also the key
 * that it changes.
 */
export class FakeMachine implements MachinePort {
  index = 0;
  term = 1;
  isReplacing = false;
  replacingTurns = 0;
  readonly applied: Command[] = [];
  readonly results = new Map<string, Result>();
  /** Results that are remembered. Requests sent before the last forgotten one are refused. */
  resultsMax = Infinity;
  #floor: Index = 0;
  readonly #listeners: ((keys: readonly string[]) => void)[] = [];

  appliedIndex(): Index {
    return this.index;
  }
  appliedTerm(): Term {
    return this.term;
  }
  apply(entries: readonly Entry[]): readonly (Result | undefined)[] {
    return entries.map((entry) => {
      if (entry.index !== this.index + 1) throw new Error(`${entry.index} after ${this.index}`);
      this.index = entry.index;
      if (entry.kind !== 'command') return undefined;
      const { id, since, command } = decodeProposal(entry.data);
      const known = this.results.get(id);
      if (known !== undefined) return known;
      if (since < this.#floor) {
        const why = refusal('outcome_unknown', 'sent too long ago');
        return { ok: false, index: entry.index, refusal: why };
      }
      this.applied.push(command);
      const result: Result = { ok: true, index: entry.index, value: command.type };
      this.results.set(id, result);
      this.#forget();
      for (const listener of this.#listeners) listener([command.type]);
      return result;
    });
  }
  #forget(): void {
    for (const [id, { index }] of this.results) {
      if (this.results.size <= this.resultsMax) return;
      this.results.delete(id);
      this.#floor = index;
    }
  }
  flush(done: (index: Index, term: Term) => void): void {
    done(this.index, 0);
  }
  reload(): void {}
  checkpoint(): undefined {}
  checksum() {
    return { index: this.index, sums: {} };
  }
  remembered(id: string): Result | undefined {
    return this.results.get(id);
  }
  onChanged(listener: (keys: readonly string[]) => void): void {
    this.#listeners.push(listener);
  }
}

/** A core under the test's control: it records each step, and `respond` returns its output. */
export class ScriptedCore implements RaftCore {
  readonly steps: { readonly inputs: readonly Input[]; readonly now: number }[] = [];
  respond: (inputs: readonly Input[]) => Partial<Output> = () => ({});
  facts: Partial<RaftStatus> = {};
  rest = 1;

  step(inputs: readonly Input[], now: number): Output {
    this.steps.push({ inputs, now });
    return { ...newOutbox(), ...this.respond(inputs) };
  }
  accepts(meta: SnapshotMeta): boolean {
    return meta.index > (this.facts.commit ?? 0);
  }
  restTicks(): number {
    return this.rest;
  }
  status(): RaftStatus {
    const none = { role: 'follower', term: 0, leader: null } satisfies RoleChange;
    return {
      ...{ id: 'a', ...none, votedFor: null, commit: 0, stored: 0, lastIndex: 0, lastTerm: 0 },
      announced: 0,
      ...{ configuration: { members: [] }, configurationIndex: 0, progress: [] },
      ...this.facts,
    };
  }
  /** Types of all inputs so far. */
  get types(): string[] {
    return this.steps.flatMap(({ inputs }) => inputs.map(({ type }) => type));
  }
}

export const heartbeat = (from: string, to: string, term: Term): Message => ({
  ...{ type: 'append', from, to, term, prevIndex: 0, prevTerm: 0 },
  ...{ entries: [], commit: 0, round: 1 },
});
