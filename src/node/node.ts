/**
 * A node of the cluster: the replica on a real disk, wire and clock, with promises for the layers
 * above:
 *
 *     openNode   opens the data folder; nothing is sent yet
 *     start      listens for the other members and takes part in the cluster
 *     stop       transfers leadership and closes everything
 */
import { randomUUID } from 'node:crypto';
import { ApiError, type Refusal, reject } from '../base/errors.js';
import { createRaft } from '../raft/raft.js';
import type { NodeId, RoleChange } from '../raft/types.js';
import { newestConfiguration } from '../replica/log/applied-log.js';
import type { Problems } from '../replica/members/health.js';
import { CHANGE_MS } from '../replica/members/join.js';
import type { ClockPort } from '../replica/ports.js';
import { Replica } from '../replica/replica.js';
import { DIVERGED_KEY } from '../state/keys.js';
import { LEVEL_KEY, LEVELS, levelOf } from '../state/levels.js';
import type { Machine } from '../state/machine.js';
import type { PinnedView, Result, View } from '../state/types.js';
import { isBelieved } from '../transport/hello-checks.js';
import type { WireSecurity } from '../transport/sockets.js';
import { Wire } from '../transport/wire.js';
import { realClock } from './clock.js';
import { DiskSpace } from './disk-space.js';
import { askLeader, askMember, changeCluster } from './leader-requests.js';
import { type Measuring, measuredHandlers, measuredWire, measuringOf } from './measures.js';
import { type Opened, openFolder } from './open.js';
import {
  DEFAULT_LIMITS,
  DEFAULT_TIMING,
  freesSpace,
  inflightFrameBytes,
  type NodeLimits,
  type NodeOptions,
  type NodeTiming,
  raftOptions,
  silenceMsIn,
} from './options.js';
import { loggedReports, roleLine, traceTo } from './replica-log.js';
import { Stability, statusOf } from './status.js';
import type { ClusterNode, JoiningServer, LevelStatus, NodeStatus, WriteRequest } from './types.js';
import { peerRecords, wireHandlers } from './wire-handlers.js';

/** A node, for the program that runs it. */
export interface RunningNode extends ClusterNode {
  /** Listens for the other members and takes part in the cluster. Resolves with the port. */
  start(): Promise<number>;
  /**
   * Transfers leadership, fails what clients wait for, and closes the databases. A second call
   * stops waiting for the transfer.
   */
  stop(): Promise<void>;
  /** Calls `listener` when the role, the term or the known leader changes. */
  onRole(listener: (change: RoleChange) => void): void;
  /** Uses other certificates or keys for new connections to members. Throws Error if it cannot. */
  reload(security: WireSecurity): void;
  /** Returns the number of records of the state by group (see groups.ts). */
  recordCounts(): ReadonlyMap<string, number>;
  /** What applies the log. */
  readonly machine: Pick<
    Machine,
    'appliedIndex' | 'onChanged' | 'onReset' | 'recent' | 'secretLeftAt'
  >;
  /** For metrics. */
  readonly replica: Replica;
}

/** Opens the data folder. Rejects with the reason if it cannot be used. */
export async function openNode(options: NodeOptions): Promise<RunningNode> {
  const { host, port } = options.listen;
  const address = options.advertise ?? `${host.includes(':') ? `[${host}]` : host}:${port}`;
  let node: Node | undefined;
  const onFatal = (error: Error): void => (node === undefined ? options.onFatal : node.fail)(error);
  const opened = await openFolder({ ...options, address, onFatal });
  try {
    requireSecurity(opened, options);
    node = new Node(opened, options, address);
    return node;
  } catch (error) {
    await opened.store.close();
    await opened.log.close();
    throw error;
  }
}

/**
 * Throws Error for a member of a larger cluster without a key or certificate to reach the others.
 */
function requireSecurity({ log, identity }: Opened, { security }: NodeOptions): void {
  if (security.mode !== 'closed') return;
  const { members } = newestConfiguration(log);
  const { clusterId, nodeId } = identity.get();
  if (clusterId !== null && members.every(({ id }) => id === nodeId)) return;
  throw new Error(
    'this server is a member of a cluster with other members: give all of them the same ' +
      'shared key or TLS certificates (raft.sharedKeyFile, raft.tls), or set raft.insecure if ' +
      'every user of the machine may read everything',
  );
}

