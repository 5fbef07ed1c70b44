/**
 * What goes wrong in a simulated world. Each world draws which kinds of fault it has and how often (so that rare ones also
 * meet each other undisturbed by the common ones), then things happen at random moments until the world is healed.
 */

import type { Random } from '../../cluster/checker/random.js';
import type { NodeId } from '../../src/raft/types.js';
import {
  DISK_FAULTS,
  FAULTS,
  type Fault,
  MACHINE_FAULTS,
  type MachineFault,
  SOCKET_FAULTS,
  STORAGE_FAULTS,
  type StorageFault,
} from './fault-kinds.js';
import { type MachineVictim, strikeMachine } from './machine-faults.js';
import { QUIET, type SimNetwork } from './network.js';
import type { Scheduler } from './scheduler.js';

/** What the faults may do to a server. */
export interface Victim extends MachineVictim {
  readonly id: NodeId;
  readonly up: boolean;
  readonly leading: boolean;
  /** It lacks something that it once had. */
  readonly lacking: boolean;
  /** `power`: unsynced writes are lost too; else only the process ends. */
  crash(power: boolean): void;
  /** It hands leadership over and ends, as at a signal; `then` unless it crashes before. */
  shutDown(then: () => void): void;
  /** The process will end in the middle of something, after so many more calls of its ports, and restart later. */
  lightFuse(calls: number): void;
  restart(): void;
  stall(ms: number): void;
  slowDisk(syncMs: number, forMs: number): void;
  /** The process will die between the two switches of the next snapshot that it takes in. */
  breakNextInstall(): void;
  /** The machine loses its power, and a part of its log. */
  damage(): void;
  /** There is no room on its disk for a while: `atReserve` with some left, so that nothing fails. */
  fillDisk(atReserve: boolean, forMs: number): void;
  /** Nothing is wrong with it any more but what it has lost; it runs. */
  heal(): void;
  /** The machine loses its power and its disk, and comes back with an empty one under the same name. */
  wipe(): void;
  /** The machine loses its power, and its state cannot be read any more. */
  damageState(): void;
  /** The next value that is put into its state is not the one that was meant. */
  goWrong(): void;
  /** The machine loses its power, and a value of its state is not what was written. */
  rot(): void;
  /** The process will die while it writes the next snapshot that it takes in. */
  cutNextInstall(): void;
  /** Its databases cannot be opened. */
  lock(isLocked: boolean): void;
}

/** Cluster operations that are no faults, but must stand them. */
export interface Operator {
  transfer(): void;
  changeMembership(): void;
  /** Removes a server for good, and lets a new one take its place. */
  replace(id: NodeId): void;
  /** Whether enough is left when this server loses what it has, or more than the others can replace. */
  canLose(id: NodeId): boolean;
  /** Whether everyone would know that it is another one that comes back under this server's name. */
  isKnown(id: NodeId): boolean;
  /** Whether everyone has met it as it was started last, and so knows each older copy of its disk for one. */
  isStartKnown(id: NodeId): boolean;
}

export interface FaultParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** For the kinds of `DISK_FAULTS`. */
  readonly diskRandom: Random;
  /** For the kinds of `MACHINE_FAULTS`. */
  readonly machineRandom: Random;
  /** For the kinds of `STORAGE_FAULTS`; absent where storage is in memory. */
  readonly storageRandom: Random | undefined;
  readonly network: SimNetwork;
  readonly victims: () => readonly Victim[];
  readonly operator: Operator;
  readonly trace: (text: string) => void;
  /** A kind that this world has in any case. */
  readonly certain?: Fault | undefined;
  /** Without faults of machines. */
  readonly plain?: boolean | undefined;
}

export class Faults {
  /** The kinds that this world has. */
  readonly kinds: readonly Fault[];
  readonly #parts: FaultParts;
  readonly #everyMs: number;
  #over = false;

  constructor(parts: FaultParts) {
    this.#parts = parts;
    const { random } = parts;
    const likely = random.pick([0.15, 0.4, 0.8]);
    const drawn: Fault[] = FAULTS.filter(() => random.chance(likely));
    // where members come and go damage has less room, so there it is drawn apart
    const first = drawn.filter((kind) => kind !== 'damage' || !drawn.includes('membership'));
    const share = parts.diskRandom.pick([0, 0, 0.2, 0.6]);
    const more = DISK_FAULTS.filter(() => parts.diskRandom.chance(share));
    const { machineRandom, certain, plain } = parts;
    const rare = plain ? 0 : machineRandom.pick([0, 0, 0.3, 0.6]);
    const machine = MACHINE_FAULTS.filter(() => machineRandom.chance(rare));
    const { storageRandom, network } = parts;
    const bad = storageRandom?.pick([0, 0.3, 0.7]) ?? 0;
    const storage = STORAGE_FAULTS.filter(() => storageRandom?.chance(bad));
    const all = [...first, ...more, ...machine, ...storage, ...(certain ? [certain] : [])];
    this.kinds = [...new Set(network.kind === 'sockets' ? all.map(onSockets) : all)];
    this.#everyMs = random.pick([300, 1000, 3000]);
  }

