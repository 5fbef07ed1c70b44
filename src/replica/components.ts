/**
 * The components of a replica and how they are connected. Each gets the ports, and the components
 * that it needs. What they report to each other goes through calls that are set here.
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
import type { ReplicaLimits, ReplicaParts } from './options.js';
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

/** All components of one replica. They do nothing before the loop is started. */
export class Components {
  readonly availability: Availability;
  readonly loop: RaftLoop;
  readonly rpc: Rpc;
  readonly deadlines: Deadlines;
  readonly appliedLog: AppliedLog;
  readonly applied: AppliedIndex;
  readonly readIndex: ReadIndexClient;
  readonly watches: Watches;
  readonly clientWrites: ClientWrites;
  readonly leaderWrites: LeaderWrites;
  readonly votingSuspension: VotingSuspension;
  readonly compaction: Compaction;
  readonly erasure: Erasure | undefined;
  readonly peers: Peers;
  readonly levels: Levels;
  readonly health: Health;
  readonly leaderWatch: LeaderWatch;
  readonly membership: Membership;
  readonly admission: Admission;
  readonly handover: Handover;
  readonly knownServers: KnownServers;
  readonly join: Join;
  readonly comparison: StateComparison | undefined;
  readonly divergence: Divergence;
  readonly recovery: StateRecovery;
  readonly incomingSnapshot: IncomingSnapshot;
  readonly #parts: ReplicaParts;
  readonly #events: ComponentEvents;

  constructor(parts: ReplicaParts, events: ComponentEvents) {
    const { clock, machine, limits } = parts;
    this.#parts = parts;
    this.#events = events;
    this.watches = new Watches(clock);
    this.deadlines = new Deadlines(clock);
    this.appliedLog = new AppliedLog(parts.log, machine.appliedIndex(), limits.markEntries);
    this.applied = new AppliedIndex(() => machine.appliedIndex());
    this.availability = this.#createAvailability();
    this.loop = this.#createLoop();
    this.rpc = this.#createRpc();
    const { loop, rpc, availability } = this;
    this.votingSuspension = this.#createVotingSuspension();
    this.compaction = this.#createCompaction();
    this.erasure = this.#createErasure();
    this.peers = this.#createPeers();
    this.levels = this.#createLevels();
    this.health = new Health({ ...parts, loop, rpc });
    this.leaderWatch = new LeaderWatch({
      id: parts.id,
      wire: parts.wire,
      loop,
      onLeaderless: (leaderless) => parts.onLeaderless?.(leaderless),
    });
    this.handover = this.#createHandover();
    this.leaderWrites = this.#createLeaderWrites();
    this.clientWrites = this.#createClientWrites();
    this.readIndex = this.#createReadIndex();
    this.membership = this.#createMembership();
    this.admission = this.#createAdmission();
    this.divergence = new Divergence({ ...parts, availability });
    this.comparison = this.#createComparison();
    this.knownServers = new KnownServers({ ...parts, loop, rpc });
    this.join = this.#createJoin();
    this.recovery = this.#createRecovery();
    this.incomingSnapshot = this.#createIncomingSnapshot();
    this.#serve();
    machine.onChanged((keys) => this.watches.changed(keys));
    machine.onReplaced?.(() => this.watches.wakeAll());
  }

