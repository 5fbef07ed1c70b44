/** Clients that write commands of the product through any server, where the servers know them. */
import type { Random } from '../../cluster/checker/random.js';
import type { Index } from '../../src/raft/types.js';
import { hasAuthors } from '../../src/state/levels.js';
import type { Command } from '../../src/state/types.js';
import { cascade, randomCommand, restoreCommands } from '../support/random-commands.js';
import { CachedRights } from './cached-rights.js';
import { ChangeClient, type Told } from './changes.js';
import { JudgedWrites } from './judged-writes.js';
import { registerKey } from './machine.js';
import { authored, productCommand } from './product-commands.js';
import { CHANGE_LEVEL, hasCommand, knows, type Releases } from './releases.js';
import { rightsCommand } from './rights-commands.js';
import type { Scheduler } from './scheduler.js';
import type { SimServer } from './server.js';
import type { WriteOutcome } from './workload.js';

/** Milliseconds between two commands, at most. */
const PRODUCT_MS = 300;
/** The share of commands about rights, in worlds that have them. */
const RIGHTS_SHARE = 0.7;

export interface ProductClientsParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly releases: Releases;
  /** See ClusterOptions. */
  readonly legacy: boolean;
  /** Whether most commands give tokens rights and take them. */
  readonly hasRights: boolean;
  readonly servers: () => readonly SimServer[];
  /** Servers that are up. */
  readonly up: () => readonly SimServer[];
  readonly violated: (violation: unknown) => void;
  readonly trace: (text: string) => void;
}

export class ProductClients {
  readonly #parts: ProductClientsParts;
  readonly #changes: ChangeClient | undefined;
  /** In worlds with commands about rights. */
  readonly #cached: CachedRights | undefined;
  /** By which state the writes of worlds with rights are judged. */
  readonly judged = new JudgedWrites();
  #isOperated = false;
  #acknowledged = 0;

  constructor(parts: ProductClientsParts) {
    this.#parts = parts;
    const { hasLevels, random } = parts.releases;
    if (hasLevels) this.#changes = new ChangeClient({ ...parts, random });
    if (parts.hasRights) this.#cached = new CachedRights({ ...parts, random: parts.random.fork() });
  }

  get hasRights(): boolean {
    return this.#parts.hasRights;
  }

  /** The index of the newest command that took effect, as a client knows. */
  get acknowledged(): Index {
    return this.#acknowledged;
  }

  /** What clients were told of commands that need level 3. */
  get told(): readonly Told[] {
    return this.#changes?.told ?? [];
  }

  /** `n`: the number of the first command. */
  start(n = 1): void {
    this.#isOperated = true;
    this.#changes?.start();
    this.#cached?.start();
    this.#next(n);
  }

  /** Writes nothing more. */
  stop(): void {
    this.#isOperated = false;
    this.#changes?.stop();
    this.#cached?.stop();
  }

  #next(n: number): void {
    const { scheduler, random, legacy } = this.#parts;
    scheduler.after(random.next() * PRODUCT_MS, () => {
      if (!this.#isOperated) return;
      const up = this.#parts.up();
      if (legacy) {
        const command = productCommand(random, n);
        if (up.length > 0) random.pick(up).write(command, 3_000, () => {});
      } else if (up.length > 0) {
        const server = random.pick(up);
        // a server whose state cannot be read ends by itself
        server.visit(() => this.#propose(server, n));
      }
      this.#next(n + 1);
    });
  }

  /** Any command, or those of a restore one after another. */
  #propose(server: SimServer, n: number): void {
    const { random, releases } = this.#parts;
    const applied = server.look()!.applied;
    const draw = { random, n, view: server.view, applied };
    // an older release adds no members that it does not know
    const isNew = !releases.hasLevels || server.release >= CHANGE_LEVEL;
    if (this.#parts.hasRights && random.chance(RIGHTS_SHARE)) {
      const mayRevoke = hasCommand(server.release, 'identity.revoke');
      const command = rightsCommand(random, n, server.view, mayRevoke);
      this.#proposeAll(server, [made(isNew ? authored(command, n) : command)]);
      return;
    }
    const kind = random.pick(['usual', 'usual', 'usual', 'usual', 'any', 'any', 'any', 'forget']);
    if (random.chance(0.02)) {
      const isTaken = (key: string): boolean => !key.startsWith(registerKey(''));
      const hasBytes = n % 2 === 0 && isNew;
      this.#proposeAll(server, restoreCommands(draw, isTaken, hasBytes).map(made));
    } else if (random.chance(0.05)) this.#proposeAll(server, cascade(draw));
    else if (kind === 'forget') {
      const upTo = Math.max(0, applied - random.int(12));
      const forget = { type: 'request.forget', v: 1, upTo, max: random.pick([1, 3, 500]) };
      this.#proposeAll(server, [made(forget as Command)]);
    } else {
      const isKnown = (type: string): boolean => hasCommand(server.release, type);
      const command =
        kind === 'any' ? randomCommand(draw, isKnown) : productCommand(random, n, isKnown);
      if (releases.hasLevels && !knows(server.release, command)) return;
      // below that level a member leaves them out; what a client sends is refused
      const isTold = !releases.hasLevels || hasAuthors(server.view) || n % 16 === 0;
      this.#proposeAll(server, [made(isNew && isTold ? authored(command, n) : command)]);
    }
  }

  /** Each once the one before is done. */
  #proposeAll(server: SimServer, [next, ...rest]: readonly (() => Command)[]): void {
    if (next === undefined || !server.up) return;
    const tokenKey = this.#parts.hasRights ? this.judged.sent(this.#acknowledged) : undefined;
    const done = (outcome: WriteOutcome): void => {
      if (!('result' in outcome && outcome.result.ok)) return;
      if (tokenKey !== undefined) this.judged.tookEffect(tokenKey);
      this.#acknowledged = Math.max(this.#acknowledged, outcome.result.index);
      this.#cached?.acknowledged(this.#acknowledged);
      this.#proposeAll(server, rest);
    };
    server.write(next(), 3_000, done, tokenKey);
  }
}

const made = (command: Command) => (): Command => command;
