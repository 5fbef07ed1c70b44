/**
 * The loop around the Raft core, where it meets time, disk and network. Each turn takes everything
 * that has arrived, makes one `step`, sends and stores its output, applies a bounded number of
 * entries, and completes the calls that waited for them. Timers, clock, disk and network are ports,
 * so the simulation runs this file as it is.
 */
import type {
  Configuration,
  Entry,
  Index,
  Input,
  Message,
  NodeId,
  Output,
  RaftCore,
  RaftStatus,
  RoleChange,
  SnapshotMeta,
} from '../raft/types.js';
import type { Result } from '../state/types.js';
import { ClockWatch } from './clock-watch.js';
import { DiskWatch } from './disk-watch.js';
import type { ClockPort, LogPort, MachinePort, WirePort } from './ports.js';
import type { ReadIndexClient } from './reads/read-index.js';
import { Ticker } from './ticker.js';
import { PendingWrites, type Settle } from './writes/pending-writes.js';

/** How much one turn of the loop may do, and the length of a tick. */
export interface LoopLimits {
  /** Milliseconds of a tick. */
  readonly tickMs: number;
  /** Milliseconds by which a tick must be late to count as a stall of the process. */
  readonly stallMs: number;
  /**
   * Entries and bytes applied in one turn. Messages are handled between turns, so applying does not
   * delay them for long.
   */
  readonly applyEntriesMax: number;
  readonly applyBytesMax: number;
}

/** What the owner of the loop is told. All calls are made from the loop's own turn. */
export interface LoopEvents {
  /**
   * The role, the term or the known leader changed. The machine may not have applied everything
   * yet.
   */
  role(change: RoleChange): void;
  /** The configuration in force changed. */
  configuration(configuration: Configuration): void;
  /**
   * The machine has applied `index`. `entries` are those applied just now; none after an installed
   * snapshot. Called between turns for an entry that takes many of them.
   */
  applied(index: Index, entries: readonly Entry[]): void;
  /** A follower needs a snapshot. The outcome is reported to `snapshotSent`. */
  sendSnapshot(to: NodeId, message: Message): void;
  /** A tick passed at `now`. */
  tick(now: number): void;
}

/** What the loop needs. */
export interface LoopParts {
  readonly core: RaftCore;
  readonly log: LogPort;
  readonly wire: WirePort;
  readonly machine: MachinePort;
  readonly clock: ClockPort;
  readonly limits: LoopLimits;
  readonly events: LoopEvents;
  /**
   * True while too much applied state waits for the disk. Applying is paused until the disk has
   * caught up.
   */
  readonly isBehind?: (() => boolean) | undefined;
  /** Ticks without progress after which a disk counts as hanging. */
  readonly hangTicks: number;
}

/** Counters for metrics. All but `stallMsMax` only grow. */
export interface LoopStats {
  turns: number;
  /** Batches given to the log, and the entries in them. */
  appends: number;
  entriesAppended: number;
  /** Ticks that came too late, and the longest delay in milliseconds. */
  stalls: number;
  stallMsMax: number;
}

/** A batch that is being stored, and the messages that wait for it. */
interface Storing {
  /** First index of the batch; undefined if it holds no entries. */
  readonly first: Index | undefined;
  /** Last index of the log once the batch is stored. */
  readonly last: Index;
  readonly send: Message[];
}

/** Gets the read index, or undefined when there is none. */
export type ReadDone = (index: Index | undefined) => void;
/** The messages of elections. */
const VOTING: ReadonlySet<Message['type']> = new Set([
  ...(['preVote', 'preVoteResponse', 'vote', 'voteResponse', 'timeoutNow'] as const),
]);

/** How the core makes sure that it still leads: by its lease, or by a round to a quorum (§6.4). */
export type ReadMode = 'lease' | 'quorum';