  #serve(): void {
    this.rpc.serve(
      rpcHandlers({
        ...this.#parts,
        loop: this.loop,
        availability: this.availability,
        membership: this.membership,
        levels: this.levels,
        health: this.health,
        comparison: this.comparison,
        admission: this.admission,
        peers: this.peers,
        knownServers: this.knownServers,
        compaction: this.compaction,
        leaderWrites: this.leaderWrites,
        divergence: this.divergence,
      }),
    );
  }

  #createAvailability(): Availability {
    return new Availability({
      isRemoved: () => this.peers.isRemoved,
      hang: () => this.loop.disks.hang,
      hasRoom: () => this.#parts.hasRoom?.() ?? true,
      stopServing: () => this.watches.wakeAll(),
      stepDown: () => this.handover.stepDown(),
      onFault: (why) => this.#parts.onFault?.(why),
      onHang: (why) => this.#parts.onHang?.(why),
    });
  }

  #createLoop(): RaftLoop {
    return new RaftLoop({
      ...this.#parts,
      hangTicks: hangTicksOf(this.#parts.limits),
      events: {
        ...this.#events,
        configuration: (configuration) => this.peers.inForce(configuration),
        sendSnapshot: (to, message) => this.compaction.sendSnapshot(to, message),
      },
    });
  }

  #createRpc(): Rpc {
    return new Rpc({
      ...this.#parts,
      role: () => this.loop.role,
      isMember: (id) => this.peers.isMember(id),
      beforeResponse: (to) => this.loop.news.tell(to),
    });
  }

  #createVotingSuspension(): VotingSuspension {
    const { machine, onWhole } = this.#parts;
    return new VotingSuspension({
      ...this.#parts,
      loop: this.loop,
      // The log was shorter than what is applied: its configurations can be read only now.
      found: () => {
        this.appliedLog.restart(machine.appliedIndex());
        onWhole?.();
      },
    });
  }

  #createCompaction(): Compaction {
    const { loop, appliedLog } = this;
    const { compareTicks } = this.#parts.limits;
    return new Compaction({
      ...this.#parts,
      loop,
      appliedLog,
      mayCopy: () =>
        this.availability.fault === undefined &&
        (compareTicks === 0 || (this.comparison?.mayCopy(loop.role.term) ?? true)),
    });
  }

  #createErasure(): Erasure | undefined {
    const { erase, limits } = this.#parts;
    return (
      erase &&
      new Erasure({
        ...this.#parts,
        erase,
        compaction: this.compaction,
        spreadMs: limits.eraseSpreadMs,
        isLeader: () => this.loop.role.role === 'leader',
      })
    );
  }

  #createPeers(): Peers {
    const { loop, rpc, appliedLog } = this;
    return new Peers({
      ...this.#parts,
      loop,
      rpc,
      appliedLog,
      removed: () => this.availability.closed(),
      gone: (ids) => this.knownServers.removed(ids),
    });
  }

  #createLevels(): Levels {
    return new Levels({
      ...this.#parts,
      loop: this.loop,
      rpc: this.rpc,
      table: this.#parts.levels ?? LEVELS,
      applied: this.applied,
      isChanging: () => this.membership.isChanging,
    });
  }

  #createHandover(): Handover {
    const { loop, rpc } = this;
    const transfer = (done: () => void): void => this.membership.transfer(null, done);
    return new Handover({ ...this.#parts, loop, rpc, transfer });
  }

  #createLeaderWrites(): LeaderWrites {
    const { limits, gate, closedFor } = this.#parts;
    return new LeaderWrites({
      ...this.#parts,
      loop: this.loop,
      applied: this.applied,
      pendingWrites: limits.pendingWrites,
      lateTicks: hangTicksOf(limits),
      gate: (state, tokenKey, command) =>
        this.levels.refusal(command) ?? gate(state, tokenKey, command),
      isUnfit: () => this.availability.isUnfit,
      closedFor: (command) => closedFor?.(command),
      isFullEverywhere: () => this.handover.isFullEverywhere,
    });
  }

  #createClientWrites(): ClientWrites {
    const { machine, limits } = this.#parts;
    return new ClientWrites({
      ...this.#parts,
      rpc: this.rpc,
      deadlines: this.deadlines,
      applied: this.applied,
      leaderWrites: this.leaderWrites,
      waitingWrites: limits.waitingWrites,
      waitingBytes: limits.waitingBytes,
      lateMs: limits.electionMs,
      committedIndex: () => {
        const { commit, announced } = this.loop.status();
        return Math.max(commit, announced, machine.appliedIndex());
      },
      role: () => this.loop.role,
      remembered: (request) => machine.remembered(request),
      retryLater: () => this.#events.retryLater(),
    });
  }

  #createReadIndex(): ReadIndexClient {
    const { rpc, loop, deadlines } = this;
    const retryLater = (): void => this.#events.retryLater();
    const { applied } = this;
    const readIndex = new ReadIndexClient({
      ...this.#parts,
      rpc,
      loop,
      deadlines,
      applied,
      retryLater,
    });
    loop.readIndex = readIndex;
    return readIndex;
  }

  #createMembership(): Membership {
    return new Membership({
      ...this.#parts,
      loop: this.loop,
      askApplied: (of, done) => this.levels.askApplied(of, done),
      keyOf: (of) =>
        of === this.#parts.id
          ? this.#parts.identity.get().keyPair?.publicKey
          : this.knownServers.get(of)?.publicKey,
      hasKeys: () => this.levels.permits('configuration/publicKey'),
    });
  }

  #createAdmission(): Admission {
    const { loop, membership, levels } = this;
    const { onJoining: log = () => {} } = this.#parts;
    return new Admission({ ...this.#parts, loop, membership, levels, log });
  }

  #createJoin(): Join {
    const { joinToken, isBelieved, onJoining: log = () => {} } = this.#parts;
    return new Join({
      ...this.#parts,
      loop: this.loop,
      rpc: this.rpc,
      level: () => this.levels.supported,
      token: () => joinToken?.(),
      isBelieved: (joiner) => isBelieved?.(joiner) ?? true,
      log,
    });
  }

  #createRecovery(): StateRecovery {
    const { loop, rpc, availability } = this;
    const isArriving = (): boolean => this.incomingSnapshot.isArriving;
    return new StateRecovery({ ...this.#parts, loop, rpc, availability, isArriving });
  }

  #createIncomingSnapshot(): IncomingSnapshot {
    return new IncomingSnapshot({
      ...this.#parts,
      loop: this.loop,
      recovery: this.recovery,
      reload: () => this.#parts.machine.reload(),
      switched: (meta, from, done) => this.#events.switched(meta, from, done),
    });
  }

  #createComparison(): StateComparison | undefined {
    const { id, machine, limits, onUndecided } = this.#parts;
    const { checkpoint, checksum } = machine;
    if (checkpoint === undefined || checksum === undefined) return undefined;
    return new StateComparison({
      id,
      rpc: this.rpc,
      timeoutMs: limits.askMs,
      checksums: { checkpoint: checkpoint.bind(machine), checksum: checksum.bind(machine) },
      peers: () => this.loop.status().configuration.members.map((member) => member.id),
      differs: (index, table) => this.divergence.found(index, table),
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