  start(): void {
    if (this.kinds.length > 0) this.#later();
  }

  /** No more faults; what lasts is undone. */
  heal(): void {
    this.#over = true;
    this.#parts.network.heal();
    for (const victim of this.#parts.victims()) victim.heal();
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
    if (isDisturbance(fault)) {
      this.#disturb(fault);
      return;
    }
    switch (fault) {
      case 'crash':
      case 'power':
        this.#crash(fault === 'power');
        break;
      case 'fuse':
        this.#on(fault, (victim) => victim.lightFuse(random.int(60)));
        break;
      case 'halfInstall':
        for (const victim of this.#victims()) victim.breakNextInstall();
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
      case 'slowDisk':
        this.#on(fault, (victim) =>
          victim.slowDisk(random.between(5, 600), random.between(500, 5000)),
        );
        break;
      case 'damage':
      case 'wipe':
      case 'stateDamage':
        this.#lose(fault);
        break;
      case 'wrongState':
        this.#onOne(fault, this.#expendable(), (victim) => victim.goWrong());
        break;
      case 'fullDisk':
        this.#on(fault, (victim) => victim.fillDisk(random.chance(0.5), random.between(500, 8000)));
        break;
      case 'longStall':
        this.#on(fault, (victim) => victim.stall(random.between(3_000, 15_000)));
        break;
      case 'transfer':
        operator.transfer();
        break;
      case 'membership':
        operator.changeMembership();
        if (random.chance(0.3)) operator.changeMembership();
        break;
      case 'hangDisk':
      case 'suspend':
      case 'pauseMachine':
      case 'skewTiming':
      case 'rollback':
      case 'newRelease':
        this.#strikeMachine(fault);
        break;
      case 'rot':
      case 'cutInstall':
      case 'locked':
        this.#strikeStorage(fault);
    }
  }

  #strikeStorage(fault: StorageFault): void {
    const { scheduler, storageRandom: random } = this.#parts;
    const victims = fault === 'rot' ? this.#expendable() : this.#victims();
    if (random === undefined || victims.length === 0) return;
    const victim = random.pick(victims);
    this.#strikeOne(fault, victim, () => {
      if (fault === 'cutInstall') victim.cutNextInstall();
      else if (fault === 'rot') victim.rot();
      else {
        victim.lock(true);
        victim.crash(false);
        scheduler.after(random.between(500, 5_000), () => victim.lock(false));
      }
      if (fault !== 'cutInstall') this.#restartLater(victim);
    });
  }

  #victims(): readonly Victim[] {
    return this.#parts.victims().filter((victim) => victim.up);
  }

  #on(fault: Fault, act: (victim: Victim) => void): void {
    this.#onOne(fault, this.#victims(), act);
  }

  #onOne(fault: Fault, victims: readonly Victim[], act: (victim: Victim) => void): void {
    if (victims.length === 0) return;
    const victim = this.#parts.random.pick(victims);
    this.#strikeOne(fault, victim, () => act(victim));
  }

  #strikeOne(fault: Fault, victim: Victim, act: () => void): void {
    this.#parts.trace(`fault ${fault} on ${victim.id}`);
    act();
  }

  #strikeMachine(fault: MachineFault): void {
    const { scheduler, operator, machineRandom } = this.#parts;
    const canGoBack = ({ id }: Victim): boolean =>
      operator.canLose(id) && operator.isStartKnown(id);
    const parts = {
      ...{ random: machineRandom, canGoBack },
      after: (ms: number, run: () => void) =>
        scheduler.after(ms, () => {
          if (!this.#over) run();
        }),
      restartLater: (victim: Victim) => this.#restartLater(victim),
      replace: ({ id }: Victim) => operator.replace(id),
    };
    const victims = this.#victims().filter((each) => fault !== 'rollback' || !each.lacking);
    if (victims.length === 0) return;
    const victim = machineRandom.pick(victims);
    this.#strikeOne(fault, victim, () => strikeMachine(fault, victim, parts));
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

  /** Those without which the others still have all that was acknowledged. */
  #expendable(): readonly Victim[] {
    return this.#victims().filter(({ id }) => this.#parts.operator.canLose(id));
  }

  #lose(fault: 'damage' | 'wipe' | 'stateDamage'): void {
    const { operator } = this.#parts;
    const expendable = this.#expendable();
    const struck =
      fault === 'wipe' ? expendable.filter(({ id }) => operator.isKnown(id)) : expendable;
    this.#onOne(fault, struck, (victim) => {
      if (fault === 'damage') victim.damage();
      else if (fault === 'wipe') {
        victim.wipe();
        operator.replace(victim.id);
      } else victim.damageState();
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

  #disturb(fault: Disturbance): void {
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

/** What happens to links that carry something. */
const DISTURBANCES = ['drop', 'repeat', 'slowLink', 'reset', 'trickle'] as const;
type Disturbance = (typeof DISTURBANCES)[number];
const isDisturbance = (fault: Fault): fault is Disturbance =>
  DISTURBANCES.some((each) => each === fault);

const onSockets = (fault: Fault): Fault =>
  fault === 'drop' || fault === 'repeat' ? SOCKET_FAULTS[fault] : fault;
