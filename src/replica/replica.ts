/**
 * One member of the cluster without its ports: the Raft loop and the components around it.
 * Completions are calls. There are no promises, timers or randomness here, so the simulation runs
 * the same code as production.
 */
import type { Refusal } from '../errors.js';
import type { Entry, Index, Message, NodeId, RoleChange, SnapshotMeta } from '../raft/types.js';
import { LEVELS } from '../state/levels.js';
import { Availability } from './availability.js';
import { Deadlines } from './deadlines.js';
import { AppliedLog } from './log/applied-log.js';
import { Compaction } from './log/compaction.js';
import { Erasure } from './log/erasure.js';
import { VotingSuspension } from './log/voting-suspension.js';
import { RaftLoop } from './loop.js';
import { Admission } from './members/admission.js';
import { Handover } from './members/handover.js';
import { Join } from './members/join.js';
import { KnownServers } from './members/known-servers.js';
import { Levels } from './members/levels.js';
import { Membership } from './members/membership.js';
import { Peers } from './members/peers.js';
import type { ReplicaLimits, ReplicaParts, StartOptions } from './options.js';
import { AppliedIndex } from './reads/applied-index.js';
import { type BarrierMode, ReadIndexClient } from './reads/read-index.js';
import { Watches } from './reads/watches.js';
import { noLeader, Rpc } from './rpc.js';
import { rpcHandlers } from './rpc-handlers.js';
import { StateComparison } from './state/comparison.js';
import { IncomingSnapshot } from './state/incoming-snapshot.js';
import { StateRecovery } from './state/recovery.js';
import type { WriteRequest } from './types.js';
import { ClientWrites, type WriteDone } from './writes/client-writes.js';
import { LeaderWrites } from './writes/leader-writes.js';

/** Election timeouts without progress after which a disk counts as hanging. */
const HANG_TIMEOUTS = 5;

const hangTicksOf = ({ electionMs, tickMs }: ReplicaLimits): number =>
  Math.ceil((electionMs * HANG_TIMEOUTS) / tickMs);

/** A member of the cluster. Its process gives it ports, and calls it for what arrives. */
export class Replica {
  readonly availability: Availability;
  readonly rpc: Rpc;
  readonly loop: RaftLoop;
  readonly watches: Watches;
  readonly deadlines: Deadlines;
  readonly appliedLog: AppliedLog;
  readonly comparison: StateComparison | undefined;
  readonly clientWrites: ClientWrites;
  readonly membership: Membership;
  readonly levels: Levels;
  readonly knownServers: KnownServers;
  readonly join: Join;
  readonly incomingSnapshot: IncomingSnapshot;
  readonly #recovery: StateRecovery;
  readonly #parts: ReplicaParts;
  readonly #admission: Admission;
  readonly #applied: AppliedIndex;
  readonly #readIndex: ReadIndexClient;
  readonly #leaderWrites: LeaderWrites;
  readonly #votingSuspension: VotingSuspension;
  readonly #compaction: Compaction;
  readonly #erasure: Erasure | undefined;
  readonly #peers: Peers;
  readonly #handover: Handover;
  #stopped = false;
  #ticks = 0;
  /**
   * Index at which the state was last replaced as a whole. Comparisons of the state before it do
   * not count.
   */
  #replacedIndex: Index = 0;
  #cancelRetry: (() => void) | undefined;

