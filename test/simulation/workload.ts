/**
 * Clients of a simulated world. Each runs one operation after another through any server, and
 * records what it saw.
 */
import type { Operation } from '../../cluster/checker/history.js';
import type { Random } from '../../cluster/checker/random.js';
import type { Refusal } from '../../src/base/errors.js';
import type { NodeId } from '../../src/raft/types.js';
import type { Result } from '../../src/state/types.js';
import type { Invariants } from './invariants.js';
import type { Cas, NewPut, Put } from './machine.js';
import type { Scheduler } from './scheduler.js';

export type WriteOutcome = { readonly result: Result } | { readonly refusal: Refusal };
/** Gets the outcome of a write. */
export type Done = (outcome: WriteOutcome) => void;

/** A server that is up, as clients see it. */
export interface Server {
  readonly id: NodeId;
  /** The release of its program, and its level: from level 2 on it takes `newPut`. */
  readonly release: number;
  readonly level: number;
  write(
    command: Put | Cas | NewPut,
    timeoutMs: number,
    done: (outcome: WriteOutcome) => void,
  ): void;
  barrier(mode: 'default' | 'consistent', timeoutMs: number, done: (passed: boolean) => void): void;
  /** Runs `run` when the server gets to it. */
  visit(run: () => void): void;
  read(key: string): { value: string | null; index: number };
}

export interface WorkloadParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly invariants: Invariants;
  /** Servers that are up. */
  readonly servers: () => readonly Server[];
  readonly trace: (text: string) => void;
  /** Whether a server held a wrong state at that time or since, and may have shown it. */
  readonly wasWrong?: (since: number) => boolean;
  /** Whether a lease may have held too long at that time or since, and no server can know. */
  readonly leaseInDoubt?: (since: number) => boolean;
}

export interface WorkloadOptions {
  readonly clients: number;
  readonly keys: number;
  /** The longest pause between two operations of a client, in milliseconds. */
  readonly pauseMs: number;
  /** The share of writes among the operations. */
  readonly writes: number;
  /** The beginning of all values: two workloads must not write the same ones. */
  readonly prefix?: string;
}

export interface Counts {
  acknowledged: number;
  refused: number;
  failed: number;
  unknown: number;
  reads: number;
  readsFailed: number;
}

interface Client {
  readonly name: string;
  /** The number of its only server; absent if it uses all. */
  readonly home: number | undefined;
  /** The last value that it saw of each key, which a compare-and-set expects. */
  readonly seen: Map<string, string | null>;
}

export class Workload {
  readonly history: Operation[] = [];
  readonly counts: Counts = {
    acknowledged: 0,
    refused: 0,
    failed: 0,
    unknown: 0,
    reads: 0,
    readsFailed: 0,
  };
  /** Operations without an outcome. */
  open = 0;
  readonly #parts: WorkloadParts;
  readonly #options: WorkloadOptions;
  #stopped = false;
  #values = 0;

