/**
 * What the leader proposes by itself: it initializes a new cluster, removes expired tokens, the
 * parts of abandoned restores and old history, and continues deletions that are too large for one
 * command. It proposes small commands, one at a time, so that none delays the write of a client.
 */
import { randomUUID } from 'node:crypto';
import { ApiError } from '../../base/errors.js';
import { timeOf } from '../../languages/times.js';
import type { LogEvent } from '../../log/log-events.js';
import { type ClusterNode, INTERNAL_KEY } from '../../node/types.js';
import type { ClockPort } from '../../replica/ports.js';
import { SERVER } from '../../state/author.js';
import { type HistoryTrim, trimDue } from '../../state/history/trim.js';
import { nextRevocation } from '../../state/identity-blocks.js';
import type { IdentityReap } from '../../state/identity-commands.js';
import { hasAuthors } from '../../state/levels.js';
import { take } from '../../state/links.js';
import { keysBelow, lastPart } from '../../state/lists.js';
import type { MethodReap } from '../../state/methods.js';
import type { NamespaceReap } from '../../state/namespaces.js';
import type { RestoreAbort } from '../../state/restore.js';
import { stamped } from '../../state/stamp.js';
import { INIT_FACT, type SystemInit } from '../../state/system.js';
import type { TokenReap } from '../../state/token-commands.js';
import type { Command } from '../../state/types.js';
import { ExpiryClock } from './expiry-clock.js';
import { ForgetSchedule } from './forget-schedule.js';
import { IdleRestores } from './idle-restores.js';

export interface HousekeeperOptions {
  /** Called with each command that took effect, and its index. */
  readonly onDone?: (command: Command, index: number) => void;
  readonly node: ClusterNode;
  readonly clock: ClockPort;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** The secret of the management token that a new cluster starts with, if configured. */
  readonly managementSecret?: string;
  /**
   * Milliseconds without a new part after which a restore counts as abandoned; longer than an
   * upload can take.
   */
  readonly restoreIdleMs: number;
  /**
   * Milliseconds after its deletion in which a secret must be gone from all disks, and the last
   * index at which one was deleted (see `Machine`). If absent, results are not forgotten early.
   */
  readonly secrets?: { readonly secretsGoneMs: number; readonly leftAt: () => number };
  /** Logs changes of a condition, not each attempt. `error` is what was thrown, unless refused. */
  readonly log: (level: 'info' | 'warn', message: string, event: LogEvent, error?: unknown) => void;
}

/** Milliseconds between rounds. Blocking queries of an expired token end within about this time. */
const EVERY_MS = 1000;
/** Milliseconds between rounds until the cluster is initialized: no client can use it before. */
const BEGIN_EVERY_MS = 50;
/** Longest pause after failed rounds, in milliseconds. */
const FAILED_EVERY_MS = 10_000;
/** Milliseconds that one command may wait for a leader and a majority. */
const WRITE_MS = 10_000;
/** Expired tokens that one command removes. Applying it takes a few milliseconds. */
const TOKENS_PER_COMMAND = 500;

/** Runs a round every second on each server, and proposes while the server leads. */
export class Housekeeper {
  readonly #options: HousekeeperOptions;
  readonly #expiry: ExpiryClock;
  readonly #restores: IdleRestores;
  readonly #forgetSchedule: ForgetSchedule | undefined;
  #cancel: (() => void) | undefined;
  #stopped = false;
  /** Consecutive failed rounds, and the message of the last one. */
  #failures = 0;
  #failure: string | undefined;
  #hasJumped = false;

  constructor(options: HousekeeperOptions) {
    this.#options = options;
    const { clock, nowMs, node, restoreIdleMs } = options;
    this.#expiry = new ExpiryClock(clock, nowMs);
    this.#restores = new IdleRestores(node.view, clock, restoreIdleMs);
    const { secrets } = options;
    this.#forgetSchedule =
      secrets &&
      new ForgetSchedule({
        view: node.view,
        clock,
        secretLeftAt: secrets.leftAt,
        secretsGoneMs: secrets.secretsGoneMs,
      });
  }

  start(): void {
    this.#schedule();
  }