  constructor(parts: ReplicaParts) {
    const { id, wire, clock, machine, limits } = parts;
    this.#parts = parts;
    this.watches = new Watches(clock);
    this.deadlines = new Deadlines(clock);
    this.appliedLog = new AppliedLog(parts.log, machine.appliedIndex(), limits.markEntries);
    this.#applied = new AppliedIndex(() => machine.appliedIndex());
    this.availability = this.#createAvailability();
    this.loop = this.#createLoop();
    const { loop } = this;
    const role = (): RoleChange => loop.role;
    this.rpc = new Rpc({ id, wire, role, isMember: (of) => this.#peers.isMember(of) });
    this.#votingSuspension = this.#createVotingSuspension();
    this.#compaction = this.#createCompaction();
    this.#erasure = this.#createErasure();
    this.#peers = this.#createPeers();
    this.levels = this.#createLevels();
    this.#handover = this.#createHandover();
    this.#leaderWrites = this.#createLeaderWrites();
    this.clientWrites = this.#createClientWrites();
    this.#readIndex = this.#createReadIndex();
    const { promoteLagMax, askMs: contactMsMax, electionMs } = limits;
    this.membership = new Membership({
      ...{ id, loop, clock, promoteLagMax, contactMsMax, electionMs },
      askApplied: (of, done) => this.levels.askApplied(of, done),
    });
    this.#admission = this.#createAdmission();
    this.comparison = this.#createComparison();
    this.knownServers = new KnownServers({ ...parts, loop, rpc: this.rpc });
    this.join = this.#createJoin();
    this.#recovery = this.#createRecovery();
    this.incomingSnapshot = this.#createIncomingSnapshot();
    this.#serve();
    machine.onChanged((keys) => this.watches.changed(keys));
    machine.onReplaced?.(() => this.watches.wakeAll());
  }

  /** Begins to take part. */
  start({ needsState, join = [], silenceMs }: StartOptions = {}): void {
    const { clock, identity } = this.#parts;
    this.#peers.inForce(this.loop.status().configuration);
    this.loop.start();
    // A longer silence of an earlier run stays stored until it is over: a restart before that must
    // keep it too.
    if (silenceMs !== undefined && silenceMs.owed !== silenceMs.own) {
      clock.after(silenceMs.owed, () => {
        if (!this.#stopped) identity.save({ silenceMs: silenceMs.own });
      });
    }
    if (needsState !== undefined) this.#recovery.begin(needsState);
    this.join.start(join);
  }

  /**
   * Transfers leadership before a stop. `done` is called once: when another server leads, when
   * there is none that could, or after `withinMs`. Returns a function that ends the wait.
   */
  handOver(withinMs: number, done: () => void): () => void {
    const { id, clock } = this.#parts;
    const { members } = this.loop.status().configuration;
    const others = members.some((member) => member.voter && member.id !== id);
    if (this.loop.role.role !== 'leader' || !others) {
      done();
      return () => {};
    }
    let open = true;
    const end = (): void => {
      if (!open) return;
      open = false;
      cancel();
      done();
    };
    const cancel = clock.after(withinMs, end);
    this.membership.transfer(null, end);
    return end;
  }

  /** Ends everything that clients wait for, then the loop. */
  stop(): void {
    this.#stopped = true;
    this.availability.stopping();
    this.join.stop();
    this.#recovery.stop();
    this.incomingSnapshot.stop();
    this.#leaderWrites.stop();
    this.clientWrites.stop();
    this.#readIndex.stop();
    this.watches.wakeAll();
    this.#cancelRetry?.();
    this.loop.stop();
  }

  /** Why this server does not serve; undefined while it does. */
  get fault(): string | undefined {
    return this.availability.fault;
  }

  /**
   * Replicates a command. `done` is called once, with the result of apply or the reason there is
   * none.
   */
  write(request: WriteRequest, done: WriteDone): void {
    const refused = this.availability.refusal ?? this.levels.refusal(request.command);
    if (refused === undefined) this.clientWrites.write(request, done);
    else done({ refusal: refused });
  }

  /**
   * Read barrier (§6.4): `done` is called without a refusal once this server has applied everything
   * that was acknowledged before the call.
   */
  barrier(mode: BarrierMode, timeoutMs: number, done: (refused?: Refusal) => void): void {
    const { availability } = this;
    const { refusal } = availability;
    if (refusal !== undefined) {
      done(refusal);
      return;
    }
    const deadlineMs = this.#parts.clock.now() + timeoutMs;
    this.#readIndex.wait(mode, deadlineMs, (passed) =>
      passed ? done() : done(availability.refusal ?? availability.hangRefusal ?? noLeader()),
    );
  }

  /**
   * Calls `wake` once, after the next applied change of any of the keys. Returns a cancel function.
   */
  watch(keys: readonly string[], wake: () => void): () => void {
    return this.watches.watch(keys, wake);
  }

  /** Retries what failed without a change of leader. */
  retry(): void {
    this.clientWrites.retry();
    this.#readIndex.retry(false);
  }

  /** Takes a Raft message of a peer. */
  receive(message: Message): void {
    this.loop.receive(message);
  }

  /** Asks the leader for the whole state. */
  requestState(): void {
    const { leader } = this.loop.role;
    const { id, limits } = this.#parts;
    if (leader === null || leader === id) return;
    this.rpc.notify(leader, { type: 'state' }, limits.askMs);
  }

  /** A snapshot was switched into the machine. `done` is called when the log agrees, durably. */
  switched(meta: SnapshotMeta, from: NodeId, done: () => void): void {
    this.#replacedIndex = meta.index;
    this.#peers.replaced(this.appliedLog.configurationAt(meta.index), meta.configuration);
    this.loop.switched(meta, from, () => {
      this.appliedLog.restart(meta.index);
      this.#hasApplied(meta.index, []);
      this.watches.wakeAll();
      this.#votingSuspension.look();
      done();
    });
  }

  // --- what the loop reports ---

  #roleChanged(change: RoleChange): void {
    this.#leaderWrites.role(change);
    this.clientWrites.role();
    this.#readIndex.retry(true);
    this.membership.role();
    this.#parts.onRole?.(change);
  }

  #hasApplied(index: Index, entries: readonly Entry[]): void {
    this.appliedLog.advance(entries);
    this.#applied.reached(index);
    for (const entry of entries) if (entry.kind === 'configuration') this.#peers.applied(entry);
  }

