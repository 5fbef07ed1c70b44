/**
 * One member of the cluster, whole but for its ports: the loop and everything that stands around it. Completions are
 * calls; there are no promises, timers or chance in here, so the simulation runs it as it is.
 */
import { type Refusal, refusal } from '../errors.js';
import type {
  Entry,
  Index,
  Message,
  NodeId,
  RaftCore,
  RoleChange,
  SnapshotMeta,
} from '../raft/types.js';
import { LEVELS, type LevelTable } from '../state/levels.js';
import type { Command, View } from '../state/types.js';
import { Deadlines } from './deadlines.js';
import { AppliedLog, type CompactionLimits } from './log/applied-log.js';
import { Compaction } from './log/compaction.js';
import { Erasure } from './log/erasure.js';
import { VotingSuspension } from './log/voting-suspension.js';
import { type LoopLimits, RaftLoop } from './loop.js';
import { Admission } from './members/admission.js';
import { Handover } from './members/handover.js';
import { Levels } from './members/levels.js';
import { Membership } from './members/membership.js';
import { Peers } from './members/peers.js';
import type { ClockPort, LogPort, MachinePort, Reply, WirePort } from './ports.js';
import { AppliedIndex } from './reads/applied-index.js';
import { type BarrierMode, ReadIndexClient } from './reads/read-index.js';
import { Watches } from './reads/watches.js';
import {
  ACCEPTED_FROM,
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  type RpcRequest,
  type RpcResponse,
} from './rpc.js';
import { type ChecksumPort, StateComparison } from './state/comparison.js';
import { type Gate, INTERNAL_KEY, type WriteRequest } from './types.js';
import { ClientWrites, noLeader, type WriteDone } from './writes/client-writes.js';
import { LeaderWrites } from './writes/leader-writes.js';

export interface ReplicaLimits extends LoopLimits, CompactionLimits {
  /** Proposals of this leader whose fate is open; writes held by this node. More are refused as too_many. */
  readonly pendingMax: number;
  readonly heldMax: number;
  /** Milliseconds until something that failed without a change of leader is tried again. */
  readonly retryMs: number;
  /** Milliseconds without a majority's answers after which a leader gives up its office. */
  readonly electionMs: number;
  /** Milliseconds for a question to a peer that has no deadline of its own. */
  readonly askMs: number;
  /** Ticks between comparisons of the members' checksums; 0: never. */
  readonly compareTicks: number;
  /** A learner is promoted when it is at most so many entries behind. */
  readonly promoteLagMax: number;
}

export interface ReplicaParts {
  readonly id: NodeId;
  readonly core: RaftCore;
  readonly log: LogPort;
  readonly wire: WirePort;
  readonly machine: MachinePort & Partial<ChecksumPort>;
  readonly clock: ClockPort;
  /** The applied state of this node. */
  readonly view: View;
  readonly gate: Gate;
  readonly newId: () => string;
  readonly limits: ReplicaLimits;
  /** Why this node as a leader takes no such command at present, besides its own faults (disk at its reserve). */
  readonly closedFor?: (command: Command) => Refusal | undefined;
  /** What this release supports; by default what the product does. */
  readonly levels?: LevelTable;
  /** False while the disk of this node is at its reserve. */
  readonly hasRoom?: () => boolean;
  /** The state is wrong, and will be after a restart. */
  readonly onDiffers?: (why: string) => void;
  /** States differ, but not by whose fault. */
  readonly onUndecided?: (why: string) => void;
  readonly onRole?: (change: RoleChange) => void;
  /** See PeersParts.changed. */
  readonly onMembers?: (what: string) => void;
  /** See PeersParts.gone. */
  readonly onGone?: (ids: readonly NodeId[]) => void;
  /** What a leader says of servers that ask to join. */
  readonly onJoining?: (level: 'info' | 'warn', what: string) => void;
  /** This node stopped serving, and why; undefined: it serves again. */
  readonly onFault?: (why: string | undefined) => void;
  /** A disk hangs (see DiskWatch), so that another member should lead; undefined: it makes progress again. */
  readonly onHang?: (why: string | undefined) => void;
  /** The entries that its disk had lost are here again. */
  readonly onWhole?: () => void;
  /** See LoopParts. */
  readonly isBehind?: () => boolean;
  /** See ErasureParts; without it nothing is erased. */
  readonly erase?: (done: () => void) => void;
  /** NodeStatus of this node as JSON, for members that ask their leader. */
  readonly statusText?: () => string;
}

