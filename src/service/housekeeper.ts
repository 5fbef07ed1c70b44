/**
 * What the cluster does by itself: it begins, removes tokens that have expired and parts of restores that died, and goes on
 * with deletions that were too large for one command. Only the leader proposes, in small commands, so that none of it delays anybody's write.
 */
import { randomUUID } from 'node:crypto';
import { ApiError } from '../errors.js';
import { timeOf } from '../languages/times.js';
import { type ClusterNode, INTERNAL_KEY } from '../node/types.js';
import type { ClockPort } from '../replica/ports.js';
import { take } from '../state/links.js';
import { keysBelow, lastPart } from '../state/lists.js';
import type { MethodReap } from '../state/methods.js';
import type { NamespaceReap } from '../state/namespaces.js';
import type { RestoreAbort } from '../state/restore.js';
import { INIT_FACT, type SystemInit } from '../state/system.js';
import type { TokenReap } from '../state/token-commands.js';
import type { Command } from '../state/types.js';
import { ExpiryClock } from './expiry-clock.js';
import { Forgetting } from './forgetting.js';
import { IdleRestores } from './idle-restores.js';

export interface HousekeeperOptions {
  readonly node: ClusterNode;
  readonly clock: ClockPort;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Secret of the management token that a new cluster begins with, if configured. */
  readonly managementSecret?: string;
  /** Milliseconds without a new part after which a restore is dead; longer than an upload can take. */
  readonly restoreIdleMs: number;
  /** Milliseconds after its deletion in which a secret is to be gone from all disks, and see Machine. Absent: never. */
  readonly secrets?: { readonly secretsGoneMs: number; readonly leftAt: () => number };
  /** Told when a condition changes, not at each attempt. `error`: what was thrown, if it is not a refusal. */
  readonly log: (level: 'info' | 'warn', message: string, error?: unknown) => void;
}

/** Blocking reads of an expired token end within about this. */
const EVERY_MS = 1000;
/** A new cluster cannot be used before it has begun. */
const BEGIN_EVERY_MS = 50;
/** The longest pause after failures. */
const FAILED_EVERY_MS = 10_000;
/** How long one of its own commands may wait for a leader and a majority. */
const WRITE_MS = 10_000;
/** Expired tokens removed by one command: some milliseconds of applying. */
const TOKENS_PER_COMMAND = 500;

export class Housekeeper {
  readonly #options: HousekeeperOptions;
  readonly #expiry: ExpiryClock;
  readonly #restores: IdleRestores;
  readonly #forgetting: Forgetting | undefined;
  #cancel: (() => void) | undefined;
  #stopped = false;
  /** Rounds that failed one after the other, and what the last one said. */
  #failures = 0;
  #failure: string | undefined;
  #hasJumped = false;

  constructor(options: HousekeeperOptions) {
    this.#options = options;
    const { clock, nowMs, node, restoreIdleMs } = options;
    this.#expiry = new ExpiryClock(clock, nowMs);
    this.#restores = new IdleRestores(node.view, clock, restoreIdleMs);
    const { secrets } = options;
    this.#forgetting =
      secrets &&
      new Forgetting({
        ...{ view: node.view, clock },
        secretLeftAt: secrets.leftAt,
        secretsGoneMs: secrets.secretsGoneMs,
      });
  }

  start(): void {
    this.#again();
  }

  /** Proposes nothing more; what is under way ends by itself. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  /** Does all there is to do now. */
  async round(): Promise<void> {
    const { node } = this.#options;
    this.#compareClocks();
    for (;;) {
      if (this.#stopped) return;
      if (node.status().role !== 'leader') {
        this.#restores.forget();
        this.#forgetting?.forget();
        return;
      }
      const command = this.#next();
      if (command === undefined) return;
      const result = await node.write({ tokenKey: INTERNAL_KEY, command, timeoutMs: WRITE_MS });
      if (!result.ok) throw new ApiError(result.refusal);
    }
  }

  #again(): void {
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
        .finally(() => this.#again());
    });
  }

  #succeeded(): void {
    if (this.#failures > 0) this.#options.log('info', 'housekeeping goes on');
    this.#failures = 0;
    this.#failure = undefined;
  }

  #failed(error: unknown): void {
    // the next leader takes from nobody what a server does by itself, and does it
    if (this.#options.node.status().role !== 'leader') return;
    this.#failures += 1;
    const why = error instanceof Error ? error.message : String(error);
    if (why === this.#failure) return;
    this.#failure = why;
    const thrown = error instanceof ApiError ? [] : [error];
    this.#options.log('warn', `housekeeping waits: ${why}`, ...thrown);
  }

  #compareClocks(): void {
    this.#expiry.compare();
    const seconds = this.#expiry.jumpedSeconds();
    if ((seconds !== undefined) === this.#hasJumped) return;
    this.#hasJumped = seconds !== undefined;
    const { log } = this.#options;
    if (seconds === undefined) {
      log('info', 'the clock agrees with the time that has passed again');
      return;
    }
    const what = `the clock has jumped ${seconds} s ahead of the time that has passed`;
    log(
      'warn',
      `${what}: this server deletes expired tokens that much later until it is restarted`,
    );
  }

  /** The next command that is due; undefined: all is done. */
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
    const namespace = first('namespace-dying');
    if (namespace !== undefined) {
      const reap: NamespaceReap = { type: 'namespace.reap', v: 1, name: lastPart(namespace) };
      return reap;
    }
    const restore = this.#restores.next();
    if (restore === undefined) return this.#forgetting?.next();
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
