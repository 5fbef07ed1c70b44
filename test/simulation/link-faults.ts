/** Faults of the links between the servers of a simulated world. */
import type { Random } from '../../cluster/checker/random.js';
import type { NodeId } from '../../src/raft/types.js';
import type { Fault } from './fault-kinds.js';
import { QUIET, type SimNetwork } from './network.js';
import type { Scheduler } from './scheduler.js';

/** Faults of links that still deliver something. */
const DISTURBANCES = ['drop', 'repeat', 'slowLink', 'reset', 'trickle'] as const;
type Disturbance = (typeof DISTURBANCES)[number];
/** Whether a fault is one of links that still deliver something. */
export const isDisturbance = (fault: Fault): fault is Disturbance =>
  DISTURBANCES.some((each) => each === fault);

/** What these faults need. */
export interface LinkParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly network: SimNetwork;
  readonly victims: () => readonly { readonly id: NodeId }[];
  readonly trace: (text: string) => void;
}

/** See the head of this file. */
export class LinkFaults {
  readonly #parts: LinkParts;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  #ids(): NodeId[] {
    return this.#parts.victims().map((victim) => victim.id);
  }

  /** Splits the servers into two groups for a while. */
  partition(): void {
    const { random, trace } = this.#parts;
    const mixed = random.shuffle(this.#ids());
    const left = mixed.slice(0, 1 + random.int(Math.max(1, mixed.length - 1)));
    trace(`fault partition [${left}] | rest`);
    this.cutWhere((from, to) => left.includes(from) !== left.includes(to));
  }

  /** Cuts one direction of one link, or a random set of directions. */
  cut(fault: 'oneWay' | 'matrix'): void {
    const { random, trace } = this.#parts;
    const ids = this.#ids();
    if (ids.length < 2) return;
    trace(`fault ${fault}`);
    const [one, two] = random.shuffle(ids);
    const share = random.next();
    this.cutWhere((from, to) =>
      fault === 'oneWay' ? from === one && to === two : random.chance(share),
    );
  }

  /** Cuts some links for a while. */
  cutWhere(cut: (from: NodeId, to: NodeId) => boolean): void {
    const { scheduler, random, network } = this.#parts;
    const ids = this.#ids();
    const struck = ids.flatMap((from) =>
      ids.filter((to) => from !== to && cut(from, to)).map((to) => network.link(from, to)),
    );
    for (const link of struck) link.cut = true;
    scheduler.after(random.between(100, 6000), () => {
      for (const link of struck) link.cut = false;
    });
  }

  /** Makes some links, or all, bad for a while. */
  disturb(fault: Disturbance): void {
    const { scheduler, random, network, trace } = this.#parts;
    const ids = this.#ids();
    trace(`fault ${fault}`);
    const all = random.chance(0.5);
    const [one] = random.shuffle(ids);
    const struck = ids.flatMap((from) =>
      ids
        .filter((to) => from !== to && (all || from === one || to === one))
        .map((to) => network.link(from, to)),
    );
    const degree = random.next();
    for (const link of struck) {
      if (fault === 'drop') link.dropProbability = degree * 0.6;
      else if (fault === 'repeat') link.repeatProbability = degree;
      else if (fault === 'reset') link.resetProbability = degree * 0.1;
      else if (fault === 'trickle') link.windowBytes = Math.ceil(10 + degree * 300);
      else {
        link.delayMs = 1 + degree * 150;
        link.longMs = link.delayMs + random.between(0, 2000);
        link.longProbability = random.next() * 0.2;
      }
    }
    scheduler.after(random.between(500, 8000), () => {
      for (const link of struck) Object.assign(link, QUIET);
    });
  }
}