  #tick(now: number): void {
    this.membership.tick(now);
    this.levels.tick(now);
    this.#ticks += 1;
    const { compareTicks } = this.#parts.limits;
    const { role, term } = this.loop.role;
    if (compareTicks > 0 && this.#ticks % compareTicks === 0 && role === 'leader')
      this.comparison?.compare(term);
    this.availability.tick();
    this.#leaderWrites.tick();
    this.#handover.tick(this.availability.isUnfit, this.#leaderWrites.isLate);
    this.clientWrites.tick(now);
    this.#votingSuspension.tick();
    this.#erasure?.tick();
    this.#compaction.tick();
  }

  #retryLater(): void {
    this.#cancelRetry ??= this.#parts.clock.after(this.#parts.limits.retryMs, () => {
      this.#cancelRetry = undefined;
      this.retry();
    });
  }

  #diverged(index: Index, table: string): void {
    if (this.fault !== undefined || index <= this.#replacedIndex) return;
    const why = `its state differs from the other servers' in table "${table}" at index ${index}`;
    this.#parts.onDiffers?.(why);
    this.availability.fail(why);
  }

  // --- composition ---

  #serve(): void {
    const { loop, availability, membership, levels, comparison } = this;
    const [admission, peers, compaction] = [this.#admission, this.#peers, this.#compaction];
    const handlers = rpcHandlers({
      ...this.#parts,
      ...{ loop, availability, membership, levels, comparison, admission, peers, compaction },
      leaderWrites: this.#leaderWrites,
      diverged: (index, table) => this.#diverged(index, table),
    });
    this.rpc.serve(handlers);
  }

  #createAvailability(): Availability {
    return new Availability({
      isRemoved: () => this.#peers.isRemoved,
      hang: () => this.loop.disks.hang,
      stopServing: () => this.watches.wakeAll(),
      stepDown: () => this.#handover.stepDown(),
      onFault: (why) => this.#parts.onFault?.(why),
      onHang: (why) => this.#parts.onHang?.(why),
    });
  }

  #createLoop(): RaftLoop {
    const { core, log, wire, machine, clock, limits, isBehind } = this.#parts;
    const hangTicks = hangTicksOf(limits);
    return new RaftLoop({
      ...{ core, log, wire, machine, clock, limits, isBehind, hangTicks },
      events: {
        role: (change) => this.#roleChanged(change),
        configuration: (configuration) => this.#peers.inForce(configuration),
        applied: (index, entries) => this.#hasApplied(index, entries),
        sendSnapshot: (to, message) => this.#compaction.sendSnapshot(to, message),
        tick: (now) => this.#tick(now),
      },
    });
  }

  #createVotingSuspension(): VotingSuspension {
    const { log, machine, onWhole } = this.#parts;
    return new VotingSuspension({
      ...{ loop: this.loop, log },
      // The log was shorter than what is applied: its configurations can be read only now.
      found: () => {
        this.appliedLog.restart(machine.appliedIndex());
        onWhole?.();
      },
    });
  }

  #createCompaction(): Compaction {
    const { log, machine, wire, limits } = this.#parts;
    const { loop, appliedLog } = this;
    return new Compaction({
      ...{ loop, log, machine, wire, appliedLog, limits },
      mayCopy: () =>
        this.fault === undefined &&
        (limits.compareTicks === 0 || (this.comparison?.mayCopy(loop.role.term) ?? true)),
    });
  }

  #createErasure(): Erasure | undefined {
    const { view, log, erase } = this.#parts;
    return erase && new Erasure({ view, log, compaction: this.#compaction, erase });
  }

  #createPeers(): Peers {
    const { id, wire, clock, limits, onMembers } = this.#parts;
    const { loop, rpc, appliedLog } = this;
    return new Peers({
      ...{ id, loop, rpc, wire, clock, appliedLog, askMs: limits.askMs },
      removed: () => this.availability.closed(),
      changed: (what) => onMembers?.(what),
      gone: (ids) => this.knownServers.removed(ids),
    });
  }

  #createLevels(): Levels {
    const { id, clock, view, newId, limits, levels: table = LEVELS } = this.#parts;
    const { loop, rpc } = this;
    return new Levels({
      ...{ id, loop, rpc, clock, view, newId, table, askMs: limits.askMs },
      applied: this.#applied,
      isChanging: () => this.membership.isChanging,
    });
  }

  #createHandover(): Handover {
    const { id, limits, hasRoom = () => true } = this.#parts;
    const { loop, rpc } = this;
    const { askMs, promoteLagMax: lagMax } = limits;
    return new Handover({ id, loop, rpc, hasRoom, askMs, lagMax });
  }

  #createLeaderWrites(): LeaderWrites {
    const { machine, view, limits, gate, closedFor } = this.#parts;
    return new LeaderWrites({
      ...{ loop: this.loop, machine, applied: this.#applied, view },
      gate: (state, tokenKey, command) =>
        this.levels.refusal(command) ?? gate(state, tokenKey, command),
      ...{ pendingWrites: limits.pendingWrites, lateTicks: hangTicksOf(limits) },
      isUnfit: () => this.availability.isUnfit,
      closedFor: (command) => closedFor?.(command),
      isFullEverywhere: () => this.#handover.isFullEverywhere,
    });
  }

  #createClientWrites(): ClientWrites {
    const { id, clock, machine, newId, limits } = this.#parts;
    const { rpc, deadlines, loop } = this;
    return new ClientWrites({
      ...{ id, rpc, clock, deadlines, newId, applied: this.#applied },
      leaderWrites: this.#leaderWrites,
      appliedIndex: () => machine.appliedIndex(),
      role: () => loop.role,
      remembered: (request) => machine.remembered(request),
      retryLater: () => this.#retryLater(),
      ...{ waitingWrites: limits.waitingWrites, lateMs: limits.electionMs },
    });
  }

  #createReadIndex(): ReadIndexClient {
    const { id, limits } = this.#parts;
    const { rpc, loop, deadlines } = this;
    const readIndex = new ReadIndexClient({
      ...{ id, rpc, loop, deadlines, applied: this.#applied, askMs: limits.askMs },
      retryLater: () => this.#retryLater(),
    });
    loop.readIndex = readIndex;
    return readIndex;
  }

  #createAdmission(): Admission {
    const { clock, view, newId, onJoining } = this.#parts;
    const { loop, membership, levels } = this;
    return new Admission({
      ...{ loop, clock, view, membership, levels, newId },
      log: (level, what) => onJoining?.(level, what),
    });
  }

  #createJoin(): Join {
    const { id: _id, joinToken, isBelieved, onJoining, ...ports } = this.#parts;
    const { loop, rpc, levels } = this;
    return new Join({
      ...{ ...ports, loop, rpc },
      level: () => levels.supported,
      token: () => joinToken?.(),
      isBelieved: (joiner) => isBelieved?.(joiner) ?? true,
      log: (level, what) => onJoining?.(level, what),
    });
  }

  #createRecovery(): StateRecovery {
    const { loop, availability } = this;
    return new StateRecovery({
      ...{ loop, availability, clock: this.#parts.clock },
      requestState: () => this.requestState(),
      isArriving: () => this.incomingSnapshot.isArriving,
    });
  }

  #createIncomingSnapshot(): IncomingSnapshot {
    const { clock, machine } = this.#parts;
    return new IncomingSnapshot({
      ...{ loop: this.loop, clock, recovery: this.#recovery },
      reload: () => machine.reload(),
      switched: (meta, from, done) => this.switched(meta, from, done),
    });
  }

  #createComparison(): StateComparison | undefined {
    const { id, machine, limits, onUndecided } = this.#parts;
    const { checkpoint, checksum } = machine;
    if (checkpoint === undefined || checksum === undefined) return undefined;
    return new StateComparison({
      ...{ id, rpc: this.rpc, timeoutMs: limits.askMs },
      checksums: { checkpoint: checkpoint.bind(machine), checksum: checksum.bind(machine) },
      peers: () => this.loop.status().configuration.members.map((member) => member.id),
      differs: (index, table) => this.#diverged(index, table),
      undecided: (index, table, successor) => {
        const where = `in table "${table}" at index ${index}`;
        onUndecided?.(
          `the servers' states differ ${where}, and too few can be compared to tell which is right`,
        );
        if (successor !== undefined) this.loop.transfer(successor);
      },
    });
  }
}