/** Owns the Raft core: nothing else steps it. */
export class RaftLoop {
  readonly stats: LoopStats = {
    turns: 0,
    appends: 0,
    entriesAppended: 0,
    stalls: 0,
    stallMsMax: 0,
  };
  readonly disks: DiskWatch;
  /** Readers that share one read index per turn. Set once, before the start. */
  readIndex: Pick<ReadIndexClient, 'drain'> | undefined;
  readonly #core: RaftCore;
  readonly #log: LogPort;
  readonly #wire: WirePort;
  readonly #machine: MachinePort;
  readonly #clock: ClockPort;
  readonly #clockWatch: ClockWatch;
  readonly #limits: LoopLimits;
  readonly #events: LoopEvents;
  readonly #ticker: Ticker;
  readonly #isBehind: () => boolean;
  readonly #pending = new PendingWrites();
  readonly #reads = new Map<number, ReadDone[]>();
  #readsWaiting: Record<ReadMode, ReadDone[]> = { lease: [], quorum: [] };
  #inbox: Input[] = [];
  #storing: Storing[] = [];
  #storedChanged = false;
  #durable: Index;
  #commit: Index = 0;
  #role: RoleChange;
  #leaderContactMs: number;
  #nextReadId = 1;
  #scheduled = false;
  #applyPaused = false;
  #lookAgainLater = false;
  /** An entry is being applied that takes many turns. */
  #applyingLong = false;
  #running = false;
  #votingSuspended = false;
  /** The log is being replaced. No step is made until that is durable. */
  #held = false;
  #ticked = false;