class Node implements RunningNode {
  readonly id: NodeId;
  readonly name: string;
  readonly machine: Machine;
  readonly replica: Replica;
  readonly #options: NodeOptions;
  readonly #address: string;
  readonly #opened: Opened;
  readonly #timing: NodeTiming;
  readonly #limits: NodeLimits;
  readonly #clock: ClockPort;
  readonly #measuring: Measuring | undefined;
  readonly #wire: Wire;
  readonly #disk: DiskSpace;
  readonly #records = peerRecords(
    () => this.replica,
    () => this.#options.security.mode !== 'plain',
  );
  readonly #stability = new Stability();
  readonly #roleListeners: ((change: RoleChange) => void)[] = [];
  #stopping: Promise<void> | undefined;
  #stopped = false;
  #hurry: () => void = () => {};
  #fatal = false;

  constructor(opened: Opened, options: NodeOptions, address: string) {
    this.#opened = opened;
    this.#options = options;
    this.#address = address;
    this.id = opened.identity.get().nodeId;
    this.name = options.name;
    this.#timing = { ...DEFAULT_TIMING, ...options.timing };
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#clock = realClock(this.fail);
    this.#measuring = measuringOf(options.measures, this.#clock);
    this.#wire = this.#createWire();
    this.#disk = new DiskSpace({
      dir: options.dataDir,
      reserveBytes: this.#limits.diskReserveBytes,
      everyMs: this.#limits.diskCheckMs,
      frees: options.frees ?? freesSpace,
      onFatal: this.fail,
      onChange: (full, freeBytes) => {
        const free = `(${freeBytes} bytes free)`;
        if (full) options.log('error', `the disk is down to its reserve ${free}`, 'disk_reserve');
        else options.log('info', `the disk has enough free space again ${free}`, 'disk_room');
      },
    });
    this.machine = opened.machine;
    opened.machine.onChanged((keys) => {
      if (!keys.includes(LEVEL_KEY)) return;
      const text = `the cluster is now at level ${levelOf(opened.store)}`;
      options.log('info', text, 'level_changed');
    });
    try {
      this.replica = this.#createReplica();
    } catch (error) {
      void this.#wire.close();
      throw error;
    }
  }

  get view(): View {
    return this.#opened.store;
  }

  pin(): PinnedView {
    return this.#opened.store.pin();
  }

  async start(): Promise<number> {
    const { host, port } = this.#options.listen;
    await this.#disk.start();
    const bound = await this.#wire.listen(host, port);
    const { needsState, silenceMs: owed } = this.#opened;
    const silenceMs = { own: silenceMsIn(this.#timing), owed };
    this.replica.start({ needsState, silenceMs, join: this.#options.join ?? [] });
    return bound;
  }

  stop(): Promise<void> {
    this.#hurry();
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  onRole(listener: (change: RoleChange) => void): void {
    this.#roleListeners.push(listener);
  }

  reload(security: WireSecurity): void {
    this.#wire.reload(security);
  }

  recordCounts(): ReadonlyMap<string, number> {
    return this.#opened.store.counts();
  }

  status(problems: Problems = new Map()): NodeStatus {
    return statusOf(
      {
        raft: this.replica.loop.status(),
        appliedIndex: this.machine.appliedIndex(),
        name: this.name,
        address: this.#address,
        leaderSilenceMs: this.replica.loop.leaderSilenceMs,
        fault: this.replica.availability.problem,
        problems,
        reachable: this.#wire.reachable(),
        nowMs: this.#clock.now(),
        contactMsMax: this.#timing.electionMs * 2,
      },
      this.#stability,
    );
  }

  contact(): { knownLeader: boolean; lastContactMs: number } {
    const { role, leaderSilenceMs } = this.replica.loop;
    return { knownLeader: role.leader !== null, lastContactMs: leaderSilenceMs };
  }

  closed(): Refusal | undefined {
    return this.replica.availability.refusal;
  }

  async leaderStatus(timeoutMs: number): Promise<NodeStatus> {
    return (await askLeader(this.replica.rpc, 'status', timeoutMs)) as NodeStatus;
  }

  barrier(mode: 'default' | 'consistent', timeoutMs: number): Promise<void> {
    return new Promise((resolve, refuse) => {
      this.replica.barrier(mode, timeoutMs, (why) =>
        why === undefined ? resolve() : refuse(new ApiError(why)),
      );
    });
  }

  write(request: WriteRequest): Promise<Result> {
    return new Promise((resolve, refuse) => {
      this.replica.write(request, (outcome) =>
        'result' in outcome ? resolve(outcome.result) : refuse(new ApiError(outcome.refusal)),
      );
    });
  }

  watch(keys: readonly string[], wake: () => void, untilMs?: number): () => void {
    return this.replica.watch(keys, wake, untilMs);
  }

  transfer(to?: string): Promise<void> {
    return changeCluster(this.replica.rpc, { type: 'transfer', to: to ?? null });
  }

  removeServer(id: string): Promise<void> {
    return changeCluster(this.replica.rpc, { type: 'remove', id });
  }

  async joining(timeoutMs: number): Promise<readonly JoiningServer[]> {
    const servers = await askLeader(this.replica.rpc, 'joining', timeoutMs);
    return servers as JoiningServer[];
  }

  async admit(id: string): Promise<void> {
    const waiting = await this.joining(CHANGE_MS);
    const server = waiting.find((each) => each.id === id);
    if (server === undefined) reject('not_found', `No server with id "${id}" is waiting to join`);
    await changeCluster(this.replica.rpc, { type: 'admit', server });
  }

  decision(member: string, id: string, timeoutMs: number): Promise<string | undefined> {
    return askMember(this.replica.rpc, member, { type: 'decision', id }, timeoutMs);
  }

  usage(member: string, id: string, timeoutMs: number): Promise<string | undefined> {
    return askMember(this.replica.rpc, member, { type: 'usage', id }, timeoutMs);
  }

  levels(): Promise<LevelStatus> {
    return new Promise((resolve) => this.replica.levels.report(resolve));
  }

  #createReplica(): Replica {
    const { log, store, machine } = this.#opened;
    const limits = { ...this.#limits, ...this.#timing };
    const raft = raftOptions(this.id, this.#timing, this.#limits, this.#opened.silenceMs);
    const trace = traceTo(this.#options.trace, () => core.status().configuration);
    const measures = this.#measuring?.measures;
    const core = createRaft({ ...raft, trace }, log, log.hardState(), this.#clock.now());
    return new Replica({
      id: this.id,
      name: this.name,
      address: this.#address,
      core,
      ports: {
        log,
        machine,
        identity: this.#opened.identity,
        clock: this.#clock,
        wire: this.#measuring ? measuredWire(this.#wire, this.#measuring) : this.#wire,
        view: store,
        newId: randomUUID,
        random: Math.random,
      },
      reports: {
        ...loggedReports(this.#options.log),
        onDiffers: (why) => store.commit([[DIVERGED_KEY, why]]),
        onRole: (change) => this.#roleChanged(change),
      },
      limits,
      levels: this.#options.levels ?? LEVELS,
      joinToken: this.#options.joinToken ?? (() => undefined),
      isBelieved: (joiner) => isBelieved(this.#records, joiner),
      gate: this.#options.gate,
      prepareGate: this.#options.prepareGate,
      closedFor: (command) => this.#disk.refuses(command),
      hasRoom: () => !this.#disk.full,
      isBehind: () => store.backlogBytes > limits.stateBacklogBytes,
      records: () => store.size,
      trace,
      measure: measures && ((ms) => measures.applied(ms)),
      measureTick: measures && ((lateMs, afterMs) => measures.timerFired(lateMs, afterMs)),
      erase: (done) => log.erase(() => store.erase(done)),
      statusText: (problems) => JSON.stringify(this.status(problems)),
      decisionText: this.#options.decisionText,
      usageText: this.#options.usageText,
    });
  }

  #createWire(): Wire {
    const handlers = wireHandlers({
      replica: () => this.replica,
      store: this.#opened.store,
      take: (run) => this.#take(run),
      hasStopped: () => this.#stopped,
      newId: randomUUID,
    });
    return new Wire({
      identity: () => ({ ...this.#opened.identity.get(), address: this.#address }),
      records: this.#records,
      security: this.#options.security,
      handlers: this.#measuring ? measuredHandlers(handlers, this.#measuring) : handlers,
      log: this.#options.log,
      inflightBytes: inflightFrameBytes(this.#limits),
    });
  }

  /** Runs a handler of the wire while the node runs. An error in it stops the process. */
  #take(run: () => void): void {
    if (this.#stopped || this.#fatal) return;
    try {
      run();
    } catch (error) {
      this.fail(error as Error);
    }
  }

  #roleChanged(change: RoleChange): void {
    const { configuration } = this.replica.loop.status();
    this.#options.log('info', roleLine(change, configuration), 'role_changed');
    for (const listener of this.#roleListeners) listener(change);
  }

  async #stop(): Promise<void> {
    await this.#handOver();
    this.#stopped = true;
    this.replica.stop();
    this.#disk.stop();
    await this.#wire.close();
    await this.#options.onAnswered?.();
    // Another process may use the folder once its databases are closed.
    await this.#opened.identity.settled();
    await this.#opened.log.close();
    await this.#opened.store.close();
  }

  /** Transfers leadership. Waits at most two election timeouts for the transfer. */
  async #handOver(): Promise<void> {
    if (this.#fatal) return;
    await new Promise<void>((resolve) => {
      this.#hurry = this.replica.handOver(this.#timing.electionMs * 2, resolve);
    });
  }

  /** Reports an error that must stop the process. Until then nothing more is sent or answered. */
  readonly fail = (error: Error): void => {
    if (this.#fatal) return;
    this.#fatal = true;
    this.replica.loop.stop();
    this.#options.onFatal(error);
  };
}
