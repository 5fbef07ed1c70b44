/**
 * The faults of a simulated world. Each world draws its kinds of fault and how often they strike, so
 * that in some worlds rare faults coincide without the common ones. Faults strike at random moments
 * until the world heals.
 */

import type { Random } from '../../cluster/checker/random.js';
import type { NodeId } from '../../src/raft/types.js';
import { depose } from './deposed.js';
import {
  DISK_FAULTS,
  FAULTS,
  type Fault,
  LOG_FAULTS,
  LOST_REPLACEMENT,
  MACHINE_FAULTS,
  type MachineFault,
  SOCKET_FAULTS,
  STORAGE_FAULTS,
  type StorageFault,
} from './fault-kinds.js';
import { isDisturbance, LinkFaults } from './link-faults.js';
import { type MachineVictim, strikeMachine } from './machine-faults.js';
import type { SimNetwork } from './network.js';
import type { Scheduler } from './scheduler.js';

/** A server as the faults see it. */
export interface Victim extends MachineVictim {
  readonly id: NodeId;
  readonly up: boolean;
  readonly leading: boolean;
  /** Whether its disk lacks something that it once had. */
  readonly lacking: boolean;
  /** Kills the process. With `power`, the machine loses its power and its unsynced writes too. */
  crash(power: boolean): void;
  /** Shuts down as after a signal. Calls `then` at the end, unless the process crashes first. */
  shutDown(then: () => void): void;
  /** Kills the process after `calls` more calls of its ports, in the middle of a turn. */
  lightFuse(calls: number): void;
  restart(): void;
  stall(ms: number): void;
  slowDisk(syncMs: number, forMs: number): void;
  /** Kills the process during its next snapshot installation, between state and log. */
  breakNextInstall(): void;
  /** The machine loses its power and a part of its log. */
  damage(): void;
  /** Calls `strike` when `loseReplacement` may come, unless the process ends before. */
  whenReplaced(strike: () => void): void;
  /** Kills the process. Its log loses the write that replaced entries. */
  loseReplacement(): void;
  /** Fills the disk for a while. With `atReserve`, only the reserve is left, and no write fails. */
  fillDisk(atReserve: boolean, forMs: number): void;
  /** Ends all faults and starts the server. What it has lost stays lost. */
  heal(): void;
  /** The machine loses its power and its disk, and returns with an empty disk and its old name. */
  wipe(): void;
  /** The machine loses its power, and its state becomes unreadable. */
  damageState(): void;
  /** Puts a wrong value into the state at the next write. */
  goWrong(): void;
  /** The machine loses its power, and a stored value of the state changes. */
  rot(): void;
  /** Kills the process while it writes the next snapshot that it receives. */
  cutNextInstall(): void;
  /** Sets whether another process holds the lock of its databases. */
  lock(isLocked: boolean): void;
}

/** What an operator does while faults strike. */
export interface Operator {
  transfer(): void;
  /** Writes something through a server. */
  write(asked: NodeId): void;
  /** Asks a server, or any. */
  changeMembership(asked?: NodeId): void;
  /** Removes a server for good and adds a new one. */
  replace(id: NodeId): void;
  /** Whether the other servers can replace all that this one would lose. */
  canLose(id: NodeId): boolean;
  /** Whether all others would recognise a new server with this server's name. */
  isKnown(id: NodeId): boolean;
  /** Whether all others have met its latest start, and so recognise an older copy of its disk. */
  isStartKnown(id: NodeId): boolean;
}

export interface FaultParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** For the kinds of `DISK_FAULTS`. */
  readonly diskRandom: Random;
  /** For the kinds of `MACHINE_FAULTS`. */
  readonly machineRandom: Random;
  /** For the kinds of `STORAGE_FAULTS`. Absent if storage is in memory. */
  readonly storageRandom: Random | undefined;
  readonly network: SimNetwork;
  readonly victims: () => readonly Victim[];
  readonly operator: Operator;
  readonly trace: (text: string) => void;
  /** A kind of fault that this world certainly has. */
  readonly certain?: Fault | undefined;
  /** For the kinds of `LOG_FAULTS`. Absent: none of them. */
  readonly logRandom?: Random | undefined;
  /** No faults of machines. */
  readonly plain?: boolean | undefined;
}

export class Faults {
  /** The kinds that this world has. */
  readonly kinds: readonly Fault[];
  readonly #parts: FaultParts;
  readonly #links: LinkFaults;
  readonly #everyMs: number;
  #over = false;

