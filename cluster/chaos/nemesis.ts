/** Makes random faults, one or several at once, and undoes all of them at the end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalNode } from '../../src/dev/local.js';
import { FAULTS, type Fault, type FaultContext } from './faults.js';

/** What the nemesis needs. */
export interface NemesisParts extends FaultContext {
  /** Returns the leader, if there is one. */
  readonly leader: () => Promise<LocalNode | undefined>;
  readonly note: (text: string) => void;
}

/** Interval of the search for ended nodes, which are restarted as by a service manager. */
const RESTART_MS = 250;

/** Makes the faults of a run. */
export class Nemesis {
  readonly #parts: NemesisParts;
  readonly #all: readonly Fault[];
  readonly #faults: Fault[] = [];
  readonly #running = new Set<Promise<void>>();
  /** Nodes whose process a fault uses. */
  readonly #owned = new Set<string>();
  #isChanging = false;
  #failure: Error | undefined;
  /** The number of times that each fault was made. */
  readonly counts: Record<string, number> = {};
  /** The number of times of each effect, for faults with several. */
  readonly effects: Record<string, number> = {};
  /** Faults that cannot be made on this machine, with the reasons. */
  readonly leftOut: Record<string, string> = {};

  constructor(parts: NemesisParts, faults: readonly Fault[] = FAULTS) {
    this.#parts = parts;
    this.#all = faults;
  }

  /**
   * Makes faults until `untilMs` of `performance.now()`, then undoes them. Rejects if a replaced
   * member does not join again.
   */
  async run(untilMs: number): Promise<void> {
    const watch = setInterval(() => this.#restart(), RESTART_MS);
    try {
      await this.#makeFaults(untilMs);
    } finally {
      clearInterval(watch);
    }
  }

  async #makeFaults(untilMs: number): Promise<void> {
    const { random } = this.#parts;
    for (const fault of this.#all) {
      const why = await fault.missing?.();
      if (why !== undefined) this.leftOut[fault.name] = why;
      else this.#faults.push(...Array.from({ length: fault.weight }, () => fault));
    }
    while (performance.now() < untilMs && !this.#failure) {
      await sleep(random.between(200, 2000));
      const running = this.#make(random.pick(this.#faults))
        .catch((error: Error) => {
          this.#failure ??= error;
        })
        .finally(() => this.#running.delete(running));
      this.#running.add(running);
      // Most faults are made alone.
      if (random.chance(0.6)) await running;
    }
    await Promise.all(this.#running);
    this.#parts.network.heal();
    for (const node of this.#parts.nodes) {
      this.#parts.control(node.name).heal();
      await node.kill('SIGCONT');
      node.start();
    }
    if (this.#failure) throw this.#failure;
  }

  async #make(fault: Fault): Promise<void> {
    const { random, nodes, note } = this.#parts;
    const leader = random.chance(0.5) ? await this.#parts.leader() : undefined;
    const node = leader ?? random.pick(nodes);
    const { owns, name } = fault;
    const ownsProcess = owns === 'process' || owns === 'members';
    if (ownsProcess && this.#owned.has(node.name)) return;
    // One change of members at a time, so that the data of at most one node is gone.
    if (owns === 'members' && this.#isChanging) return;
    note(`${name}: ${node.name}`);
    this.#count(this.counts, name);
    if (ownsProcess) this.#owned.add(node.name);
    if (owns === 'members') this.#isChanging = true;
    try {
      const effect = await fault.make(this.#parts, node);
      if (typeof effect === 'string') this.#count(this.effects, `${name}: ${effect}`);
    } finally {
      if (ownsProcess) this.#owned.delete(node.name);
      if (owns === 'members') this.#isChanging = false;
    }
  }

  /**
   * Restarts nodes that ended after their fault was over, so that later faults hit a whole cluster.
   */
  #restart(): void {
    for (const node of this.#parts.nodes) {
      if (node.pid !== undefined || this.#owned.has(node.name)) continue;
      this.#parts.note(`${node.name} ended by itself`);
      this.#count(this.effects, 'a node ended by itself and was restarted');
      node.start();
    }
  }

  #count(counts: Record<string, number>, what: string): void {
    counts[what] = (counts[what] ?? 0) + 1;
  }
}
