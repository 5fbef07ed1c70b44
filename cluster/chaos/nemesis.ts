/** What happens to a real cluster: processes are killed and stopped, links are cut and made slow, now and then at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../checker/random.js';
import type { LocalNode } from '../local.js';
import type { ProxyNetwork } from './proxy.js';

export interface NemesisParts {
  readonly nodes: readonly LocalNode[];
  readonly network: ProxyNetwork;
  readonly random: Random;
  /** The node that leads, if one does. */
  readonly leader: () => Promise<LocalNode | undefined>;
  readonly note: (text: string) => void;
}

const FAULTS = ['kill', 'kill', 'stop', 'stop', 'isolate', 'split', 'oneWay', 'slow'] as const;

export class Nemesis {
  readonly #parts: NemesisParts;
  readonly #lasting = new Set<Promise<void>>();
  /** How often each fault was made. */
  readonly counts: Record<string, number> = {};

  constructor(parts: NemesisParts) {
    this.#parts = parts;
  }

  /** Makes faults until `untilMs` of `performance.now()`, then undoes all of them. */
  async rage(untilMs: number): Promise<void> {
    const { random } = this.#parts;
    while (performance.now() < untilMs) {
      await sleep(random.between(300, 2500));
      const lasting = this.#strike(random.pick(FAULTS)).finally(() =>
        this.#lasting.delete(lasting),
      );
      this.#lasting.add(lasting);
      // mostly one at a time
      if (random.chance(0.7)) await lasting;
    }
    await Promise.all(this.#lasting);
    this.#parts.network.heal();
    for (const node of this.#parts.nodes) {
      await node.kill('SIGCONT');
      node.start();
    }
  }

  async #strike(fault: (typeof FAULTS)[number]): Promise<void> {
    const { random, network, nodes, note } = this.#parts;
    const node =
      (random.chance(0.5) ? await this.#parts.leader() : undefined) ?? random.pick(nodes);
    note(`${fault} ${node.name}`);
    this.counts[fault] = (this.counts[fault] ?? 0) + 1;
    switch (fault) {
      case 'kill':
        await node.kill('SIGKILL');
        await sleep(random.between(100, 2500));
        node.start();
        break;
      case 'stop':
        await node.kill('SIGSTOP');
        await sleep(random.between(500, 3000));
        await node.kill('SIGCONT');
        break;
      case 'slow':
        network.delayAll(random.between(20, 250));
        await sleep(random.between(1000, 4000));
        network.delayAll(0);
        break;
      default:
        network.cutWhere(this.#cutOf(fault, node.name));
        await sleep(random.between(500, 5000));
        network.cutWhere(() => false);
    }
  }

  #cutOf(
    fault: 'isolate' | 'split' | 'oneWay',
    name: string,
  ): (from: string, to: string) => boolean {
    const { random, nodes } = this.#parts;
    if (fault === 'isolate') return (from, to) => from === name || to === name;
    if (fault === 'oneWay') {
      const isDeaf = random.chance(0.5);
      return (from, to) => (isDeaf ? to : from) === name;
    }
    const group = new Set(
      random
        .shuffle(nodes)
        .slice(0, 1 + random.int(nodes.length - 1))
        .map((node) => node.name),
    );
    return (from, to) => group.has(from) !== group.has(to);
  }
}