  constructor(parts: LoopParts) {
    this.#core = parts.core;
    this.#log = parts.log;
    this.#wire = parts.wire;
    this.#machine = parts.machine;
    this.#clock = parts.clock;
    this.#clockWatch = new ClockWatch(parts.clock);
    this.#limits = parts.limits;
    this.#events = parts.events;
    this.#isBehind = parts.isBehind ?? (() => false);
    this.disks = new DiskWatch({ hangTicks: parts.hangTicks, tickMs: parts.limits.tickMs });
    const { role, term, leader } = parts.core.status();
    this.#role = { role, term, leader };
    this.#durable = parts.log.lastIndex();
    this.#leaderContactMs = parts.clock.now();
    this.#ticker = new Ticker(parts.clock, parts.limits, {
      tick: () => {
        this.#ticked = true;
        this.disks.tick(this.#storing.length > 0 || this.#held);
        this.wake();
      },
      stall: (ms) => {
        this.stats.stalls += 1;
        this.stats.stallMsMax = Math.max(this.stats.stallMsMax, ms);
      },
    });
  }

  /** Starts the ticks and the turns. */
  start(): void {
    this.#running = true;
    const applied = this.#machine.appliedIndex();
    if (applied > 0 && this.#holds(applied)) {
      this.#commit = applied;
      this.#feed({ type: 'applied', index: applied });
    }
    this.#ticker.start();
    this.wake();
  }

  /**
   * Stops for good: nothing more is sent, applied or completed. The log still stores what it was
   * given.
   */
  stop(): void {
    this.#running = false;
    this.#ticker.stop();
  }

  /** Requests a turn. */
  wake(): void {
    if (this.#scheduled || !this.#running) return;
    this.#scheduled = true;
    this.#clock.soon(() => this.#turn());
  }

  /**
   * Set while this server lacks entries it has acknowledged: it must neither vote nor campaign.
   * Without ticks it does not campaign, and requests for its vote are dropped.
   */
  get votingSuspended(): boolean {
    return this.#votingSuspended;
  }
  set votingSuspended(votingSuspended: boolean) {
    this.#votingSuspended = votingSuspended;
  }

  /**
   * Takes a message of a peer. While the disk of the log hangs, messages of elections are dropped:
   * this server could not store a vote, and a candidate would take its pre-vote for the promise of
   * one. While either disk hangs, it does not take over leadership.
   */
  receive(message: Message): void {
    if (VOTING.has(message.type) && (this.#votingSuspended || this.disks.logHangs)) return;
    if (message.type === 'timeoutNow' && this.disks.hang !== undefined) return;
    if (message.type === 'append' || message.type === 'snapshot') {
      if (message.term >= this.#role.term) this.#leaderContactMs = this.#clock.now();
    }
    this.#feed({ type: 'message', message });
  }

  /**
   * Appends a command to the log if this server leads. `settle` is called once. `request` is the id
   * under which the same command may come again; see `joinProposal`.
   */
  propose(data: Uint8Array, settle: Settle, request?: string): void {
    this.#pending.offer(data, settle, request);
    this.wake();
  }

  /** Waits for the outcome of a request that is already proposed. Returns false if it is not. */
  joinProposal(request: string, settle: Settle): boolean {
    return this.#pending.join(request, settle);
  }

  /** Ends the calls that wait for requests; their outcome is unknown. */
  endProposals(): void {
    this.#pending.stop();
  }

  /** Proposes a configuration. `settle` is called once, without a result. */
  changeConfiguration(configuration: Configuration, settle: Settle): void {
    const id = this.#pending.add(settle);
    this.#feed({ type: 'changeConfiguration', id, configuration });
  }

  /**
   * Requests a read index from the core (§6.4). `done` gets undefined when this server cannot give
   * one.
   */
  read(mode: ReadMode, done: ReadDone): void {
    this.#readsWaiting[mode].push(done);
    this.wake();
  }

  /** Transfers leadership to `to`, or to the voter whose log is most complete. */
  transfer(to?: NodeId): void {
    this.#feed(to === undefined ? { type: 'transfer' } : { type: 'transfer', to });
  }

  /** The network reports that a peer cannot be reached. */
  unreachable(peer: NodeId): void {
    this.#feed({ type: 'unreachable', peer });
  }

  /** A snapshot was sent to a follower, or could not be. */
  snapshotSent(to: NodeId, ok: boolean): void {
    this.#feed({ type: 'snapshotSent', to, ok });
  }

  /** Pauses applying while the state is replaced. Messages are still handled. */
  pauseApply(): void {
    this.#applyPaused = true;
    this.disks.stateProgressed();
  }

  /** Resumes applying. */
  resumeApply(): void {
    this.#applyPaused = false;
    this.wake();
  }

  /**
   * The machine holds the state of a snapshot. If the core needs the snapshot, the log is replaced
   * by its position too, and no step is made until that is durable. Otherwise the log already
   * extends beyond it, and only the machine has jumped.
   */
  switched(meta: SnapshotMeta, from: NodeId, done: () => void): void {
    this.#applyPaused = false;
    this.#commit = Math.max(this.#commit, meta.index);
    this.#pending.skippedTo(meta.index);
    if (!this.#core.accepts(meta)) {
      this.#feed({ type: 'applied', index: meta.index });
      done();
      return;
    }
    this.#held = true;
    const hard = this.#log.hardState();
    // The stored term must not be below the log's, not even until the core stores its own.
    const hardState = hard.term >= meta.term ? hard : { term: meta.term, votedFor: null };
    this.#log.reset(meta, hardState, () => {
      this.#held = false;
      this.disks.logProgressed();
      this.#inbox.unshift({ type: 'snapshotStored', meta, from });
      this.#feed({ type: 'applied', index: meta.index });
      done();
    });
    this.#pending.truncatedFrom(meta.index);
    this.#storing = [];
    this.#durable = meta.index;
  }

  /**
   * Whether a snapshot is needed. While applying is paused the local state may be corrupt, so a
   * snapshot at the same index is accepted too; but it must reach the start of the log, or the
   * entries in between could never be applied.
   */
  wants(meta: SnapshotMeta): boolean {
    const applied = this.#machine.appliedIndex();
    if (this.#applyPaused) return applied <= meta.index && meta.index >= this.#log.firstIndex() - 1;
    return applied < meta.index && this.#core.accepts(meta);
  }

  /** The status of the core. */
  status(): RaftStatus {
    return this.#core.status();
  }

  /**
   * Whether the log holds the applied entry. A log that has lost a batch may hold older entries in
   * place of those that the batch wrote: they are not committed, and the leader replaces them.
   */
  #holds(applied: Index): boolean {
    const isWhole = this.#log.bar?.() === undefined;
    return isWhole || this.#log.term(applied) === this.#machine.appliedTerm();
  }

  /** Last index that is committed, durable in this log and applied. */
  get settledIndex(): Index {
    return Math.min(this.#commit, this.#durable, this.#machine.appliedIndex());
  }

  /** Role, term and leader as of the last step. */
  get role(): RoleChange {
    return this.#role;
  }

  /** Number of proposals whose outcome is open. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Number of batches that are being stored. */
  get storing(): number {
    return this.#storing.length;
  }

  /** Milliseconds since the last message of a leader; 0 on the leader. */
  get leaderSilenceMs(): number {
    return this.#role.role === 'leader' ? 0 : this.#clock.now() - this.#leaderContactMs;
  }

  /**
   * A server that must not campaign gets no ticks. A leader needs them to notice that it has lost
   * its majority.
   */
  get #mayTick(): boolean {
    return this.#role.role === 'leader' || !(this.#votingSuspended || this.disks.logHangs);
  }

  #feed(input: Input): void {
    this.#inbox.push(input);
    this.wake();
  }

  /**
   * One turn. The clock is read after everything that arrived was taken: otherwise a process that
   * was paused, or a machine whose monotonic clock stood still, would serve a lease read by the
   * time before the pause (§6.4).
   */
  #turn(): void {
    // The reads that are drained here belong to this turn, so they request no other one.
    if (this.#running && !this.#held) this.readIndex?.drain();
    this.#scheduled = false;
    if (!this.#running || this.#held) return;
    this.stats.turns += 1;
    const inputs = this.#takeInputs();
    if (this.#clockWatch.hasDrifted()) inputs.unshift({ type: 'clockSuspect' });
    const now = this.#clock.now();
    if (inputs.length > 0) this.#perform(this.#core.step(inputs, now));
    if (this.#ticked) this.#events.tick(now);
    this.#ticked = false;
    this.#applySlice();
  }

  /**
   * Everything that arrived, in order. The tick comes last, so that waiting messages count as
   * received in time.
   */
  #takeInputs(): Input[] {
    const inputs: Input[] = [];
    if (this.#storedChanged) {
      this.#storedChanged = false;
      const term = this.#log.term(this.#durable);
      if (term !== undefined) inputs.push({ type: 'stored', index: this.#durable, term });
    }
    inputs.push(...this.#inbox);
    this.#inbox = [];
    const commands = this.#pending.take();
    if (commands.length > 0) inputs.push({ type: 'propose', commands });
    for (const mode of ['lease', 'quorum'] as const) {
      if (this.#readsWaiting[mode].length === 0) continue;
      const id = this.#nextReadId++;
      this.#reads.set(id, this.#readsWaiting[mode]);
      this.#readsWaiting[mode] = [];
      inputs.push({ type: 'read', ids: [id], mode });
    }
    if (this.#ticked && this.#mayTick) inputs.push({ type: 'tick' });
    return inputs;
  }

  #perform(output: Output): void {
    for (const message of output.sendNow) this.#wire.send(message);
    this.#store(output);
    if (output.lengthenTick !== undefined) {
      this.#ticker.lengthen(output.lengthenTick * this.#limits.tickMs);
    }
    for (const { id, index, term } of output.appended) this.#pending.appended(id, index, term);
    for (const { id, reason } of output.dropped) this.#pending.dropped(id, reason);
    if (output.commit !== undefined) this.#commit = Math.max(this.#commit, output.commit);
    if (output.configuration !== undefined) this.#events.configuration(output.configuration);
    if (output.role !== undefined) {
      this.#role = output.role;
      this.#events.role(output.role);
    }
    for (const { id, index } of output.reads) this.#release(id, index);
    for (const id of output.readsDropped) this.#release(id, undefined);
    for (const { to, message } of output.sendSnapshots) this.#events.sendSnapshot(to, message);
  }

  /**
   * Gives the log what must be stored, and keeps the messages that may be sent only afterwards. A
   * message also waits for all earlier batches: a repeated vote must not be sent while the first
   * one is still being stored.
   */
  #store(output: Output): void {
    const { hardState, entries, sendAfterStore } = output;
    if (hardState === undefined && entries.length === 0) {
      const last = this.#storing.at(-1);
      if (last !== undefined) last.send.push(...sendAfterStore);
      else for (const message of sendAfterStore) this.#wire.send(message);
      return;
    }
    const first = entries[0]?.index;
    if (first !== undefined) {
      if (first <= this.#log.lastIndex()) this.#pending.truncatedFrom(first);
      this.#durable = Math.min(this.#durable, first - 1);
    }
    const last = entries.at(-1)?.index ?? this.#log.lastIndex();
    const storing: Storing = { first, last, send: [...sendAfterStore] };
    this.#storing.push(storing);
    this.stats.appends += 1;
    this.stats.entriesAppended += entries.length;
    const batch = hardState === undefined ? { entries } : { hardState, entries };
    this.#log.append(batch, () => this.#stored(storing));
  }

  #stored(storing: Storing): void {
    const position = this.#storing.indexOf(storing);
    if (position < 0 || !this.#running) return;
    this.disks.logProgressed();
    const done = this.#storing.splice(0, position + 1);
    let durable = storing.last;
    for (const { first } of this.#storing) {
      if (first !== undefined) durable = Math.min(durable, first - 1);
    }
    this.#durable = durable;
    this.#storedChanged = true;
    for (const { send } of done) for (const message of send) this.#wire.send(message);
    this.wake();
  }

  #release(id: number, index: Index | undefined): void {
    const readers = this.#reads.get(id) ?? [];
    this.#reads.delete(id);
    for (const done of readers) done(index);
  }

  /**
   * Applies entries that are committed and durable here, so that the state is never ahead of the
   * log. The rest waits for the next turn.
   */
  #applySlice(): void {
    if (this.#applyPaused || this.#lookAgainLater || this.#applyingLong) return;
    const upTo = Math.min(this.#commit, this.#durable);
    const from = this.#machine.appliedIndex() + 1;
    if (from > upTo) return;
    if (this.#isBehind()) {
      this.#rest();
      return;
    }
    const hi = Math.min(upTo, from + this.#limits.applyEntriesMax - 1);
    const entries = this.#log.entries(from, hi, this.#limits.applyBytesMax);
    if (entries.length === 0)
      throw new Error(`the log does not hold entry ${from}, which is to be applied`);
    this.disks.stateProgressed();
    const results = this.#machine.apply(entries, (result) =>
      this.#appliedLong(entries[results.length]!, result),
    );
    this.#applyingLong = results.length < entries.length;
    if (results.length > 0) this.#applied(entries.slice(0, results.length), results);
  }

  #appliedLong(entry: Entry, result: Result | undefined): void {
    this.#applyingLong = false;
    if (!this.#running) return;
    if (result === undefined) this.#rest();
    else this.#applied([entry], [result]);
  }

  #applied(entries: readonly Entry[], results: readonly (Result | undefined)[]): void {
    const applied = this.#machine.appliedIndex();
    this.#feed({ type: 'applied', index: applied });
    for (const [at, entry] of entries.entries()) {
      this.#pending.applied(entry.index, entry.term, results[at]);
    }
    this.#events.applied(applied, entries);
  }

  /**
   * Pauses applying for a tick: the disk of the state does not keep up, and its backlog must stay
   * bounded.
   */
  #rest(): void {
    this.disks.isStateBehind = true;
    this.#lookAgainLater = true;
    this.#clock.after(this.#limits.tickMs, () => {
      this.#lookAgainLater = false;
      this.wake();
    });
  }
}
