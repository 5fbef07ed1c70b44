/**
 * One member of the cluster, whole but for its ports: the driver and everything that stands around it. Completions are
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
import { Agreement, type ChecksumPort } from './agreement.js';
import { AppliedWaiters } from './applied.js';
import { Approval } from './approval.js';
import {
  type Answer,
  ASKED_BY,
  type Ask,
  decodeAnswer,
  decodeAsk,
  encodeAnswer,
  encodeAsk,
} from './asks.js';
import { type BarrierMode, Barriers } from './barriers.js';
import { Compaction } from './compaction.js';
import { Deadlines } from './deadlines.js';
import { Driver, type DriverLimits } from './driver.js';
import { Erasure } from './erasure.js';
import { Forward, noLeader, type WriteDone } from './forward.js';
import { Handover } from './handover.js';
import { Lead } from './lead.js';
import { Levels } from './levels.js';
import { LostEntries } from './lost-entries.js';
import { Membership } from './membership.js';
import type { ClockPort, LogPort, MachinePort, Reply, WirePort } from './ports.js';
import { type CutLimits, Positions } from './positions.js';
import { Roster } from './roster.js';
import { type Gate, INTERNAL_KEY, type WriteRequest } from './types.js';
import { Watches } from './watches.js';

export interface ReplicaLimits extends DriverLimits, CutLimits {
  /** Proposals of this leader whose fate is open; writes held by this node. More are refused as too_many. */
  readonly pendingWrites: number;
  readonly waitingWrites: number;
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
  /** See RosterParts.changed. */
  readonly onMembers?: (what: string) => void;
  /** See RosterParts.gone. */
  readonly onGone?: (ids: readonly NodeId[]) => void;
  /** What a leader says of servers that ask to join. */
  readonly onJoining?: (level: 'info' | 'warn', what: string) => void;
  /** This node stopped serving, and why; undefined: it serves again. */
  readonly onFault?: (why: string | undefined) => void;
  /** A disk hangs (see DiskWatch), so that another member should lead; undefined: it makes progress again. */
  readonly onHang?: (why: string | undefined) => void;
  /** The entries that its disk had lost are here again. */
  readonly onWhole?: () => void;
  /** See DriverParts. */
  readonly isBehind?: () => boolean;
  /** See ErasureParts; without it nothing is erased. */
  readonly erase?: (done: () => void) => void;
  /** NodeStatus of this node as JSON, for members that ask their leader. */
  readonly statusText?: () => string;
}

/** `default` reads by the leader's lease, `consistent` ones by a round to a quorum (§6.4). */
const READ_MODE = { default: 'lease', consistent: 'quorum' } as const;

/** Questions that do not depend on who asks. */
export type LeaderAsk = Exclude<Ask, { type: 'state' }>;

/** Election timeouts without progress after which a disk counts as hanging. */
const HANG_TIMEOUTS = 5;

/** The fault of a server that knows of its removal. */
export const REMOVED = 'it was removed from the cluster';