/** `default` reads by the leader's lease, `consistent` ones by a round to a quorum (§6.4). */
const READ_MODE = { default: 'lease', consistent: 'quorum' } as const;

/** Questions that do not depend on who asks. */
export type LeaderRequest = Exclude<RpcRequest, { type: 'state' }>;

/** Election timeouts without progress after which a disk counts as hanging. */
const HANG_TIMEOUTS = 5;

/** The fault of a server that knows of its removal. */
export const REMOVED = 'it was removed from the cluster';

export class Replica {
  readonly loop: RaftLoop;
  readonly watches: Watches;
  readonly deadlines: Deadlines;
  readonly appliedLog: AppliedLog;
  readonly comparison: StateComparison | undefined;
  readonly clientWrites: ClientWrites;
  readonly membership: Membership;
  readonly levels: Levels;
  readonly #admission: Admission;
  readonly #parts: ReplicaParts;
  readonly #applied: AppliedIndex;
  readonly #readIndex: ReadIndexClient;
  readonly #leaderWrites: LeaderWrites;
  readonly #votingSuspension: VotingSuspension;
  readonly #compaction: Compaction;
  readonly #erasure: Erasure | undefined;
  readonly #peers: Peers;
  readonly #handover: Handover;
  #fault: string | undefined;
  #notReady: string | undefined;
  /** The last that `onFault` and `onHang` heard. */
  #toldFault: string | undefined;
  #toldHang: string | undefined;
  #ticks = 0;
  /** Where the state was last replaced as a whole: a verdict on the one before does not count. */
  #replacedIndex: Index = 0;
  #cancelRetry: (() => void) | undefined;

