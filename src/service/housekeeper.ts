/**
 * What the cluster does by itself: it begins, removes tokens that have expired, and goes on with deletions that were too
 * large for one command. Only the leader proposes, in small commands, so that none of it delays anybody's write.
 */
import { randomUUID } from 'node:crypto';
import type { ClockPort } from '../node/ports.js';
import type { ClusterNode } from '../node/types.js';
import { take } from '../state/links.js';
import { keysBelow, lastPart } from '../state/lists.js';
import type { MethodReap } from '../state/methods.js';
import type { NamespaceReap } from '../state/namespaces.js';
import { INIT_FACT, type SystemInit } from '../state/system.js';
import type { TokenReap } from '../state/token-commands.js';
import type { Command } from '../state/types.js';
import { INTERNAL_KEY } from './gate.js';
import { timeOf } from './times.js';

export interface HousekeeperOptions {
  readonly node: ClusterNode;
  readonly clock: ClockPort;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Secret of the management token that a new cluster begins with, if configured. */
  readonly managementSecret?: string;
  /** Told of what failed; it is tried again. */
  readonly report: (error: unknown) => void;
}

/** Blocking reads of an expired token end within about this. */
const EVERY_MS = 1000;
/** A new cluster cannot be used before it has begun. */
const BEGIN_EVERY_MS = 50;
const WRITE_MS = 10_000;
const TOKENS_PER_COMMAND = 500;

export class Housekeeper {
  readonly #options: HousekeeperOptions;
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(options: HousekeeperOptions) {
    this.#options = options;
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
    for (;;) {
      if (this.#stopped || node.status().role !== 'leader') return;
      const command = this.#next();
      if (command === undefined) return;
      const result = await node.write({ tokenKey: INTERNAL_KEY, command, timeoutMs: WRITE_MS });
      if (!result.ok) throw new Error(`${command.type}: ${result.refusal.message}`);
    }
  }

  #again(): void {
    if (this.#stopped) return;
    const { node, clock, report } = this.#options;
    const everyMs = node.view.get(INIT_FACT) === undefined ? BEGIN_EVERY_MS : EVERY_MS;
    this.#cancel = clock.after(everyMs, () => {
      this.round()
        .catch(report)
        .finally(() => this.#again());
    });
  }

  /** The next command that is due; undefined: all is done. */
  #next(): Command | undefined {
    const { node, nowMs } = this.#options;
    const first = (table: string): string | undefined => take(keysBelow(node.view, table), 1)[0];
    if (node.view.get(INIT_FACT) === undefined) return this.#init();
    const expiring = first('token-by-expiry');
    if (expiring !== undefined && Number(expiring.split('\u0000')[1]) <= nowMs()) {
      const reap: TokenReap = { type: 'token.reap', v: 1, nowMs: nowMs(), max: TOKENS_PER_COMMAND };
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
    return undefined;
  }

  #init(): SystemInit {
    const { nowMs, managementSecret } = this.#options;
    const createTime = timeOf(nowMs());
    if (managementSecret === undefined) return { type: 'system.init', v: 1, createTime };
    const management = { accessor: randomUUID(), secret: managementSecret, createTime };
    return { type: 'system.init', v: 1, createTime, management };
  }
}
