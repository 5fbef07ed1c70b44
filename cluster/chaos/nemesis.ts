/** Makes faults, one or several at once, and undoes all of them at the end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalNode } from '../local.js';
import { FAULTS, type Fault, type Field } from './faults.js';

export interface NemesisParts extends Field {
  /** The node that leads, if one does. */
  readonly leader: () => Promise<LocalNode | undefined>;
  readonly note: (text: string) => void;
}

/** How often it looks for nodes that have ended, as whatever runs services on a machine does. */
const LOOK_MS = 250;

export class Nemesis {
  readonly #parts: NemesisParts;
  readonly #all: readonly Fault[];
  readonly #faults: Fault[] = [];
  readonly #lasting = new Set<Promise<void>>();
  /** Nodes whose process belongs to a fault. */
  readonly #owned = new Set<string>();
  #isChanging = false;
  #failure: Error | undefined;
  /** How often each fault was made. */
  readonly counts: Record<string, number> = {};
  /** What became of them, where that is not always the same. */
  readonly effects: Record<string, number> = {};
  /** Faults that cannot be made on this machine, with the reason. */
  readonly leftOut: Record<string, string> = {};

  constructor(parts: NemesisParts, faults: readonly Fault[] = FAULTS) {
    this.#parts = parts;
    this.#all = faults;
  }

  /**
   * Makes faults until `untilMs` of `performance.now()`, then undoes them. Rejects if a member does
   * not come back.
   */
  async rage(untilMs: number): Promise<void> {
    const watch = setInterval(() => this.#restart(), LOOK_MS);
    try {
      await this.#rage(untilMs);
    } finally {
      clearInterval(watch);
    }
  }

  async #rage(untilMs: number): Promise<void> {
    const { random } = this.#parts;
    for (const fault of this.#all) {
      const why = await fault.missing?.();
      if (why !== undefined) this.leftOut[fault.name] = why;
      else this.#faults.push(...Array.from({ length: fault.weight }, () => fault));
    }
    while (performance.now() < untilMs && !this.#failure) {
      await sleep(random.between(200, 2000));
      const lasting = this.#strike(random.pick(this.#faults))
        .catch((error: Error) => {
          this.#failure ??= error;
        })
        .finally(() => this.#lasting.delete(lasting));
      this.#lasting.add(lasting);
      // mostly one at a time
      if (random.chance(0.6)) await lasting;
    }
    await Promise.all(this.#lasting);
    this.#parts.network.heal();
    for (const node of this.#parts.nodes) {
      this.#parts.control(node.name).heal();
      await node.kill('SIGCONT');
      node.start();
    }
    if (this.#failure) throw this.#failure;
  }

  async #strike(fault: Fault): Promise<void> {
    const { random, nodes, note } = this.#parts;
    const leader = random.chance(0.5) ? await this.#parts.leader() : undefined;
    const node = leader ?? random.pick(nodes);
    const { owns, name } = fault;
    const ownsProcess = owns === 'process' || owns === 'members';
    if (ownsProcess && this.#owned.has(node.name)) return;
    // one change of members at a time: never are the data of two nodes gone at once
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
   * A node that ended after its fault was over would else stay away, and all faults to come meet a
   * cluster without it.
   */
  #restart(): void {
    for (const node of this.#parts.nodes) {
      if (node.pid !== undefined || this.#owned.has(node.name)) continue;
      this.#parts.note(`${node.name} had ended by itself`);
      this.#count(this.effects, 'a node ended by itself and was started again');
      node.start();
    }
  }

  #count(counts: Record<string, number>, what: string): void {
    counts[what] = (counts[what] ?? 0) + 1;
  }
}
