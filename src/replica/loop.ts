/**
 * The loop around the Raft core, where it meets time, disk and network. Each turn takes everything
 * that has arrived, makes one `step`, sends and stores its output, applies a bounded number of
 * entries, and completes the calls that waited for them. Timers, clock, disk and network are ports,
 * so the simulation runs this file as it is.
 */
import { invariant } from '../raft/assert.js';
import type { Trace } from '../raft/decisions.js';
import type {
  Asker,
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
import { CommitNews } from './commit-news.js';
import { DiskWatch } from './disk-watch.js';
import { ElectionGuard } from './election-guard.js';
import { LogWriter } from './log/log-writer.js';
import type { ClockPort, LogPort, MachinePort, WirePort } from './ports.js';
import { PendingReads, type ReadDone, type ReadIndexMode } from './reads/pending-reads.js';
import { Applier, type ApplierParts, type ApplyLimits } from './state/applier.js';
import { Ticker, type TickerEvents, type TickerLimits } from './ticker.js';
import { PendingWrites, type Settle } from './writes/pending-writes.js';

/** What the owner of the loop is told. All calls are made from the loop's own turn. */
export interface LoopEvents {
  /** A turn begins: readers may share its read index. */
  turn(): void;
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
  tick(now: number): void;
}

export interface LoopParts extends Pick<ApplierParts, 'measure'> {
  readonly core: RaftCore;
  readonly log: LogPort;
  readonly wire: WirePort;
  readonly machine: MachinePort;
  readonly clock: ClockPort;
  readonly limits: TickerLimits & ApplyLimits;
  readonly events: LoopEvents;
  /**
   * True while too much applied state waits for the disk. Applying is paused until the disk has
   * caught up.
   */
  readonly isBehind?: (() => boolean) | undefined;
  /** Ticks without progress after which a disk counts as hanging. */
  readonly hangTicks: number;
  /** See `fired` of TickerEvents. Absent: nothing is measured. */
  readonly measureTick?: TickerEvents['fired'] | undefined;
  /** Gets the decisions about messages that the core does not get. See RaftOptions. */
  readonly trace?: Trace | undefined;
}

/** Owns the Raft core: nothing else steps it. */
export class RaftLoop {
  /**
   * Counters for metrics: batches given to the log and the entries in them, ticks that came too
   * late, and the longest delay in milliseconds.
   */
  readonly stats = { turns: 0, appends: 0, entriesAppended: 0, stalls: 0, stallMsMax: 0 };
  readonly disks: DiskWatch;
  readonly elections: ElectionGuard;
  readonly news: CommitNews;
  readonly #parts: LoopParts;
  readonly #core: RaftCore;
  readonly #clock: ClockPort;
  readonly #clockWatch: ClockWatch;
  readonly #ticker: Ticker;
  readonly #writer: LogWriter;
  readonly #applier: Applier;
  readonly #pending = new PendingWrites();
  readonly #reads = new PendingReads();
  #inbox: Input[] = [];
  #commit: Index = 0;
  #role: RoleChange;
  #leaderContactMs: number;
  #scheduled = false;
  #running = false;
  #ticked = false;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#core = parts.core;
    this.#clock = parts.clock;
    this.#clockWatch = new ClockWatch(parts.clock);
    this.disks = new DiskWatch({ hangTicks: parts.hangTicks, tickMs: parts.limits.tickMs });
    this.elections = new ElectionGuard(this.disks, parts.trace);
    const { role, term, leader } = parts.core.status();
    this.#role = { role, term, leader };
    this.#leaderContactMs = parts.clock.now();
    this.#ticker = new Ticker(parts.clock, parts.limits, {
      tick: () => {
        this.#ticked = true;
        this.#tickDisks();
        this.#turn();
      },
      rest: () => (this.#writer.isReplacing ? 1 : parts.core.restTicks()),
      fired: (lateMs, afterMs) => parts.measureTick?.(lateMs, afterMs),
      stall: (ms) => {
        this.stats.stalls += 1;
        this.stats.stallMsMax = Math.max(this.stats.stallMsMax, ms);
      },
    });
    this.news = new CommitNews(parts);
    this.#writer = new LogWriter({
      ...parts,
      truncates: (index) => this.#pending.truncatedFrom(index),
      stored: () => {
        this.disks.logProgressed();
        this.wake();
      },
    });
    this.#applier = new Applier({
      ...parts,
      disks: this.disks,
      isBehind: parts.isBehind ?? (() => false),
      applied: (entries, results) => this.#applied(entries, results),
      wake: () => this.wake(),
    });
  }

  /** Starts the ticks and the turns. */
  start(): void {
    this.#running = true;
    const applied = this.#parts.machine.appliedIndex();
    if (applied > 0 && this.#holds(applied)) {
      this.#commit = applied;
      this.#feed({ type: 'applied', index: applied });
    }
    this.#ticker.start();
    this.wake();
  }

  /** Stops for good: nothing more is sent, applied or completed. The log stores what it has. */
  stop(): void {
    this.#running = false;
    this.#ticker.stop();
    this.news.stop();
    this.#writer.stop();
    this.#applier.stop();
  }

  /** Requests a turn. */
  wake(): void {
    if (this.#scheduled || !this.#running) return;
    this.#scheduled = true;
    this.#clock.soon(() => this.#turn());
  }

  /** Takes a message of a peer. */
  receive(message: Message): void {
    if (!this.elections.admits(message)) return;
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
   * Requests a read index from the core (§6.4), for a follower if `asker` is given. `done` gets
   * undefined when this server cannot give one.
   */
  read(mode: ReadIndexMode, done: ReadDone, asker?: Asker): void {
    this.#reads.add(mode, done, asker);
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
    this.#applier.pause();
  }

  resumeApply(): void {
    this.#applier.resume();
    this.wake();
  }

  /**
   * The machine holds the state of a snapshot. If the core needs the snapshot, the log is replaced
   * by its position too, and no step is made until that is durable. Otherwise the log already
   * extends beyond it, and only the machine has jumped.
   */
  switched(meta: SnapshotMeta, from: NodeId, done: () => void): void {
    this.#applier.resume();
    this.#commit = Math.max(this.#commit, meta.index);
    this.#pending.skippedTo(meta);
    if (!this.#core.accepts(meta)) {
      this.#feed({ type: 'applied', index: meta.index });
      done();
      return;
    }
    this.#writer.replace(meta, () => {
      this.disks.logProgressed();
      this.#inbox.unshift({ type: 'snapshotStored', meta, from });
      this.#feed({ type: 'applied', index: meta.index });
      done();
    });
    this.#pending.truncatedFrom(meta.index);
  }

  /**
   * Whether a snapshot is needed. While applying is paused the local state may be corrupt, so a
   * snapshot at the same index is accepted too; but it must reach the start of the log, or the
   * entries in between could never be applied.
   */
  wants(meta: SnapshotMeta): boolean {
    const { machine, log } = this.#parts;
    const applied = machine.appliedIndex();
    if (this.#applier.isPaused) return applied <= meta.index && meta.index >= log.firstIndex() - 1;
    return applied < meta.index && this.#core.accepts(meta);
  }

  status(): RaftStatus {
    return this.#core.status();
  }

  /**
   * Whether the log holds the applied entry. A log that has lost a batch may hold older entries in
   * place of those that the batch wrote: they are not committed, and the leader replaces them.
   */
  #holds(applied: Index): boolean {
    const { log, machine } = this.#parts;
    return log.bar?.() === undefined || log.term(applied) === machine.appliedTerm();
  }

  /** Last index that is committed, durable in this log and applied. */
  get settledIndex(): Index {
    return Math.min(this.#commit, this.#writer.durable, this.#parts.machine.appliedIndex());
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
    return this.#writer.storing;
  }

  /** Milliseconds since the last message of a leader; 0 on the leader. */
  get leaderSilenceMs(): number {
    return this.#role.role === 'leader' ? 0 : this.#clock.now() - this.#leaderContactMs;
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
    // What is read here belongs to this turn, so it requests no other one.
    if (this.#running && !this.#writer.isReplacing) this.#parts.events.turn();
    this.#scheduled = false;
    if (!this.#running || this.#writer.isReplacing) return;
    this.stats.turns += 1;
    const ticks = this.#ticker.passed();
    for (let tick = 0; tick < ticks; tick++) this.#tickDisks();
    const inputs = this.#takeInputs(ticks);
    if (this.#clockWatch.hasDrifted()) inputs.unshift({ type: 'clockSuspect' });
    const now = this.#clock.now();
    if (inputs.length > 0) this.#perform(this.#core.step(inputs, now));
    const all = ticks + (this.#ticked ? 1 : 0);
    for (let tick = 0; tick < all; tick++) this.#parts.events.tick(now);
    this.#ticked = false;
    this.#ticker.look();
    // What is not durable here is not applied, so that the state is never ahead of the log.
    this.#applier.applyUpTo(Math.min(this.#commit, this.#writer.durable));
  }

  #tickDisks(): void {
    this.#applier.tick();
    this.disks.tick(this.#writer.storing > 0 || this.#writer.isReplacing);
  }

  /**
   * Everything that arrived, in order. The tick of the timer comes last, so that waiting messages
   * count as received in time; `ticks` before it have passed already.
   */
  #takeInputs(ticks: number): Input[] {
    const stored = this.#writer.takeStored();
    const inputs: Input[] = stored === undefined ? this.#inbox : [stored, ...this.#inbox];
    this.#inbox = [];
    const mayTick = this.elections.mayTick(this.#role.role);
    for (let tick = 0; tick < ticks && mayTick; tick++) inputs.unshift({ type: 'tick' });
    const commands = this.#pending.take();
    if (commands.length > 0) inputs.push({ type: 'propose', commands });
    inputs.push(...this.#reads.take());
    if (this.#ticked && mayTick) inputs.push({ type: 'tick' });
    return inputs;
  }

  #perform(output: Output): void {
    const { limits, events } = this.#parts;
    for (const message of output.sendNow) this.news.send(message, this.pending > 1);
    if (this.#writer.store(output)) {
      this.stats.appends += 1;
      this.stats.entriesAppended += output.entries.length;
    }
    if (output.lengthenTick !== undefined) {
      this.#ticker.lengthen(output.lengthenTick * limits.tickMs);
    }
    for (const one of output.appended) this.#pending.appended(one, output.entries);
    for (const { id, reason } of output.dropped) this.#pending.dropped(id, reason);
    if (output.commit !== undefined) this.#commit = Math.max(this.#commit, output.commit);
    if (output.configuration !== undefined) events.configuration(output.configuration);
    if (output.role !== undefined) {
      this.#role = output.role;
      events.role(output.role);
    }
    for (const { id, index } of output.reads) this.#reads.settle(id, index);
    for (const id of output.readsDropped) this.#reads.settle(id, undefined);
    for (const { to, message } of output.sendSnapshots) events.sendSnapshot(to, message);
  }

  #applied(entries: readonly Entry[], results: readonly (Result | undefined)[]): void {
    const applied = this.#parts.machine.appliedIndex();
    const upTo = Math.min(this.#commit, this.#writer.durable);
    invariant(applied <= upTo, 'applied before committed and durable', { applied, upTo });
    // The core needs no input: it put out the commit index up to which entries are applied.
    if (applied < upTo) this.wake();
    for (const [at, entry] of entries.entries()) {
      this.#pending.applied(entry.index, entry.term, results[at]);
    }
    this.#parts.events.applied(applied, entries);
  }
}
