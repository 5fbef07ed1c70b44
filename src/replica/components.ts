/**
 * The components of a replica and how they are connected. Each gets the ports, and the components
 * that it needs. What they report to each other goes through calls that are set here: such a call
 * may use a component that is made later, because none comes before the loop is started.
 */
import type { NodeId, SnapshotMeta } from '../raft/types.js';
import { LEVELS } from '../state/levels.js';
import { Availability } from './availability.js';
import { Deadlines } from './deadlines.js';
import { LeaderWatch } from './leader-watch.js';
import { AppliedLog } from './log/applied-log.js';
import { Compaction } from './log/compaction.js';
import { Erasure } from './log/erasure.js';
import { VotingSuspension } from './log/voting-suspension.js';
import { type LoopEvents, RaftLoop } from './loop.js';
import { Admission } from './members/admission.js';
import { Handover } from './members/handover.js';
import { Health } from './members/health.js';
import { Join } from './members/join.js';
import { KnownServers } from './members/known-servers.js';
import { Levels } from './members/levels.js';
import { Membership } from './members/membership.js';
import { Peers } from './members/peers.js';
import type { ReplicaLimits, ReplicaParts, ReplicaPorts, ReplicaReports } from './options.js';
import { AppliedIndex } from './reads/applied-index.js';
import { ReadIndexClient } from './reads/read-index.js';
import { Watches } from './reads/watches.js';
import { Rpc } from './rpc.js';
import { rpcHandlers } from './rpc-handlers.js';
import { StateComparison } from './state/comparison.js';
import { Divergence } from './state/divergence.js';
import { IncomingSnapshot } from './state/incoming-snapshot.js';
import { StateRecovery } from './state/recovery.js';
import { ClientWrites } from './writes/client-writes.js';
import { LeaderWrites } from './writes/leader-writes.js';

/** Election timeouts without progress after which a disk counts as hanging. */
const HANG_TIMEOUTS = 5;

const hangTicksOf = ({ electionMs, tickMs }: ReplicaLimits): number =>
  Math.ceil((electionMs * HANG_TIMEOUTS) / tickMs);

/** What the replica does when a component reports something. */
export interface ComponentEvents extends Pick<LoopEvents, 'role' | 'applied' | 'tick'> {
  /** A request failed without a change of leader: `retry` it later. */
  retryLater(): void;
  /** See Replica.switched. */
  switched(meta: SnapshotMeta, from: NodeId, done: () => void): void;
}

/** What the components are made from: the fields of a class begin only after those of its base. */
class Base {
  readonly parts: ReplicaParts;
  readonly events: ComponentEvents;
  readonly id: NodeId;
  readonly ports: ReplicaPorts;
  readonly limits: ReplicaLimits;
  readonly reports: ReplicaReports;

  constructor(parts: ReplicaParts, events: ComponentEvents) {
    this.parts = parts;
    this.events = events;
    this.id = parts.id;
    this.ports = parts.ports;
    this.limits = parts.limits;
    this.reports = parts.reports;
  }
}

