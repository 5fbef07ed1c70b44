/** A few real replicas with the real core in one process; the test controls time and network. */

import { refusal } from '../../src/base/errors.js';
import type { Gate, PrepareGate } from '../../src/node/types.js';
import { createRaft } from '../../src/raft/raft.js';
import type { Configuration, Message, NodeId } from '../../src/raft/types.js';
import type { Leaderless } from '../../src/replica/leader-watch.js';
import type { Identity, IdentityPort } from '../../src/replica/members/identity.js';
import type { ReplicaLimits } from '../../src/replica/options.js';
import type { WirePort } from '../../src/replica/ports.js';
import { Replica } from '../../src/replica/replica.js';
import type { RpcRequest } from '../../src/replica/rpc-codec.js';
import { MemoryLog } from '../support/memory-log.js';
import { FakeClock, FakeMachine } from './fakes.js';

export const LIMITS: ReplicaLimits = {
  ...{ tickMs: 20, stallMs: 100, applyEntriesMax: 64, applyBytesMax: 1 << 20 },
  ...{ pendingWrites: 1000, waitingWrites: 1000, retryMs: 60, askMs: 500, electionMs: 300 },
  ...{ compareTicks: 0, promoteLagMax: 4, waitingBytes: 1 << 20, eraseSpreadMs: 1000 },
  ...{ cutEntries: 1000, logBytes: 1 << 20, keepEntries: 100, keepBytes: 1 << 16 },
};

/** The identity of a member, kept in memory. */
function identityOf(nodeId: NodeId): IdentityPort {
  let identity: Identity = {
    ...{ v: 2, nodeId, incarnation: nodeId, begun: true, clusterId: 'cluster' },
    ...{ starts: 1, startId: nodeId, earlier: [], seen: {}, removed: [] },
  };
  return {
    get: () => identity,
    save: (change) => {
      identity = { ...identity, ...change };
    },
  };
}

export interface Node {
  readonly id: NodeId;
  readonly log: MemoryLog;
  readonly machine: FakeMachine;
  readonly replica: Replica;
  /** The reported reasons for which it stopped serving; `null` when it serves again. */
  readonly faults: (string | null)[];
  /** The reported reasons for which a disk hangs; `null` when it responds again. */
  readonly hangs: (string | null)[];
  /** The reported times without a leader. */
  readonly leaderless: Leaderless[];
  alive: boolean;
}

export interface ClusterOptions {
  readonly ids?: readonly NodeId[];
  /** Ids of the first configuration; other servers must be added. */
  readonly initial?: readonly NodeId[];
  readonly limits?: Partial<ReplicaLimits>;
  readonly gate?: Gate;
  readonly prepareGate?: PrepareGate;
}

export class ReplicaCluster {
  readonly clock = new FakeClock();
  readonly nodes = new Map<NodeId, Node>();
  readonly #cut = new Set<string>();
  readonly #hanging = new Set<NodeId>();
  /** Nodes whose disk is at its reserve: they accept only commands of type `delete`. */
  readonly full = new Set<NodeId>();
  /** Whether a node applies entries now; called once a tick while some are pending. */
  applies: (id: NodeId) => boolean = () => true;
  readonly #options: ClusterOptions;
  /** Sees every message, request and response; one for which it returns true is lost. */
  swallow: (from: NodeId, to: NodeId, what: Message | 'request' | 'response') => boolean = () =>
    false;
  #ids = 0;

  constructor(options: ClusterOptions = {}) {
    this.#options = options;
    const ids = options.ids ?? ['a', 'b', 'c'];
    const members = (options.initial ?? ids).map((id) => ({
      ...{ id, name: id, address: `${id}:1`, voter: true },
    }));
    for (const id of ids) this.#add(id, { members });
  }

  node(id: NodeId): Node {
    return this.nodes.get(id)!;
  }
  /** The leader of the highest term among those alive. */
  get leader(): Node | undefined {
    const leaders = [...this.nodes.values()].filter(
      ({ alive, replica }) => alive && replica.loop.role.role === 'leader',
    );
    return leaders.sort((a, b) => b.replica.loop.role.term - a.replica.loop.role.term)[0];
  }
  others(id: NodeId): Node[] {
    return [...this.nodes.values()].filter((node) => node.id !== id && node.alive);
  }
  advance(ms: number): void {
    this.clock.advance(ms);
  }
  /** Lets time pass until the condition holds. */
  until(condition: () => boolean, withinMs = 10_000): void {
    for (let ms = 0; !condition(); ms++) {
      if (ms > withinMs) throw new Error(`not within ${withinMs} ms`);
      this.advance(1);
    }
  }
  /** Waits for a leader that has committed an entry of its own term and that every member knows. */
  elect(): Node {
    this.until(() => this.leader !== undefined && this.leader.machine.index >= 2);
    const leader = this.leader!;
    const members = leader.replica.loop.status().configuration.members;
    this.until(() =>
      members.every(({ id }) => this.node(id).replica.loop.role.leader === leader.id),
    );
    return leader;
  }
  /** Cuts the link between two nodes, both ways. */
  cut(a: NodeId, b: NodeId): void {
    this.#cut.add(`${a}${b}`).add(`${b}${a}`);
  }
  isolate(id: NodeId): void {
    for (const other of this.nodes.keys()) if (other !== id) this.cut(id, other);
  }
  heal(): void {
    this.#cut.clear();
  }
  /** Until `unhang`, no write to this node's log becomes durable, and none fails. */
  hang(id: NodeId): void {
    this.#hanging.add(id);
  }
  unhang(id: NodeId): void {
    this.#hanging.delete(id);
    this.node(id).log.sync();
  }
  kill(id: NodeId): void {
    this.node(id).alive = false;
    this.node(id).replica.loop.stop();
  }

