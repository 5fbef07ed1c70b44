/**
 * One member of the cluster without its ports: the Raft loop and the components around it, which
 * `components.ts` connects. Completions are calls. There are no promises, timers or randomness
 * here, so the simulation runs the same code as production.
 */
import type { Refusal } from '../base/errors.js';
import type { Entry, Index, Message, NodeId, RoleChange, SnapshotMeta } from '../raft/types.js';
import type { Availability } from './availability.js';
import { Components } from './components.js';
import type { AppliedLog } from './log/applied-log.js';
import type { RaftLoop } from './loop.js';
import type { Join } from './members/join.js';
import type { KnownServers } from './members/known-servers.js';
import type { Levels } from './members/levels.js';
import type { ReplicaParts, StartOptions } from './options.js';
import type { BarrierMode } from './reads/read-index.js';
import { noLeader, type Rpc } from './rpc.js';
import type { StateComparison } from './state/comparison.js';
import type { IncomingSnapshot } from './state/incoming-snapshot.js';
import type { WriteRequest } from './types.js';
import type { ClientWrites, WriteDone } from './writes/client-writes.js';

/** A member of the cluster. Its process gives it ports, and calls it for what arrives. */
export class Replica {
  readonly availability: Availability;
  readonly loop: RaftLoop;
  readonly rpc: Rpc;
  readonly appliedLog: AppliedLog;
  readonly clientWrites: ClientWrites;
  readonly levels: Levels;
  readonly knownServers: KnownServers;
  readonly join: Join;
  readonly comparison: StateComparison;
  readonly incomingSnapshot: IncomingSnapshot;
  readonly #components: Components;
  readonly #parts: ReplicaParts;
  #stopped = false;
  #ticks = 0;
  #cancelRetry: (() => void) | undefined;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
    this.#components = new Components(parts, {
      role: (change) => this.#roleChanged(change),
      applied: (index, entries) => this.#hasApplied(index, entries),
      tick: (now) => this.#tick(now),
      retryLater: () => this.#retryLater(),
      switched: (meta, from, done) => this.switched(meta, from, done),
    });
    const components = this.#components;
    this.availability = components.availability;
    this.loop = components.loop;
    this.rpc = components.rpc;
    this.appliedLog = components.appliedLog;
    this.clientWrites = components.clientWrites;
    this.levels = components.levels;
    this.knownServers = components.knownServers;
    this.join = components.join;
    this.comparison = components.comparison;
    this.incomingSnapshot = components.incomingSnapshot;
  }

  /** Begins to take part. */
  start({ needsState, join = [], silenceMs }: StartOptions = {}): void {
    const { clock, identity } = this.#parts.ports;
    this.#components.peers.start();
    this.loop.start();
    // A longer silence of an earlier run stays stored until it is over: a restart before that must
    // keep it too.
    if (silenceMs !== undefined && silenceMs.owed !== silenceMs.own) {
      clock.after(silenceMs.owed, () => {
        if (!this.#stopped) identity.save({ silenceMs: silenceMs.own });
      });
    }
    if (needsState !== undefined) this.#components.recovery.begin(needsState);
    this.join.start(join);
  }

  /** Transfers leadership before a stop. See Handover.beforeStop. */
  handOver(withinMs: number, done: () => void): () => void {
    return this.#components.handover.beforeStop(withinMs, done);
  }

  /** Ends everything that clients wait for, then the loop. */
  stop(): void {
    this.#stopped = true;
    this.availability.stopping();
    const { recovery, leaderWrites, readIndex, watches } = this.#components;
    this.join.stop();
    recovery.stop();
    this.incomingSnapshot.stop();
    leaderWrites.stop();
    this.clientWrites.stop();
    readIndex.stop();
    watches.wakeAll();
    this.#cancelRetry?.();
    this.loop.stop();
  }

  /** Why this server is not serving requests; undefined while it is. */
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
    this.#components.readIndex.wait(mode, timeoutMs, (passed) =>
      passed ? done() : done(availability.refusal ?? availability.hangRefusal ?? noLeader()),
    );
  }

  /** See Watches.watch. */
  watch(keys: readonly string[], wake: () => void, untilMs?: number): () => void {
    return this.#components.watches.watch(keys, wake, untilMs);
  }

  /** Counters for metrics. */
  stats() {
    const { loop, comparison } = this;
    return { loop: loop.stats, disks: loop.disks, comparison: comparison.stats };
  }

  /** Retries what failed without a change of leader. */
  retry(): void {
    this.clientWrites.retry();
    this.#components.readIndex.retry(false);
  }

  /** Takes a Raft message of a peer. */
  receive(message: Message): void {
    this.loop.receive(message);
  }

  /** A snapshot was switched into the machine. `done` is called when the log agrees, durably. */
  switched(meta: SnapshotMeta, from: NodeId, done: () => void): void {
    const { divergence, peers, watches, votingSuspension } = this.#components;
    divergence.replaced(meta.index);
    peers.replaced(this.appliedLog.configurationAt(meta.index), meta.configuration);
    this.loop.switched(meta, from, () => {
      this.appliedLog.restart(meta.index);
      this.#hasApplied(meta.index, []);
      watches.wakeAll();
      votingSuspension.look();
      done();
    });
  }

  // --- what the loop reports ---

  #roleChanged(change: RoleChange): void {
    const { leaderWrites, readIndex, membership } = this.#components;
    leaderWrites.role(change);
    this.clientWrites.role();
    readIndex.retry(true);
    membership.role();
    this.#parts.reports.onRole?.(change);
  }

  #hasApplied(index: Index, entries: readonly Entry[]): void {
    const { applied, peers } = this.#components;
    this.appliedLog.advance(entries);
    applied.reached(index);
    for (const entry of entries) if (entry.kind === 'configuration') peers.applied(entry);
  }

  #tick(now: number): void {
    const {
      membership,
      leaderWrites,
      handover,
      votingSuspension,
      erasure,
      compaction,
      leaderWatch,
    } = this.#components;
    membership.tick(now);
    this.levels.tick(now);
    this.#ticks += 1;
    const { compareTicks } = this.#parts.limits;
    const { role, term } = this.loop.role;
    if (compareTicks > 0 && this.#ticks % compareTicks === 0 && role === 'leader')
      this.comparison.compare(term);
    this.availability.tick();
    leaderWatch.tick(now);
    leaderWrites.tick();
    handover.tick(this.availability.isUnfit, leaderWrites.isLate);
    this.clientWrites.tick(now);
    votingSuspension.tick();
    erasure?.tick(now);
    compaction.tick();
  }

  #retryLater(): void {
    this.#cancelRetry ??= this.#parts.ports.clock.after(this.#parts.limits.retryMs, () => {
      this.#cancelRetry = undefined;
      this.retry();
    });
  }
}