/** All components of one replica. They do nothing before the loop is started. */
export class Components extends Base {
  readonly deadlines: Deadlines = new Deadlines(this.ports.clock);
  readonly watches: Watches = new Watches(this.ports.clock, this.deadlines);
  readonly appliedLog: AppliedLog = new AppliedLog(
    this.ports.log,
    this.ports.machine.appliedIndex(),
    this.limits.markEntries,
  );
  readonly applied: AppliedIndex = new AppliedIndex(() => this.ports.machine.appliedIndex());
  readonly availability: Availability = new Availability({
    isRemoved: () => this.peers.isRemoved,
    hang: () => this.loop.disks.hang,
    hasRoom: () => this.parts.hasRoom?.() ?? true,
    stopServing: () => this.watches.wakeAll(),
    stepDown: () => this.handover.stepDown(),
    onFault: (why) => this.reports.onFault?.(why),
    onHang: (why) => this.reports.onHang?.(why),
  });
  readonly loop: RaftLoop = new RaftLoop({
    ...this.ports,
    core: this.parts.core,
    limits: this.limits,
    hangTicks: hangTicksOf(this.limits),
    isBehind: this.parts.isBehind,
    measure: this.parts.measure,
    measureTick: this.parts.measureTick,
    trace: this.parts.trace,
    events: {
      ...this.events,
      turn: () => this.readIndex.drain(),
      configuration: (configuration) => this.peers.inForce(configuration),
      sendSnapshot: (to, message) => this.compaction.sendSnapshot(to, message),
    },
  });
  readonly rpc: Rpc = new Rpc({
    id: this.id,
    wire: this.ports.wire,
    role: () => this.loop.role,
    isMember: (id) => this.peers.isMember(id),
    isSettled: () => this.loop.status().configurationIndex <= this.ports.machine.appliedIndex(),
    beforeResponse: (to) => this.loop.news.tell(to),
  });
  readonly votingSuspension: VotingSuspension = new VotingSuspension({
    log: this.ports.log,
    loop: this.loop,
    // The log was shorter than what is applied: its configurations can be read only now.
    found: () => {
      this.appliedLog.restart(this.ports.machine.appliedIndex());
      this.reports.onWhole?.();
    },
  });
  readonly compaction: Compaction = new Compaction({
    ...this.ports,
    limits: this.limits,
    loop: this.loop,
    appliedLog: this.appliedLog,
    records: this.parts.records,
    mayCopy: () =>
      this.availability.fault === undefined &&
      (this.limits.compareTicks === 0 || this.comparison.mayCopy(this.loop.role.term)),
  });
  readonly erasure: Erasure | undefined =
    this.parts.erase &&
    new Erasure({
      ...this.ports,
      erase: this.parts.erase,
      compaction: this.compaction,
      spreadMs: this.limits.eraseSpreadMs,
      isLeader: () => this.loop.role.role === 'leader',
    });
  /** What the components that talk with other members have in common. */
  readonly #talk = {
    ...this.ports,
    id: this.id,
    limits: this.limits,
    loop: this.loop,
    rpc: this.rpc,
  };
  readonly peers: Peers = new Peers({
    ...this.#talk,
    appliedLog: this.appliedLog,
    onMembers: this.reports.onMembers,
    removed: () => this.availability.closed(),
    gone: (ids) => this.knownServers.removed(ids),
  });
  readonly levels: Levels = new Levels({
    ...this.#talk,
    table: this.parts.levels ?? LEVELS,
    applied: this.applied,
    isChanging: () => this.membership.isChanging,
  });
  readonly health: Health = new Health(this.#talk);
  readonly leaderWatch: LeaderWatch = new LeaderWatch({
    ...this.#talk,
    onLeaderless: (leaderless) => this.reports.onLeaderless?.(leaderless),
  });
  readonly handover: Handover = new Handover({
    ...this.#talk,
    hasRoom: this.parts.hasRoom,
    transfer: (done) => this.membership.transfer(null, done),
  });
  readonly leaderWrites: LeaderWrites = new LeaderWrites({
    ...this.ports,
    loop: this.loop,
    applied: this.applied,
    pendingWrites: this.limits.pendingWrites,
    lateTicks: hangTicksOf(this.limits),
    gate: (state, tokenKey, command) =>
      this.levels.refusal(command) ?? this.parts.gate(state, tokenKey, command),
    prepareGate: this.parts.prepareGate,
    isUnfit: () => this.availability.isUnfit,
    closedFor: (command) => this.parts.closedFor?.(command),
    isFullEverywhere: () => this.handover.isFullEverywhere,
  });
  readonly clientWrites: ClientWrites = new ClientWrites({
    ...this.#talk,
    deadlines: this.deadlines,
    applied: this.applied,
    leaderWrites: this.leaderWrites,
    waitingWrites: this.limits.waitingWrites,
    waitingBytes: this.limits.waitingBytes,
    lateMs: this.limits.electionMs,
    committedIndex: () => {
      const { commit, announced } = this.loop.status();
      return Math.max(commit, announced, this.ports.machine.appliedIndex());
    },
    role: () => this.loop.role,
    remembered: (request) => this.ports.machine.remembered(request),
    retryLater: () => this.events.retryLater(),
    barrier: (timeoutMs, done) => this.readIndex.wait('default', timeoutMs, done),
  });
  readonly readIndex: ReadIndexClient = new ReadIndexClient({
    ...this.#talk,
    deadlines: this.deadlines,
    applied: this.applied,
    retryLater: () => this.events.retryLater(),
  });
  readonly membership: Membership = new Membership({
    ...this.#talk,
    askApplied: (of, done) => this.levels.askApplied(of, done),
    keyOf: (of) =>
      of === this.id
        ? this.ports.identity.get().keyPair?.publicKey
        : this.knownServers.get(of)?.publicKey,
    hasKeys: () => this.levels.permits('configuration/publicKey'),
  });
  readonly admission: Admission = new Admission({
    ...this.ports,
    loop: this.loop,
    membership: this.membership,
    levels: this.levels,
    log: (...line) => this.reports.onJoining?.(...line),
  });
  readonly divergence: Divergence = new Divergence({
    availability: this.availability,
    onDiffers: this.reports.onDiffers,
  });
  readonly comparison: StateComparison = new StateComparison({
    id: this.id,
    rpc: this.rpc,
    timeoutMs: this.limits.askMs,
    checksums: this.ports.machine,
    peers: () => this.loop.status().configuration.members.map(({ id }) => id),
    differs: (index, table) => this.divergence.found(index, table),
    undecided: (index, table, successor) => {
      const where = `in table "${table}" at index ${index}`;
      this.reports.onUndecided?.(
        `the servers' states differ ${where}, and too few can be compared to tell which is right`,
      );
      if (successor !== undefined) this.loop.transfer(successor);
    },
  });
  readonly knownServers: KnownServers = new KnownServers(this.#talk);
  readonly join: Join = new Join({
    ...this.#talk,
    name: this.parts.name,
    address: this.parts.address,
    level: () => this.levels.supported,
    token: () => this.parts.joinToken?.(),
    isBelieved: (joiner) => this.parts.isBelieved?.(joiner) ?? true,
    log: (...line) => this.reports.onJoining?.(...line),
  });
  readonly recovery: StateRecovery = new StateRecovery({
    ...this.#talk,
    availability: this.availability,
    isArriving: () => this.incomingSnapshot.isArriving,
  });
  readonly incomingSnapshot: IncomingSnapshot = new IncomingSnapshot({
    clock: this.ports.clock,
    loop: this.loop,
    recovery: this.recovery,
    reload: () => this.ports.machine.reload(),
    switched: (meta, from, done) => this.events.switched(meta, from, done),
  });

  constructor(parts: ReplicaParts, events: ComponentEvents) {
    super(parts, events);
    const { machine } = parts.ports;
    this.rpc.serve(rpcHandlers(this, parts));
    machine.onChanged((keys) => this.watches.changed(keys));
    machine.onReplaced?.(() => this.watches.wakeAll());
  }
}
