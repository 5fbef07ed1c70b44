/** A cluster of one without Raft, disk or waiting: the real machine applies writes at once. */

import { randomUUID } from 'node:crypto';
import { ApiError } from '../../src/base/errors.js';
import type {
  ClusterNode,
  Gate,
  NodeStatus,
  PeerStatus,
  WriteRequest,
} from '../../src/node/types.js';
import { Deadlines } from '../../src/replica/deadlines.js';
import type { ClockPort } from '../../src/replica/ports.js';
import { Watches } from '../../src/replica/reads/watches.js';
import { decodeRequest, encodeRequest } from '../../src/replica/rpc-codec.js';
import type { Caller } from '../../src/service/common/types.js';
import { configCheck } from '../../src/service/config/config-entries.js';
import { EventHub } from '../../src/service/events/hub.js';
import { Decisions } from '../../src/service/explain/decisions.js';
import { NodeService } from '../../src/service/reads/node-service.js';
import { Authorizers } from '../../src/service/rights/authorizers.js';
import { makeGate } from '../../src/service/rights/gate.js';
import { UsageBook } from '../../src/service/usage/book.js';
import { HANDLERS } from '../../src/state/handlers.js';
import { Machine } from '../../src/state/machine.js';
import { encodeProposal } from '../../src/state/proposal.js';
import type { SystemInit } from '../../src/state/system.js';
import { secretKeyOf } from '../../src/state/tokens.js';
import type { Command, Result, StateRecord } from '../../src/state/types.js';
import { MemoryState } from '../../src/storage/memory-state.js';
import { DEFAULTS } from '../support/defaults.js';

export const MANAGEMENT_SECRET = '11111111-2222-4333-8444-555555555555';
export const NOBODY: Caller = { tokenKey: null };
export const callerOf = (secret: string): Caller => ({ tokenKey: secretKeyOf(secret) });
export const MANAGER = callerOf(MANAGEMENT_SECRET);

const NO_PEERS: readonly PeerStatus[] = [];

const clock: ClockPort = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  soon: (run) => void setImmediate(run),
};

/** One node with a service on it. `nowMs` is the clock by which tokens expire. */
export class Solo {
  readonly store = new MemoryState();
  readonly machine = new Machine(this.store, HANDLERS);
  readonly watches = new Watches(clock, new Deadlines(clock));
  readonly authorizers: Authorizers;
  readonly service: NodeService;
  readonly decisions: Decisions;
  readonly events: EventHub;
  readonly gate: Gate;
  readonly node: ClusterNode;
  nowMs = Date.now();
  readonly usage = { book: new UsageBook(() => this.nowMs), isComplete: true };
  barriers = 0;

  constructor(defaultPolicy: 'deny' | 'allow' = 'deny', begun = true) {
    this.authorizers = new Authorizers({
      view: this.store,
      datacenter: 'dc1',
      defaultPolicy,
      nowMs: () => this.nowMs,
      rightsBytes: DEFAULTS.limits.rightsBytes,
    });
    this.gate = makeGate(this.authorizers, {
      config: configCheck,
      restore: (authorizer) => authorizer.denial('acl', 'write'),
    });
    this.events = new EventHub({
      view: this.store,
      recent: this.machine.recent,
      authorizers: this.authorizers,
      nowMs: () => this.nowMs,
      stallMs: 600_000,
      aheadMs: 50,
      isClosed: () => this.node.closed() !== undefined,
      onFault: (error) => {
        throw error;
      },
    });
    this.machine.onChanged((keys) => {
      this.authorizers.changed(keys);
      this.watches.changed(keys);
      this.events.changed(keys);
    });
    this.machine.onReset(() => this.events.reset());
    this.decisions = new Decisions({
      nodeId: 'solo',
      nodeName: 'solo',
      authorizers: this.authorizers,
      appliedIndex: () => this.machine.appliedIndex(),
      nowMs: () => this.nowMs,
    });
    this.node = this.#asNode();
    const onUse = (accessor: string): void => this.usage.book.note(accessor);
    this.service = new NodeService({
      node: this.node,
      authorizers: this.authorizers,
      clock,
      onUse,
    });
    if (begun) this.begin();
  }

  /** What the leader of a new cluster does first. */
  begin(): void {
    const createTime = new Date(this.nowMs).toISOString();
    const management = { accessor: randomUUID(), secret: MANAGEMENT_SECRET, createTime };
    const init: SystemInit = { type: 'system.init', v: 1, createTime, management };
    this.apply(init);
  }

  /** Applies a command without authorization. */
  apply(command: Command): Result {
    const [result] = this.applyTogether([command]);
    return result!;
  }

  /** Applies commands in one go, as a follower may. */
  applyTogether(commands: readonly Command[]): readonly (Result | undefined)[] {
    const results = this.machine.apply(commands.map((each, at) => this.#entryOf(each, at)));
    this.store.sync();
    return results;
  }

  /** Replaces the state by that of an archive with these records. */
  async restore(records: readonly StateRecord[]): Promise<void> {
    const id = 'r';
    this.must({ type: 'restore.add', v: 1, id, part: 0, records } as Command);
    const commit = { type: 'restore.commit', v: 1, id, parts: 1 } as Command;
    await new Promise((resolve) => this.machine.apply([this.#entryOf(commit)], resolve));
  }

  /** Has the history forget what is older than an hour from now. */
  forget(): void {
    const nowMs = this.nowMs + 7_200_000;
    while (this.must({ type: 'history.trim', v: 1, nowMs } as Command) === true);
  }

  #entryOf(command: Command, after = 0) {
    const index = this.machine.appliedIndex() + after + 1;
    const data = encodeProposal({ id: randomUUID(), since: index - 1, command });
    return { kind: 'command', index, term: 1, data } as const;
  }

  /** Applies a command that must succeed; returns the object in its result. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  must(command: Command): any {
    const result = this.apply(command);
    if (!result.ok) throw new ApiError(result.refusal);
    return result.value === undefined ? undefined : JSON.parse(result.value);
  }

  #asNode(): ClusterNode {
    const { store, watches } = this;
    return {
      id: 'solo',
      name: 'solo',
      view: store,
      pin: () => store.pin(),
      status: () =>
        ({ leaderId: 'solo', lastContactMs: 0, peers: NO_PEERS }) as unknown as NodeStatus,
      closed: () => undefined,
      contact: () => ({ knownLeader: true, lastContactMs: 0 }),
      leaderStatus: () => Promise.reject(new Error('no peers')),
      barrier: async () => {
        this.barriers += 1;
      },
      write: async ({ tokenKey, command, timeoutMs }: WriteRequest) => {
        // a follower sends it to the leader
        const data = new Uint8Array();
        const sent = encodeRequest({ type: 'write', tokenKey, data, timeoutMs });
        if (decodeRequest(sent) === undefined)
          throw new Error('the leader cannot decode the write');
        const why = this.gate(store, tokenKey, command);
        if (why !== undefined) throw new ApiError(why);
        return this.apply(command);
      },
      watch: (...asked) => watches.watch(...asked),
      transfer: () => Promise.reject(new Error('no peers')),
      removeServer: () => Promise.reject(new Error('no peers')),
      joining: async () => [],
      admit: () => Promise.reject(new Error('no peers')),
      decision: async () => undefined,
      usage: async () => undefined,
      levels: async () => ({ level: 1, supported: 1, members: [] }),
    };
  }
}
