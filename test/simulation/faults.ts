/**
 * What goes wrong in a simulated world. Each world draws which kinds of fault it has and how often (so that rare ones also
 * meet each other undisturbed by the common ones), then things happen at random moments until the world is healed.
 */

import type { Random } from '../../cluster/checker/random.js';
import type { NodeId } from '../../src/raft/types.js';
import type { SimNetwork } from './network.js';
import type { Scheduler } from './scheduler.js';

/** What the faults may do to a server. */
export interface Victim {
  readonly id: NodeId;
  readonly up: boolean;
  readonly leading: boolean;
  /** `power`: unsynced writes are lost too; else only the process ends. */
  crash(power: boolean): void;
  /** The process will end in the middle of something, after so many more calls of its ports, and restart later. */
  lightFuse(calls: number): void;
  restart(): void;
  stall(ms: number): void;
  slowDisk(syncMs: number, forMs: number): void;
  /** The process will die between the two switches of the next snapshot that it takes in. */
  halfInstall: boolean;
  /** The machine loses its power, and a part of its log. */
  damage(): void;
  /** It lost acknowledged entries and has not got them back: no vote until then. */
  readonly barred: boolean;
}

/** Cluster operations that are no faults, but must stand them. */
export interface Operator {
  transfer(): void;
  changeMembership(): void;
}

export const FAULTS = [
  'crash',
  'power',
  'fuse',
  'halfInstall',
  'stall',
  'stallLeader',
  'partition',
  'oneWay',
  'matrix',
  'drop',
  'repeat',
  'slowLink',
  'slowDisk',
  'damage',
  'transfer',
  'membership',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface FaultParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly network: SimNetwork;
  readonly victims: () => readonly Victim[];
  readonly operator: Operator;
  readonly trace: (text: string) => void;
}

export class Faults {
  /** The kinds that this world has. */
  readonly kinds: readonly Fault[];
  readonly #parts: FaultParts;
  readonly #everyMs: number;
  readonly #founders: number;
  #over = false;

  constructor(parts: FaultParts, allowed: readonly Fault[]) {
    this.#parts = parts;
    const { random } = parts;
    const likely = random.pick([0.15, 0.4, 0.8]);
    const drawn = allowed.filter(() => random.chance(likely));
    // which servers count is then in flux, and so is how much damage can be borne
    this.kinds = drawn.filter((kind) => kind !== 'damage' || !drawn.includes('membership'));
    this.#founders = parts.victims().length;
    this.#everyMs = random.pick([300, 1000, 3000]);
  }

  start(): void {
    if (this.kinds.length > 0) this.#later();
  }

  /** No more faults; what lasts is undone. */
  heal(): void {
    this.#over = true;
    this.#parts.network.heal();
    for (const victim of this.#parts.victims()) {
      victim.lightFuse(Number.POSITIVE_INFINITY);
      victim.halfInstall = false;
      if (!victim.up) victim.restart();
    }
  }