  /** Stops proposing. A command in flight ends by itself. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  /** Proposes everything that is due. Throws if a command fails or is refused. */
  async round(): Promise<void> {
    const { node } = this.#options;
    this.#compareClocks();
    for (;;) {
      if (this.#stopped) return;
      if (node.status().role !== 'leader') {
        this.#restores.reset();
        this.#forgetSchedule?.reset();
        return;
      }
      const next = this.#next();
      if (next === undefined) return;
      const by = { author: SERVER, nowMs: this.#options.nowMs() };
      const command = hasAuthors(node.view) ? stamped(next, by) : next;
      const result = await node.write({ tokenKey: INTERNAL_KEY, command, timeoutMs: WRITE_MS });
      if (!result.ok) throw new ApiError(result.refusal);
      this.#options.onDone?.(command, result.index);
    }
  }

  #schedule(): void {
    if (this.#stopped) return;
    const { node, clock } = this.#options;
    const everyMs = node.view.get(INIT_FACT) === undefined ? BEGIN_EVERY_MS : EVERY_MS;
    const pauseMs = Math.min(everyMs * 2 ** this.#failures, FAILED_EVERY_MS);
    this.#cancel = clock.after(pauseMs, () => {
      this.round()
        .then(
          () => this.#succeeded(),
          (error) => this.#failed(error),
        )
        .finally(() => this.#schedule());
    });
  }

  #succeeded(): void {
    const { log } = this.#options;
    if (this.#failures > 0) log('info', 'housekeeping has recovered', 'housekeeping_recovered');
    this.#failures = 0;
    this.#failure = undefined;
  }

  #failed(error: unknown): void {
    // No log line is needed: the next leader does the same work.
    if (this.#options.node.status().role !== 'leader') return;
    this.#failures += 1;
    const why = error instanceof Error ? error.message : String(error);
    if (why === this.#failure) return;
    this.#failure = why;
    const thrown = error instanceof ApiError ? [] : [error];
    this.#options.log('warn', `housekeeping failed: ${why}`, 'housekeeping_failed', ...thrown);
  }

  #compareClocks(): void {
    this.#expiry.compare();
    const seconds = this.#expiry.jumpedSeconds();
    if ((seconds !== undefined) === this.#hasJumped) return;
    this.#hasJumped = seconds !== undefined;
    const { log } = this.#options;
    if (seconds === undefined) {
      log('info', 'the clock agrees again with the time that has passed', 'clock_agrees');
      return;
    }
    const what = `the clock has jumped ${seconds} s ahead of the time that has passed`;
    log(
      'warn',
      `${what}: this server deletes expired tokens that much later until it is restarted`,
      'clock_jumped',
    );
  }

  /** Returns the next command that is due; undefined if none is. */
  #next(): Command | undefined {
    const { view } = this.#options.node;
    const first = (table: string): string | undefined => take(keysBelow(view, table), 1)[0];
    if (view.get(INIT_FACT) === undefined) return this.#init();
    const expiring = first('token-by-expiry');
    const nowMs = this.#expiry.now();
    if (nowMs !== undefined && Number(expiring?.split('\u0000')[1]) <= nowMs) {
      const reap: TokenReap = { type: 'token.reap', v: 1, nowMs, max: TOKENS_PER_COMMAND };
      return reap;
    }
    const method = first('method-remains');
    if (method !== undefined) {
      const [, ns, name] = method.split('\u0000') as [string, string, string];
      const reap: MethodReap = { type: 'method.reap', v: 1, ns, name };
      return reap;
    }
    const revoked = nextRevocation(view);
    if (revoked !== undefined) {
      const reap: IdentityReap = { type: 'identity.reap', v: 1, ...revoked };
      return reap;
    }
    const namespace = first('namespace-dying');
    if (namespace !== undefined) {
      const reap: NamespaceReap = { type: 'namespace.reap', v: 1, name: lastPart(namespace) };
      return reap;
    }
    if (nowMs !== undefined && trimDue(view, nowMs)) {
      const trim: HistoryTrim = { type: 'history.trim', v: 1, nowMs };
      return trim;
    }
    const restore = this.#restores.next();
    if (restore === undefined) return this.#forgetSchedule?.next();
    const abort: RestoreAbort = { type: 'restore.abort', v: 1, id: restore };
    return abort;
  }

  #init(): SystemInit {
    const { nowMs, managementSecret } = this.#options;
    const createTime = timeOf(nowMs());
    if (managementSecret === undefined) return { type: 'system.init', v: 1, createTime };
    const management = { accessor: randomUUID(), secret: managementSecret, createTime };
    return { type: 'system.init', v: 1, createTime, management };
  }
}