  constructor(parts: FaultParts) {
    this.#parts = parts;
    this.#links = new LinkFaults(parts);
    const { random } = parts;
    const likely = random.pick([0.15, 0.4, 0.8]);
    const drawn: Fault[] = FAULTS.filter(() => random.chance(likely));
    // Membership changes leave less room for damage: a world has one or the other.
    const first = drawn.filter((kind) => kind !== 'damage' || !drawn.includes('membership'));
    const share = parts.diskRandom.pick([0, 0, 0.2, 0.6]);
    const more = DISK_FAULTS.filter(() => parts.diskRandom.chance(share));
    const { machineRandom, certain, plain } = parts;
    const rare = plain ? 0 : machineRandom.pick([0, 0, 0.3, 0.6]);
    const machine = MACHINE_FAULTS.filter(() => machineRandom.chance(rare));
    const { storageRandom, network } = parts;
    const bad = storageRandom?.pick([0, 0.3, 0.7]) ?? 0;
    const storage = STORAGE_FAULTS.filter(() => storageRandom?.chance(bad));
    const often = parts.logRandom?.pick([0, 0.4, 0.8]) ?? 0;
    const logs = LOG_FAULTS.filter(() => parts.logRandom?.chance(often));
    const all = [...first, ...more, ...machine, ...storage, ...logs, ...(certain ? [certain] : [])];
    this.kinds = [...new Set(network.kind === 'sockets' ? all.map(onSockets) : all)];
    this.#everyMs = random.pick([300, 1000, 3000]);
  }

  start(): void {
    if (this.#usual.length > 0) this.#later();
    if (this.kinds.includes('deposed')) this.#deposeLater();
  }

  /** Those that strike at random moments. A leader is deposed some time after the last one. */
  get #usual(): readonly Fault[] {
    return this.kinds.filter((kind) => kind !== 'deposed');
  }

  /** Stops the faults, and ends those that last. */
  heal(): void {
    this.#over = true;
    this.#parts.network.heal();
    for (const victim of this.#parts.victims()) victim.heal();
  }

  #later(): void {
    const { scheduler, random } = this.#parts;
    scheduler.after(-Math.log(1 - random.next()) * this.#everyMs, () => {
      if (this.#over) return;
      this.#strike(random.pick(this.#usual));
      this.#later();
    });
  }

  #strike(fault: Fault): void {
    const { random, operator } = this.#parts;
    if (isDisturbance(fault)) {
      this.#links.disturb(fault);
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
      case 'oneWay':
      case 'matrix':
        if (fault === 'partition') this.#links.partition();
        else this.#links.cut(fault);
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
      case LOST_REPLACEMENT:
        this.#strikeStorage(fault);
    }
  }

  #strikeStorage(fault: StorageFault): void {
    if (fault === LOST_REPLACEMENT) {
      this.#awaitReplacement();
      return;
    }
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

  /** Crashes one server, or several at once. */
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

  /** Returns the servers whose loss leaves everything acknowledged on the others. */
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

  /** Cuts the leader off, so that its log gets entries which another leader's replace. */
  #awaitReplacement(): void {
    for (const victim of this.#victims())
      victim.whenReplaced(() => {
        if (this.#over || !this.#parts.operator.canLose(victim.id)) return;
        this.#strikeOne(LOST_REPLACEMENT, victim, () => victim.loseReplacement());
        this.#restartLater(victim);
      });
    const leader = this.#victims().find((victim) => victim.leading)?.id;
    this.#links.cutWhere((from, to) => from === leader || to === leader);
  }

  /** Cuts off the leader of the moment, time and again: see `deposed.ts`. */
  #deposeLater(): void {
    const { scheduler, random, operator } = this.#parts;
    const again = (): void => this.#deposeLater();
    scheduler.after(random.between(300, 3_000), () => {
      if (this.#over) return;
      const leader = this.#victims().find((victim) => victim.leading);
      if (leader === undefined) {
        again();
        return;
      }
      const changes = this.kinds.includes('membership');
      this.#strikeOne('deposed', leader, () =>
        depose(leader, {
          ...this.#parts,
          write: () => operator.write(leader.id),
          orders: changes ? () => operator.changeMembership(leader.id) : undefined,
          isOver: () => this.#over,
          done: again,
        }),
      );
    });
  }

  #restartLater(victim: Victim): void {
    const { scheduler, random } = this.#parts;
    scheduler.after(random.delay(300, 8000, 0.2), () => {
      if (!victim.up) victim.restart();
    });
  }
}

const onSockets = (fault: Fault): Fault =>
  fault === 'drop' || fault === 'repeat' ? SOCKET_FAULTS[fault] : fault;