  #later(): void {
    const { scheduler, random } = this.#parts;
    scheduler.after(-Math.log(1 - random.next()) * this.#everyMs, () => {
      if (this.#over) return;
      this.#strike(random.pick(this.kinds));
      this.#later();
    });
  }

  #strike(fault: Fault): void {
    const { random, operator } = this.#parts;
    switch (fault) {
      case 'crash':
      case 'power':
        this.#crash(fault === 'power');
        break;
      case 'fuse':
        this.#on(fault, (victim) => victim.lightFuse(random.int(60)));
        break;
      case 'halfInstall':
        for (const victim of this.#victims()) victim.halfInstall = true;
        break;
      case 'stall':
        this.#on(fault, (victim) => victim.stall(random.between(50, 3000)));
        break;
      case 'stallLeader': {
        const leader = this.#victims().find((victim) => victim.leading);
        if (leader) this.#strikeOne(fault, leader, () => leader.stall(random.between(300, 3000)));
        break;
      }
      case 'partition':
        this.#partition();
        break;
      case 'oneWay':
      case 'matrix':
        this.#cut(fault);
        break;
      case 'drop':
      case 'repeat':
      case 'slowLink':
        this.#disturb(fault);
        break;
      case 'slowDisk':
        this.#on(fault, (victim) =>
          victim.slowDisk(random.between(5, 600), random.between(500, 5000)),
        );
        break;
      case 'damage':
        this.#damage();
        break;
      case 'transfer':
        operator.transfer();
        break;
      case 'membership':
        operator.changeMembership();
        if (random.chance(0.3)) operator.changeMembership();
        break;
    }
  }

  #victims(): readonly Victim[] {
    return this.#parts.victims().filter((victim) => victim.up);
  }

  #on(fault: Fault, act: (victim: Victim) => void): void {
    const up = this.#victims();
    if (up.length === 0) return;
    const victim = this.#parts.random.pick(up);
    this.#strikeOne(fault, victim, () => act(victim));
  }

  #strikeOne(fault: Fault, victim: Victim, act: () => void): void {
    this.#parts.trace(`fault ${fault} on ${victim.id}`);
    act();
  }

  /** One server, or a good part of them at once. */
  #crash(power: boolean): void {
    const { random } = this.#parts;
    const some = random.chance(0.2) ? random.shuffle(this.#victims()) : [];
    const struck = some.length > 0 ? some.slice(0, 1 + random.int(some.length)) : [];
    if (struck.length === 0 && this.#victims().length > 0)
      struck.push(random.pick(this.#victims()));
    for (const victim of struck) {
      this.#strikeOne(power ? 'power' : 'crash', victim, () => victim.crash(power));
      this.#restartLater(victim);
    }
  }

  /** What a majority acknowledged survives damage only on fewer than half of the founding servers at a time. */
  #damage(): void {
    const barred = this.#parts.victims().filter((victim) => victim.barred).length;
    const bearable = Math.floor((this.#founders - 1) / 2);
    if (barred >= bearable) return;
    this.#on('damage', (victim) => {
      victim.damage();
      this.#restartLater(victim);
    });
  }

  #restartLater(victim: Victim): void {
    const { scheduler, random } = this.#parts;
    scheduler.after(random.delay(300, 8000, 0.2), () => {
      if (!victim.up) victim.restart();
    });
  }

  /** The servers fall into two groups for a while. */
  #partition(): void {
    const { random, trace } = this.#parts;
    const mixed = random.shuffle(this.#parts.victims().map((victim) => victim.id));
    const left = mixed.slice(0, 1 + random.int(Math.max(1, mixed.length - 1)));
    trace(`fault partition [${left}] | rest`);
    this.#cutWhere((from, to) => left.includes(from) !== left.includes(to));
  }

  /** One direction of one link, or any set of directions. */
  #cut(fault: 'oneWay' | 'matrix'): void {
    const { random, trace } = this.#parts;
    const ids = this.#parts.victims().map((victim) => victim.id);
    if (ids.length < 2) return;
    trace(`fault ${fault}`);
    const [one, two] = random.shuffle(ids);
    const share = random.next();
    this.#cutWhere((from, to) =>
      fault === 'oneWay' ? from === one && to === two : random.chance(share),
    );
  }

  #cutWhere(cut: (from: NodeId, to: NodeId) => boolean): void {
    const { scheduler, random, network } = this.#parts;
    const ids = this.#parts.victims().map((victim) => victim.id);
    const struck = ids.flatMap((from) =>
      ids.filter((to) => from !== to && cut(from, to)).map((to) => network.link(from, to)),
    );
    for (const link of struck) link.cut = true;
    scheduler.after(random.between(100, 6000), () => {
      for (const link of struck) link.cut = false;
    });
  }

  #disturb(fault: 'drop' | 'repeat' | 'slowLink'): void {
    const { scheduler, random, network, trace } = this.#parts;
    const ids = this.#parts.victims().map((victim) => victim.id);
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
      else {
        link.delayMs = 1 + degree * 150;
        link.longMs = link.delayMs + random.between(0, 2000);
        link.longProbability = random.next() * 0.2;
      }
    }
    scheduler.after(random.between(500, 8000), () => {
      for (const link of struck)
        Object.assign(link, {
          dropProbability: 0,
          repeatProbability: 0,
          delayMs: 1,
          longMs: 20,
          longProbability: 0.01,
        });
    });
  }
}