export class Replica {
  readonly driver: Driver;
  readonly watches: Watches;
  readonly deadlines: Deadlines;
  readonly positions: Positions;
  readonly agreement: Agreement | undefined;
  readonly forward: Forward;
  readonly membership: Membership;
  readonly levels: Levels;
  readonly #approval: Approval;
  readonly #parts: ReplicaParts;
  readonly #applied: AppliedWaiters;
  readonly #barriers: Barriers;
  readonly #lead: Lead;
  readonly #lostEntries: LostEntries;
  readonly #compaction: Compaction;
  readonly #erasure: Erasure | undefined;
  readonly #roster: Roster;
  readonly #handover: Handover;
  #fault: string | undefined;
  #unready: string | undefined;
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
    this.positions = new Positions(log, machine.appliedIndex(), limits.markEntries);
    const applied = new AppliedWaiters(() => machine.appliedIndex());
    this.#applied = applied;
    const { isBehind } = parts;
    const events = this.#events();
    const hangTicks = Math.ceil((limits.electionMs * HANG_TIMEOUTS) / limits.tickMs);
    const driver = new Driver({
      ...{ core, log, wire, machine, clock, limits, events, isBehind, hangTicks },
    });
    this.driver = driver;
    const askMs = limits.askMs;
    const { positions } = this;
    this.#lostEntries = new LostEntries({
      ...{ driver, log },
      // The log was short of what is applied: its configurations can be read only now.
      found: () => {
        positions.restart(machine.appliedIndex());
        parts.onWhole?.();
      },
    });
    this.#compaction = new Compaction({
      ...{ driver, log, machine, wire, positions, limits },
      mayCopy: () =>
        this.fault === undefined &&
        (limits.compareTicks === 0 || (this.agreement?.mayCopy(driver.role.term) ?? true)),
    });
    const { view, erase } = parts;
    const compaction = this.#compaction;
    this.#erasure = erase && new Erasure({ view, log, compaction, erase });
    this.#roster = new Roster({
      ...{ id, driver, wire, clock, positions, askMs },
      removed: () => this.#closed(),
      changed: (what) => parts.onMembers?.(what),
      gone: (ids) => parts.onGone?.(ids),
    });
    this.levels = new Levels({
      ...{ id, driver, wire, clock, applied, askMs, view: parts.view, newId: parts.newId },
      table: parts.levels ?? LEVELS,
      isChanging: () => this.membership.isChanging,
    });
    const hasRoom = parts.hasRoom ?? (() => true);
    const { promoteLagMax, electionMs } = limits;
    this.#handover = new Handover({
      ...{ id, driver, wire, hasRoom, askMs, lagMax: promoteLagMax },
    });
    this.#lead = new Lead({
      ...parts,
      gate: (view, tokenKey, command) =>
        this.levels.refusal(command) ?? parts.gate(view, tokenKey, command),
      ...{ driver, applied, pendingWrites: limits.pendingWrites, lateTicks: hangTicks },
      isUnfit: () => this.#isUnfit,
      closedFor: (command) => parts.closedFor?.(command),
      isFullEverywhere: () => this.#handover.isFullEverywhere,
    });
    const retryLater = (): void => this.#retryLater();
    this.forward = new Forward({
      ...{ id, wire, clock, deadlines: this.deadlines, applied, lead: this.#lead, retryLater },
      appliedIndex: () => machine.appliedIndex(),
      role: () => driver.role,
      newId: parts.newId,
      remembered: (request) => machine.remembered(request),
      ...{ waitingWrites: limits.waitingWrites, lateMs: electionMs },
    });
    this.#barriers = new Barriers({
      ...{ applied, deadlines: this.deadlines, retryLater, wake: () => driver.wake() },
      ask: (mode, done) => this.#askIndex(mode, done),
    });
    this.membership = new Membership({
      ...{ id, driver, clock, promoteLagMax, contactMsMax: askMs, electionMs },
      askApplied: (of, done) => this.levels.askApplied(of, done),
    });
    this.#approval = new Approval({
      ...{ driver, clock, view: parts.view, membership: this.membership, levels: this.levels },
      newId: parts.newId,
      log: (level, what) => parts.onJoining?.(level, what),
    });
    this.agreement = this.#agreement();
    machine.onChanged((keys) => this.watches.changed(keys));
    machine.onReplaced?.(() => this.watches.wakeAll());
  }

  start(): void {
    this.#roster.inForce(this.driver.status().configuration);
    this.driver.start();
  }

  /** Ends everything that is held, then the loop. */
  stop(): void {
    this.#fault ??= 'the server is stopping';
    this.#lead.stop();
    this.forward.stop();
    this.#barriers.stop();
    this.watches.wakeAll();
    this.#cancelRetry?.();
    this.driver.stop();
  }

  /** Why this node does not serve, if it does not. */
  get fault(): string | undefined {
    return this.#fault ?? this.#unready ?? (this.#roster.isRemoved ? REMOVED : undefined);
  }

  /** Why another member should lead although this one serves. */
  get hang(): string | undefined {
    return this.driver.disks.hang;
  }

  /** Much of what is known to be committed is not applied here. */
  get #isLagging(): boolean {
    const { machine, limits } = this.#parts;
    return this.driver.status().commit - machine.appliedIndex() > limits.promoteLagMax;
  }

  /** Another member should lead. */
  get #isUnfit(): boolean {
    return this.fault !== undefined || this.hang !== undefined;
  }

  /** Why this node does not serve yet; undefined once it does. */
  set unready(why: string | undefined) {
    this.#unready = why;
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
    if (closed === undefined) this.forward.write(request, done);
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
    this.#barriers.wait(mode, deadlineMs, (passed) =>
      passed ? done() : done(this.closed() ?? this.#hangs() ?? noLeader()),
    );
  }

  watch(keys: readonly string[], wake: () => void): () => void {
    return this.watches.watch(keys, wake);
  }

  /** What failed without a change of leader may work now. */
  retry(): void {
    this.forward.retry();
    this.#barriers.retry(false);
  }

  /** Asks whoever leads for a change of the membership. Such a question is asked once, not repeated. */
  administer(ask: LeaderAsk, timeoutMs: number, done: (answer: Answer) => void): void {
    const { leader } = this.driver.role;
    const { id, wire } = this.#parts;
    if (leader === null) done({ type: 'refused', refusal: noLeader() });
    else if (leader === id) this.#answer(ask, id, done);
    else {
      wire.request(leader, encodeAsk(ask), timeoutMs, (bytes, fate) => {
        const answer = bytes === undefined ? undefined : decodeAnswer(bytes);
        done(answer ?? { type: fate === 'unsent' ? 'retry' : 'unknown' });
      });
    }
  }

  receive(message: Message): void {
    this.driver.receive(message);
  }

  /** Answers a peer's question. */
  asked(from: NodeId, payload: Uint8Array, reply: Reply): void {
    const ask = decodeAsk(payload);
    if (ask === undefined) {
      const why = refusal('invalid', 'The question could not be decoded');
      reply(encodeAnswer({ type: 'refused', refusal: why }));
      return;
    }
    const done = (answer: Answer): void => reply(encodeAnswer(answer));
    const why = this.#mayNotAsk(ask, from);
    // A server whose log was damaged may not know the configuration, not even that it is a member.
    if (why !== undefined && !this.#roster.isMember(this.#parts.id)) done({ type: 'retry' });
    else if (why !== undefined) done({ type: 'refused', refusal: why });
    else if (ask.type === 'state')
      done({ type: this.#compaction.sendState(this.#parts.id, from) ? 'done' : 'retry' });
    else this.#answer(ask, from, done);
  }

  /** Why a question is not taken from this server. */
  #mayNotAsk(ask: Ask, from: NodeId): Refusal | undefined {
    if (ASKED_BY[ask.type] === 'member' && !this.#roster.isMember(from))
      return refusal('unavailable', `The server ${from} is no member of the cluster`);
    if (ask.type === 'write' && ask.tokenKey === INTERNAL_KEY)
      return refusal('permission_denied', 'What a server does by itself, only its leader proposes');
    return undefined;
  }

  /** Asks the leader for the whole state. */
  askForState(): void {
    const { leader } = this.driver.role;
    const { id, wire, limits } = this.#parts;
    if (leader === null || leader === id) return;
    wire.request(leader, encodeAsk({ type: 'state' }), limits.askMs, () => {});
  }

  /** A snapshot was switched into the machine; `done` when the log agrees, durably. */
  switched(meta: SnapshotMeta, from: NodeId, done: () => void): void {
    this.#replacedIndex = meta.index;
    this.#roster.replaced(this.positions.configurationAt(meta.index), meta.configuration);
    this.driver.switched(meta, from, () => {
      this.positions.restart(meta.index);
      this.#hasApplied(meta.index, []);
      this.watches.wakeAll();
      this.#lostEntries.look();
      done();
    });
  }

  #events(): ConstructorParameters<typeof Driver>[0]['events'] {
    return {
      gather: () => this.#barriers.gather(),
      role: (change) => this.#roleChanged(change),
      configuration: (configuration) => this.#roster.inForce(configuration),
      applied: (index, entries) => this.#hasApplied(index, entries),
      sendSnapshot: (to, message) => this.#compaction.sendSnapshot(to, message),
      tick: (now) => this.#tick(now),
    };
  }

  #roleChanged(change: RoleChange): void {
    this.#lead.role(change);
    this.forward.role();
    this.#barriers.retry(true);
    this.membership.role();
    this.#parts.onRole?.(change);
  }

  #hasApplied(index: Index, entries: readonly Entry[]): void {
    this.positions.advance(entries);
    this.#applied.reached(index);
    for (const entry of entries) if (entry.kind === 'configuration') this.#roster.applied(entry);
  }

  #tick(now: number): void {
    this.membership.tick(now);
    this.levels.tick(now);
    this.#ticks += 1;
    const { compareTicks } = this.#parts.limits;
    if (
      compareTicks > 0 &&
      this.#ticks % compareTicks === 0 &&
      this.driver.role.role === 'leader'
    ) {
      this.agreement?.compare(this.driver.role.term);
    }
    this.#tellFault();
    this.#tellHang();
    this.#lead.tick();
    this.#handover.tick(this.#isUnfit, this.#lead.isLate);
    this.forward.tick(now);
    this.#lostEntries.tick();
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
    const { leader } = this.driver.role;
    const { id, wire, limits } = this.#parts;
    if (leader === null) done(undefined);
    else if (leader === id) this.driver.read(READ_MODE[mode], done);
    else {
      wire.request(leader, encodeAsk({ type: 'read', mode }), limits.askMs, (bytes) => {
        const answer = bytes === undefined ? undefined : decodeAnswer(bytes);
        done(answer?.type === 'index' ? answer.index : undefined);
      });
    }
  }

  #answer(ask: LeaderAsk, from: NodeId, done: (answer: Answer) => void): void {
    switch (ask.type) {
      case 'write':
        this.#lead.write(ask, done);
        break;
      case 'read':
        this.driver.read(READ_MODE[ask.mode], (index) =>
          done(index === undefined ? { type: 'retry' } : { type: 'index', index }),
        );
        break;
      case 'add':
        this.#approval.ask(ask, from, done);
        break;
      case 'admit':
        this.#approval.admit(ask.server, done);
        break;
      case 'joining': {
        const leads = this.driver.role.role === 'leader';
        const text = JSON.stringify(this.#approval.waiting);
        done(leads ? { type: 'status', text } : { type: 'retry' });
        break;
      }
      case 'member':
        done({ type: this.#roster.isMember(ask.id) ? 'done' : 'retry' });
        break;
      case 'level':
        done({
          ...{ type: 'level', level: this.levels.supported },
          applied: this.#parts.machine.appliedIndex(),
        });
        break;
      case 'remove':
        this.membership.remove(ask.id, done);
        break;
      case 'transfer':
        this.membership.transfer(ask.to, done);
        break;
      case 'removed':
        this.#roster.told(ask.index);
        done({ type: 'done' });
        break;
      case 'room': {
        const { hasRoom } = this.#parts;
        const isHeir =
          !this.#isUnfit && !this.driver.barred && !this.#isLagging && hasRoom?.() !== false;
        done({ type: isHeir ? 'done' : 'retry' });
        break;
      }
      case 'status': {
        const text = this.driver.role.role === 'leader' ? this.#parts.statusText?.() : undefined;
        done(text === undefined ? { type: 'retry' } : { type: 'status', text });
        break;
      }
      case 'sums':
        // What is known to be wrong, or to be replaced, is not compared.
        done((this.fault === undefined && this.agreement?.answer(ask.index)) || { type: 'retry' });
        break;
      case 'differs':
        this.#differs(ask.index, ask.table);
        done({ type: 'done' });
    }
  }

  #agreement(): Agreement | undefined {
    const { id, wire, machine, limits } = this.#parts;
    const { checkpoint, checksum } = machine;
    if (checkpoint === undefined || checksum === undefined) return undefined;
    return new Agreement({
      ...{ id, wire, timeoutMs: limits.askMs },
      checksums: { checkpoint: checkpoint.bind(machine), checksum: checksum.bind(machine) },
      peers: () => this.driver.status().configuration.members.map((member) => member.id),
      differs: (index, table) => this.#differs(index, table),
      undecided: (index, table, heir) => {
        const where = `in table "${table}" at index ${index}`;
        this.#parts.onUndecided?.(
          `the servers' states differ ${where}, and too few can be compared to tell which is right`,
        );
        if (heir !== undefined) this.driver.transfer(heir);
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