  constructor(parts: ReplicaParts) {
    const { core, log, wire, machine, clock, limits, id } = parts;
    this.#parts = parts;
    this.watches = new Watches(clock);
    this.deadlines = new Deadlines(clock);
    this.appliedLog = new AppliedLog(log, machine.appliedIndex(), limits.markEntries);
    const applied = new AppliedIndex(() => machine.appliedIndex());
    this.#applied = applied;
    const { isBehind } = parts;
    const events = this.#events();
    const hangTicks = Math.ceil((limits.electionMs * HANG_TIMEOUTS) / limits.tickMs);
    const loop = new RaftLoop({
      ...{ core, log, wire, machine, clock, limits, events, isBehind, hangTicks },
    });
    this.loop = loop;
    const askMs = limits.askMs;
    const { appliedLog } = this;
    this.#votingSuspension = new VotingSuspension({
      ...{ loop, log },
      // The log was short of what is applied: its configurations can be read only now.
      found: () => {
        appliedLog.restart(machine.appliedIndex());
        parts.onWhole?.();
      },
    });
    this.#compaction = new Compaction({
      ...{ loop, log, machine, wire, appliedLog, limits },
      mayCopy: () =>
        this.fault === undefined &&
        (limits.compareTicks === 0 || (this.comparison?.mayCopy(loop.role.term) ?? true)),
    });
    const { view, erase } = parts;
    const compaction = this.#compaction;
    this.#erasure = erase && new Erasure({ view, log, compaction, erase });
    this.#peers = new Peers({
      ...{ id, loop, wire, clock, appliedLog, askMs },
      removed: () => this.#closed(),
      changed: (what) => parts.onMembers?.(what),
      gone: (ids) => parts.onGone?.(ids),
    });
    this.levels = new Levels({
      ...{ id, loop, wire, clock, applied, askMs, view: parts.view, newId: parts.newId },
      table: parts.levels ?? LEVELS,
      isChanging: () => this.membership.isChanging,
    });
    const hasRoom = parts.hasRoom ?? (() => true);
    const { promoteLagMax, electionMs } = limits;
    this.#handover = new Handover({
      ...{ id, loop, wire, hasRoom, askMs, lagMax: promoteLagMax },
    });
    this.#leaderWrites = new LeaderWrites({
      ...parts,
      gate: (view, tokenKey, command) =>
        this.levels.refusal(command) ?? parts.gate(view, tokenKey, command),
      ...{ loop, applied, pendingMax: limits.pendingMax },
      isUnfit: () => this.#isUnfit,
      closedFor: (command) => parts.closedFor?.(command),
      isFullEverywhere: () => this.#handover.isFullEverywhere,
    });
    const retryLater = (): void => this.#retryLater();
    this.clientWrites = new ClientWrites({
      ...{
        id,
        wire,
        clock,
        deadlines: this.deadlines,
        applied,
        leaderWrites: this.#leaderWrites,
        retryLater,
      },
      appliedIndex: () => machine.appliedIndex(),
      role: () => loop.role,
      newId: parts.newId,
      remembered: (request) => machine.remembered(request),
      ...{ heldMax: limits.heldMax, lateMs: electionMs },
    });
    this.#readIndex = new ReadIndexClient({
      ...{ applied, deadlines: this.deadlines, retryLater, wake: () => loop.wake() },
      ask: (mode, done) => this.#askIndex(mode, done),
    });
    this.membership = new Membership({
      ...{ id, loop, clock, promoteLagMax, contactMsMax: askMs, electionMs },
    });
    this.#admission = new Admission({
      ...{ loop, clock, view: parts.view, membership: this.membership, levels: this.levels },
      newId: parts.newId,
      log: (level, what) => parts.onJoining?.(level, what),
    });
    this.comparison = this.#createComparison();
    machine.onChanged((keys) => this.watches.changed(keys));
    machine.onReplaced?.(() => this.watches.wakeAll());
  }

  start(): void {
    this.#peers.inForce(this.loop.status().configuration);
    this.loop.start();
  }

  /** Ends everything that is held, then the loop. */
  stop(): void {
    this.#fault ??= 'the server is stopping';
    this.#leaderWrites.stop();
    this.clientWrites.stop();
    this.#readIndex.stop();
    this.watches.wakeAll();
    this.#cancelRetry?.();
    this.loop.stop();
  }

  /** Why this node does not serve, if it does not. */
  get fault(): string | undefined {
    return this.#fault ?? this.#notReady ?? (this.#peers.isRemoved ? REMOVED : undefined);
  }

  /** Why another member should lead although this one serves. */
  get hang(): string | undefined {
    return this.loop.disks.hang;
  }

  /** Another member should lead. */
  get #isUnfit(): boolean {
    return this.fault !== undefined || this.hang !== undefined;
  }

  /** Why this node does not serve yet; undefined once it does. */
  set notReady(why: string | undefined) {
    this.#notReady = why;
    if (why === undefined) return;
    this.#tellFault();
    this.#handover.abdicate();
  }

  /** This node stops serving; it goes on following, and hands leadership over. */
  fail(why: string): void {
    this.#fault ??= why;
    this.#closed();
  }

  /** It serves no more: what is held is answered, and another one leads. */
  #closed(): void {
    this.#tellFault();
    this.watches.wakeAll();
    this.#handover.abdicate();
  }

  #tellFault(): void {
    const { fault } = this;
    if (fault === this.#toldFault) return;
    this.#toldFault = fault;
    this.#parts.onFault?.(fault);
  }

  #tellHang(): void {
    const { hang } = this;
    if (hang === this.#toldHang) return;
    this.#toldHang = hang;
    this.#parts.onHang?.(hang);
  }

  /** Why a read did not pass here that may pass elsewhere. */
  #hangs(): Refusal | undefined {
    const { hang } = this;
    return hang === undefined
      ? undefined
      : refusal('unavailable', `This server cannot follow the leader: ${hang}`);
  }

  /** The refusal of a node that does not serve. */
  closed(): Refusal | undefined {
    const { fault } = this;
    return fault === undefined
      ? undefined
      : refusal('unavailable', `This server does not serve: ${fault}`);
  }

  write(request: WriteRequest, done: WriteDone): void {
    const closed = this.closed() ?? this.levels.refusal(request.command);
    if (closed === undefined) this.clientWrites.write(request, done);
    else done({ refusal: closed });
  }

  /** `done` gets undefined when this node has applied everything acknowledged before the call. */
  barrier(mode: BarrierMode, timeoutMs: number, done: (why?: Refusal) => void): void {
    const closed = this.closed();
    if (closed !== undefined) {
      done(closed);
      return;
    }
    const deadlineMs = this.#parts.clock.now() + timeoutMs;
    this.#readIndex.wait(mode, deadlineMs, (passed) =>
      passed ? done() : done(this.closed() ?? this.#hangs() ?? noLeader()),
    );
  }

  watch(keys: readonly string[], wake: () => void): () => void {
    return this.watches.watch(keys, wake);
  }

  /** What failed without a change of leader may work now. */
  retry(): void {
    this.clientWrites.retry();
    this.#readIndex.retry(false);
  }

  /** Asks whoever leads for a change of the membership. Such a question is asked once, not repeated. */
  administer(ask: LeaderRequest, timeoutMs: number, done: (answer: RpcResponse) => void): void {
    const { leader } = this.loop.role;
    const { id, wire } = this.#parts;
    if (leader === null) done({ type: 'refused', refusal: noLeader() });
    else if (leader === id) this.#answer(ask, id, done);
    else {
      wire.request(leader, encodeRequest(ask), timeoutMs, (bytes, fate) => {
        const answer = bytes === undefined ? undefined : decodeResponse(bytes);
        done(answer ?? { type: fate === 'unsent' ? 'retry' : 'unknown' });
      });
    }
  }

  receive(message: Message): void {
    this.loop.receive(message);
  }

  /** Answers a peer's question. */
  onRequest(from: NodeId, payload: Uint8Array, reply: Reply): void {
    const ask = decodeRequest(payload);
    if (ask === undefined) {
      const why = refusal('invalid', 'The question could not be decoded');
      reply(encodeResponse({ type: 'refused', refusal: why }));
      return;
    }
    const done = (answer: RpcResponse): void => reply(encodeResponse(answer));
    const why = this.#mayNotAsk(ask, from);
    if (why !== undefined) done({ type: 'refused', refusal: why });
    else if (ask.type === 'state')
      done({ type: this.#compaction.sendState(this.#parts.id, from) ? 'done' : 'retry' });
    else this.#answer(ask, from, done);
  }

  /** Why a question is not taken from this server. */
  #mayNotAsk(ask: RpcRequest, from: NodeId): Refusal | undefined {
    if (ACCEPTED_FROM[ask.type] === 'member' && !this.#peers.isMember(from))
      return refusal('unavailable', `The server ${from} is no member of the cluster`);
    if (ask.type === 'write' && ask.tokenKey === INTERNAL_KEY)
      return refusal('permission_denied', 'What a server does by itself, only its leader proposes');
    return undefined;
  }

  /** Asks the leader for the whole state. */
  requestState(): void {
    const { leader } = this.loop.role;
    const { id, wire, limits } = this.#parts;
    if (leader === null || leader === id) return;
    wire.request(leader, encodeRequest({ type: 'state' }), limits.askMs, () => {});
  }

  /** A snapshot was switched into the machine; `done` when the log agrees, durably. */
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

  #events(): ConstructorParameters<typeof RaftLoop>[0]['events'] {
    return {
      gather: () => this.#readIndex.gather(),
      role: (change) => this.#roleChanged(change),
      configuration: (configuration) => this.#peers.inForce(configuration),
      applied: (index, entries) => this.#hasApplied(index, entries),
      sendSnapshot: (to, message) => this.#compaction.sendSnapshot(to, message),
      tick: (now) => this.#tick(now),
    };
  }

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
    if (compareTicks > 0 && this.#ticks % compareTicks === 0 && this.loop.role.role === 'leader') {
      this.comparison?.compare(this.loop.role.term);
    }
    this.#tellFault();
    this.#tellHang();
    this.#handover.tick(this.#isUnfit);
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

  /** A barrier's index: from the core when this node leads, else from the leader. */
  #askIndex(mode: BarrierMode, done: (index: Index | undefined) => void): void {
    const { leader } = this.loop.role;
    const { id, wire, limits } = this.#parts;
    if (leader === null) done(undefined);
    else if (leader === id) this.loop.read(READ_MODE[mode], done);
    else {
      wire.request(leader, encodeRequest({ type: 'read', mode }), limits.askMs, (bytes) => {
        const answer = bytes === undefined ? undefined : decodeResponse(bytes);
        done(answer?.type === 'index' ? answer.index : undefined);
      });
    }
  }

  #answer(ask: LeaderRequest, from: NodeId, done: (answer: RpcResponse) => void): void {
    switch (ask.type) {
      case 'write':
        this.#leaderWrites.write(ask, done);
        break;
      case 'read':
        this.loop.read(READ_MODE[ask.mode], (index) =>
          done(index === undefined ? { type: 'retry' } : { type: 'index', index }),
        );
        break;
      case 'add':
        this.#admission.ask(ask, from, done);
        break;
      case 'admit':
        this.#admission.admit(ask.server, done);
        break;
      case 'joining': {
        const leads = this.loop.role.role === 'leader';
        const text = JSON.stringify(this.#admission.waiting);
        done(leads ? { type: 'status', text } : { type: 'retry' });
        break;
      }
      case 'member':
        done({ type: this.#peers.isMember(ask.id) ? 'done' : 'retry' });
        break;
      case 'level':
        done({ type: 'level', level: this.levels.supported });
        break;
      case 'remove':
        this.membership.remove(ask.id, done);
        break;
      case 'transfer':
        this.membership.transfer(ask.to, done);
        break;
      case 'removed':
        this.#peers.told(ask.index);
        done({ type: 'done' });
        break;
      case 'room': {
        const { hasRoom } = this.#parts;
        const isHeir = !this.#isUnfit && !this.loop.votingSuspended && hasRoom?.() !== false;
        done({ type: isHeir ? 'done' : 'retry' });
        break;
      }
      case 'status': {
        const text = this.loop.role.role === 'leader' ? this.#parts.statusText?.() : undefined;
        done(text === undefined ? { type: 'retry' } : { type: 'status', text });
        break;
      }
      case 'sums':
        // What is known to be wrong, or to be replaced, is not compared.
        done((this.fault === undefined && this.comparison?.answer(ask.index)) || { type: 'retry' });
        break;
      case 'differs':
        this.#differs(ask.index, ask.table);
        done({ type: 'done' });
    }
  }

  #createComparison(): StateComparison | undefined {
    const { id, wire, machine, limits } = this.#parts;
    const { checkpoint, checksum } = machine;
    if (checkpoint === undefined || checksum === undefined) return undefined;
    return new StateComparison({
      ...{ id, wire, timeoutMs: limits.askMs },
      checksums: { checkpoint: checkpoint.bind(machine), checksum: checksum.bind(machine) },
      peers: () => this.loop.status().configuration.members.map((member) => member.id),
      differs: (index, table) => this.#differs(index, table),
      undecided: (index, table, heir) => {
        const where = `in table "${table}" at index ${index}`;
        this.#parts.onUndecided?.(
          `the servers' states differ ${where}, and too few can be compared to tell which is right`,
        );
        if (heir !== undefined) this.loop.transfer(heir);
      },
    });
  }

  #differs(index: Index, table: string): void {
    if (this.fault !== undefined || index <= this.#replacedIndex) return;
    const why = `its state differs from the other servers' in table "${table}" at index ${index}`;
    this.#parts.onDiffers?.(why);
    this.fail(why);
  }
}