  #add(id: NodeId, configuration: Configuration): void {
    const { clock } = this;
    const log: MemoryLog = new MemoryLog({
      onPending: () =>
        clock.soon(() => {
          if (!this.#hanging.has(id)) log.sync();
        }),
    });
    const entries = [{ kind: 'configuration', index: 1, term: 1, configuration }] as const;
    const isInitial = configuration.members.some((member) => member.id === id);
    if (isInitial) log.append({ hardState: { term: 1, votedFor: null }, entries }, () => {});
    log.sync();
    const machine = new FakeMachine();
    const core = createRaft(
      {
        ...{ id, electionTicks: 15, heartbeatTicks: 3, tickMs: 20, leaseMs: 200 },
        ...{ maxAppendBytes: 1 << 16, maxInflightBytes: 1 << 18, maxUncommittedBytes: 1 << 22 },
        random: () => ((id.charCodeAt(0) * 37) % 100) / 100,
      },
      log,
      log.hardState(),
      clock.now(),
    );
    const faults: (string | null)[] = [];
    const hangs: (string | null)[] = [];
    const leaderless: Leaderless[] = [];
    const replica = new Replica({
      ...{ id, core, name: id, address: `${id}:1` },
      ports: {
        ...{ log, machine, clock, wire: this.#wire(id), identity: identityOf(id) },
        view: { get: () => undefined, keys: () => [] },
        newId: () => `request-${++this.#ids}`,
        random: () => 0,
      },
      reports: {
        onFault: (why) => faults.push(why ?? null),
        onHang: (why) => hangs.push(why ?? null),
        onLeaderless: (time) => leaderless.push(time),
      },
      gate: this.#options.gate ?? (() => undefined),
      prepareGate: this.#options.prepareGate,
      // The commands of the fakes need no level.
      levels: { supported: 1, commands: {} },
      limits: { ...LIMITS, ...this.#options.limits },
      closedFor: (command) =>
        this.full.has(id) && command.type !== 'delete' ? refusal('no_space', 'full') : undefined,
      hasRoom: () => !this.full.has(id),
      isBehind: () => !this.applies(id),
      records: () => 0,
      statusText: (problems) => JSON.stringify(Object.fromEntries(problems)),
    });
    this.nodes.set(id, { id, log, machine, replica, faults, hangs, leaderless, alive: true });
    replica.start();
  }

  #passes(from: NodeId, to: NodeId, what: Message | 'request' | 'response'): boolean {
    const reachable = this.nodes.get(from)?.alive && this.nodes.get(to)?.alive;
    return reachable === true && !this.#cut.has(from + to) && !this.swallow(from, to, what);
  }

  #wire(from: NodeId): WirePort {
    const { clock } = this;
    return {
      send: (message) =>
        clock.after(1, () => {
          if (this.#passes(from, message.to, message))
            this.node(message.to).replica.receive(message);
        }),
      request: (to, payload, timeoutMs, done) => {
        let open = true;
        const end: typeof done = (...answer) => {
          if (!open) return;
          open = false;
          cancel();
          done(...answer);
        };
        const cancel = clock.after(timeoutMs, () => end(undefined));
        clock.after(1, () => {
          if (!this.#passes(from, to, 'request')) return;
          this.node(to).replica.rpc.receive(from, payload, (answer) =>
            clock.after(1, () => {
              if (this.#passes(to, from, 'response')) end(answer);
            }),
          );
        });
      },
      requestJoin: () => {},
      sendSnapshot: (_to, _message, done) => clock.after(1, () => done(false)),
      setMembers: () => {},
      reachable: () =>
        [...this.nodes.values()]
          .filter(({ id, alive }) => alive && !this.#cut.has(from + id))
          .map(({ id }) => id),
    };
  }
}

/** Sends a request to the leader. Returns its answer once there is one: a type, or a code. */
export const administer = (node: Node, request: RpcRequest): string[] => {
  const answers: string[] = [];
  node.replica.rpc.callLeader(request, 5000, (answer) => {
    answers.push(answer.type === 'refused' ? answer.refusal.code : answer.type);
  });
  return answers;
};

/** The voters of the configuration in force, in order. */
export const voters = (node: Node): string[] =>
  node.replica.loop
    .status()
    .configuration.members.filter(({ voter }) => voter)
    .map(({ id }) => id)
    .sort();