  constructor(parts: WorkloadParts, options: WorkloadOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  start(): void {
    const { random } = this.#parts;
    for (let i = 0; i < this.#options.clients; i++) {
      const home = random.chance(0.5) ? random.int(16) : undefined;
      this.#later({ name: `client${i}`, home, seen: new Map() });
    }
  }

  /** Starts no more operations. */
  stop(): void {
    this.#stopped = true;
  }

  /** Returns a value that no other write has. */
  newValue(): string {
    return `${this.#options.prefix ?? 'v'}${++this.#values}`;
  }

  /**
   * A write of which no client hears: nothing reads its register. It may not happen if it was
   * refused, as all others.
   */
  writeBeside(server: Server): void {
    const value = this.newValue();
    server.write({ type: 'put', v: 1, key: 'beside', value }, 3000, (outcome) => {
      if ('refusal' in outcome && outcome.refusal.code !== 'outcome_unknown')
        this.#parts.invariants.writeFailed(value);
    });
  }

  #later(client: Client): void {
    const { scheduler, random } = this.#parts;
    scheduler.after(random.next() * this.#options.pauseMs, () => this.#next(client));
  }

  #next(client: Client): void {
    if (this.#stopped) return;
    const { random, servers } = this.#parts;
    const up = servers();
    const server =
      client.home === undefined
        ? up[random.int(Math.max(1, up.length))]
        : (up.find((s) => s.id === `n${1 + (client.home! % 5)}`) ?? up[0]);
    if (!server) {
      this.#later(client);
      return;
    }
    const key = `k${random.int(this.#options.keys)}`;
    const timeoutMs = random.pick([200, 1000, 3000, 8000]);
    if (random.chance(this.#options.writes)) this.#write(client, server, key, timeoutMs);
    else this.#read(client, server, key, timeoutMs);
  }

  /**
   * Runs one operation, then the next. An operation ends with its answer, or when the client stops
   * waiting, since its server may have died. Then `lost` is called.
   */
  #run(
    client: Client,
    timeoutMs: number,
    begin: (settle: (take: () => void) => void) => void,
    lost: () => void,
  ): void {
    const { scheduler } = this.#parts;
    this.open++;
    let over = false;
    const end = (take: () => void): void => {
      if (over) return;
      over = true;
      this.open--;
      giveUp.cancelled = true;
      take();
      this.#later(client);
    };
    const giveUp = scheduler.after(timeoutMs + 5000, () => end(lost));
    begin(end);
  }

  #write(client: Client, server: Server, key: string, timeoutMs: number): void {
    const { scheduler, random, invariants, trace } = this.#parts;
    const value = this.newValue();
    const expected = client.seen.get(key);
    // a server below that level refuses it
    const isNew = server.release > 1 && (server.level > 1 || random.chance(0.2));
    const command: Put | Cas | NewPut =
      expected !== undefined && random.chance(0.4)
        ? { type: 'cas', v: 1, key, expected, value }
        : { type: isNew ? 'newPut' : 'put', v: 1, key, value };
    const call = scheduler.now;
    const floor = invariants.acknowledged;
    const note = (outcome: Operation['outcome'], matched = true): void => {
      trace(`${client.name} ${command.type} ${key}=${value} at ${server.id}: ${outcome}`);
      const action: Operation['action'] =
        command.type === 'cas'
          ? { type: 'cas', expected: command.expected, value }
          : { type: 'write', value };
      const times = { call, return: scheduler.now };
      this.history.push({ client: client.name, key, action, outcome, matched, ...times });
    };
    const taken = (outcome: WriteOutcome): void => {
      if ('refusal' in outcome) {
        const unknown = outcome.refusal.code === 'outcome_unknown';
        if (!unknown) invariants.writeFailed(value);
        this.counts[unknown ? 'unknown' : 'failed']++;
        note(unknown ? 'unknown' : 'fail');
        return;
      }
      if (this.#parts.wasWrong?.(call)) {
        lost();
        return;
      }
      const { result } = outcome;
      if (result.ok) {
        invariants.writeDone(value, result.index, floor);
        client.seen.set(key, value);
        this.counts.acknowledged++;
      } else if (result.refusal.code === 'conflict') {
        invariants.refusedAt(result.index, floor);
        client.seen.delete(key);
        this.counts.refused++;
      } else {
        this.counts.unknown++;
        note('unknown');
        return;
      }
      note('ok', result.ok);
    };
    const lost = (): void => {
      this.counts.unknown++;
      note('unknown');
    };
    this.#run(
      client,
      timeoutMs,
      (end) => server.write(command, timeoutMs, (outcome) => end(() => taken(outcome))),
      lost,
    );
  }

  #read(client: Client, server: Server, key: string, timeoutMs: number): void {
    const { scheduler, random, invariants, trace } = this.#parts;
    const call = scheduler.now;
    const floor = invariants.acknowledged;
    const mode = random.pick(['stale', 'default', 'default', 'consistent'] as const);
    const show = (): void => {
      if (this.#parts.wasWrong?.(call)) {
        failed();
        return;
      }
      const { value, index } = server.read(key);
      trace(`${client.name} read ${key} ${mode} at ${server.id}: ${value} @${index}`);
      const isStale = mode === 'stale' || (mode === 'default' && this.#parts.leaseInDoubt?.(call));
      invariants.readDone(key, value, index, floor, isStale === true);
      this.counts.reads++;
      if (isStale) return;
      client.seen.set(key, value);
      const times = { call, return: scheduler.now };
      this.history.push({
        client: client.name,
        key,
        action: { type: 'read' },
        outcome: 'ok',
        seen: value,
        ...times,
      });
    };
    const failed = (): void => {
      this.counts.readsFailed++;
    };
    const begin = (end: (take: () => void) => void): void => {
      if (mode === 'stale') server.visit(() => end(show));
      else server.barrier(mode, timeoutMs, (passed) => end(passed ? show : failed));
    };
    this.#run(client, timeoutMs, begin, failed);
  }
}
